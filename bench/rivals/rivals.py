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


do = globals()[sys.argv[1]](*sys.argv[2:])
start = time.process_time()
do()
print(time.process_time() - start)
