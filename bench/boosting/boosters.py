"""Grows boosted trees with LightGBM or xgboost.

Usage: boosters.py DIR ROWS COLUMNS LIBRARY LEAVES THREADS TREES

DIR has the rows: x.bin with float32 row by row, and y.bin with a byte for each label. Prints the processor seconds of binning and
growing.
"""
import sys
import time

import numpy

folder, (rows, columns), library = sys.argv[1], map(int, sys.argv[2:4]), sys.argv[4]
leaves, threads, trees = map(int, sys.argv[5:8])
x = numpy.fromfile(folder + "/x.bin", "<f4").reshape(rows, columns)
y = numpy.fromfile(folder + "/y.bin", numpy.uint8)
if library == "lightgbm":
    import lightgbm

    settings = {"objective": "binary", "num_leaves": leaves, "learning_rate": 0.1, "min_data_in_leaf": 20, "lambda_l2": 0.1,
                "max_bin": 255, "num_threads": threads, "verbosity": -1}
    start = time.process_time()
    lightgbm.train(settings, lightgbm.Dataset(x, y), trees)
else:
    import xgboost

    settings = {"objective": "binary:logistic", "tree_method": "hist", "grow_policy": "lossguide", "max_depth": 0, "max_leaves": leaves,
                "learning_rate": 0.1, "min_child_weight": 0, "lambda": 0.1, "max_bin": 255, "nthread": threads}
    start = time.process_time()
    xgboost.train(settings, xgboost.QuantileDMatrix(x, y, max_bin=255, nthread=threads), trees)
print(time.process_time() - start)
