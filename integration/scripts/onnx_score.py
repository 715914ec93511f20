"""Scores data.json and data.bin of each directory with its model.onnx: onnx_score.py THREADS DIR..."""
import json
import os
import sys
import time

import numpy as np
import onnxruntime as ort

ort.set_default_logger_severity(3)
options = ort.SessionOptions()
options.intra_op_num_threads = int(sys.argv[1])
options.inter_op_num_threads = 1
for folder in sys.argv[2:]:
    with open(os.path.join(folder, "data.json")) as f:
        data = json.load(f)
    rows = data["rows"]
    numbers = np.fromfile(os.path.join(folder, "data.bin"), "<f8").reshape(-1, rows)
    session = ort.InferenceSession(os.path.join(folder, "model.onnx"), options, providers=["CPUExecutionProvider"])
    names = {i.name for i in session.get_inputs()}
    feed = {}
    if "X" in names and "X" not in data["numbers"]:
        x = np.zeros((rows, data["width"]))
        for place, column in zip(data["places"], numbers):
            x[:, place] = column
        feed["X"] = x
    else:
        for name, column in zip(data["numbers"], numbers):
            feed[name] = column.reshape(-1, 1)
    texts = list(zip(data["texts"] or [], data["values"] or [])) + list(zip(data["segments"] or [], data["segment"] or []))
    for name, column in texts:  # ONNX has no operator that removes blanks: its callers do
        feed[name] = np.array([(v or "").strip(" \t") for v in column], dtype=object).reshape(-1, 1)
    outputs = [o.name for o in session.get_outputs()]
    session.run(outputs, feed)
    start = time.process_time()
    result = session.run(outputs, feed)
    seconds = time.process_time() - start
    one = {name: column[:1] for name, column in feed.items()}
    calls = 200
    start = time.process_time()
    for _ in range(calls):
        session.run(outputs, one)
    with open(os.path.join(folder, "onerow.txt"), "w") as f:
        f.write(str((time.process_time() - start) / calls))
    decisions = result[1] if len(result) > 1 else np.zeros((rows, 0), bool)
    with open(os.path.join(folder, "answer.bin"), "wb") as f:
        f.write(np.array([seconds], "<f8").tobytes())
        f.write(result[0].astype("<f8").tobytes())
        f.write(decisions.astype(np.uint8).tobytes())
