"""Runs one thing that rivals do, and prints its processor seconds without the start of Python and the imports."""
import sys
import time


def polars_csv(path):
    import polars
    return lambda: polars.read_csv(path)


def numpy_passes(rows, columns, steps):
    import numpy
    random = numpy.random.default_rng(1)
    x = random.standard_normal((int(rows), int(columns)), dtype=numpy.float32)
    w = numpy.zeros(int(columns), dtype=numpy.float32)

    def passes():
        for _ in range(int(steps)):
            w[:] = x.T @ (x @ w) / len(x) + 1
    return passes


def search(library, path):
    """Fifteen random configurations on 80 % of the rows, each stopped 50 trees after the smallest loss on the others, of at most 1,000."""
    import numpy
    import polars
    frame, random = polars.read_csv(path), numpy.random.default_rng(1)
    x, y, held = frame.drop("label").to_numpy().astype(numpy.float32), frame["label"].to_numpy(), random.random(len(frame)) < 0.2
    draws = [{"learning_rate": random.choice([0.03, 0.05, 0.1, 0.2]), "leaves": int(random.choice([7, 15, 31, 63])), "subsample": random.choice([0.7, 1]),
              "colsample_bytree": random.choice([0.7, 1]), "reg_lambda": random.choice([0.1, 1, 10])} for _ in range(15)]

    def xgboost():
        import xgboost
        for c in draws:
            c |= {"objective": "binary:logistic", "tree_method": "hist", "grow_policy": "lossguide", "max_depth": 0, "max_leaves": c.pop("leaves"), "nthread": 1}
            train = xgboost.QuantileDMatrix(x[~held], y[~held])
            xgboost.train(c, train, 1000, evals=[(xgboost.QuantileDMatrix(x[held], y[held], ref=train), "held")],
                          early_stopping_rounds=50, verbose_eval=False)

    def lightgbm():
        import lightgbm
        for c in draws:
            c |= {"objective": "binary", "num_leaves": c.pop("leaves"), "bagging_freq": 1, "num_threads": 1, "verbosity": -1}
            train = lightgbm.Dataset(x[~held], y[~held])
            lightgbm.train(c, train, 1000, valid_sets=[lightgbm.Dataset(x[held], y[held], reference=train)],
                           callbacks=[lightgbm.early_stopping(50, verbose=False)])
    return locals()[library]


do = globals()[sys.argv[1]](*sys.argv[2:])
start = time.process_time()
do()
print(time.process_time() - start)
