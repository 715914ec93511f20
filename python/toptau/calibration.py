"""Thresholds with a guarantee: the same as those of ``toptau threshold``, to the bit.

The decision is score > threshold. A certified threshold is the k-th smallest of n scores that were used for nothing else. With probability at
least 1 - delta over the draw of the scores, a new one is above it with probability at most alpha, if
P(Bin(n, alpha) <= n - k) <= delta (Tong, Feng and Li, Science Advances 4, 2018).
"""

from __future__ import annotations

import decimal
import math
import re
from fractions import Fraction
from typing import Any, NamedTuple, Optional

from .reader import Error, _exp, _log, _log1p, _log_one_plus

_RATE = re.compile(r"[+-]?(?:[0-9]+/[0-9]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)").fullmatch


def rate_of(value: Any, name: str) -> Fraction:
    """Returns the exact rate of "1%", 0.01 or "1/100"."""
    text = str(value).strip()
    body = text[:-1].strip() if text.endswith("%") else text
    try:
        rate = Fraction(body) if _RATE(body) and len(body) <= 400 else Fraction(0)
    except ZeroDivisionError:
        rate = Fraction(0)
    percent = rate / 100 if text.endswith("%") else rate
    if isinstance(value, bool) or not 0 < percent < 1:
        raise Error(f"{name}={value!r}", "a rate between 0 and 1 such as 0.1% or 0.001",
                    fix=f"did you mean {name}={body + '%'!r}?" if 1 <= percent < 100 and text == body else "")
    return percent


def delta_of(value: Any) -> Fraction:
    """Returns the exact probability with which a guarantee may fail. Above one half the confidence was meant."""
    delta = rate_of(value, "delta")
    if delta > Fraction(1, 2):
        raise Error(f"delta={value!r}, the probability with which the guarantee fails", "at most 0.5",
                    fix=f"did you mean delta='{float(100 * (1 - delta)):.3g}%'?")
    return delta


class Goal(NamedTuple):
    """A budget: alpha of the negatives (max-fpr) or of all rows, or none for the absolute top."""

    kind: str  # max-fpr, top or absolute-top
    alpha: Optional[Fraction]

    @property
    def counts_all(self) -> bool:
        return self.kind == "top"


def goal_of(max_fpr: Any = None, top: Any = None, alerts: Any = None, absolute_top: bool = False) -> Goal:
    """Returns the one goal that is set."""
    given = [name for name, value in (("max_fpr", max_fpr), ("top", top), ("alerts", alerts),
                                      ("absolute_top", absolute_top or None)) if value is not None]
    if len(given) != 1:
        raise Error(f"the goals {', '.join(given)}" if given else "no goal", "one goal", fix='max_fpr="0.1%", top="1%" or absolute_top=True')
    if alerts is not None:
        count, slash, of = str(alerts).partition("/")
        if not (slash and count.isdecimal() and of.isdecimal() and 0 < int(count) < int(of)):
            raise Error(f"alerts={alerts!r}", "N alerts in a period with M rows, as the text N/M such as '50/2000000'")
        return Goal("top", Fraction(int(count), int(of)))
    if absolute_top:
        return Goal("absolute-top", None)
    return Goal("max-fpr", rate_of(max_fpr, "max_fpr")) if max_fpr is not None else Goal("top", rate_of(top, "top"))


def _plain(ordered: list[float], alpha: Fraction) -> float:
    """Returns the threshold whose expected rate on a new row is alpha.

    With h = alpha (n+1), j = floor(h) and f = h - j it is z_(j) + f (z_(j+1) - z_(j)) of the scores in descending order (type 6 of Hyndman and
    Fan 1996). For h < 2.3 the weight is f (j+1) / (j+f), which is exact for exponential tails.
    """
    n = len(ordered)
    h = alpha * (n + 1)
    j = math.floor(h)
    high = ordered[n - max(1, j)]
    if j == 0 or j == n or j == h:
        return high
    f = min(max(float(alpha) * float(n + 1) - j, 0.0), 1.0)
    if f > 0 and j + f < 2.3:
        f = min(f * (j + 1) / (j + f), 1.0)
    low = ordered[n - j - 1]
    return high if high == low else max(low, min(high, high * (1 - f) + low * f))


def needed(alpha: Fraction, delta: Fraction) -> int:
    """Returns the fewest scores with which alpha can be certified: the smallest n with (1 - alpha)^n <= delta."""
    n = max(1, int(_log(float(delta)) / _log1p_negative(-float(alpha))))
    while n > 1 and _tail_at_most(n - 1, 0, alpha, delta):
        n -= 1
    while not _tail_at_most(n, 0, alpha, delta):
        n += 1
    return n


def certified_order(n: int, alpha: Fraction, delta: Fraction) -> Optional[int]:
    """Returns the order of the certified threshold among n scores, None if they are too few."""
    if n < needed(alpha, delta):
        return None
    low, high = 0, n  # the largest m with P(Bin(n, alpha) <= m) <= delta
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _tail_at_most(n, middle, alpha, delta) else (low, middle)
    return n - low


class Guarantee(dict):
    """The evidence for a threshold. ``print`` shows three lines: what holds, from which rows, and for which rows.

    ``certified``, ``kind``, ``rate`` and ``delta`` (exact, as texts), ``n`` (calibration scores), ``n_negatives`` (among their rows), ``order``
    (the threshold is this one of the scores, the smallest first) and ``bound`` (the exact probability that the guarantee fails; for
    absolute-top the bounded rate). A precision or recall has ``tested``, and may have ``recall`` and ``prevalence``, as in model files.
    """

    units = ("negatives", "positives", "rows")  # what the budget counts
    _promises = {"max-fpr": "at most {} of the {} raise a false alarm", "top": "at most {} of all {} become alerts",
                 "absolute-top": "at most {} of the {} raise a false alarm", "min-precision": "at least {} of the alerts are real",
                 "min-recall": "at least {} of the {} are found"}

    def _promise(self) -> str:
        kind = self["kind"]
        rate = self["bound"] if kind == "absolute-top" else float(Fraction(self["rate"]))
        promise = self._promises[kind].format(f"{100 * rate:.3g} %", self.units[{"min-recall": 1, "top": 2}.get(kind, 0)])
        return promise + (", and " + type(self)(self["recall"])._promise() if "recall" in self else "")

    def __repr__(self) -> str:
        kind, names = self["kind"], self.units
        counted = names[{"min-recall": 1, "top": 2, "min-precision": 2}.get(kind, 0)]
        if kind == "min-precision":
            at = self["tested"][-1]
            how = f"{at['real']:,} of the {at['alerts']:,} alerts among them are real"
        else:
            how = f"the threshold is score {self['n'] - self['order'] + 1:,} from the top"
        fails = self["delta"] if kind in ("absolute-top", "min-precision") else self["bound"]
        confidence = f"{100 * (1 - float(Fraction(self['delta']))):.6g} % confidence"
        return (f"{'Guaranteed' if self['certified'] else 'Not certified'}: {self._promise()}, with {confidence}.\n"
                f"From {self['n']:,} {counted} set aside for this: {how}.\n"
                f"For new rows from the source of these rows. The probability that it fails is at most {100 * float(Fraction(fails)):.3g} %.")


def threshold(scores: Any, goal: Goal, delta: Optional[Fraction], negatives: Optional[int] = None) -> tuple[float, Optional[Guarantee]]:
    """Returns the threshold of the scores of the rows that the goal counts, and its guarantee, None without delta.

    negatives is the number of negatives among the rows; without it all are.
    """
    ordered = sorted(map(float, scores))
    n = len(ordered)
    rows = "rows" if goal.counts_all else "negatives"
    if n == 0:
        raise Error("no calibration scores", f"scores of {rows} that were used for nothing else")
    if any(not math.isfinite(z) for z in (ordered[0], ordered[-1])) or any(z != z for z in ordered):
        raise Error("a calibration score that is not finite", "finite scores")
    if delta is None:
        return (ordered[-1] if goal.alpha is None else _plain(ordered, goal.alpha)) + 0.0, None  # -0 becomes 0
    if goal.alpha is None:
        order, bound = n, _absolute_bound(n, float(delta))
    else:
        found = certified_order(n, goal.alpha, delta)
        if found is None:
            raise Error(f"{n} calibration {rows}", f"at least {needed(goal.alpha, delta)} to keep a rate of {rate_text(goal.alpha)} with confidence "
                        f"1 - {rate_text(delta)}", fix="more rows, a larger rate, or no delta")
        order, bound = found, binomial_at_most(n, n - found, float(goal.alpha))
    rate = {} if goal.alpha is None else {"rate": rate_text(goal.alpha)}
    return ordered[order - 1] + 0.0, Guarantee(certified=True, kind=goal.kind, **rate, delta=rate_text(delta), n=n,
                                               n_negatives=n if negatives is None else negatives, order=order, bound=bound)


def rate_text(rate: Optional[Fraction]) -> Optional[str]:
    """Returns a rate as a decimal, or as a fraction if no finite decimal exists."""
    if rate is None:
        return None
    with decimal.localcontext(decimal.Context(prec=60)) as c:
        text = format(decimal.Decimal(rate.numerator) / rate.denominator, "f")
        return str(rate) if c.flags[decimal.Inexact] else text


# ---- The binomial distribution, with the roundings of toptau ----


def _tail_at_most(n: int, m: int, alpha: Fraction, delta: Fraction) -> bool:
    """Reports whether P(Bin(n, alpha) <= m) <= delta. If floats do not decide, decimals of 120 digits do."""
    tail, d = binomial_at_most(n, m, float(alpha)), float(delta)
    if abs(tail - d) > 1e-9 * d:
        return tail < d
    with decimal.localcontext(decimal.Context(prec=120)):
        p = decimal.Decimal(alpha.numerator) / alpha.denominator
        q = 1 - p
        term = total = q**n
        for j in range(m):
            term = term * (p / q) * (n - j) / (j + 1)
            total += term
    with decimal.localcontext(decimal.Context(prec=90)):
        return +total <= decimal.Decimal(delta.numerator) / delta.denominator


def binomial_at_most(n: int, k: int, p: float) -> float:
    """Returns P(Bin(n, p) <= k)."""
    return _at_least(n, n - k, 1 - p, p)


def _at_least(n: int, k: int, p: float, q: float) -> float:
    if k <= 0:
        return 1.0
    if k > n or p == 0:
        return 0.0
    if q == 0:
        return 1.0
    if float(k) > n * p:
        return _falling_tail(n, k, p, q)
    return max(0.0, 1 - _falling_tail(n, n - k + 1, q, p))


def _falling_tail(n: int, k: int, p: float, q: float) -> float:
    term, total, j = _mass(n, k, p, q), 0.0, k
    while j <= n and term > total * 1e-17:
        total += term
        term = term * (((n - j) * p) / ((j + 1) * q))
        j += 1
    return min(total, 1.0)


def _mass(n: int, k: int, p: float, q: float) -> float:
    """Returns P(Bin(n, p) = k) by Loader's expansion, for p and q above 0."""
    if k == 0:
        return _exp(n * _log_complement(p, q))
    if k == n:
        return _exp(n * _log_complement(q, p))
    x, y, m = float(k), float(n - k), float(n)
    exponent = _stirling_error(n) - _stirling_error(k) - _stirling_error(n - k) - _deviance(x, m * p) - _deviance(y, m * q)
    return _exp(exponent) * math.sqrt(m / (x * y)) * 0.39894228040143267793994605993438186847585863


def _log_complement(p: float, q: float) -> float:
    return _log1p_negative(-p) if p < 0.5 else _log(q)


def _log1p_negative(x: float) -> float:
    """Returns log(1 + x) for x from -1 to 0, as the reader's does for positive ones."""
    if abs(x) < 2.0**-54:
        return x
    if x > -0.29:
        return _log_one_plus(x, 0.0, 0)
    u = 1 + x
    lost = x - (u - 1)
    m, k = math.frexp(u)
    if m < math.sqrt(2) / 2:
        m, k = m * 2, k - 1
    return _log_one_plus(m - 1, lost / u, k)


def _deviance(x: float, m: float) -> float:
    """Returns x log(x/m) + m - x without cancellation for x near m."""
    d = x - m
    if abs(d) < 0.1 * (x + m):
        v = d / (x + m)
        total, power = d * v, 2 * x * v
        v *= v
        j = 3
        while True:
            power = power * v
            following = total + power / j
            if following == total:
                return total
            total, j = following, j + 2
    return x * _log(x / m) + m - x


_STIRLING = (
    0.0, 0.0810614667953272582196702, 0.0413406959554092940938221, 0.02767792568499833914878929, 0.02079067210376509311152277,
    0.01664469118982119216319487, 0.01387612882307074799874573, 0.01189670994589177009505572, 0.010411265261972096497478567,
    0.009255462182712732917728637, 0.008330563433362871256469318, 0.007573675487951840794972024, 0.006942840107209529865664152,
    0.006408994188004207068439631, 0.005951370112758847735624416, 0.005554733551962801371038690,
)


def _stirling_error(n: int) -> float:
    """Returns log(n!) - log(sqrt(2 pi n) (n/e)^n)."""
    if n < len(_STIRLING):
        return _STIRLING[n]
    x = float(n)
    s = 1 / (x * x)
    return (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s * (1.0 / 1680 - s * (1.0 / 1188))))) / x


def _absolute_bound(n: int, delta: float) -> float:
    """Returns 1 - delta^(1/n)."""
    x = _log(delta) / n
    if x < -0.5:
        return 1 - _exp(x)
    term, total, j = x, 0.0, 2
    while total + term != total:
        total += term
        term = term * (x / j)
        j += 1
    return -total
