"""Scores records with a toptau model.

One file without dependencies, which also works alone: copy it as toptau.py. Every score has the bits of ``toptau score``, with
numpy, which makes batches fast, and without.

    import toptau

    model = toptau.Model("model.json")
    model.score({"bytes": 312.0, "service": "http"})      # one record: a float
    model.decision_function(frame)                        # scores of rows
    model.predict(frame, at="strict")                     # score > threshold of an operating point
    model.explain({"bytes": 312.0, "service": "http"})    # what each column adds

Rows are a data frame, a list of dicts, any iterable of dicts such as ``csv.DictReader``, or a 2-D array with
one column for each of ``Model.columns``.

Values: None, NaN, NA and the empty text are missing, and so are the spellings that the training file used. A
number is taken unchanged. A text in a numeric column is read as toptau reads a field of a file: a decimal
number, NaN for a missing value, and true, false, t and f, in any case, for 1 and 0. Blanks around a value are
not part of it. A number in a categorical column is its decimal text (80 and 80.0 are "80"), and True and False
are the categories of these names. Columns of times accept texts, datetime objects and
numbers since 1970. Columns that the model does not know are ignored; an absent column that has a weight is an error.

A model file is refused if its checksum does not match, if it has a form or a part that toptau does not write,
or if a probe row does not have the recorded score. Certificates, guarantees and signatures are not checked
again: ``toptau inspect`` does that. Loading takes time in proportion to the size of the file, and memory of at
most 40 times its size, which ``MAX_BYTES`` limits.
"""

from __future__ import annotations

import datetime
import decimal
import hashlib
import ipaddress
import json
import math
import os
import re
import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import groupby
from operator import add, index, mul
from typing import Any, Callable, NamedTuple, Optional

try:
    import numpy as np
except ImportError:  # everything works without it, only batches are slower
    np = None

__version__ = "0.2.0"
__all__ = ["Error", "Explanation", "MAX_BYTES", "Model", "Point", "Reason"]

MAX_BYTES = 1 << 28
"""The largest model file that is read, in bytes. Set it higher for larger models."""

FORMAT = 1  # the version of the model files that this reader knows
FEW_ROWS = 64  # fewer rows are scored one by one: numpy's calls would take longer. Measured, not critical
CHUNK = 16384  # rows that numpy scores together: large, because each column costs a few calls
GROUP_NODES = 512  # leaves and nodes of trees that numpy evaluates together: more at a time leave the cache, fewer need more calls. Measured
GROUP_SPACE = 1 << 21  # rows times nodes that are in memory at the same time
INF = math.inf
NAN = math.nan


class Error(ValueError):
    """A problem that the user can fix. The text has all parts that are known:

        FILE: row ROW: column "COLUMN": FOUND, expected EXPECTED (FIX)
    """

    def __init__(self, found: str, expected: str = "", *, file: str = "", row: int = 0, column: str = "", fix: str = ""):
        super().__init__(found, expected)
        self.found, self.expected, self.fix = found, expected, fix
        self.file, self.row, self.column = file, row, column  # row: from 1; 0: none

    def __str__(self) -> str:
        text = f"{self.file}: " if self.file else ""
        text += f"row {self.row}: " if self.row else ""
        text += f"column {_quote(self.column)}: " if self.column else ""
        text += self.found
        text += f", expected {self.expected}" if self.expected else ""
        text += f" ({self.fix})" if self.fix else ""
        return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)

    def __reduce__(self):
        return _restore_error, (self.__dict__,)


def _restore_error(fields: dict) -> Error:
    e = Error(fields["found"], fields["expected"])
    e.__dict__.update(fields)
    return e


def _quote(text: Any) -> str:
    """Returns a value for a message, cut if it is long."""
    text = str(text)
    return json.dumps(text if len(text) <= 60 else text[:60] + "...", ensure_ascii=False)


# ---- Numbers and texts, as the readers of files read them ----

_DECIMAL = re.compile(r"[ \t]*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[ \t]*").fullmatch


_MAX_NUMBER = 4096  # characters of a number


def _parse_number(text: str) -> Optional[float]:
    """Returns the nearest float of a decimal number; None for other text and for numbers that are too large or too long."""
    if _DECIMAL(text) is None or len(text) > _MAX_NUMBER and len(text.strip(" \t")) > _MAX_NUMBER:
        return None
    x = float(text)
    return x if -INF < x < INF else None


_WORDS = {"true": 1.0, "t": 1.0, "false": 0.0, "f": 0.0, "nan": NAN, "+nan": NAN, "-nan": NAN}


def _parse_field(text: str) -> Optional[float]:
    """Returns the number of a field of a numeric column, NaN if it is missing; None if it has none."""
    return _WORDS.get(text.lower()) if text.lower() in _WORDS else _parse_number(text)


def _with_point(text: str, mark: str) -> str:
    """Returns a number that has a decimal mark with a point, and without the marks between groups of three digits."""
    if not mark or "," not in text and "." not in text:
        return text
    group = "," if mark == "." else "."
    whole, point, fraction = text.partition(mark)
    if group in whole and not re.fullmatch(r"[+-]?[0-9]{1,3}(?:[.,][0-9]{3})+", whole):
        return text + group + group  # no number
    return whole.replace(group, "") + point.replace(",", ".") + fraction


_UNITS = ("%", "$", "€", "£", "¥")


def _without_unit(text: str, unit: str) -> str:
    """Returns a number without the unit after it, or before it and after its sign."""
    if text.endswith(unit):
        return text[:-len(unit)].strip(" \t")
    sign = text[:1] if text[:1] in ("+", "-") else ""
    return sign + text[len(sign) + len(unit):].strip(" \t") if text[len(sign):].startswith(unit) else text


def _digits(x: float) -> tuple[str, str, int]:
    """Returns sign, digits without zeros at their ends, and exponent: x = 0.DIGITS * 10^exponent."""
    sign, digits, exponent = decimal.Decimal(repr(x + 0.0)).as_tuple()  # 0 has no sign
    text = "".join(map(str, digits))
    bare = text.rstrip("0")
    return "-" if sign else "", bare, len(text) + int(exponent) if bare else 1


def _plain(x: float) -> str:
    """Returns a float in its shortest form without an exponent: the text of a number in a categorical column and in reasons."""
    sign, digits, point = _digits(x)
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    whole = digits[:point].ljust(point, "0")
    return sign + whole + ("." + digits[point:] if len(digits) > point else "")


def _is_na(value: Any) -> bool:
    """Reports whether a value that is neither text nor number stands for a missing one."""
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")  # that of numpy


def _text(value: Any) -> str:
    """Returns the text of a value; "" if it is missing."""
    if isinstance(value, str):
        return value
    if _is_na(value):
        return ""
    if _is_bool(value):
        return "true" if value else "false"
    if hasattr(value, "__index__"):
        return str(index(value))
    if isinstance(value, decimal.Decimal) and value.is_finite():
        text = format(value + 0, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    if isinstance(value, (datetime.datetime, datetime.date)):
        return str(value)
    try:
        x = float(value)
    except (TypeError, ValueError, OverflowError):
        raise Error(f"a value of type {type(value).__name__}", "a text or a number") from None
    if x != x:
        return ""
    if math.isinf(x):
        raise Error(repr(x), "a finite number")
    return _plain(x)


def _hash_name(salt: str, name: str) -> str:
    """Returns the category that stands for a name in a model with hashed categories."""
    return hashlib.sha256(f"{salt}\0{name}".encode("utf-8", "surrogatepass")).hexdigest()[:24]


_DATE = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]+))?(Z|[+-][0-9]{2}:[0-9]{2})?)?)?"
).fullmatch
_WEEKDAYS = ("thu", "fri", "sat", "sun", "mon", "tue", "wed")  # 1970-01-01 was a Thursday


def _days_before(year: int, month: int, day: int) -> int:
    """Returns the days from 1970-01-01 to a date: years begin in March, so that the leap day is their last."""
    if month <= 2:
        year, month = year - 1, month + 12
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * (month - 3) + 2) // 5 + day - 719469


def _day_of_month(days: int) -> int:
    """Inverts _days_before for the day."""
    era, rest = divmod(days + 719468, 146097)
    year = (rest - rest // 1460 + rest // 36524 - rest // 146096) // 365
    in_year = rest - (365 * year + year // 4 - year // 100)
    return in_year - (153 * ((5 * in_year + 2) // 153) + 2) // 5 + 1


def _parse_time(text: str) -> Optional[tuple[int, int, int]]:
    """Returns seconds and nanoseconds since 1970 and the zone in seconds; None if the text is not a time."""
    text = text.strip(" \t")
    if text[2:3] == text[5:6] == "." and len(text) >= 10:  # 31.05.2024
        text = f"{text[6:10]}-{text[3:5]}-{text[:2]}{text[10:]}"
    match = _DATE(text)
    if match is None:
        x = _parse_number(text)
        return None if x is None else _epoch(x)
    year, month, day = int(match[1]), int(match[2]), int(match[3])
    if not 1 <= month <= 12 or day < 1:
        return None
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if day > (30 if month in (4, 6, 9, 11) else 28 + leap if month == 2 else 31):
        return None
    hour, minute, second = int(match[4] or 0), int(match[5] or 0), int(match[6] or 0)
    zone = 0
    if match[8] and match[8] != "Z":
        zone_hour, zone_minute = int(match[8][1:3]), int(match[8][4:])
        if zone_hour > 23 or zone_minute > 59:
            return None
        zone = (3600 * zone_hour + 60 * zone_minute) * (-1 if match[8][0] == "-" else 1)
    if hour > 23 or minute > 59 or second > 59:
        return None
    nanos = int((match[7] or "")[:9].ljust(9, "0"))
    return 86400 * _days_before(year, month, day) + 3600 * hour + 60 * minute + second - zone, nanos, zone


def _epoch(x: float) -> Optional[tuple[int, int, int]]:
    """Returns the time of a number of seconds, milliseconds, microseconds or nanoseconds since 1970."""
    if not abs(x) <= 1e19:
        return None
    for _ in range(3):
        if abs(x) >= 1e11:
            x /= 1000
    whole = math.floor(x)
    return whole, int((x - whole) * 1e9), 0


def _time_part(part: str, origin: float, time: tuple[int, int, int]) -> float:
    """Returns hour, day or seconds of a time."""
    seconds, nanos, zone = time
    days, in_day = divmod(seconds + zone, 86400)
    if part == "hour":
        return float(in_day // 3600)
    if part == "day":
        return float(_day_of_month(days))
    return float(seconds) - origin + nanos / 1e9


_PRIVATE = [ipaddress.ip_network(n) for n in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")]


def _address_part(part: str, text: str) -> Optional[str]:
    """Returns the network or the range of an IP address; None if the text is none."""
    text = text.strip(" \t")
    head, percent, zone = text.partition("%")
    if len(text) > 60 or percent and (not zone or ":" not in head):
        return None
    if "." in head and any(len(n) > 1 and n[0] == "0" for n in head.rpartition(":")[2].split(".")):
        return None  # ipaddress of Python 3.9.4 and older reads such numbers
    try:
        address = ipaddress.ip_address(head)
    except ValueError:
        return None
    address = getattr(address, "ipv4_mapped", None) or address
    if part == "range":
        if any(address in n for n in _PRIVATE):
            return "private"
        return ("loopback" if address.is_loopback else "link-local" if address.is_link_local
                else "multicast" if address.is_multicast else "public")
    bits = {"/8": (8, 32), "/16": (16, 48), "/24": (24, 64)}[part][address.version == 6]
    return str(ipaddress.ip_network((int(address), bits) if address.version == 4 else (address.packed, bits), strict=False))


# ---- The columns of records ----

_NUMERIC_PARTS, _TEXT_PARTS = ("hour", "day", "seconds"), ("weekday", "/8", "/16", "/24", "range")


class _Column:
    """A feature column of the training file: it turns values into numbers or codes of categories.

    A code is the place of a category; -1 is missing, -2 unknown. So a list of one product for each category,
    then that of unknown and that of missing ones, can be indexed with it.
    """

    def __init__(self, fields: dict, missing: list[str], decimal: str = ""):
        self.name, self.part = fields["name"], fields.get("part", "")
        self.numeric = fields["kind"] == "numeric"
        self.source = fields.get("source") or self.name  # the column of a record that the value comes from
        self.mark = decimal  # of numbers in texts
        self.unit = fields.get("unit", "")  # that numbers in texts may have
        self.origin, self.salt = float(fields.get("origin", 0)), fields.get("salt", "")
        self.missing = {text.strip(" \t") for text in missing} | {""}
        self.missing_numbers = [x for x in map(_parse_number, self.missing) if x is not None]
        self.input: Optional[int] = None  # its place in the program
        self.categories: dict[str, int] = {}
        self.known: dict[str, int] = {}  # those that are not spellings of a missing value
        self.fill: Optional[float] = None  # numeric: replaces a missing value; None: it is an error
        self.absent: Optional[int] = None  # categorical: the code of a missing value; None: it is an error
        self.rare = False  # values that are no category are rare ones instead of unknown ones
        self.truth: tuple[str, str] = ("false", "true")

    def use(self, place: int, text: dict, policy: str, fill: float) -> None:
        """Makes the column an input of the program."""
        self.input, self.rare = place, text.get("rare", False)
        categories = text.get("categories", [])
        self.known = {c: i for i, c in enumerate(categories) if c.strip(" \t") not in self.missing}
        self.categories = {c: i for i, c in enumerate(categories)}
        if policy != "error":
            self.fill = NAN if policy == "indicator" else fill if policy == "median" else 0.0
            self.absent = 0 if policy == "median" else -1
        spellings = [pair for pair in (("false", "true"), ("False", "True"), ("FALSE", "TRUE"))
                     if any(self._spelled(text) in self.categories for text in pair)]
        if spellings:
            self.truth = spellings[0] if len(spellings) == 1 else ("", "")  # several: a bool is an error

    def _spelled(self, text: str) -> str:
        return _hash_name(self.salt, text) if self.salt else text

    def error(self, value: Any, expected: str) -> Error:
        if isinstance(value, (int, float)):
            found = str(value) if isinstance(value, float) or abs(value) < 1 << 64 else "a whole number of more than 20 digits"
        else:
            found = _quote(value) if isinstance(value, str) else f"a value of type {type(value).__name__}"
        return Error(found, expected, column=self.name if not self.part else self.source)

    def no_value(self) -> Error:
        return Error("a missing value", "a number" if self.numeric else "a category", column=self.name,
                     fix="train with --impute median or --impute indicator")

    def is_missing(self, text: str) -> bool:
        return text.strip(" \t") in self.missing

    # The value of a row as the program sees it: a float, or a code.
    def read(self, value: Any) -> float:
        if self.numeric:
            x = self.number(value)
            if x != x and self.input is not None:
                if self.fill is None:
                    raise self.no_value()
                return self.fill
            return x
        return self.code(value)

    def number(self, value: Any) -> float:
        """Returns the number of a value, NaN if it is missing."""
        if isinstance(value, str):
            value = value.strip(" \t")
            if value in self.missing:
                return NAN
            if self.part:
                return self._part_of(value)
            x = _parse_field(_with_point(value, self.mark))
            if x is None and self.unit:
                x = _parse_number(_with_point(_without_unit(value, self.unit), self.mark))
            if x is None:
                raise self.error(value, f"a number, with or without {self.unit}" if self.unit else "a number")
            return x
        if _is_na(value):
            return NAN
        if isinstance(value, (datetime.datetime, datetime.date)):
            if not self.part:
                raise self.error(value, "a number")
            return self._part_of(str(value))
        try:
            x = float(value)
        except (TypeError, ValueError, OverflowError):
            raise self.error(value, "a number") from None
        if math.isinf(x):
            raise self.error(x, "a finite number")
        if x != x or x in self.missing_numbers:
            return NAN
        return self._part_of(_plain(x)) if self.part else x

    def _part_of(self, text: str) -> float:
        time = _parse_time(text)
        if time is None:
            raise Error(_quote(text), "a time such as 2024-05-31 23:59:59, or seconds since 1970", column=self.source)
        return _time_part(self.part, self.origin, time)

    def category(self, value: Any) -> Optional[str]:
        """Returns the category of a value, None if it is missing."""
        if not isinstance(value, str):
            if _is_bool(value):
                value = self.truth[bool(value)]
                if not value:
                    raise self.error(bool(value), "a text: the model has several spellings of true and false")
            elif isinstance(value, float) or type(value).__name__.startswith("float"):
                x = float(value)
                if math.isinf(x):
                    raise self.error(x, "a finite number")
                if x != x or x in self.missing_numbers:
                    return None
                value = self._number_text(_plain(x))
            elif hasattr(value, "__index__") or isinstance(value, decimal.Decimal):
                value = self._number_text(_text(value))
            else:
                if isinstance(value, (datetime.datetime, datetime.date)) and not self.part:
                    raise self.error(value, "a text")
                try:
                    value = _text(value)
                except Error as e:
                    e.column = self.name
                    raise
        value = value.strip(" \t")
        if value in self.missing:
            return None
        if self.part == "weekday":
            time = _parse_time(value)
            if time is None:
                raise Error(_quote(value), "a time such as 2024-05-31 23:59:59, or seconds since 1970", column=self.source)
            value = _WEEKDAYS[(time[0] + time[2]) // 86400 % 7]
        elif self.part:
            found = _address_part(self.part, value)
            if found is None:
                raise Error(_quote(value), "an IP address", column=self.source)
            value = found
        return self._spelled(value)

    def _number_text(self, text: str) -> str:
        """Returns the text of a number, 3 for 3 and 3.0, as a category: 3.0 if the model knows only that."""
        known = self.categories
        return text + ".0" if "." not in text and self._spelled(text) not in known and self._spelled(text + ".0") in known else text

    def code(self, value: Any) -> int:
        return self._code_of(self.category(value))

    def _code_of(self, category: Optional[str]) -> int:
        if self.input is None:
            return -2
        if category is None:
            if self.absent is None:
                raise self.no_value()
            return self.absent
        return self.categories.get(category, -2)

    def probe(self, field: str) -> float:
        """Reads a field of a probe row: it is the part of a time or an address, and may be a hash."""
        if not self.numeric:
            return self._code_of(None if self.is_missing(field) else field if field in self.categories else self._spelled(field))
        part, mark, self.part, self.mark = self.part, self.mark, "", ""
        try:
            return self.read(field)
        finally:
            self.part, self.mark = part, mark

    # The same for many rows.
    def read_all(self, values: Any, first: int) -> Any:
        """Returns an array of numbers, or of codes. first is the number of the first row."""
        if np is None or not isinstance(values, np.ndarray):
            values = list(values) if not isinstance(values, list) else values
            if np is not None and self.numeric and not self.part and set(map(type, values)) <= {float, int}:
                try:
                    values = np.array(values, dtype=np.float64)
                except OverflowError:
                    pass  # the row is found below
        if np is not None and isinstance(values, np.ndarray):
            if values.dtype.kind in "fiu" and not self.part:
                return self._numbers(values, first) if self.numeric else self._codes(values, first)
            if values.dtype.kind == "M":
                values = np.where(np.isnat(values), "", values.astype(str))
            values = values.tolist()
        read, known = self.read, self.known if not self.part and not self.salt else {}
        if not self.numeric and self.input is not None:
            try:
                return self._array([known[v] if v.__class__ is str and v in known else read(v) for v in values])
            except Error:
                pass  # the row is found below
        out = []
        for row, value in enumerate(values):
            try:
                out.append(read(value))
            except Error as e:
                e.row = first + row
                raise
        return self._array(out)

    def _array(self, values: list) -> Any:
        return values if np is None else np.array(values, dtype=np.float64 if self.numeric else np.int32)

    def _numbers(self, values: Any, first: int) -> Any:
        x = values.astype(np.float64, copy=False)
        bad = np.isinf(x)
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            e = self.error(float(x[row]), "a finite number")
            e.row = first + row
            raise e
        for number in self.missing_numbers:
            x = np.where(x == number, NAN, x)
        if self.input is not None and self.fill != self.fill:
            return x  # NaN stays NaN
        absent = np.isnan(x)
        if self.input is not None and absent.any():
            if self.fill is None:
                e = self.no_value()
                e.row = first + int(np.flatnonzero(absent)[0])
                raise e
            x = np.where(absent, self.fill, x)
        return x

    def _codes(self, values: Any, first: int) -> Any:
        distinct, places = np.unique(values, return_inverse=True)
        codes = []
        for i, value in enumerate(distinct.tolist()):
            try:
                codes.append(self.read(value))
            except Error as e:
                e.row = first + int(np.flatnonzero(places == i)[0])
                raise
        return np.array(codes, dtype=np.int32)[places.reshape(values.shape)]


# ---- The program: how values become a score ----
#
# A score is (0 + products of the terms in order) + offset. products returns those of a term for one row, and add_rows adds them to the scores of
# many rows. A product of 0 changes no sum, so a term may have a fixed number of products. owners has the input of each.

_FRACTION = 402653184.0  # 1.5 * 2^28: adding and subtracting it rounds to a multiple of 2^-24, halves to even


def _refuse(what: str) -> Error:
    return Error(f"edited or damaged: {what}", fix="copy or train the model again")


def _numbers(values: Any, what: str, count: int = -1) -> list[float]:
    if values.__class__ is not list or not all(x.__class__ is float or x.__class__ is int for x in values) or count >= 0 and len(values) != count:
        raise _refuse(f"{what} is not a list of numbers of the right length")
    return list(map(float, values))


def _places(values: Any, limit: int, what: str) -> list[int]:
    if values.__class__ is not list or not all(v.__class__ is int and 0 <= v < limit for v in values):
        raise _refuse(f"{what} is not a list of places below {limit}")
    return values


def _ascending(values: list, what: str) -> list:
    if any(a >= b for a, b in zip(values, values[1:])):
        raise _refuse(f"{what} is not ascending")
    return values


_KINDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", list: "a list", dict: "an object"}


def _fields(value: Any, what: str, kinds: dict, required: Iterable[str]) -> dict:
    """Returns an object of a model file after a check of its fields."""
    if value.__class__ is not dict:
        raise _refuse(f"{what} is not an object")
    for name, x in value.items():
        kind = kinds.get(name)
        if kind is None:
            raise _refuse(f"{what} has an unknown field {_quote(name)}")
        if kind is not object and x.__class__ is not kind and not (kind is float and x.__class__ is int):
            raise _refuse(f"{what}: {name} is not {_KINDS[kind]}")
    for name in required:
        if name not in value:
            raise _refuse(f"{what} has no {name}")
    return value


def _too_large(x: float, column: str, row: int = 0) -> Error:
    return Error(f"{x!r} is too large to be scored", "a value that stays below 3e+38 after scaling", column=column, row=row)


class _Numbers:
    """float32((x - shift) / scale) times a weight, for several inputs."""

    def __init__(self, t: Any, p: _Program):
        _fields(t, "numbers", {"inputs": list, "shift": list, "scale": list, "weights": list}, ["weights"])
        self.owners = p.numeric(t.get("inputs", list(range(len(p.columns)))))
        n, self.names = len(self.owners), p.names
        self.weights = _numbers(t["weights"], "weights", n)
        shift, scale = _numbers(t.get("shift", [0.0] * n), "shift", n), _numbers(t.get("scale", [1.0] * n), "scale", n)
        if not all(s > 0 for s in scale):
            raise _refuse("a scale that is not above 0")
        self.parts = list(zip(self.owners, shift, scale))
        self.place = {k: i for i, k in enumerate(self.owners)} if p.sparse else {}
        self.rounded = struct.Struct(f"<{n}f")  # to float32 and back; an error if a value is too large
        self.keeps = p.missing == "indicator"

    def products(self, x: Any) -> list[float]:
        values = [(x[k] - shift) / scale for k, shift, scale in self.parts]
        if self.keeps:
            values = [v if v == v else 0.0 for v in values]
        try:
            return list(map(mul, self.rounded.unpack(self.rounded.pack(*values)), self.weights))
        except OverflowError:
            k = next(k for k, v in zip(self.owners, values) if not abs(v) < 3.4028235677973366e38)
            raise _too_large(float(x[k]), self.names(k)) from None

    def pairs(self, x: _Entries) -> list[tuple[int, float]]:
        """Returns inputs and products of the entries of a LIBSVM row."""
        out = []
        for k, value in x.items():
            i = self.place.get(k)
            if i is not None:
                try:
                    rounded = struct.unpack("<f", struct.pack("<f", (value - self.parts[i][1]) / self.parts[i][2]))[0]
                except OverflowError:
                    raise _too_large(value, self.names(k)) from None
                out.append((k, rounded * self.weights[i]))
        return out

    def add_rows(self, x: Any, z: Any) -> Any:
        for (k, shift, scale), w in zip(self.parts, self.weights):
            v = (x[k] - shift) / scale
            if self.keeps:
                v[np.isnan(v)] = 0
            rounded = v.astype(np.float32)
            if not np.isfinite(rounded).all():
                row = int(np.flatnonzero(~np.isfinite(rounded))[0])
                raise _too_large(float(x[k][row]), self.names(k), row + 1)
            v[:] = rounded
            v *= w
            z += v
        return z

    def add_entries(self, rows: Any, inputs: Any, values: Any, z: Any) -> Any:
        """Adds the products of entries in ascending order of rows and inputs."""
        owners, (_, shift, scale) = np.array(self.owners, dtype=np.int64), zip(*self.parts)
        place = np.minimum(np.searchsorted(owners, inputs), len(owners) - 1)
        hit = np.flatnonzero(owners[place] == inputs)
        rows, place = rows[hit], place[hit]
        rounded = ((values[hit] - np.array(shift)[place]) / np.array(scale)[place]).astype(np.float32)
        bad = np.flatnonzero(~np.isfinite(rounded))
        if len(bad):
            raise _too_large(float(values[hit][bad[0]]), self.names(int(inputs[hit][bad[0]])), int(rows[bad[0]]) + 1)
        # bincount adds in the order of its input, so each sum starts with the score so far.
        products = rounded.astype(np.float64) * np.array(self.weights)[place]
        return np.bincount(np.concatenate([np.arange(len(z)), rows]), np.concatenate([z, products]), len(z))


class _Levels:
    """One product for each category, for other values and for missing ones; of a number only the last."""

    def __init__(self, levels: list, p: _Program):
        self.parts = []  # input, whether it is a number, products by code: those of categories, of other and of missing values
        for t in levels:
            _fields(t, "a level", {"input": int, "missing": bool, "scale": list, "weights": list}, ["input", "weights"])
            (k,) = _places([t["input"]], len(p.columns), "an input")
            text, missing = p.texts.get(k, {}), t.get("missing", False)
            n, rare = len(text.get("categories", [])), text.get("rare", False)
            weights = _numbers(t["weights"], "weights", n + missing + rare)
            scale = _numbers(t.get("scale", [1.0] * len(weights)), "scale", len(weights))
            if not all(s > 0 and 1 / s < 3.4e38 for s in scale):
                raise _refuse("the scales of a level")
            own = [struct.unpack("<f", struct.pack("<f", 1 / s))[0] * w for s, w in zip(scale, weights)]
            self.parts.append((k, k not in p.texts, own[:n] + [own[-1] if rare else 0.0, own[n] if missing else 0.0]))
        self.owners = [k for k, _, _ in self.parts]

    def products(self, x: Any) -> list[float]:
        return [table[(-1 if x[k] != x[k] else -2) if number else x[k]] for k, number, table in self.parts]

    def add_rows(self, x: Any, z: Any) -> Any:
        for k, number, table in self.parts:
            z += np.array(table)[np.where(np.isnan(x[k]), -1, -2) if number else x[k]]
        return z


class _Cards:
    """Two products for each number: the weights of two neighbouring knots, or that of an atom and 0."""

    def __init__(self, cards: list, p: _Program):
        self.parts = []  # input, knots, their weights, weights by atom, atoms, both ends, the product of a missing value
        for t in cards:
            _fields(t, "a card", {"input": int, "knots": list, "atoms": list, "missing": bool, "weights": list}, ["input", "weights"])
            knots, atoms = (_ascending(_numbers(t.get(name, []), name), name) for name in ("knots", "atoms"))
            n, missing, ends = len(knots), t.get("missing", False), knots + atoms
            w = _numbers(t["weights"], "weights", len(ends) + missing)
            if n == 1 or not ends:
                raise _refuse("a card with one knot or without levels")
            self.parts.append((*p.numeric([t["input"]]), knots, w[:n], dict(zip(atoms, w[n:])), atoms, min(ends), max(ends), w[-1] if missing else 0.0))
        self.owners = [part[0] for part in self.parts for _ in "ab"]

    def products(self, x: Any) -> list[float]:
        out = []
        for k, knots, w, by_atom, atoms, low, high, missing in self.parts:
            v = x[k]
            if v != v:
                out += (missing, 0.0)
                continue
            v = low if v < low else high if v > high else v
            if v in by_atom:
                out += (by_atom[v], 0.0)
                continue
            if not knots:  # the nearest atom
                i = bisect_left(atoms, v)
                out += (by_atom[atoms[i if atoms[i] / 2 - v / 2 < v / 2 - atoms[i - 1] / 2 else i - 1]], 0.0)
                continue
            i = bisect_right(knots, v) - 1
            if i < 0:
                i, v = 0, knots[0]
            elif i >= len(knots) - 1:
                i, v = len(knots) - 2, knots[-1]
            a, b = knots[i], knots[i + 1]
            whole = b - a
            f = ((v - a) / whole if whole < INF else (v / 2 - a / 2) / (b / 2 - a / 2)) + _FRACTION - _FRACTION
            out.append((1.0 - f) * w[i])
            out.append(f * w[i + 1])
        return out

    def add_rows(self, x: Any, z: Any) -> Any:
        for k, knots, w, by_atom, atoms, low, high, missing in self.parts:
            absent, clamped, first, second = np.isnan(x[k]), np.clip(x[k], low, high), 0.0, 0.0
            if knots:
                n, u = np.array(knots), np.array(w)
                v = np.clip(clamped, n[0], n[-1]) if atoms else clamped
                i = np.clip(np.searchsorted(n, v, side="right") - 1, 0, len(n) - 2)
                half = np.where(np.isinf(np.diff(n)), 0.5, 1.0)  # halves, where the width of an interval overflows
                f = (v * half[i] - n[i] * half[i]) / (n[1:] * half - n[:-1] * half)[i]
                f += _FRACTION
                f -= _FRACTION
                first, second = (1.0 - f) * u[i], f * u[i + 1]
            if atoms:
                a, u = np.array(atoms), np.array(list(by_atom.values()))
                place = np.minimum(np.searchsorted(a, clamped), len(a) - 1)
                hit = a[place] == clamped
                if not knots:  # the nearest one
                    before = np.maximum(place - 1, 0)
                    place = np.where(hit | (a[place] / 2 - clamped / 2 < clamped / 2 - a[before] / 2), place, before)
                    hit = True
                first, second = np.where(hit, u[place], first), np.where(hit, 0.0, second)
            if absent.any():
                first, second = np.where(absent, missing, first), np.where(absent, 0.0, second)
            z += first
            z += second
        return z


def _ranks(thresholds: Any, x: Any) -> Any:
    """Returns the number of thresholds below each value, which is all of them for NaN. There are 2^n - 1, the last ones infinity.

    It searches all values at the same time, which takes a third of the time of numpy.searchsorted.
    """
    rank, step = np.zeros(len(x), dtype=np.intp), (len(thresholds) + 1) // 2
    while step:
        rank += ~(x <= thresholds.take(rank + (step - 1))) * step
        step //= 2
    return rank.astype(np.uint8 if len(thresholds) < 256 else np.uint16 if len(thresholds) < 65536 else np.uint32)


class _Trees:
    """One product for each tree.

    A node is (input, threshold, left, right): a row goes left if its value is at most the threshold. Where a
    missing value goes left, the node tests the negative value, which is after the inputs and derived columns, and its
    sides are exchanged: -x <= -(the next number above the threshold) is false exactly if x is missing or at
    most the threshold.
    """

    def __init__(self, t: Any, p: _Program):
        _fields(t, "trees", {"inputs": list, "codes": list, "trees": list}, ["inputs", "trees"])
        self.count = count = len(p.columns) + len(p.derived)
        inputs = _ascending(_places(t["inputs"], count, "inputs"), "inputs")
        self.codes = {}  # by input: numbers of its categories, of unknown and of missing ones
        for c in t.get("codes", []):
            _fields(c, "codes", {"input": int, "values": list, "unknown": float}, ["input", "values", "unknown"])
            self.codes[c["input"]] = _numbers(c["values"], "values", len(p.texts[c["input"]]["categories"])) + [float(c["unknown"]), NAN]
        if list(self.codes) != [k for k in inputs if k in p.texts]:
            raise _refuse("codes do not fit the inputs of the trees")
        self.trees, self.place = [], {}  # nodes from the last to the first, terms, masses; inputs of which the negative is tested, and its place
        for tree in t["trees"]:
            _fields(tree, "a tree", {"ask": list, "at": list, "missing_left": list, "mass": list, "weights": list},
                    ["ask", "at", "mass", "weights"])
            at, terms = _numbers(tree["at"], "at"), _numbers(tree["weights"], "weights")
            mass, left = _numbers(tree["mass"], "mass", len(terms)), set(tree.get("missing_left", []))
            nodes = []  # (-1, 0, leaf) or (input, threshold, missing goes left)
            inner, leaves, open_nodes = 0, 0, 1
            for ask in tree["ask"]:
                if ask.__class__ is not int or not -1 <= ask < len(inputs) or not open_nodes or (inner == len(at) if ask >= 0 else leaves == len(terms)):
                    raise _refuse("a tree has a wrong node")
                if ask < 0:
                    nodes.append((-1, 0.0, leaves))
                    leaves, open_nodes = leaves + 1, open_nodes - 1
                    continue
                ask = inputs[ask]
                if inner in left:
                    self.place.setdefault(ask, count + len(self.place))
                nodes.append((ask, at[inner], inner in left))
                inner, open_nodes = inner + 1, open_nodes + 1
            if open_nodes or leaves != len(terms) or inner != len(at) or not all(m > 0 for m in mass):
                raise _refuse("a tree is not complete")
            nodes.reverse()
            self.trees.append((nodes, terms, mass))
        self.owners = []
        self.roots = [self._build(nodes, terms) for nodes, terms, _ in self.trees]
        self.explained: Optional[list] = None
        self.groups: Optional[list] = None  # for many rows, with thresholds, tests, space and rank_kind: set by _group

    def _build(self, nodes: list, leaves: list) -> Any:
        """Returns the root of a tree with these leaves. Nodes are in reverse order: both sides come before their node."""
        done: list = []
        for k, at, left in nodes:
            if k < 0:
                done.append(leaves[left])
            elif left:
                low, high = done.pop(), done.pop()
                done.append((self.place[k], -math.nextafter(at, INF), high, low))
            else:
                low, high = done.pop(), done.pop()
                done.append((k, at, low, high))
        return done[0]

    def _values(self, x: Any) -> Any:
        """Returns the values that the nodes test."""
        for k, values in self.codes.items():
            x[k] = values[x[k]]
        return _extended(x, self.count, [-x[k] for k in self.place])

    def products(self, x: Any) -> list[float]:
        x, out = self._values(x.copy()) if self.codes or self.place else x, []
        for node in self.roots:
            while node.__class__ is tuple:
                k, at, low, high = node
                node = low if x[k] <= at else high
            out.append(node)
        return out

    def add_rows(self, x: Any, z: Any) -> Any:
        """Adds the terms of the leaves of all rows, tree by tree.

        The leaves of a group of trees are computed from the leaves up, all nodes of a height in a few calls, in whole numbers: a node has the number
        of the leaf on its left or on its right side, left + (rank > that of the threshold) * (right - left).
        """
        x = x.copy()
        for k, values in self.codes.items():
            x[k] = np.array(values)[x[k]]
        if self.groups is None:
            self._group()
        ranks = {k: _ranks(thresholds, x[k]) for k, thresholds in self.thresholds.items()}
        columns = [np.where(np.isnan(x[k]), 0, ranks[k]) if left else ranks[k] for k, left in self.tests]
        nodes, level, kind = self.space
        step = max(1, min(len(z), GROUP_SPACE // nodes))
        for first in range(0, len(z), step):
            part = z[first:first + step]
            n = len(part)
            rank = np.empty((len(columns), n), self.rank_kind)
            for to, column in zip(rank, columns):
                to[:] = column[first:first + n]
            number, low, high = (np.empty((rows, n), kind) for rows in (nodes, level, level))
            of_test, test = np.empty((level, n), rank.dtype), np.empty((level, n), bool)
            leaf, term = np.empty(n, np.intp), np.empty(n)
            for leaves, levels, roots in self.groups:
                at = len(leaves)
                number[:at] = leaves
                for tests, cuts, left, right in levels:
                    k = len(tests)
                    to, at, a, b = number[at:at + k], at + k, low[:k], high[:k]
                    above = np.greater(rank.take(tests, 0, of_test[:k], "clip"), cuts, test[:k]).view(np.uint8)
                    if right is None:  # two leaves
                        np.add(left, above, to)
                        continue
                    number.take(left, 0, a, "clip")
                    number.take(right, 0, b, "clip")
                    b -= a  # numbers wrap around, and their sum wraps back
                    b *= above
                    np.add(a, b, to)
                for root, terms in roots:
                    leaf[:] = number[root]
                    part += terms.take(leaf, None, term, "clip")
        return z

    def _group(self) -> None:
        """Puts the trees into groups for add_rows, with the places of thresholds among those of their input."""
        found: dict[int, set] = {}
        for nodes, _, _ in self.trees:
            for k, at, _ in nodes:
                if k >= 0:
                    found.setdefault(k, set()).add(at)
        places = {k: {at: i for i, at in enumerate(sorted(s))} for k, s in found.items()}
        self.thresholds = {k: np.array([*s, *[INF] * ((1 << len(s).bit_length()) - 1 - len(s))]) for k, s in places.items()}
        most = max(map(len, self.thresholds.values()), default=0)
        self.rank_kind = np.uint8 if most < 256 else np.uint16 if most < 65536 else np.uint32
        kind = np.uint8 if all(len(terms) <= 256 for _, terms, _ in self.trees) else np.uint32
        self.groups, self.tests, space, level = [], {}, 1, 1
        trees = self.trees
        while trees:
            count, size = 1, len(trees[0][0])
            while count < len(trees) and size + len(trees[count][0]) <= GROUP_NODES:
                size, count = size + len(trees[count][0]), count + 1
            leaves, levels, roots = self._levels(trees[:count], places, kind)
            self.groups.append((leaves, levels, roots))
            space = max(space, len(leaves) + sum(len(tests) for tests, _, _, _ in levels))
            level, trees = max([level, *(len(tests) for tests, _, _, _ in levels)]), trees[count:]
        self.space = space, level, kind

    def _levels(self, trees: list, places: dict, kind: Any) -> tuple:
        """Returns what a group of trees reads: leaves that are a side of a higher node, the nodes by height, the roots and terms.

        A level is the tests, the ranks of thresholds, and the places of left and right sides among leaves and nodes; of two leaves the number of the left one.
        """
        nodes: list = []  # height, test, rank of the threshold, left and right side: the place of a node, or -1 - the number of a leaf
        roots = []
        for tree, _, _ in trees:
            done: list = []  # height, side
            for k, at, left in tree:
                if k < 0:
                    done.append((0, ~left))
                    continue
                (a, low), (b, high) = done.pop(), done.pop()
                done.append((1 + max(a, b), len(nodes)))
                nodes.append((1 + max(a, b), self.tests.setdefault((k, left), len(self.tests)), places[k][at], low, high))
            roots.append(done[0][1])
        sides = {side for height, _, _, *both in nodes if height > 1 for side in both} | set(roots)
        leaves = sorted(side for side in sides if side < 0)
        order = sorted(range(len(nodes)), key=lambda i: nodes[i][0])
        place = {side: i for i, side in enumerate(leaves + order)}
        levels = []
        for height, some in groupby((nodes[i] for i in order), key=lambda node: node[0]):
            _, tests, cuts, low, high = zip(*some)
            cuts = np.array(cuts, self.rank_kind)[:, None]
            if height == 1:
                levels.append((np.array(tests), cuts, np.array([~side for side in low], kind)[:, None], None))
            else:
                levels.append((np.array(tests), cuts, *(np.array([place[side] for side in sides]) for sides in (low, high))))
        return np.array([~side for side in leaves], kind)[:, None], levels, [(place[r], np.array(terms)) for r, (_, terms, _) in zip(roots, trees)]

    def explain(self, x: Any, adds: list[float]) -> list[float]:
        """Adds to each input what the steps that test it change in the mean weight. Returns the means of the roots."""
        if self.explained is None:
            self.explained = []
            for nodes, terms, mass in self.trees:
                done: list = []  # (input, threshold, left, right, mean, mass, missing goes left)
                for k, at, left in nodes:
                    if k < 0:
                        done.append((-1, 0.0, None, None, terms[left], mass[left], False))
                        continue
                    low, high = done.pop(), done.pop()
                    total = low[5] + high[5]
                    mean = low[4] + (high[4] - low[4]) * (high[5] / total)
                    done.append((k, at, low, high, mean, total, left))
                self.explained.append(done[0])
        x = self._values(x.copy())
        for node in self.explained:
            while node[0] >= 0:
                v = x[node[0]]
                child = node[2] if v <= node[1] or node[6] and v != v else node[3]
                adds[node[0]] += child[4] - node[4]
                node = child
        return [root[4] for root in self.explained]


_TERMS: dict[str, Callable] = {"numbers": _Numbers, "levels": _Levels, "cards": _Cards, "trees": _Trees}


class _Entries(dict):
    """The values of a LIBSVM row by input; others are 0."""

    def __missing__(self, k: int) -> float:
        return 0.0

    def copy(self) -> _Entries:
        return _Entries(self)


def _extended(x: Any, first: int, values: list) -> Any:
    """Sets the values of inputs from first on, which are after all others, and returns x."""
    if x.__class__ is list:
        x += values
    else:
        x.update(zip(range(first, first + len(values)), values))
    return x


class _Program:
    """The program of a model file."""

    def __init__(self, fields: dict, schema: list[_Column], sparse: bool):
        _fields(fields, "program", {"missing": str, "columns": list, "fill": list, "texts": list, "derived": list, "terms": list, "offset": float,
                                    "named": list, "known": list}, ["missing", "columns", "terms", "offset"])
        self.sparse, self.missing, self.offset = sparse, fields["missing"], float(fields["offset"])
        if self.missing not in ("error", "median", "zero", "indicator"):
            raise _refuse(f"the policy {_quote(self.missing)} for missing values")
        self.columns = _ascending(_places(fields["columns"], 1 << 32 if sparse else len(schema), "columns"), "columns")
        n = len(self.columns)
        self.texts = {}
        for t in fields.get("texts", []):
            _fields(t, "a text", {"input": int, "categories": list, "rare": bool}, ["input", "categories"])
            if not all(c.__class__ is str for c in t["categories"]) or len(set(t["categories"])) != len(t["categories"]) or sparse:
                raise _refuse("wrong categories")
            self.texts[t["input"]] = t
        fill = _numbers(fields.get("fill", [0.0] * n), "fill", n)
        self.schema = [] if sparse else [schema[place] for place in self.columns]
        for k, c in enumerate(self.schema):
            if c.numeric == (k in self.texts):
                raise _refuse(f"column {_quote(c.name)} does not fit the schema")
            c.use(k, self.texts.get(k, {}), self.missing, fill[k])
        self.derived = []  # operation and places of two inputs
        for d in fields.get("derived", []):
            _fields(d, "a derived column", {"op": str, "a": int, "b": int}, ["op", "a", "b"])
            if d["op"] not in ("-", "*", "/"):
                raise _refuse("the operation of a derived column")
            self.derived.append((d["op"], *self.numeric([d["a"], d["b"]])))
        self.named = _places(fields.get("named", list(range(n))), n, "named")
        self.known = {i + 1 for i in self.columns} | {i + 1 for i in _places(fields.get("known", []), 1 << 32, "known")} if sparse else set()
        self.terms = []
        for term in fields["terms"]:
            (kind, t), = term.items()
            if kind not in _TERMS:
                raise Error(f"a term of kind {_quote(kind)}", "a kind that this reader knows", fix="use the reader of a newer toptau")
            self.terms.append(_TERMS[kind](t, self))
        if not self.terms:
            raise _refuse("no terms")
        self.dense = [] if all(t.__class__ is _Numbers for t in self.terms) else self.named  # LIBSVM: the inputs that other terms read

    def names(self, k: int) -> str:
        return f"index {self.columns[k] + 1}" if self.sparse else self.schema[k].name

    def numeric(self, inputs: list) -> list[int]:
        if any(k in self.texts for k in _places(inputs, len(self.columns), "inputs")):
            raise _refuse("an input that is not a number")
        return inputs

    def derive(self, x: Any) -> Any:
        """Returns the values of the inputs of one row, and of the derived columns after them."""
        return _extended(x.copy(), len(self.columns), [_derived(op, x[a], x[b]) for op, a, b in self.derived]) if self.derived else x

    def derive_rows(self, x: Any) -> Any:
        """The same for arrays with the values of many rows."""
        values = []
        for op, a, b in self.derived if x else ():  # without dense inputs nothing reads them
            u, v = x[a], x[b]
            used = _are_parts(u) & _are_parts(v)
            if op == "/":
                used &= v != 0
            values.append(np.where(used, u - v if op == "-" else u * v if op == "*" else u / v, NAN))
        return _extended(x, len(self.columns), values)

    def score(self, x: Any) -> float:
        z, x = 0.0, self.derive(x)
        for t in self.terms:
            # Not sum, which rounds in another way from Python 3.12 on.
            z = reduce(add, [p for _, p in t.pairs(x)] if x.__class__ is _Entries and t.__class__ is _Numbers else t.products(x), z)
        z += self.offset
        if z - z != 0:
            raise Error("a score that is not finite", "values like those of the training data")
        return z

    def divide(self, x: Any) -> tuple[list[float], float]:
        """Returns what each of named adds to the score, and the rest with the offset."""
        x, adds, rest, named = self.derive(x), [0.0] * (len(self.columns) + len(self.derived)), 0.0, set(self.named)
        for t in self.terms:
            for k, product in t.pairs(x) if x.__class__ is _Entries and t.__class__ is _Numbers else zip(t.owners, t.products(x) if t.owners else ()):
                if k in named:
                    adds[k] += product
                else:
                    rest += product
        for t in self.terms:
            if t.__class__ is _Trees:
                for mean in t.explain(x, adds):
                    rest += mean
        for i, (_, a, b) in enumerate(self.derived):
            half = adds[len(self.columns) + i] / 2
            adds[a] += half
            adds[b] += half
        return [adds[k] for k in self.named], self.offset + rest


_MIN_PART, _MAX_PART = 2.0**-500, 2.0**500  # the absolute values other than 0 that derived columns use


def _derived(op: str, a: float, b: float) -> float:
    """Returns the value of a derived column, NaN if it is missing."""
    if not (a == 0 or _MIN_PART <= abs(a) <= _MAX_PART) or not (b == 0 or _MIN_PART <= abs(b) <= _MAX_PART):
        return NAN
    if op == "-":
        return a - b
    if op == "*":
        return a * b
    return a / b if b != 0 else NAN


def _are_parts(x: Any) -> Any:
    size = np.abs(x)
    return (x == 0) | (size >= _MIN_PART) & (size <= _MAX_PART)


# ---- Probabilities: exp and log as toptau computes them, so that every bit is the same ----

_LN2_HIGH, _LN2_LOW = float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")


def _roots_of_two() -> list[tuple[float, float]]:
    """Returns 2^(j/32) for j = 0 to 31, each as a float and what is left of it."""
    table = []
    for j in range(32):
        root = 1 << (j + 32 * 160)
        for _ in range(5):
            root = math.isqrt(root)
        high = root / (1 << 160)  # whole numbers: rounded once
        a, b = high.as_integer_ratio()
        table.append((high, (root * b - (a << 160)) / (b << 160)))
    return table


_ROOTS = _roots_of_two()


def _exp(x: float) -> float:
    if x != x:
        return x
    if x > 709.782712893384:
        return INF
    if x < -745.1332191019412:
        return 0.0
    if abs(x) < 2.0**-54:
        return 1 + x
    n = math.floor(x * 46.166241308446829 + 0.5)  # 32 / log 2
    high, low = x - n * (_LN2_HIGH / 32), n * (_LN2_LOW / 32)
    r = high - low
    tail = 1 / 120 + r * (1 / 720)
    tail = 1 / 24 + r * tail
    tail = 1 / 6 + r * tail
    tail = 0.5 + r * tail
    p = r + (((high - r) - low) + r * r * tail)
    a, b = _ROOTS[n & 31]
    return math.ldexp(a + (b + a * p), n >> 5)


def _log_one_plus(f: float, c: float, k: int) -> float:
    """Returns log((1 + f) 2^k) + c."""
    s = f / (2 + f)
    q = s * s
    r = 2 / 21 + q * (2 / 23)
    for odd in (19, 17, 15, 13, 11, 9, 7, 5, 3):
        r = 2 / odd + q * r
    r = q * r
    half = 0.5 * (f * f)
    small = s * (half + r) + (k * _LN2_LOW + c)
    return k * _LN2_HIGH - ((half - small) - f)


def _split(x: float) -> tuple[float, int]:
    m, k = math.frexp(x)
    return (m * 2, k - 1) if m < math.sqrt(2) / 2 else (m, k)


def _log(x: float) -> float:
    if not 0 < x < INF:
        return x if x != x or x > 0 else -INF if x == 0 else NAN
    m, k = _split(x)
    return _log_one_plus(m - 1, 0.0, k)


def _log1p(x: float) -> float:
    """Returns log(1 + x) for x from 0 to 1."""
    if x < 2.0**-54:
        return x
    if x < 0.41:
        return _log_one_plus(x, 0.0, 0)
    u = 1 + x
    lost = x - (u - 1) if x < 1 else 1 - (u - x)
    m, k = _split(u)
    return _log_one_plus(m - 1, lost / u, k)


def _softplus(u: float) -> float:
    return max(u, 0.0) + _log1p(_exp(-abs(u)))


class _Probability:
    """The probability that a row with a score is positive."""

    def __init__(self, fields: dict):
        numbers = ["middle", "scale", "a", "b", "c", "prevalence"]
        _fields(fields, "probability", {"method": str, "knots": list, "rows": int, "positives": int, "source": str, "reliability": list,
                                        **dict.fromkeys(numbers, float)}, ["method", *numbers])
        self.middle, self.scale, self.a, self.b, self.c, self.prevalence = (float(fields[n]) for n in numbers)
        self.knots = [(float(k["score"]), float(k["probability"])) for k in
                      (_fields(k, "a knot", {"score": float, "probability": float}, ["score", "probability"]) for k in fields.get("knots", []))]
        _ascending([score for score, _ in self.knots], "knots")
        _ascending([0.0] + [p for _, p in self.knots] + [1.0], "probabilities of knots")
        if fields["method"] not in ("beta", "isotonic") or (fields["method"] == "isotonic") != bool(self.knots) or \
                not self.scale > 0 or not 0 < self.prevalence < 1 or self.a < 0 or self.b < 0:
            raise _refuse("probabilities that toptau does not write")
        self.scores = [score for score, _ in self.knots]

    def at(self, score: float, prevalence: Optional[float]) -> float:
        if self.knots:
            i = bisect_right(self.scores, score)
            if 0 < i < len(self.knots):
                (a, pa), (b, pb) = self.knots[i - 1], self.knots[i]
                p = pa + (pb - pa) * ((score - a) / (b - a))
            else:
                p = self.knots[min(i, len(self.knots) - 1)][1]
            x = _log(p / (1 - p))
        else:
            u = (score - self.middle) / self.scale
            x = self.a * -_softplus(-u) + self.b * _softplus(u) + self.c
        if prevalence is not None:
            x += _log(prevalence / (1 - prevalence)) - _log(self.prevalence / (1 - self.prevalence))
        if x >= 0:
            return 1 / (1 + _exp(-x))
        e = _exp(x)
        return e / (1 + e)


# ---- The model file ----

# The top-level fields in their order: the name, whether each element has a line, whether it must be there.
_TOP = (("schema", False, True), ("features", False, True), ("program", False, True), ("digest", False, True), ("points", True, True), ("history", True, False), ("members", True, True), ("training", False, True),
        ("fingerprints", False, False), ("averages", False, False), ("probability", False, False), ("profile", False, False),
        ("reference", False, False), ("probes", True, True), ("signature", False, False))

_OPENING = re.compile(rb'\{\n"toptau_model": ([1-9][0-9]{0,8}),\n').match
_TAIL = re.compile(rb'"checksum": "sha256:([0-9a-f]{64})"\n\}\n').fullmatch
_TAIL_SIZE = len('"checksum": "sha256:') + 64 + len('"\n}\n')
_STRINGS = re.compile(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\bfnrt]|u00[0189][0-9a-f]|u007f|u061c|u200[ef]|u202[89a-e]|u206[6-9])[^"\\\x00-\x1f]*)*"')
_UNUSUAL = re.compile(r"[^\[\]{}:,0-9eE+.\-truefalsn]")


def _read(path: Any) -> bytes:
    """Reads a model file. A file of another kind is refused after its first bytes."""
    try:
        with open(path, "rb") as f:
            head = f.read(64)
            _check_version(head)
            data = head + f.read(MAX_BYTES + 1 - len(head))
    except OSError as e:
        raise Error("the model cannot be read", file=os.fspath(path), fix=str(e.strerror)) from None
    if len(data) > MAX_BYTES:
        raise Error(f"a file of more than {MAX_BYTES:,} bytes", "a model", fix="set toptau.MAX_BYTES higher")
    return data


def _check_version(data: bytes) -> None:
    match = _OPENING(data)
    if match is None:
        raise Error("an empty file, not a toptau model" if not data else "not a toptau model", "a file that toptau train or fit wrote")
    if int(match[1]) != FORMAT:
        raise Error(f"format {match[1].decode()}, this reader reads format {FORMAT}", fix="use the reader of the toptau that wrote it")


def _whole(text: str) -> int:
    if len(text) > 22:  # larger ones have an exponent
        raise ValueError("a whole number of more than 21 digits")
    return int(text)


def _float(text: str) -> float:
    x = float(text)
    if repr(x) != text or "e" in text or text.endswith(".0"):  # most numbers are written alike
        sign, digits, point = _digits(x)
        expected = _plain(x)
        if not -6 < point <= 21 and digits:
            mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
            expected = f"{sign}{mantissa}e{point - 1:+d}"
        if math.isinf(x) or expected != text:
            raise ValueError(f"{text[:40]} is not how toptau writes a number")
    return x


def _unique(pairs: list) -> dict:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a field occurs twice")
    return out


def _constant(text: str) -> None:
    raise ValueError(text)


_decode = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_float, parse_int=_whole, parse_constant=_constant).decode


def _json(text: str) -> Any:
    if _UNUSUAL.search(_STRINGS.sub("", text)):
        raise _refuse("not in the form that toptau writes")
    return _decode(text)


def _parse(data: bytes) -> dict:
    """Checks checksum and form of a model file and returns its fields."""
    _check_version(data)
    body, tail = data[:-_TAIL_SIZE], _TAIL(data[-_TAIL_SIZE:])
    if tail is None:
        raise _refuse("the end is missing")
    if hashlib.sha256(body).hexdigest().encode() != tail[1]:
        raise _refuse("the checksum does not match the content")
    boxes = body.count(b"{") + body.count(b"[")
    if boxes > 1 << 20 and len(body) < 10 * boxes:
        raise _refuse("more lists and objects than a model has")
    lines = iter(body.decode("utf-8").split("\n")[2:])
    fields: dict = {}
    line = next(lines)
    for name, listed, required in _TOP:
        start = f'"{name}": '
        if not line.startswith(start):
            if required:
                raise _refuse(f"no field {name}")
            continue
        if listed:
            if line != start + "[":
                raise _refuse(f"the form of {name}")
            elements, line = [], next(lines)
            while line != "],":
                last = not line.endswith(",")
                elements.append(_json(line if last else line[:-1]))
                line = next(lines)
                if last != (line == "],"):
                    raise _refuse(f"the form of {name}")
            fields[name] = elements
        else:
            if not line.endswith(","):
                raise _refuse(f"the form of {name}")
            fields[name] = _json(line[len(start):-1])
        line = next(lines)
    if line or next(lines, None) is not None:
        raise _refuse(f"an unknown field {_quote(line)}")
    if fields["digest"] != "sha256:" + hashlib.sha256(body[:body.index(b'\n"digest"') + 1]).hexdigest():
        raise _refuse("schema, features and program do not belong together")
    fields["digest"] = "sha256:" + tail[1].decode()
    return fields


# ---- The model ----


class Point(NamedTuple):
    """An operating point: the decision is score > threshold."""

    name: str
    threshold: float
    goal: Optional[dict] = None  # what the threshold is for
    source: str = ""  # how it was computed, and from which rows
    guarantee: Optional[dict] = None  # its evidence, if it has a guarantee
    segment: str = ""  # the column whose values have thresholds of their own
    segments: Mapping[str, float] = {}  # these thresholds; other values use threshold
    entity: str = ""  # the budget counts the values of this column instead of rows
    day: str = ""  # and each of them once on each day of this column


class Reason(NamedTuple):
    """What a column adds to a score."""

    column: str
    value: str  # as text; "" if it is missing
    adds: float
    above_average: float  # what it adds more than in the average training row, if that is known


class Explanation(NamedTuple):
    """A score, divided among the columns: offset, plus what the reasons add in their order, plus rounding."""

    score: float
    reasons: list[Reason]  # the largest difference to the average first
    average_score: Optional[float]  # the mean score of the training rows, if the model keeps it
    offset: float  # what belongs to no column
    rounding: float  # score less the sum of the offset and what the reasons add
    missing: list[str]  # columns whose value is missing
    unknown: list[str]  # columns with a value that training did not have


class Model:
    """A model file. It does not change, and threads may share it.

    It has the methods that scikit-learn calls (decision_function, predict, predict_proba), can be cloned and
    pickled, and may end a pipeline. ``fit`` changes nothing.

    Raises Error if the file cannot be read, is no model, was edited or damaged, or needs a newer reader.
    """

    def __init__(self, path: Any):
        self.path = path
        self._load(_read(path), os.fspath(path))

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "model") -> Model:
        """Returns the model of a file's content. Errors name it as name."""
        model = cls.__new__(cls)
        model.path = name
        model._load(bytes(data), name)
        return model

    def _load(self, data: bytes, name: str) -> None:
        try:
            self._data = data
            self._prepare(_parse(data))
        except Error as e:
            e.file = name
            raise
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError, StopIteration) as e:
            refused = _refuse(str(e)[:200] or type(e).__name__)
            refused.file = name
            raise refused from None

    def _prepare(self, f: dict) -> None:
        schema = _fields(f["schema"], "schema", {
            "format": str, "header": bool, "width": int, "columns": list, "label": dict, "positive": list, "labels": list, "other_labels": int,
            "missing": list, "others": list, "id": list, "group": str, "time": str, "timezone": str, "decimal": str},
            ["format", "header", "width"])
        if schema.get("decimal", "") not in ("", ".", ","):
            raise _refuse("the decimal mark")
        self.digest: str = f["digest"]
        """The SHA-256 of the model: "sha256:" and 64 digits."""
        self.header: bool = schema["header"]
        """The columns have names. Otherwise their names are their numbers in the training file, from 1."""
        self._width, self._label = schema["width"], schema.get("label")
        missing = schema.get("missing", [])
        self._schema = []
        for c in schema.get("columns", []):
            _fields(c, "a column", {"name": str, "number": int, "kind": str, "part": str, "source": str, "origin": float, "salt": str, "unit": str},
                    ["name", "number", "kind"])
            part = c.get("part", "")
            if c["kind"] not in ("numeric", "categorical") or c["kind"] == "numeric" and "salt" in c or \
                    "unit" in c and (c["kind"] != "numeric" or part or c["unit"] not in _UNITS) or bool(part) != ("source" in c) or \
                    part and part not in (_NUMERIC_PARTS if c["kind"] == "numeric" else _TEXT_PARTS):
                raise _refuse(f"column {_quote(c['name'])} of the schema")
            self._schema.append(_Column(c, missing, schema.get("decimal", "")))
        if len({c.name for c in self._schema}) != len(self._schema):
            raise _refuse("two columns of one name")
        self._sparse = schema["format"] == "libsvm"
        if self._sparse and self._schema:
            raise _refuse("columns of indices")
        program = self._program = _Program(f["program"], self._schema, self._sparse)
        self._places = {i + 1: k for k, i in enumerate(program.columns)} if self._sparse else {}
        self._used = [] if self._sparse or program.columns == list(range(len(self._schema))) else program.columns  # [] is all
        self._sources = [c.source for c in self._schema]
        self._reads = [(c.read, c.numeric and not c.part and not c.missing_numbers) for c in self._schema]
        self.columns: list[str] = list(dict.fromkeys(self._sources))
        """The names of the columns of a record. Those without a weight may be absent. Empty for LIBSVM data, which have indices."""
        self._needed = {c.source for c in self._schema if c.input is not None}
        averages = f.get("averages")
        self._averages = None
        if averages is not None:
            _fields(averages, "averages", {"rows": int, "score": float, "adds": list}, ["rows", "score", "adds"])
            self._averages = float(averages["score"]), _numbers(averages["adds"], "adds")
            if len(averages["adds"]) != len(program.named):
                raise _refuse("averages do not fit the inputs")
        self._probability = _Probability(f["probability"]) if "probability" in f else None
        self.signed: bool = "signature" in f
        """The file has a signature, which this reader does not check."""
        self.points: dict[str, Point] = {}
        """The operating points by name. The first is the default."""
        for p in f["points"]:
            _fields(p, "a point", {"name": str, "threshold": float, "goal": object, "source": str, "guarantee": dict,
                                   "negatives": dict, "segment": str, "segments": list, "segments_delta": str, "entity": str, "day": str, "up_to": float}, ["name", "threshold"])
            if not 0 <= p.get("up_to", 0) <= 1:
                raise _refuse(f"a point with a rate up to {p['up_to']}")
            segments = {}
            for s in p.get("segments", []):
                _fields(s, "a segment", {"value": str, "threshold": float, "guarantee": dict}, ["value", "threshold"])
                segments[s["value"]] = float(s["threshold"])
            if p["name"] in self.points or not p["name"]:
                raise _refuse(f"two points of the name {_quote(p['name'])}, or none")
            self.points[p["name"]] = Point(p["name"], float(p["threshold"]), p.get("goal"), p.get("source", ""), p.get("guarantee"),
                                           p.get("segment", ""), segments, p.get("entity", ""), p.get("day", ""))
        self._check_probes(f["probes"])

    def _check_probes(self, probes: list) -> None:
        if not 1 <= len(probes) <= 64:  # toptau writes 8; a bound on the time that loading takes
            raise _refuse(f"{len(probes)} probe rows")
        for i, probe in enumerate(probes):
            _fields(probe, "a probe row", {"fields": list, "score": float}, ["fields", "score"])
            if not all(field.__class__ is str for field in probe["fields"]):
                raise _refuse("a probe row that is not text")
            if self._sparse:
                score = self._program.score(self._read(dict(field.split(":") for field in probe["fields"])))
            elif len(probe["fields"]) != len(self._schema):
                raise _refuse("a probe row of another length")
            else:
                x = [c.probe(field) for c, field in zip(self._schema, probe["fields"])]
                score = self._program.score([x[j] for j in self._used] if self._used else x)
            if score != float(probe["score"]):
                raise _refuse(f"probe row {i + 1} scores {score!r}, the file says {probe['score']!r}")

    # ---- One record ----

    def score(self, record: Any) -> float:
        """Returns the score of one record: a dict by column, or the values in the order of ``columns``.

        Raises Error if a column is absent, a number is not a number, or a value is missing that must be there.
        """
        return self._program.score(self._read(record))

    def _read(self, record: Any) -> Any:
        """Returns the values of the inputs: a list, or of LIBSVM data those that are not 0."""
        if self._sparse:
            return _Entries((self._places[i], v) for i, v in self._entries(record) if i in self._places)
        x = [v if fast and v.__class__ is float and -INF < v < INF else read(v) for v, (read, fast) in zip(self._values(record), self._reads)]
        return [x[j] for j in self._used] if self._used else x

    def _values(self, record: Any) -> Sequence:
        """Returns the values of a record in the order of the schema."""
        if not _is_record(record):
            values = record.tolist() if np is not None and isinstance(record, np.ndarray) else list(record)
            if len(values) != len(self.columns) or any(isinstance(v, (list, dict)) for v in values):
                raise self._wrong_width(len(values))
            if len(values) == len(self._sources):
                return values
            record = dict(zip(self.columns, values))
        try:
            return [record[name] for name in self._sources]
        except KeyError:
            record = _trimmed(record)
            found = {name: _nested(record, name) for name in self.columns}
            self._require([name for name, value in found.items() if value is _ABSENT])
            return [None if found[name] is _ABSENT else found[name] for name in self._sources]

    def _require(self, absent: list[str]) -> None:
        absent = [name for name in absent if name in self._needed or name not in self.columns]
        if absent:
            listed = ", ".join(map(_quote, absent[:20])) + (f" and {len(absent) - 20} more" if len(absent) > 20 else "")
            raise Error(f"rows without {listed}", f"the {len(self._needed)} columns that the model needs")

    def _wrong_width(self, width: int) -> Error:
        return Error(f"rows of {width} values", f"{len(self.columns)}, one for each of Model.columns", fix="or rows by name: dicts, a data frame")

    def _entries(self, record: Any) -> list[tuple[int, float]]:
        """Returns the entries of a LIBSVM record in the order of their indices, which count from 1."""
        if _is_record(record):
            pairs = list(record.items())
        else:
            pairs = [(i + 1, v) for i, v in enumerate(record)]
        entries = []
        for key, value in pairs:
            text = key[6:] if isinstance(key, str) and key.startswith("index ") else str(key)
            if not (text.isascii() and text.isdigit() and 0 < int(text[:20]) < 1 << 32):
                raise Error(_quote(key), "an index from 1")
            x = _parse_number(value) if isinstance(value, str) else float(value) if hasattr(value, "__float__") else None
            if x is None or x - x != 0:
                raise Error(_quote(value), "a finite number", column=f"index {text}")
            entries.append((int(text), x))
        entries.sort(key=lambda e: e[0])
        for a, b in zip(entries, entries[1:]):
            if a[0] == b[0]:
                raise Error(f"index {a[0]} twice", "each index at most once")
        return entries

    def explain(self, record: Any) -> Explanation:
        """Returns what each column adds to the score of one record, as ``toptau explain`` does."""
        x, p = self._read(record), self._program
        score = p.score(x)
        adds, offset = p.divide(x)
        average = self._averages[1] if self._averages else [0.0] * len(adds)
        texts, missing, unknown = self._described(record)
        reasons = [Reason(p.names(k), text, a, a - b) for k, text, a, b in zip(p.named, texts, adds, average) if a != 0 or a - b != 0]
        reasons.sort(key=lambda r: -abs(r.above_average))
        total = offset
        for r in reasons:
            total += r.adds
        return Explanation(score, reasons, self._averages[0] if self._averages else None, offset, score - total, missing, unknown)

    def _described(self, record: Any) -> tuple[list[str], list[str], list[str]]:
        """Returns the texts of a record's values, and the columns with missing and with unknown ones."""
        if self._sparse:
            p, values = self._program, dict(self._entries(record))
            unknown = any(v != 0 and i not in p.known for i, v in values.items())
            return [_plain(values.get(p.columns[k] + 1, 0.0)) for k in p.named], [], ["index"] if unknown else []
        texts, missing, unknown = [], [], []
        for c, value in zip(self._schema, self._values(record)):
            if c.input is None:
                continue
            if c.numeric:
                number = c.number(value)
                text = None if number != number else _plain(number)
            else:
                text = c.category(value)
                if text is not None and text not in c.categories and not c.rare:
                    unknown.append(c.name)
            if text is None:
                missing.append(c.name)
            texts.append(text or "")
        return texts, missing, unknown

    # ---- Many rows ----

    def decision_function(self, X: Any) -> Any:
        """Returns the score of each row: an array, or a list without numpy. X is described at the top.

        Raises Error, with the number of the row from 1, as score does.
        """
        return self._scores(_Rows(self, X))

    def _scores(self, rows: _Rows) -> Any:
        if np is not None and len(rows) >= FEW_ROWS:
            out = np.empty(len(rows))
            with np.errstate(all="ignore"):
                for first in range(0, len(rows), CHUNK):
                    self._score_chunk(rows, first, out[first:first + CHUNK])
            return out
        scores = []
        for i in range(len(rows)):
            try:
                scores.append(self._program.score(self._read(rows.record(i))))
            except Error as e:
                e.row = i + 1
                raise
        return scores if np is None else np.array(scores, dtype=np.float64)

    def _score_chunk(self, rows: _Rows, first: int, out: Any) -> None:
        n, p = len(out), self._program
        entries: tuple = ()
        if self._sparse:
            row, index, value = rows.entries(first, n)
            known = np.array(p.columns, dtype=np.int64) + 1
            place = np.minimum(np.searchsorted(known, index), len(known) - 1)
            hit = np.flatnonzero(known[place] == index)
            entries = row[hit], place[hit], value[hit]
            x: Any = {k: np.zeros(n) for k in p.dense}
            for i, k, v in zip(*(e.tolist() for e in entries)) if x else ():
                if k in x:
                    x[k][i] = v
        else:
            x = [c.read_all(rows.column(c.source, first, n), first + 1) for c in self._schema]
            x = [x[j] for j in self._used] if self._used else x
        x = p.derive_rows(x)
        z = np.zeros(n)
        try:
            for t in p.terms:
                z = t.add_entries(*entries, z) if self._sparse and t.__class__ is _Numbers else t.add_rows(x, z)
        except Error as e:
            e.row += first
            raise
        z += p.offset
        bad = np.flatnonzero(~np.isfinite(z))
        if len(bad):
            raise Error("a score that is not finite", "values like those of the training data", row=first + int(bad[0]) + 1)
        out[:] = z

    def predict(self, X: Any, at: Optional[str] = None) -> Any:
        """Returns for each row whether its score is above the threshold of an operating point.

        at is the name of the point; None is the default one. A point with segments reads their column, too.
        """
        point = self.point(at)
        rows = _Rows(self, X)
        scores = self._scores(rows)
        thresholds: Any = point.threshold
        if point.segments:
            values = rows.column(point.segment, 0, len(rows))
            values = values.tolist() if np is not None and isinstance(values, np.ndarray) else values
            thresholds = [point.segments.get(_text(v).strip(" \t"), point.threshold) for v in values]
        if np is not None:
            return scores > np.array(thresholds)
        if not point.segments:
            thresholds = [point.threshold] * len(rows)
        return [z > t for z, t in zip(scores, thresholds)]

    def point(self, at: Optional[str] = None) -> Point:
        """Returns the operating point of a name, None for the default one."""
        if at is None and self.points:
            return next(iter(self.points.values()))
        if at not in self.points:
            raise Error(_quote(at) if at is not None else "a model without an operating point",
                        "one of its operating points: " + ", ".join(map(_quote, self.points)) if self.points else "at least one")
        return self.points[at]

    def predict_proba(self, X: Any, prevalence: Optional[float] = None) -> Any:
        """Returns for each row the probabilities that it is negative and that it is positive.

        prevalence is the fraction of positives among the rows that it assumes; None is that of training.
        Raises Error if the model has no probabilities: ``train`` fits them if 20 held-out rows of each class are there.
        """
        pairs = [(1 - p, p) for p in self.probability_of(self._scores(_Rows(self, X)), prevalence)]
        return pairs if np is None else np.array(pairs, dtype=np.float64).reshape(-1, 2)

    def probability_of(self, scores: Iterable[float], prevalence: Optional[float] = None) -> list[float]:
        """Returns the probability that a row with each of these scores is positive. See predict_proba."""
        if self._probability is None:
            raise Error("a model without probabilities", "a model of train, with 20 held-out rows of each class")
        if prevalence is not None and not 0 < prevalence < 1:
            raise Error(f"a prevalence of {prevalence}", "a fraction between 0 and 1")
        return [self._probability.at(float(z), prevalence) for z in scores]

    @property
    def has_probability(self) -> bool:
        """Whether the model has probabilities."""
        return self._probability is not None

    def __repr__(self) -> str:
        what = f"{len(self.columns)} columns" if not self._sparse else "LIBSVM indices"
        return f"<toptau.Model {os.fspath(self.path)}: {what}, points {', '.join(self.points) or 'none'}, {self.digest[:19]}>"

    def to_bytes(self) -> bytes:
        """Returns the content of the model file."""
        return self._data

    # ---- What pickle, copy and scikit-learn call ----

    def __getstate__(self) -> dict:
        return {"path": self.path, "data": self._data}

    def __setstate__(self, state: dict) -> None:
        self.path = state["path"]
        self._load(state["data"], os.fspath(self.path))

    _estimator_type = "classifier"

    @property
    def classes_(self) -> Any:
        return [False, True] if np is None else np.array([False, True])

    def fit(self, X: Any = None, y: Any = None, **_: Any) -> Model:
        """Raises Error: a model file does not change. A fit that did nothing would make cross-validation measure training rows."""
        raise Error("fit of a model that is fitted already", "TopTauClassifier to train, or FrozenEstimator(model) in a pipeline")

    def get_params(self, deep: bool = True) -> dict:
        return {"path": self.path}

    def set_params(self, **params: Any) -> Model:
        if params:
            raise Error(f"parameters {', '.join(params)}", "none: a model file does not change")
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_clone__(self) -> Model:
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(estimator_type="classifier", target_tags=TargetTags(required=False), classifier_tags=ClassifierTags(multi_class=False),
                    input_tags=InputTags(allow_nan=True, string=True, categorical=True))


_ABSENT = object()


def _is_record(value: Any) -> bool:
    """Reports whether a value is a dict, or a row of a data frame."""
    return isinstance(value, Mapping) or hasattr(value, "keys") and hasattr(value, "__getitem__") and not hasattr(value, "columns")


def _nested(record: Any, name: str) -> Any:
    """Returns a value by name, or by a path of names with dots, as in JSON lines."""
    try:
        return record[name]
    except KeyError:
        head, dot, rest = name.partition(".")
        while dot:
            inner = record.get(head) if head in record else None
            if isinstance(inner, Mapping):
                return _nested(inner, rest)
            more, dot, rest = rest.partition(".")
            head += "." + more
        return _ABSENT


def _trimmed(record: Any) -> Any:
    """Returns a record whose names, those with dots, have no blanks at their ends, as names of a file."""
    return {path.strip(" \t"): value for path, value in _paths(record, "")} if _is_padded(record) else record


def _is_padded(record: Any) -> bool:
    return any(name.__class__ is str and name != name.strip(" \t") or isinstance(record[name], Mapping) and _is_padded(record[name])
               for name in record.keys())


def _paths(record: Any, before: str) -> Iterable[tuple[str, Any]]:
    for name in record.keys():
        if isinstance(record[name], Mapping):
            yield from _paths(record[name], f"{before}{name}.")
        else:
            yield f"{before}{name}", record[name]


class _Rows:
    """The rows of any input that the methods of Model accept, by column or by row."""

    def __init__(self, model: Model, X: Any):
        self.model, self.frame, self.array, self.records = model, None, None, None
        self.matrix = None  # of scipy, by row
        self.trimmed = False  # the records have names without blanks
        if hasattr(X, "tocsr") and model._sparse:
            self.matrix = X.tocsr().sorted_indices()
            self.count = X.shape[0]
        elif hasattr(X, "columns") and hasattr(X, "__getitem__"):
            self.frame, self.count = X, len(X)
            self.columns = list(X.columns)
            if not model._sparse:
                self.names = self._names()
        elif np is not None and isinstance(X, np.ndarray):
            if X.ndim != 2:
                raise Error(f"an array of {X.ndim} dimensions", "2: rows and columns", fix="one record: X.reshape(1, -1)")
            self._set_array(X, X.shape[1])
        else:
            rows = [X] if _is_record(X) else list(X)
            self.count = len(rows)
            if not rows or _is_record(rows[0]):
                self.records = rows
                if not all(map(_is_record, rows)):
                    raise Error("rows of different kinds", "dicts")
            elif not hasattr(rows[0], "__len__") or isinstance(rows[0], (str, bytes)):
                raise Error(f"rows of type {type(rows[0]).__name__}", "dicts, or lists of values; one record is a dict, or a list in a list")
            else:
                if len({len(row) for row in rows}) > 1:
                    raise Error("rows of different lengths", "rows of one length")
                self._set_array(rows, len(rows[0]))

    def _set_array(self, X: Any, width: int) -> None:
        self.array, self.count = X, len(X)
        if not self.model._sparse and width != len(self.model.columns):
            raise self.model._wrong_width(width)

    def _names(self) -> dict:
        """Returns the frame's name of each column. A model without names matches columns of other names by number."""
        model = self.model
        if model.header or any(isinstance(c, str) for c in self.columns):
            names: dict = {}
            for c in self.columns:
                name = c.strip(" \t") if isinstance(c, str) else c
                if names.setdefault(name, c) != c and name in model.columns:
                    raise Error("two columns of this name", "one", column=name)
            return names
        shift = model._width + 1
        if model._label and len(self.columns) == model._width - 1:
            shift = model._label["number"]  # the label's column is the absent one
        numbers = [n for n in range(1, len(self.columns) + 2) if n != shift][:len(self.columns)]
        return {str(n): c for n, c in zip(numbers, self.columns)}

    def __len__(self) -> int:
        return self.count

    def column(self, name: str, first: int, n: int) -> Any:
        """Returns values of a column: an array or a list."""
        if self.frame is not None:
            if first == 0:
                self.model._require([c for c in dict.fromkeys([*self.model.columns, name]) if c not in self.names])
            if name not in self.names:
                return [None] * n  # it has no weight
            values = self.frame[self.names[name]]
            if hasattr(values, "columns"):
                raise Error("two columns of this name", "one", column=name)
            values = values.to_numpy() if np is not None and hasattr(values, "to_numpy") else list(values)
            return values[first:first + n]
        if self.records is not None:
            rows = self.records[first:first + n]
            try:
                return [row[name] for row in rows]
            except KeyError:
                if not self.trimmed:
                    self.trimmed, self.records = True, [_trimmed(row) for row in self.records]
                    return self.column(name, first, n)
                return [self._value(row, name, first + i) for i, row in enumerate(rows)]
        if name not in self.model.columns:
            raise Error("rows without names", f"rows by name, with the column {_quote(name)} of the segments")
        j = self.model.columns.index(name)
        if np is not None and isinstance(self.array, np.ndarray):
            return self.array[first:first + n, j]
        return [row[j] for row in self.array[first:first + n]]

    def _value(self, row: Any, name: str, place: int) -> Any:
        value = _nested(row, name)
        if value is _ABSENT:
            try:
                self.model._require([c for c in dict.fromkeys([*self.model.columns, name]) if _nested(row, c) is _ABSENT])
            except Error as e:
                e.row = place + 1
                raise
            return None  # it has no weight
        return value

    def record(self, i: int) -> Any:
        if self.matrix is not None:
            row = self.matrix[[i]]
            return {int(j) + 1: float(v) for j, v in zip(row.indices, row.data)}
        if self.frame is not None:
            if self.model._sparse:
                return {c: self._frame_list(c)[i] for c in self.columns}
            return {name: self._frame_list(c)[i] for name, c in self.names.items() if name in self.model.columns}
        return self.records[i] if self.records is not None else self.array[i]

    def _frame_list(self, name: Any) -> list:
        if not hasattr(self, "lists"):
            self.lists: dict = {}
        if name not in self.lists:
            self.lists[name] = list(self.frame[name])
        return self.lists[name]

    def entries(self, first: int, n: int) -> tuple[Any, Any, Any]:
        """Returns the entries of LIBSVM rows: rows from 0, indices from 1, values, in ascending order."""
        if self.matrix is not None:
            part = self.matrix[first:first + n]
            rows, index, values = np.repeat(np.arange(n), np.diff(part.indptr)), part.indices.astype(np.int64) + 1, part.data.astype(np.float64)
        elif self.array is not None and isinstance(self.array, np.ndarray) and self.array.dtype.kind in "fiub":
            part = self.array[first:first + n]
            rows, index = np.nonzero(part)
            values = part[rows, index].astype(np.float64)
            index = index + 1
        else:
            found = []
            for i in range(first, first + n):
                try:
                    found += [(i - first, index, value) for index, value in self.model._entries(self.record(i))]
                except Error as e:
                    e.row = i + 1
                    raise
            rows, index, values = (np.array([e[j] for e in found], dtype=kind) for j, kind in enumerate((np.int64, np.int64, np.float64)))
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            raise Error(repr(float(values[bad[0]])), "a finite number", row=first + int(rows[bad[0]]) + 1, column=f"index {index[bad[0]]}")
        return rows, index, values
