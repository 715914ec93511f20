"""Writes columns of numpy as a Parquet file without compression, which ``toptau`` reads.

The bytes of a file depend on its columns alone. The format is that of https://github.com/apache/parquet-format. A column
has one page for each row group, PLAIN or with a dictionary of texts. Only NaT needs definition levels: NaN is a missing number,
and the empty text a missing category.
"""

from __future__ import annotations

import struct
from typing import Any, BinaryIO, Callable, NamedTuple, Optional

import numpy as np

GROUP_ROWS = 1 << 17  # rows of a row group, whose pages then have a megabyte

_BOOLEAN, _INT32, _INT64, _FLOAT, _DOUBLE, _BYTE_ARRAY = 0, 1, 2, 4, 5, 6
_PLAIN, _RLE, _RLE_DICTIONARY = 0, 3, 8
_UTF8, _DATE, _UINT_64 = 0, 6, 14  # converted types
_UNITS = {"ms": 1, "us": 2, "ns": 3}  # of timestamps: the member of the union TimeUnit


class _Thrift:
    """A structure in Thrift's compact protocol."""

    def __init__(self) -> None:
        self.bytes = bytearray()
        self.last = [0]  # the last field of each open structure

    def _varint(self, n: int) -> None:
        while n > 0x7F:
            self.bytes.append(n & 0x7F | 0x80)
            n >>= 7
        self.bytes.append(n)

    def _number(self, n: int) -> None:
        self._varint(n << 1 if n >= 0 else -n * 2 - 1)

    def _text(self, b: bytes) -> None:
        self._varint(len(b))
        self.bytes += b

    def _field(self, place: int, kind: int) -> None:
        self.bytes.append(place - self.last[-1] << 4 | kind)
        self.last[-1] = place

    def integer(self, place: int, n: int, kind: int = 5) -> None:
        self._field(place, kind)
        self._number(n)

    def long(self, place: int, n: int) -> None:
        self.integer(place, n, 6)

    def truth(self, place: int, value: bool) -> None:
        self._field(place, 1 if value else 2)

    def text(self, place: int, b: bytes) -> None:
        self._field(place, 8)
        self._text(b)

    def list(self, place: int, kind: int, items: list, write: Callable) -> None:
        self._field(place, 9)
        self.bytes.append(len(items) << 4 | kind if len(items) < 15 else 0xF0 | kind)
        if len(items) >= 15:
            self._varint(len(items))
        for item in items:
            write(item)

    def open(self, place: int = 0) -> _Thrift:
        if place:
            self._field(place, 12)
        self.last.append(0)
        return self

    def __enter__(self) -> _Thrift:
        return self

    def __exit__(self, *_: Any) -> None:
        self.bytes.append(0)
        self.last.pop()


class _Type(NamedTuple):
    physical: int
    stored: Optional[str]  # the numpy type of PLAIN values; None: texts
    converted: Optional[int] = None
    unit: str = ""  # of a timestamp
    optional: bool = False


def _type_of(values: np.ndarray) -> _Type:
    kind = values.dtype.kind
    if kind == "b":
        return _Type(_BOOLEAN, "?")
    if kind == "f":
        return _Type(_FLOAT, "<f4") if values.dtype.itemsize == 4 else _Type(_DOUBLE, "<f8")
    if kind in "iu":
        return _Type(_INT64, "<u8", _UINT_64) if values.dtype == np.uint64 else _Type(_INT64, "<i8")
    if kind == "M":
        unit, optional = np.datetime_data(values.dtype)[0], bool(np.isnat(values).any())
        if unit in ("Y", "M", "W", "D"):
            return _Type(_INT32, "<i4", _DATE, optional=optional)
        return _Type(_INT64, "<i8", unit=unit if unit in _UNITS else "ms" if unit in ("h", "m", "s") else "ns", optional=optional)
    return _Type(_BYTE_ARRAY, None, _UTF8)


class _Chunk(NamedTuple):
    start: int
    data: int  # the offset of the data page, after that of a dictionary
    size: int
    values: int
    encodings: list


def write(file: BinaryIO, columns: dict[str, np.ndarray], texts: Callable[[np.ndarray, int], list]) -> None:
    """Writes columns of the same length. texts returns the texts of an array of objects, whose first row has the given number."""
    file.write(b"PAR1")
    types = {name: _type_of(values) for name, values in columns.items()}
    rows = len(next(iter(columns.values())))
    at, groups = 4, []
    for first in range(0, rows, GROUP_ROWS):
        chunks = []
        for name, values in columns.items():
            part = values[first:first + GROUP_ROWS]
            pages = _pages(types[name], part, lambda v: texts(v, first))
            lengths = [file.write(page) for page in pages]  # a head and a body for each page
            data = at + sum(lengths[:-2])
            chunks.append(_Chunk(at, data, sum(lengths), len(part), [_RLE_DICTIONARY, _PLAIN] if data > at else [_PLAIN]))
            at += sum(lengths)
        groups.append(chunks)
    footer = _footer(types, groups, rows)
    file.write(footer + struct.pack("<I", len(footer)) + b"PAR1")


def _pages(kind: _Type, values: np.ndarray, texts: Callable) -> list[Any]:
    """Returns heads and bodies of the pages of a chunk."""
    if kind.stored is None:
        return _text_pages(texts(values))
    levels = b""
    if kind.optional:
        present = ~np.isnat(values)
        bits = np.packbits(present, bitorder="little").tobytes()
        groups = bytearray(_hybrid_head(len(bits)))
        levels = struct.pack("<I", len(groups) + len(bits)) + bytes(groups) + bits
        values = values[present]
    if kind.physical == _BOOLEAN:
        body = np.packbits(values, bitorder="little")
    else:
        if values.dtype.kind == "M":
            values = values.astype("M8[D]" if kind.converted == _DATE else f"M8[{kind.unit}]").view("<i8")
        body = np.ascontiguousarray(values, dtype=kind.stored)
    body = levels + body.tobytes() if levels else memoryview(body).cast("B")
    rows = len(values) if not levels else len(present)
    return [_page_head(len(body), rows, _PLAIN), body]


def _text_pages(texts: list[str]) -> list[bytes]:
    """Returns a dictionary page and a page of indices, which have whole bytes: no bits are packed."""
    places: dict[str, int] = {}
    codes = [places.setdefault(text, len(places)) for text in texts]
    width = 1 if len(places) <= 1 << 8 else 2 if len(places) <= 1 << 16 else 4
    encoded = [text.encode("utf-8") for text in places]
    dictionary = b"".join([struct.pack("<I", len(b)) + b for b in encoded])
    indices = np.zeros(-(-len(codes) // 8) * 8, dtype=f"<u{width}")
    indices[:len(codes)] = codes
    body = bytes([8 * width]) + _hybrid_head(len(indices) // 8) + indices.tobytes()
    return [_page_head(len(dictionary), len(places), _PLAIN, dictionary=True), dictionary,
            _page_head(len(body), len(codes), _RLE_DICTIONARY), body]


def _hybrid_head(groups: int) -> bytes:
    """Returns the head of packed groups of eight numbers."""
    t = _Thrift()
    t._varint(groups << 1 | 1)
    return bytes(t.bytes)


def _page_head(size: int, values: int, encoding: int, dictionary: bool = False) -> bytes:
    with _Thrift().open() as t:
        t.integer(1, 2 if dictionary else 0)
        t.integer(2, size)
        t.integer(3, size)
        with t.open(7 if dictionary else 5):
            t.integer(1, values)
            t.integer(2, encoding)
            if not dictionary:
                t.integer(3, _RLE)
                t.integer(4, _RLE)
    return bytes(t.bytes)


def _footer(types: dict[str, _Type], groups: list[list[_Chunk]], rows: int) -> bytes:
    names = list(types)

    def element(name: Optional[str]) -> None:
        with t.open():
            if name is None:
                t.text(4, b"schema")
                t.integer(5, len(names))
                return
            kind = types[name]
            t.integer(1, kind.physical)
            t.integer(3, int(kind.optional))
            t.text(4, name.encode("utf-8"))
            if kind.converted is not None:
                t.integer(6, kind.converted)
            if kind.unit:
                with t.open(10), t.open(8):
                    t.truth(1, False)
                    with t.open(2), t.open(_UNITS[kind.unit]):
                        pass

    def chunk(named: tuple[str, _Chunk]) -> None:
        name, c = named
        with t.open():
            t.long(2, c.start)
            with t.open(3):
                t.integer(1, types[name].physical)
                t.list(2, 5, c.encodings, t._number)
                t.list(3, 8, [name.encode("utf-8")], t._text)
                t.integer(4, 0)
                t.long(5, c.values)
                t.long(6, c.size)
                t.long(7, c.size)
                t.long(9, c.data)
                if c.data > c.start:
                    t.long(11, c.start)

    def group(chunks: list[_Chunk]) -> None:
        with t.open():
            t.list(1, 12, list(zip(names, chunks)), chunk)
            t.long(2, sum(c.size for c in chunks))
            t.long(3, chunks[0].values)

    with _Thrift().open() as t:
        t.integer(1, 2)
        t.list(2, 12, [None, *names], element)
        t.long(3, rows)
        t.list(4, 12, groups, group)
        t.text(6, b"toptau")
    return bytes(t.bytes)
