"""Delays and false alarms of river's ADWIN on the streams of TestStreamsForADWIN (docs/reference/monitor.md has its results).

    TOPTAU_STREAMS=DIR go test ./internal/app/monitor -count 1 -run StreamsForADWIN
    pip install river numpy
    python internal/app/monitor/adwin.py DIR
"""

import pathlib
import statistics
import sys

import numpy
from river.drift import ADWIN

for path in sorted(pathlib.Path(sys.argv[1]).glob("*.f64")):
    change, rows = (int(part) for part in path.stem.split("-")[1:3])
    delays, false, alarmed = [], 0, 0
    for scores in numpy.fromfile(path, "<f8").reshape(-1, rows):
        detector = ADWIN()  # delta 0.002, looks every 32 rows
        alarm, before = 0, false
        for row, score in enumerate(scores.tolist(), 1):
            detector.update(score)
            if detector.drift_detected:
                if row > change:
                    alarm = row - change
                    break
                false += 1
        delays.append(alarm)
        alarmed += false > before
    found = [d for d in delays if d]
    print(path.stem, len(delays), "streams: median", statistics.median(found) if found else None, "not found", delays.count(0),
          "alarms before the change", false, "in", alarmed)
