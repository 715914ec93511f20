"""The columns of any table: pandas, polars, pyarrow and whatever has the Arrow stream, arrays of numpy, lists of dicts and of lists; and sparse
matrices of SciPy."""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Mapping
from typing import Any, BinaryIO, Iterable, Optional

import numpy as np

from . import parquet
from .reader import Error, _is_na, _text

EXACT = 1 << 53  # up to here each whole number is a float


class Frame:
    """Columns of numpy by name without blanks at its ends, which ``Model`` scores like a data frame.

    An array holds floats, whole numbers, booleans, times without a zone, or objects that are texts or stand for them. A missing value is
    NaN, NaT or None: whole numbers and booleans with missing values are floats.
    """

    def __init__(self, X: Any):
        self.named = True  # whether X itself has names
        self.categorical: list[str] = []  # the columns of a categorical type
        names, values = self._columns_of(X)
        for name in names:
            if not isinstance(name, str):
                raise TypeError(f"Feature names are only supported if all input features have string names, but {name!r} is of type "
                                f"{type(name).__name__}. Use X.columns = X.columns.astype(str).")
        given, names = names, [name.strip(" \t") or str(i + 1) for i, name in enumerate(names)]  # as in a file
        self.categorical = [names[given.index(name)] for name in self.categorical]
        for i, name in enumerate(names):
            if name in names[:i]:
                raise Error("two columns of this name", "one", column=name, fix="rename or drop one of them")
        self.columns = names
        self.values = {name: _normal(v, name) for name, v in zip(names, values)}
        lengths = {len(v) for v in self.values.values()}
        self.rows = lengths.pop() if lengths else len(X)

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, name: str) -> np.ndarray:
        return self.values[name]

    def _columns_of(self, X: Any) -> tuple[list, list]:
        if isinstance(X, Frame):
            self.named, self.categorical = X.named, X.categorical
            return X.columns, list(X.values.values())
        if hasattr(X, "iloc"):
            return self._of_pandas(X)
        if hasattr(X, "get_columns"):  # polars
            return [s.name for s in X.get_columns()], [self._of_arrow(s, str(s.dtype), s.name, s.null_count()) for s in X.get_columns()]
        if hasattr(X, "__arrow_c_stream__"):
            return self._of_arrow_stream(X)
        if hasattr(X, "collect_schema"):
            raise Error("a lazy frame", "a frame", fix="X.collect()")
        if not hasattr(X, "__array__") and not hasattr(X, "__array_interface__"):
            X = list(X)
            if X and isinstance(X[0], Mapping):
                return _of_records(X)
            X = _of_lists(X)
        return self._of_array(np.asarray(X))

    def _of_array(self, X: np.ndarray) -> tuple[list, list]:
        if X.dtype.kind == "c":
            raise ValueError("Complex data not supported")
        if X.ndim != 2:
            raise Error(f"an array of {X.ndim} dimensions", "2D array: rows and columns",
                        fix="Reshape your data: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row")
        self.named = False
        return [f"x{j}" for j in range(X.shape[1])], [X[:, j] for j in range(X.shape[1])]

    def _of_pandas(self, X: Any) -> tuple[list, list]:
        names = list(X.columns)
        if not any(isinstance(name, str) for name in names):
            self.named = False
            names = [f"x{j}" for j in range(len(names))]
        values = []
        for j, name in enumerate(names):
            series = X.iloc[:, j]
            if str(series.dtype) == "category":
                self.categorical.append(name)
            values.append(_of_series(series, name))
        return names, values

    def _of_arrow_stream(self, X: Any) -> tuple[list, list]:
        if not hasattr(X, "column_names"):
            try:
                import pyarrow
            except ImportError:
                raise Error(f"a table of type {type(X).__name__}, which needs pyarrow", fix="pip install pyarrow, or convert it to pandas or polars") from None
            X = pyarrow.table(X)
        columns = [(X.column(j), name) for j, name in enumerate(X.column_names)]
        return list(X.column_names), [self._of_arrow(c, str(c.type), name, c.null_count) for c, name in columns]

    def _of_arrow(self, column: Any, kind: str, name: str, missing: int) -> np.ndarray:
        """Returns the values of a column of polars or pyarrow. kind is the text of its type."""
        if kind.lower().startswith(("categorical", "enum", "dictionary")):
            self.categorical.append(name)
        if "tz=" in kind or "time_zone='" in kind:
            return _objects(column.to_pylist() if hasattr(column, "to_pylist") else column.to_list())  # of its own zone
        values = np.asarray(column.to_numpy())
        return _checked(values, "int" in kind.lower(), name) if missing and values.dtype.kind == "f" else values

    @property
    def width(self) -> int:
        return len(self.columns)

    def every(self, step: int) -> Frame:
        """Returns every step-th row."""
        part = Frame(self)
        part.values, part.rows = {name: v[::step] for name, v in self.values.items()}, len(range(0, self.rows, step))
        return part

    def record(self, i: int) -> dict:
        return {name: self.values[name][i] for name in self.columns}

    def rename(self, names: list[str]) -> None:
        """Gives the columns other names, in their order."""
        self.columns, self.values = names, dict(zip(names, self.values.values()))

    def with_text_times(self) -> Frame:
        """Returns the frame with texts for times, which ``Model`` reads one by one as well as together."""
        for name, v in self.values.items():
            if v.dtype.kind == "M":
                self.values[name] = np.where(np.isnat(v), "", v.astype(str)).astype(object)
        return self

    def with_row(self, e: Error) -> Error:
        """Returns an error of toptau about a value as Python writes it, with the row of a missing one."""
        v = self.values.get(e.column)
        if v is not None and e.found == "a missing value":
            missing = [i for i, x in enumerate(v.tolist()) if _is_na(x) or x != x or x == ""]
            e.row, e.found = e.row or (missing or [-1])[0] + 1, "a missing value (NaN)" if v.dtype.kind == "f" else e.found
        e.found = {"+Inf": "inf", "-Inf": "-inf"}.get(e.found, e.found)
        return e

    def check_whole(self, names: Iterable[str]) -> None:
        """Raises Error for a whole number that no float equals."""
        for name in names:
            v = self.values[name]
            if v.dtype.kind in "iu" and v.dtype.itemsize == 8 and len(v):
                bad = np.flatnonzero((v > EXACT) | (v < -EXACT) if v.dtype.kind == "i" else v > EXACT)
                if len(bad):
                    raise _beyond(int(v[bad[0]]), name, int(bad[0]) + 1)

    def write(self, file: BinaryIO, more: Optional[dict[str, np.ndarray]] = None) -> None:
        """Writes the columns, and more, as a Parquet file."""
        columns = {**self.values, **{name: _normal(v, name) for name, v in (more or {}).items()}}
        parquet.write(file, columns, _texts)


class Sparse:
    """A sparse matrix of SciPy with columns x0, x1 and so on. What it does not contain is 0."""

    named = False
    categorical: list[str] = []
    _CELLS = 1 << 22  # of a part that becomes dense

    def __init__(self, X: Any):
        if X.ndim != 2:
            raise Error(f"a sparse array of {X.ndim} dimensions", "2D array: rows and columns")
        if X.dtype.kind == "c":
            raise ValueError("Complex data not supported")
        if X.dtype.kind not in "fiub":
            raise Error(f"a sparse matrix of {X.dtype}", "numbers")
        m = X.tocsr()
        if m is X and not (m.has_canonical_format and m.data.all()):
            m = m.copy()
        m.sum_duplicates()
        m.eliminate_zeros()
        if m.dtype.kind in "iu":
            self._refuse(m, (m.data > EXACT) | (m.data < -EXACT) if m.dtype.kind == "i" else m.data > EXACT, _beyond)
        self.matrix = m.astype(np.float64)
        self._refuse(m, ~np.isfinite(self.matrix.data), lambda value, name, row: Error(
            "a missing value (NaN)" if value != value else repr(value), "finite numbers in a sparse matrix", column=name, row=row))
        self.names: Optional[list[str]] = None  # those of the columns, if they are not x0, x1 and so on

    @staticmethod
    def _refuse(m: Any, bad: np.ndarray, error: Any) -> None:
        for place in np.flatnonzero(bad)[:1].tolist():
            raise error(m.data[place].item(), f"x{m.indices[place]}", int(np.searchsorted(m.indptr, place, side="right")))

    def __len__(self) -> int:
        return self.matrix.shape[0]

    @property
    def width(self) -> int:
        return self.matrix.shape[1]

    @property
    def columns(self) -> list[str]:
        return self.names or [f"x{j}" for j in range(self.width)]

    def rename(self, names: list[str]) -> None:
        self.names = names

    def __getitem__(self, name: str) -> np.ndarray:
        return self.matrix[:, [self.columns.index(name)]].toarray().ravel()

    def every(self, step: int) -> Sparse:
        return Sparse(self.matrix[::step])

    def entries(self, i: int) -> dict:
        """Returns a row as the indices of LIBSVM, from 1, with their values."""
        at = slice(*self.matrix.indptr[i:i + 2])
        return dict(zip((self.matrix.indices[at] + 1).tolist(), self.matrix.data[at].tolist()))

    def frames(self) -> Iterable[tuple[int, Frame]]:
        """Returns frames of some rows with the place of the first row."""
        step = max(1, self._CELLS // max(self.width, 1))
        for first in range(0, len(self), step):
            frame = Frame(self.matrix[first:first + step].toarray())
            frame.rename(self.columns)
            yield first, frame

    def record(self, i: int) -> dict:
        return dict(zip(self.columns, self.matrix[[i]].toarray().ravel().tolist()))

    def with_row(self, e: Error) -> Error:
        """Returns an error of toptau about an index with the name of the column."""
        e.column = self.spelled(e.column)
        return e

    @staticmethod
    def spelled(text: str) -> str:
        """Returns a text with x0 for index 1."""
        return re.sub(r"\bindex ([1-9][0-9]*)\b", lambda m: f"x{int(m[1]) - 1}", text)

    def write(self, file: BinaryIO, labels: np.ndarray) -> None:
        """Writes the rows in the format of LIBSVM."""
        ends, texts = self.matrix.indptr, {v: _text(v) for v in set(labels.tolist())}
        for first in range(0, len(self), 10_000):
            last = min(first + 10_000, len(self))
            at = slice(ends[first], ends[last])
            entries = [f" {j + 1}:{v!r}" for j, v in zip(self.matrix.indices[at].tolist(), self.matrix.data[at].tolist())]
            places = (ends[first:last + 1] - ends[first]).tolist()
            file.write("".join(texts[label] + "".join(entries[a:b]) + "\n"
                               for label, a, b in zip(labels[first:last].tolist(), places, places[1:])).encode())


def frame_of(X: Any) -> Any:
    """Returns the Frame of any table, the Sparse of a sparse matrix."""
    return Sparse(X) if hasattr(X, "tocsr") else Frame(X)


def _beyond(value: Any, name: str, row: int) -> Error:
    return Error(f"{value}, which a float does not hold", "whole numbers up to 2^53", column=name, row=row, fix="make an identifier text: astype(str)")


def _of_records(rows: list) -> tuple[list, list]:
    names: dict[str, None] = {}
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise Error(f"a row of type {type(row).__name__}", "dicts", row=i + 1)
        names.update(dict.fromkeys(row))
    return list(names), [_objects([row.get(name) for row in rows]) for name in names]


def _of_lists(rows: list) -> np.ndarray:
    if not rows or not hasattr(rows[0], "__len__") or isinstance(rows[0], (str, bytes)):
        return np.asarray(rows)
    width = len(rows[0])
    for i, row in enumerate(rows):
        if not hasattr(row, "__len__") or len(row) != width:
            raise Error("rows of different lengths", f"{width} values, as in row 1", row=i + 1)
    out = np.empty((len(rows), width), dtype=object)
    for i, row in enumerate(rows):
        out[i] = _objects(row)
    return out


def _objects(values: Any) -> np.ndarray:
    """Returns an array of objects, also of values that are sequences."""
    out = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        out[i] = value
    return out


def column_of(values: Any) -> np.ndarray:
    """Returns one column: a series, an array or a list."""
    if hasattr(values, "iloc") and values.ndim == 1:
        return _of_series(values, "")
    if hasattr(values, "to_numpy") and not hasattr(values, "iloc"):
        return np.asarray(values.to_numpy())
    return np.asarray(values) if hasattr(values, "__array__") else _objects(list(values))


def _of_series(series: Any, name: str) -> np.ndarray:
    """Returns the values of a column of pandas."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return series.to_numpy()
    kind = getattr(dtype, "kind", "O")
    if kind in "iufb" and str(dtype) != "category":
        if not series.isna().any():
            return series.to_numpy(dtype=getattr(dtype, "numpy_dtype", None))
        return _checked(series.to_numpy(dtype=np.float64, na_value=np.nan), kind in "iu", name)
    if kind == "M" and getattr(dtype, "tz", None) is None and not str(dtype).startswith("period"):
        return np.asarray(series, dtype="M8[ns]")
    return np.asarray(series, dtype=object) if str(dtype) != "category" else np.asarray(series)


def _checked(x: np.ndarray, whole: bool, name: str) -> np.ndarray:
    """Returns floats in which NaN is missing, if they were whole numbers that floats hold."""
    bad = np.flatnonzero(np.abs(x) >= EXACT) if whole else ()
    if len(bad):
        raise _beyond(int(x[bad[0]]), name, int(bad[0]) + 1)
    return x


_NUMBERS = (int, float, np.integer, np.floating, decimal.Decimal)


def _normal(values: Any, name: str) -> np.ndarray:
    """Returns an array of a kind that Frame describes."""
    v = np.asarray(values)
    kind = v.dtype.kind
    if kind in "fiubM":
        return v.astype(np.float64) if kind == "f" and v.dtype.itemsize not in (4, 8) else v
    if kind == "U":
        return v.astype(object)
    if kind == "c":
        raise ValueError("Complex data not supported")
    if kind != "O":
        raise Error(f"values of type {v.dtype}", "numbers, texts, booleans or times", column=name,
                    fix="of durations: .dt.total_seconds()" if kind == "m" else "")
    types = {t for t in set(map(type, v.tolist())) if t is not type(None)}
    if types and all(issubclass(t, str) for t in types):
        return v
    if types and all(issubclass(t, (bool, np.bool_)) for t in types):
        return v.astype(bool) if not any(x is None for x in v) else _floats(v, name)
    if types and all(issubclass(t, _NUMBERS) and not issubclass(t, bool) or t.__name__ == "NAType" for t in types):
        if all(issubclass(t, (int, np.integer)) for t in types) and not any(x is None for x in v):
            try:
                return v.astype(np.int64)
            except OverflowError:
                pass
        return _floats(v, name)
    return v


def _floats(v: np.ndarray, name: str) -> np.ndarray:
    out = np.empty(len(v))
    for i, x in enumerate(v):
        if isinstance(x, (int, np.integer)) and abs(x) > EXACT:
            raise _beyond(x, name, i + 1)
        out[i] = np.nan if _is_na(x) else float(x)
    return out


def _texts(values: np.ndarray, first: int) -> list[str]:
    """Returns the texts of objects; "" for a missing one."""
    out = []
    for i, v in enumerate(values.tolist()):
        if v.__class__ is not str:
            try:
                v = str(v) if isinstance(v, (datetime.datetime, datetime.date)) and not _is_na(v) else _text(v)
            except Error as e:
                e.row = first + i + 1
                raise
        out.append(v)
    return out
