"""GuaranteedThreshold around xgboost next to MAPIE's controller, within the same budget of false alarms: python3 bench/precision/budget.py;
needs TOPTAU_DATA, and toptau (or PYTHONPATH=python), mapie, xgboost, scikit-learn and pandas.

A half of a set is for tests. Of the other half a quarter calibrates and the rest trains. Both thresholds are of the same fitted model and the
same calibration rows, with 95 % confidence that at most 2 % of the negatives are false alarms. MAPIE searches its own grid of 100
probabilities, and once one of 1,000."""
import os
import pathlib

import numpy
import pandas
from mapie.risk_control import BinaryClassificationController
from sklearn.model_selection import train_test_split
from toptau import GuaranteedThreshold
from xgboost import XGBClassifier

data = pathlib.Path(os.environ["TOPTAU_DATA"])
SETS = [("higgs_7k/binary.train.gz", "\t", 0, 1, None), ("magic04/magic04.data.gz", ",", 10, "g", None), ("mammography/mammography.csv", ",", 6, "'1'", 0)]


def rates(alerts, y):
    return f"{100 * alerts[y].mean():5.1f} % found, {100 * alerts[~y].mean():5.2f} % false alarms"


for name, separator, label, positive, header in SETS:
    table = pandas.read_csv(data / name, sep=separator, header=header)
    y, X = (table.iloc[:, label] == positive).to_numpy(), table.drop(columns=table.columns[label]).to_numpy(float)
    for split in 1, 2, 3:
        fit, test, fit_y, test_y = train_test_split(X, y, test_size=0.5, random_state=split, stratify=y)
        ours = GuaranteedThreshold(XGBClassifier(random_state=split, n_jobs=1), pos_label=True, max_fpr="2%", delta="5%",
                                   calibration_fraction="25%", random_state=split).fit(fit, fit_y)
        print(f"{name.split('/')[0]:12} {split} GuaranteedThreshold {rates(ours.predict(test).astype(bool), test_y)}")
        model, rows = ours.estimator_, ours.calibration_rows_
        for grid in 100, 1000:
            controller = BinaryClassificationController(model.predict_proba, "fpr", target_level=0.02, confidence_level=0.95,
                                                        list_predict_params=numpy.linspace(0, 1, grid, endpoint=False))
            controller.calibrate(fit[rows], fit_y[rows])
            alerts = model.predict_proba(test)[:, 1] >= (2 if controller.best_predict_param is None else controller.best_predict_param)
            print(f"{name.split('/')[0]:12} {split} MAPIE, grid {grid:5}   {rates(alerts, test_y)}", flush=True)
