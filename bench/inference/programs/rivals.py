"""Trains boosted trees with xgboost and LightGBM, and scores rows with them, with treelite, with toptau's reader and with an ONNX model.

Usage: rivals.py train DIR LEAVES DEPTH TREES
       rivals.py score DIR PROGRAM

DIR has training.csv and rows.csv, whose last column is the label. The first form writes xgboost.json and lightgbm.txt there. The second
prints the processor microseconds of a row in one call with all rows, and in calls with one row each.
"""
import ctypes
import os
import sys
import time

import numpy

ONES = 2000  # calls with one row


def rows(name):
    data = numpy.loadtxt(os.path.join(folder, name), delimiter=",", skiprows=1)
    return data[:, :-1], data[:, -1]


def path(name):
    return os.path.join(folder, name)


def train(leaves, depth, trees):
    import lightgbm
    import xgboost

    x, y = rows("training.csv")
    grow = {"max_depth": depth} if depth else {"max_depth": 0, "grow_policy": "lossguide", "max_leaves": leaves}
    xgboost.train({"objective": "binary:logistic", "nthread": 1, "learning_rate": 0.05, "lambda": 0.1, **grow}, xgboost.DMatrix(x, y), trees).save_model(
        path("xgboost.json"))
    lightgbm.train({"objective": "binary", "num_leaves": leaves, "max_depth": depth or -1, "learning_rate": 0.05, "num_threads": 1,
                     "verbosity": -1},
                   lightgbm.Dataset(x, y), trees).save_model(path("lightgbm.txt"))


def scorer(program, x):
    """The functions that score all rows and the row with a number."""
    if program == "xgboost":
        import xgboost

        booster = xgboost.Booster({"nthread": 1}, model_file=path("xgboost.json"))
        return lambda: booster.inplace_predict(x, predict_type="margin"), lambda i: booster.inplace_predict(x[i : i + 1], predict_type="margin")
    if program == "lightgbm":
        import lightgbm
        from lightgbm.basic import _LIB

        booster = lightgbm.Booster(model_file=path("lightgbm.txt"))
        config, out, n = ctypes.c_void_p(), ctypes.c_double(), ctypes.c_int64()
        raw = 1  # C_API_PREDICT_RAW_SCORE; and C_API_DTYPE_FLOAT64
        _LIB.LGBM_BoosterPredictForMatSingleRowFastInit(booster._handle, raw, 0, -1, 1, x.shape[1], b"num_threads=1", ctypes.byref(config))
        first, width = x.ctypes.data, x.shape[1] * 8

        def one(i):
            _LIB.LGBM_BoosterPredictForMatSingleRowFast(config, ctypes.c_void_p(first + i * width), ctypes.byref(n), ctypes.byref(out))

        return lambda: booster.predict(x, raw_score=True, num_threads=1), one
    if program == "treelite":
        import treelite

        model, x = treelite.frontend.load_xgboost_model(path("xgboost.json")), x.astype("float32")
        return (lambda: treelite.gtil.predict(model, x, nthread=1, pred_margin=True),
                lambda i: treelite.gtil.predict(model, x[i : i + 1], nthread=1, pred_margin=True))
    if program == "toptau":
        import toptau  # the reader, a copy in the folder of this script

        model = toptau.Model(path("model.json"))
        return lambda: model.decision_function(x), lambda i: model.score(x[i])
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path("model.onnx"), options, providers=["CPUExecutionProvider"])
    return lambda: session.run(["score"], {"X": x}), lambda i: session.run(["score"], {"X": x[i : i + 1]})


def score(program):
    x, _ = rows("rows.csv")
    x = numpy.ascontiguousarray(x)
    batch, one = scorer(program, x)
    batch()
    one(0)
    start = time.process_time()
    batch()
    middle = time.process_time()
    for i in range(ONES):
        one(i)
    print((middle - start) * 1e6 / len(x), (time.process_time() - middle) * 1e6 / ONES)


folder = sys.argv[2]
if sys.argv[1] == "train":
    train(*map(int, sys.argv[3:6]))
else:
    score(sys.argv[3])
