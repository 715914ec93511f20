#!/usr/bin/python3
"""Processor times of toptau's training and of both boosters' searches, measured in turns, set by set: writes costs.json, which the
harness embeds. Needs scikit-learn and xgboost, and TOPTAU_DATA.

    costs.py QUALITY [SET ...]

QUALITY is the built program of this directory. In each of ROUNDS rounds every program trains once on the part of seed 1, on one
thread if it is a booster, with the choice of its settings. The smallest of the rounds counts. A set that is in costs.json already is
left out, so an interrupted run continues; delete the file to measure again.
"""

import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 2
HERE = Path(__file__).parent
OUT = HERE / "costs.json"


def boosted(parts, name, option, work):
    subprocess.run([sys.executable, HERE / "gbdt.py", *option, parts, work, name], check=True, stdout=subprocess.DEVNULL,
                   env=os.environ | {"OMP_NUM_THREADS": "1"})
    with gzip.open(work / f"{name}.gz") as f:
        return json.loads(f.readline())["parts"][0]["seconds"]


def trained(quality, name, work):
    with tempfile.TemporaryDirectory(dir=work) as kept:
        subprocess.run([quality, "-cache", work / "parts", "-results", kept, "-sets", name, "-entries", "toptau", "-from", "1", "-to", "1", "-first"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(Path(kept) / "quality-results.csv", newline="") as f:
            return max(float(r["seconds_processor"]) for r in csv.DictReader(f))


def main():
    quality, names = sys.argv[1], sys.argv[2:]
    costs = json.loads(OUT.read_text()) if OUT.exists() else {}
    names = names or sorted(p.stem for p in (HERE / "xgboost").glob("*.gz"))
    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory)
        for name in (n for n in names if n not in costs):
            parts = work / name
            parts.mkdir()
            subprocess.run([quality, "-cache", work / "parts", "-sets", name, "-from", "1", "-to", "1", "-split", parts], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for other in parts.glob("*.json"):
                if other.name != f"{name}-1.json":
                    other.unlink()
            rounds = []
            for _ in range(ROUNDS):
                rounds.append((boosted(parts, name, [], work), boosted(parts, name, ["--xgboost"], work), trained(quality, name, work)))
            costs[name] = dict(zip(("gbdt", "xgboost", "toptau"), (round(min(column), 2) for column in zip(*rounds))))
            print(name, costs[name], flush=True)
            part = OUT.with_suffix(".part")
            part.write_text(json.dumps(costs, indent=1, sort_keys=True) + "\n")
            os.replace(part, OUT)


if __name__ == "__main__":
    main()
