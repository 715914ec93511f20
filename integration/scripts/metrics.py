"""Reads metrics from standard input with the official parser and prints their samples as JSON.

A family must have a type, no sample may occur twice, and the buckets of a histogram must rise to its count.
"""

import json
import sys

from prometheus_client.parser import text_string_to_metric_families

samples, seen, buckets = [], set(), {}
for family in text_string_to_metric_families(sys.stdin.read()):
    assert family.type != "unknown" and family.documentation, family.name
    for s in family.samples:
        key = (s.name, tuple(sorted(s.labels.items())))
        assert key not in seen, key
        seen.add(key)
        samples.append({"name": s.name, "labels": s.labels, "value": s.value})
        if family.type == "histogram" and s.name.endswith("_bucket"):
            rest = tuple(sorted((k, v) for k, v in s.labels.items() if k != "le"))
            buckets.setdefault((family.name, rest), []).append((float(s.labels["le"]), s.value))
for (name, labels), list_ in buckets.items():
    assert list_ == sorted(list_) and [v for _, v in list_] == sorted(v for _, v in list_), name
    count = [s["value"] for s in samples if s["name"] == name + "_count" and tuple(sorted(s["labels"].items())) == labels]
    assert count == [list_[-1][1]] and list_[-1][0] == float("inf"), (name, labels)
json.dump(samples, sys.stdout)
