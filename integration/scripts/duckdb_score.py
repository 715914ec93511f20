"""Runs select.sql of each directory on its data.json and data.bin: duckdb_score.py ROWCOLUMN DIR..."""
import json
import os
import sys
import time

import duckdb
import numpy as np
import pyarrow as pa

for folder in sys.argv[2:]:
    with open(os.path.join(folder, "data.json")) as f:
        data = json.load(f)
    rows = data["rows"]
    numbers = np.fromfile(os.path.join(folder, "data.bin"), "<f8").reshape(-1, rows)
    columns = {sys.argv[1]: pa.array(range(rows), pa.int64())}
    for i, (name, column) in enumerate(zip(data["numbers"] or [], numbers)):
        columns[name] = pa.array(column, from_pandas=i % 2 == 0)  # NULL and NaN are both missing
    texts = list(zip(data["texts"] or [], data["values"] or [])) + list(zip(data["segments"] or [], data["segment"] or []))
    for name, column in texts:
        columns.setdefault(name, pa.array(column, pa.string()))
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    connection.register("given", pa.table(columns))
    connection.execute('CREATE TABLE "rows" AS SELECT * FROM given')
    with open(os.path.join(folder, "select.sql")) as f:
        statement = f.read()
    start = time.process_time()
    result = connection.execute(statement).fetchall()
    seconds = time.process_time() - start
    result.sort()
    with open(os.path.join(folder, "answer.bin"), "wb") as f:
        f.write(np.array([seconds], "<f8").tobytes())
        f.write(np.array([np.nan if r[1] is None else r[1] for r in result], "<f8").tobytes())
        f.write(np.array([[bool(d) for d in r[2:]] for r in result], np.uint8).tobytes())
