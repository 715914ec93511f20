"""Infers with Triton's client: triton.py ADDRESS ROWS.csv SCORES.csv compares the scores with those of toptau score."""

import csv
import sys

import numpy as np
import tritonclient.http as triton

address, rows, scores = sys.argv[1:]
with open(rows) as f:
    table = list(csv.reader(f))
with open(scores) as f:
    want = [(float(r["score"]), r["decision"] == "1") for r in csv.DictReader(f)]
names, table = table[0], table[1:]
client = triton.InferenceServerClient(address)
assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("m")
assert not client.is_model_ready("none")
metadata = client.get_model_metadata("m")
version = metadata["versions"][0]
assert client.is_model_ready("m", version) and "binary_tensor_data" in client.get_server_metadata()["extensions"]
assert client.get_model_config("m", version)["input"][0]["data_type"] == "TYPE_FP64"


def inputs(binary, n):
    for tensor in metadata["inputs"]:
        column = names.index(tensor["name"])
        values = np.array([[float(row[column])] for row in table[:n]])
        i = triton.InferInput(tensor["name"], values.shape, "FP64")
        i.set_data_from_numpy(values, binary_data=binary)
        yield i


def compare(answer, n):
    got = list(zip(answer.as_numpy("score"), answer.as_numpy("decision")))
    assert got == want[:n], (got[:3], want[:3])


for n in (1, 1000):
    for binary_in in (False, True):
        for binary_out in (False, True):
            outputs = [triton.InferRequestedOutput(name, binary_data=binary_out) for name in ("score", "decision")]
            compare(client.infer("m", list(inputs(binary_in, n)), outputs=outputs, request_id="7"), n)
    compare(client.infer("m", list(inputs(True, n))), n)
    compare(client.infer("m", list(inputs(True, n)), model_version=version, request_compression_algorithm="gzip", response_compression_algorithm="gzip"), n)
futures = [client.async_infer("m", list(inputs(True, 100))) for _ in range(8)]
for f in futures:
    compare(f.get_result(), 100)
statistics = client.get_inference_statistics("m")["model_stats"][0]
assert statistics["version"] == version and statistics["inference_stats"]["success"]["count"] == 20, statistics
for wrong in (lambda: client.infer("none", list(inputs(True, 1))), lambda: client.infer("m", list(inputs(True, 1))[1:]),
              lambda: client.infer("m", list(inputs(True, 1)), model_version="7"), lambda: client.load_model("m")):
    try:
        wrong()
    except triton.InferenceServerException as e:
        print("refused:", e)
    else:
        raise AssertionError("not refused")
print("2 x 6 requests and 8 at the same time have the scores of toptau score")
