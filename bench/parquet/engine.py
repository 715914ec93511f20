"""Writes the files of the benchmark, and reads them with DuckDB.

Usage: engine.py write DIR ROWS
       engine.py read

The second form reads lines "THREADS TAB QUERY" from standard input, and answers with a line each: seconds, processor
seconds and the sum of what the query returns.
"""
import os
import sys
import time

COLUMNS = 28
LEVELS = 300  # of a column of text
PIECE = 131072  # rows of a row group


def write(folder, rows):
    import duckdb
    import numpy
    import pyarrow
    import pyarrow.parquet

    random = numpy.random.default_rng(1)
    names = ["c%d" % k for k in range(COLUMNS)]
    levels = numpy.array(["level %d" % k for k in range(LEVELS)])
    writers = {}

    def schema(kind, null):
        return pyarrow.schema([pyarrow.field(n, kind, nullable=null) for n in names])

    def add(name, table, codec, **options):
        if name not in writers:
            path = os.path.join(folder, name + ".parquet")
            writers[name] = pyarrow.parquet.ParquetWriter(path, table.schema, compression=codec, **options)
        writers[name].write_table(table, row_group_size=PIECE)

    for first in range(0, rows, PIECE):
        n = min(PIECE, rows - first)
        # Four decimals, as measurements often have.
        arrays = [numpy.round(random.normal(size=n), 4) for _ in names]
        some = [pyarrow.array(a, mask=random.random(n) < 0.01) for a in arrays]
        arrays = [pyarrow.array(a) for a in arrays]
        texts = [pyarrow.array(levels[random.integers(LEVELS, size=n)]) for _ in names]
        double, text = pyarrow.float64(), pyarrow.string()
        for codec in ("none", "snappy", "zstd"):
            add("required-" + codec, pyarrow.table(arrays, schema=schema(double, False)), codec, use_dictionary=False)
            add("optional-" + codec, pyarrow.table(arrays, schema=schema(double, True)), codec, use_dictionary=False)
        add("missing-snappy", pyarrow.table(some, schema=schema(double, True)), "snappy", use_dictionary=False)
        add("dictionary-snappy", pyarrow.table(arrays, schema=schema(double, True)), "snappy", use_dictionary=True)
        label = pyarrow.array((random.random(n) < 0.005).astype("int64"))
        add("labelled-snappy", pyarrow.table(arrays + [label], names=names + ["y"]), "snappy", use_dictionary=False)
        add("texts-snappy", pyarrow.table(texts, schema=schema(text, True)), "snappy", use_dictionary=True)
    for w in writers.values():
        w.close()
    db = duckdb.connect()
    for kind, source in (("numbers", "required-none"), ("texts", "texts-snappy")):
        db.execute("COPY (SELECT * FROM '%s/%s.parquet') TO '%s/%s.csv' (HEADER)" % (folder, source, folder, kind))
    print(duckdb.__version__, pyarrow.__version__)


def read():
    import duckdb

    db = duckdb.connect()
    for option in ("enable_external_file_cache", "parquet_metadata_cache", "enable_object_cache"):
        try:  # not every version has them
            db.execute("SET %s = false" % option)
        except duckdb.Error:
            pass
    for line in sys.stdin:
        threads, query = line.rstrip("\n").split("\t")
        db.execute("SET threads = %s" % threads)
        start, used = time.perf_counter(), time.process_time()
        row = db.execute(query).fetchone()
        seconds, processor = time.perf_counter() - start, time.process_time() - used
        print(seconds, processor, sum(float(x) for x in row), flush=True)


if sys.argv[1] == "write":
    write(sys.argv[2], int(sys.argv[3]))
else:
    read()
