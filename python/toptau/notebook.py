"""What a notebook shows of a fitted classifier: the answer, the guarantee and a chart, in HTML without scripts or style sheets.

The chart is an image, because notebooks that are not trusted drop drawings. Its colours have a contrast of about 4 on white and on black.
"""

from __future__ import annotations

import base64
import html
import math
import re
from typing import Any, NamedTuple, Optional

from .reader import Error

_GREY, _BLUE, _ORANGE = "#7b7b7b", "#2f7fe0", "#c2640c"
_AXES = {True: ("%alerts as a fraction of all rows", "%positives found"), False: ("%false positive rate", "%true positive rate (recall)")}


class Report(str):
    """The page about a training, as text. A notebook shows it in a frame, and ``save`` writes it."""

    def save(self, path: Any) -> None:
        """Writes the page."""
        with open(path, "w", encoding="utf-8") as f:
            f.write(self)

    def __repr__(self) -> str:
        return f"<report of {len(self):,} characters: save(path) writes the page>"

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self)}" sandbox="allow-scripts allow-downloads" title="report" '
                'style="width:100%;height:640px;border:1px solid #7b7b7b"></iframe>')


class Curve(NamedTuple):
    """The fraction of positives found against a budget."""

    counts_all: bool  # the budget counts all rows, otherwise negatives
    points: list[tuple[float, float]]  # budget and fraction found, ascending
    at: Optional[tuple[float, float]]  # the threshold of the model
    budget: Optional[float]  # the largest rate that was set

    @property
    def label(self) -> str:
        return "alerts, as a fraction of all rows" if self.counts_all else "false alarms, as a fraction of the negatives"

    @property
    def low(self) -> float:
        """The left end of the logarithmic axis: a power of ten."""
        least = min([x for x, _ in self.points if x > 0] + [x for x in (self.budget, self.at and self.at[0]) if x])
        return 10.0 ** math.floor(math.log10(least) + 1e-9)


def curve_of(report: str, goal: dict) -> Curve:
    """Returns the curve of a training from the figures of its report: the test part's, or that of held-out scores."""
    counts_all = goal["kind"] in ("top", "alerts")
    budget = goal["count"] / goal["of"] if "count" in goal else rate(goal["rate"]) if goal["kind"] in ("max-fpr", "top") else None
    series: list = []
    for tag in re.findall(r'<g class="values"[^>]*>', report):
        named = {name: html.unescape(value) for name, value in re.findall(r'data-([a-z]+)="([^"]*)"', tag)}
        if (named.get("x"), named.get("y")) == _AXES[counts_all]:
            series.append((named.get("name"), [tuple(map(float, point.split(",")[2:4])) for point in named["points"].split(";")]))
    at = next((points[0] for name, points in series if name == "the model's threshold"), None)
    points = next((points for name, points in series if name != "the model's threshold"), None)
    if not points or not any(x > 0 for x, _ in points):
        raise Error("a training without a curve", "rows of both classes that were held out")
    return Curve(counts_all, points, at, budget)


def rate(text: str) -> float:
    numerator, _, denominator = text.partition("/")
    return float(numerator) / float(denominator or 1)


def percent(x: float) -> str:
    return f"{100 * x:.3g} %"


def plot(curve: Curve, ax: Any = None) -> Any:
    """Draws a curve with matplotlib and returns the axes."""
    if ax is None:
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise Error("plot without matplotlib", "matplotlib", fix="pip install matplotlib, or report() for figures that need nothing") from None
        ax = plt.subplots(figsize=(6, 3.4), layout="constrained")[1]
    ax.plot(*zip(*curve.points), color=_BLUE, label="held-out rows")
    if curve.budget is not None:
        ax.axvline(curve.budget, color=_ORANGE, linestyle="--", label=f"budget {percent(curve.budget)}")
    if curve.at is not None:
        ax.plot(*curve.at, "o", color=_BLUE, markerfacecolor="none", markersize=9, label=f"threshold: {percent(curve.at[1])} found")
    ax.set(xscale="log", xlim=(curve.low, 1), ylim=(0, 1.02), xlabel=curve.label, ylabel="positives found")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda x, _: percent(x))
    ax.grid(alpha=0.3)
    ax.legend(loc="best")
    return ax


def _drawing(curve: Curve) -> str:
    """Returns the curve as an SVG image of 460 x 250."""
    left, right, top, bottom = 52.0, 444.0, 34.0, 206.0
    low = math.log10(curve.low)

    def place(x: float, y: float) -> tuple[float, float]:
        return left + (right - left) * (max(math.log10(x), low) - low) / -low if x > 0 else left, bottom - (bottom - top) * y

    out = []
    for tenth in range(0, 11, 2):
        _, y = place(1, tenth / 10)
        out.append(f'<path d="M{left} {y:.1f}H{right}" stroke="{_GREY}" stroke-opacity=".3"/><text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{10 * tenth} %</text>')
    for power in range(round(low), 1):
        x, _ = place(10.0**power, 0)
        out.append(f'<path d="M{x:.1f} {top}V{bottom + 4}" stroke="{_GREY}" stroke-opacity=".3"/>'
                   f'<text x="{x:.1f}" y="{bottom + 17}" text-anchor="{"end" if power == 0 else "middle"}">{percent(10.0**power)}</text>')
    line = "L".join(f"{x:.1f} {y:.1f}" for x, y in (place(*p) for p in curve.points))
    out.append(f'<path d="M{line}" fill="none" stroke="{_BLUE}" stroke-width="2" stroke-linejoin="round"/>')
    said = "positives found"
    if curve.budget is not None:
        x, _ = place(curve.budget, 0)
        out.append(f'<path d="M{x:.1f} {top}V{bottom}" stroke="{_ORANGE}" stroke-width="1.5" stroke-dasharray="5 4"/>'
                   f'<text x="{right}" y="16" text-anchor="end" fill="{_ORANGE}">budget {percent(curve.budget)}</text>')
    if curve.at is not None:
        x, y = place(*curve.at)
        out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5.5" fill="none" stroke="{_BLUE}" stroke-width="2"/>')
        said += f", at the threshold {percent(curve.at[1])}"
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="460" height="250" viewBox="0 0 460 250" font-family="sans-serif" font-size="12" fill="{_GREY}">'
            f'<text x="4" y="16">{said}</text>{"".join(out)}<text x="{(left + right) / 2}" y="242" text-anchor="middle">{curve.label}</text></svg>')


def _interval(found: dict) -> str:
    i = found.get("interval")
    return f"95 % CI {percent(i['low'])} to {percent(i['high'])}" if i else ""


def _tiles(result: dict) -> list[tuple[str, str, str, str]]:
    """Returns for each tile its value, what it is, a remark and its mark."""
    at = result.get("test_at_threshold") or result["out_of_fold_at_threshold"]
    found, real, false = at["true_positive_rate"], at["precision"], at["false_positive_rate"]
    tiles = [(percent(found["rate"]), "of the positives found", _interval(found), ""),
             (f"{1000 * real['rate']:.0f}" if at["true_positives"] + at["false_positives"] else "none", "of 1,000 alerts real", _interval(real), "")]
    goal, expected = result["goal"], result.get("expected")
    if goal["kind"] in ("max-fpr", "top", "alerts") and expected:
        budget = goal["count"] / goal["of"] if "count" in goal else rate(goal["rate"])
        what = "false alarms expected" if goal["kind"] == "max-fpr" else "of all rows expected as alerts"
        measured = ""
        if "test_at_threshold" in result:
            counts = (at["true_positives"], at["false_positives"], at["true_negatives"], at["false_negatives"])
            measured = f", test part {percent(false['rate'] if goal['kind'] == 'max-fpr' else sum(counts[:2]) / sum(counts))}"
        return tiles + [(percent(expected["rate"]), what, f"budget {percent(budget)}{measured}", "✓" if expected["rate"] <= budget * (1 + 1e-9) else "✗")]
    return tiles + [(percent(false["rate"]), "false alarms, of the negatives", _interval(false), "")]


def page(model: Any) -> str:
    """Returns what a notebook shows of a fitted classifier."""
    esc = html.escape
    tiles = "".join(f'<div style="border:1px solid {_GREY};border-radius:6px;padding:6px 12px;min-width:120px">'
                    f'<div style="font-size:24px;font-weight:600">{esc(value)}{" " + mark if mark else ""}</div><div>{esc(what)}</div>'
                    f'<div style="font-size:12px;opacity:.75">{esc(remark)}</div></div>' for value, what, remark, mark in _tiles(model.result_))
    if model.guarantee_ is not None:
        promise = "<br>".join(esc(line) for line in repr(model.guarantee_).split("\n"))
    else:
        promise = esc(next((line for line in model.result_["summary"] if line.startswith("No guarantee")), "No guarantee."))
    try:
        drawing = base64.b64encode(_drawing(curve_of(model._report, model.result_["goal"])).encode()).decode()
        chart = f'<img alt="positives found against the budget" width="460" height="250" style="max-width:100%" src="data:image/svg+xml;base64,{drawing}">'
    except Error:
        chart = ""
    lines = "".join(f"<li>{esc(line)}</li>" for line in model.result_["summary"])
    return (f'<div style="max-width:720px"><div><code>{esc(repr(model))}</code></div>'
            f'<div style="display:flex;flex-wrap:wrap;gap:8px;margin:8px 0">{tiles}</div><div>{promise}</div>{chart}'
            f"<details><summary>What the numbers mean</summary><ul>{lines}</ul></details></div>")
