"""Scores the jobs of readers_test.go: readers_score.py JOBS ANSWERS [plain]. With plain, numpy is left out."""

import json
import os
import struct
import sys

if sys.argv[3:] == ["plain"]:
    sys.modules["numpy"] = None
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "python"))
from toptau import reader as toptau  # noqa: E402

toptau.FEW_ROWS = 1  # numpy scores batches of any size
MANY = 1000
try:
    import pandas
except ImportError:
    pandas = None


def bits(x):
    return struct.pack(">d", x).hex()


def scored(model, rows):
    """Scores rows one by one, or very many, which must all have a score, together."""
    if len(rows) > MANY:
        return [bits(z) for z in model.decision_function(rows)], [""] * len(rows)
    out, errors = [], []
    for row in rows:
        try:
            out.append(bits(model.score(row)))
            errors.append("")
        except toptau.Error as e:
            out.append("")
            errors.append(str(e))
    return out, errors


def batch(model, rows, scores):
    """Scores the rows together that have a score; the first of the others must be refused, with its row."""
    good = [i for i, s in enumerate(scores) if s]
    bad = [i for i, s in enumerate(scores) if not s]
    if bad:
        try:
            model.decision_function(rows)
            return "rows without a score were scored"
        except toptau.Error as e:
            if e.row - 1 not in bad:
                return f"row {e.row} was refused: {e}"
    kept = [rows[i] for i in good]
    forms = [kept]
    if kept and model.columns:
        forms.append([[toptau._nested(row, name) for name in model.columns] for row in kept])
        if pandas is not None and len({frozenset(row) for row in kept}) == 1:
            forms.append(pandas.DataFrame(kept))
            forms.append(pandas.DataFrame(kept).astype(object))
    for form in forms:
        for part in (form, form[:1]) if len(kept) else (form,):
            got = [bits(z) for z in model.decision_function(part)]
            if got != [scores[i] for i in good][: len(part)]:
                return f"a {type(part).__name__} of {len(part)} rows has other scores"
    return ""


def answer(job):
    model = toptau.Model(job["model"])
    rows = job["rows"]
    scores, errors = scored(model, rows)
    first = scored(model, rows[:MANY])[0]
    out = {"scores": scores, "errors": errors, "batch": batch(model, rows[:MANY], first), "decisions": {}}
    if first != scores[:MANY]:
        out["batch"] = "one by one, rows have other scores than together"
    if "numbers" in job:
        numbers, _ = scored(model, job["numbers"])
        out["numbers"] = numbers
        out["batch"] = out["batch"] or batch(model, job["numbers"], numbers)
    kept = [row for row, s in zip(rows, scores) if s]
    for name in model.points:
        out["decisions"][name] = [int(d) for d in model.predict(kept, at=name)]
    if model.has_probability:
        out["probabilities"] = [bits(p[1]) for p in model.predict_proba(kept)]
        out["at_prevalence"] = [bits(p[1]) for p in model.predict_proba(kept, prevalence=0.001)]
    out["explain"] = []
    for row in rows[: job["explain"]]:
        e = model.explain(row)
        out["explain"].append({
            "score": bits(e.score), "offset": bits(e.offset), "rounding": bits(e.rounding),
            "reasons": [[r.column, r.value, bits(r.adds), bits(r.above_average)] for r in e.reasons],
            "missing": e.missing, "unknown": e.unknown,
        })
    return out


with open(sys.argv[1], encoding="utf-8") as f:
    jobs = json.load(f)
with open(sys.argv[2], "w", encoding="utf-8") as f:
    json.dump([answer(job) for job in jobs], f)
