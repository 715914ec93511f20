#!/usr/bin/python3
"""Scores of scikit-learn's HistGradientBoostingClassifier, or of xgboost, for the comparison with toptau: reads what `quality -split DIR`
wrote and writes one small file a set, which the harness embeds. Needs scikit-learn, and xgboost for its scores; the tests and the harness
need no Python.

    gbdt.py [--xgboost] DIR OUT [SET ...]

For each test part (sets with a test file of their own have one for all seeds) one of the configurations below is chosen by cross-validation on the training part (3 folds, stratified, on
a stratified subsample where there are more rows than SUBSAMPLE) by the harness's own log-pAUC, refitted on the whole
training part and applied to the test part.

A file is packed with gzip and holds a line of JSON (rows, and for each test part the digest of the test file, the
configuration and the cross-validated criterion) and then, part by part, an unsigned 16-bit little-endian number a test
row: the rank of its score, 0 for the best, equal for equal scores. The last rank stands for all rows that are neither
among the best quarter nor above the best tenth of the negatives: no criterion of the harness looks there.
"""

import argparse
import gzip
import json
import time
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold, train_test_split

FPRS = [0.001, 0.001545, 0.002385, 0.003684, 0.00569, 0.008788, 0.013573, 0.020963, 0.032378, 0.05]
SUBSAMPLE = 20000
LAST = 65535

# leaves of a tree, learning rate, trees
CONFIGURATIONS = [
    {"max_leaf_nodes": 4, "learning_rate": 0.1, "max_iter": 100},
    {"max_leaf_nodes": 4, "learning_rate": 0.1, "max_iter": 300},
    {"max_leaf_nodes": 15, "learning_rate": 0.1, "max_iter": 100},
    {"max_leaf_nodes": 15, "learning_rate": 0.05, "max_iter": 300},
    {"max_leaf_nodes": 31, "learning_rate": 0.1, "max_iter": 100},
    {"max_leaf_nodes": 31, "learning_rate": 0.1, "max_iter": 300},
]


def read(name, part, columns):
    x = np.fromfile(f"{name}.{part}.x", dtype="<f4").reshape(-1, columns)
    return x, np.fromfile(f"{name}.{part}.y", dtype=np.uint8)


def log_pauc(y, z):
    """The mean true positive rate at FPRS; a positive counts if strictly above the first negative beyond the budget."""
    negatives = np.sort(z[y == 0])[::-1]
    return float(np.mean([np.mean(z[y == 1] > negatives[int(len(negatives) * f)]) for f in FPRS]))


def fit_xgboost(configuration, categorical, x, y):
    """The same leaves, rates and numbers of trees, grown leaf by leaf on histograms; otherwise xgboost's defaults."""
    import pandas
    import xgboost
    frame = pandas.DataFrame(x)
    for column in categorical:
        frame[column] = frame[column].astype("category")
    model = xgboost.XGBClassifier(tree_method="hist", grow_policy="lossguide", max_depth=0, max_leaves=configuration["max_leaf_nodes"],
                                  learning_rate=configuration["learning_rate"], n_estimators=configuration["max_iter"],
                                  enable_categorical=bool(categorical), random_state=0, n_jobs=1)
    model.fit(frame, y)
    kinds = frame.dtypes

    class Scores:
        @staticmethod
        def decision_function(x):
            return model.predict(pandas.DataFrame(x).astype(kinds), output_margin=True)

    return Scores


def fit_sklearn(configuration, categorical, x, y):
    model = HistGradientBoostingClassifier(early_stopping=False, random_state=0, min_samples_leaf=20,
                                           categorical_features=categorical or None, **configuration)
    return model.fit(x, y)


fit = fit_sklearn


def choose(categorical, x, y, seed):
    if len(y) > SUBSAMPLE:
        x, _, y, _ = train_test_split(x, y, train_size=SUBSAMPLE, stratify=y, random_state=seed)
    folds = list(StratifiedKFold(3, shuffle=True, random_state=seed).split(x, y))
    criteria = []
    for configuration in CONFIGURATIONS:
        values = []
        for train, validation in folds:
            model = fit(configuration, categorical, x[train], y[train])
            values.append(log_pauc(y[validation], model.decision_function(x[validation])))
        criteria.append(float(np.mean(values)))
    best = int(np.argmax(criteria))
    return CONFIGURATIONS[best], criteria[best]


def ranks(y, z):
    """The rank of each row's score among the different ones, cut off as the head of this file says."""
    order = np.sort(z)[::-1]
    negatives = np.sort(z[y == 0])[::-1]
    lowest = min(order[len(order) // 4], negatives[len(negatives) // 10])
    _, rank = np.unique(-z, return_inverse=True)
    rank = np.minimum(rank, LAST)
    rank[z < lowest] = LAST
    return rank.astype("<u2")


def run(directory, out, name):
    header, body = {"set": name, "parts": []}, []
    for path in sorted(directory.glob(f"{name}-*.json"), key=lambda p: int(p.stem.split("-")[-1])):
        about = json.loads(path.read_text())
        stem = str(path.with_suffix(""))
        if any(s["digest"] == about["digest"] for s in header["parts"]):
            continue
        start = time.process_time()
        x, y = read(stem, "train", about["columns"])
        configuration, criterion = choose(about["categorical"], x, y, about["seed"])
        model = fit(configuration, about["categorical"], x, y)
        seconds = time.process_time() - start
        x, y = read(stem, "test", about["columns"])
        z = model.decision_function(x)
        print(f"{name} seed {about['seed']}: {configuration} cv {criterion:.4f} test {log_pauc(y, z):.4f}, "
              f"{seconds:.0f} s", flush=True)
        header["rows"] = len(y)
        header["parts"].append({"seed": about["seed"], "digest": about["digest"], "configuration": configuration,
                                "cross_validated": round(criterion, 6), "seconds": round(seconds, 1)})
        body.append(ranks(y, z).tobytes())
    content = json.dumps(header).encode() + b"\n" + b"".join(body)
    with open(out / f"{name}.gz", "wb") as f:
        f.write(gzip.compress(content, 9, mtime=0))


def main():
    global fit
    parser = argparse.ArgumentParser()
    parser.add_argument("--xgboost", action="store_true")
    parser.add_argument("directory", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("sets", nargs="*")
    options = parser.parse_args()
    if options.xgboost:
        fit = fit_xgboost
    names = options.sets or sorted({p.stem.rsplit("-", 1)[0] for p in options.directory.glob("*-*.json")})
    for name in names:
        run(options.directory, options.out, name)


if __name__ == "__main__":
    main()
