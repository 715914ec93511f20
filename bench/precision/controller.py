"""The thresholds of MAPIE's controller on the draws of bench/precision: python3 controller.py draws.json; needs mapie and numpy."""
import json
import sys

import numpy
from mapie.risk_control import BinaryClassificationController

for s in json.load(open(sys.argv[1])):
    scores, labels = numpy.array(s["scores"]), numpy.array(s["labels"])
    # The controller searches a grid of probabilities. These are ranks, and the grid has 40 steps around the fraction of positives.
    ranks = (numpy.argsort(numpy.argsort(scores)) + 0.5) / len(scores)
    p = float(s["rate"])
    grid = numpy.linspace(max(0, 1 - 2 * labels.mean()), 1, 41)[:-1]
    recall, broken, none = 0.0, 0, 0
    for d in s["draws"]:
        rows = numpy.array(d["rows"])
        c = BinaryClassificationController(lambda x: numpy.column_stack([1 - x, x]), "precision", target_level=p,
                                           confidence_level=0.9, best_predict_param_choice="recall", list_predict_params=grid)
        c.calibrate(ranks[rows], labels[rows])
        if c.best_predict_param is None:
            none += 1
            continue
        alerts = ranks >= c.best_predict_param
        found = (alerts & (labels == 1)).sum()
        recall += found / labels.sum()
        broken += found < p * alerts.sum()
    n = len(s["draws"])
    print(f"{s['name']:12} precision {p}, MAPIE           recall {100 * recall / n:.1f} %, violations {100 * broken / n:.1f} %, "
          f"without a threshold {100 * none / n:.1f} %")
