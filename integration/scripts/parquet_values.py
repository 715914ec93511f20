"""Values of Parquet files as pyarrow reads them, and files of all types, encodings, page versions and codecs.

parquet_values.py generate DIR COUNT STEP   writes every STEP-th of COUNT files and prints their paths
parquet_values.py values < PATHS            prints a line of JSON for each path: its rows and columns, or the error

A value is exact text, as the reader under test must return it for a column of texts, or null. The kind of a column is bool, int, float,
decimal, text or bytes. Lists and maps are left out.
"""

import decimal
import itertools
import json
import os
import random
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def moment(seconds, nanos, zone):
    """A time as in text files. datetime has no years above 9999."""
    days, rest = divmod(seconds, 86400)
    return f"{day(days)}T{clock(rest, nanos)}{zone}"


def day(days):
    """A day of the Gregorian calendar, counted from 1970-01-01."""
    days += 719468
    era, of_era = divmod(days, 146097)
    year = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    number = of_year - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    year += 400 * era + (month <= 2)
    sign, year = ("-", -year) if year < 0 else ("", year)
    return f"{sign}{year:04}-{month:02}-{number:02}"


def clock(seconds, nanos):
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return text + f".{nanos:09}".rstrip("0") if nanos else text


UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def column(array):
    """Returns the kind of an array, and its values as texts."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        array, kind = array.cast(kind.value_type), kind.value_type
    if isinstance(kind, pa.ExtensionType):
        array, kind = pa.chunked_array([c.storage for c in array.chunks], kind.storage_type), kind
        if str(kind) == "extension<arrow.uuid>":
            texts = [None if v is None else v.hex() for v in array.to_pylist()]
            return "text", [v and "-".join((v[:8], v[8:12], v[12:16], v[16:20], v[20:])) for v in texts]
        kind = array.type
    if pa.types.is_boolean(kind):
        return "bool", [None if v is None else str(int(v)) for v in array.to_pylist()]
    if pa.types.is_integer(kind):
        return "int", [None if v is None else str(v) for v in array.to_pylist()]
    if pa.types.is_floating(kind):
        return "float", [None if v is None else repr(float(v)) for v in array.to_pylist()]
    if pa.types.is_decimal(kind):
        return "decimal", [None if v is None else format(v, "f") for v in array.to_pylist()]
    if pa.types.is_null(kind):
        return "float", [None] * len(array)
    if pa.types.is_date32(kind):
        return "text", [None if v is None else day(v) for v in array.cast(pa.int32()).to_pylist()]
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        unit, zone = UNITS[kind.unit], "Z" if pa.types.is_timestamp(kind) and kind.tz else ""
        whole = pa.int32() if pa.types.is_time32(kind) else pa.int64()
        texts = []
        for v in array.cast(whole).to_pylist():
            if v is not None:
                seconds, rest = divmod(v, unit)
                rest *= 10**9 // unit
                v = moment(seconds, rest, zone) if pa.types.is_timestamp(kind) else clock(seconds, rest)
            texts.append(v)
        return "text", texts
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "text", array.to_pylist()
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        try:
            return "text", [None if v is None else v.decode() for v in array.to_pylist()]
        except UnicodeDecodeError:
            return "bytes", []
    if pa.types.is_fixed_size_binary(kind):
        return "bytes", []
    return None, []


REFUSED = "refused"  # a value that is an error


def int96(micros, nanos):
    """Times of 96 bits, of which nanoseconds in 64 bits have lost all that exceeds them. Beyond 9999 a writer has exceeded microseconds."""
    texts = []
    for u, n in zip(micros.cast(pa.int64()).to_pylist(), nanos.cast(pa.int64()).to_pylist()):
        if u is not None and abs(u) > 253402300800 * 10**6:
            u = REFUSED
        elif u is not None:
            u = moment(u // 10**6, u % 10**6 * 1000 + (n - 1000 * u) % 2**64, "")
        texts.append(u)
    return texts


def read(path, unit):
    """The columns of a file that are not in lists; those may take gigabytes."""
    file = pq.ParquetFile(path, coerce_int96_timestamp_unit=unit, page_checksum_verification=True, pre_buffer=False)
    leaves = [file.schema.column(i) for i in range(len(file.schema))]
    flat = {c.path.split(".")[0] for c in leaves} - {c.path.split(".")[0] for c in leaves if c.max_repetition_level}
    return file.read(columns=[n for n in file.schema_arrow.names if n in flat], use_threads=False)


def values(path):
    out = {"file": path, "columns": []}
    try:
        table, nanos = (read(path, unit) for unit in ("us", "ns"))
        while any(pa.types.is_struct(f.type) for f in table.schema):
            table, nanos = table.flatten(), nanos.flatten()
        table.validate(full=True)
        out["rows"] = table.num_rows
        for name, array, exact in zip(table.column_names, table.columns, nanos.columns):
            kind, texts = column(array) if array.type == exact.type else ("text", int96(array, exact))
            if kind:
                out["columns"].append({"name": name, "kind": kind, "values": texts})
    except Exception as e:  # whatever pyarrow raises for a damaged file
        out["columns"], out["error"] = [], f"{type(e).__name__}: {e}"[:200]
    return out


def edges(low, high):
    return [low, low + 1, -1 if low < 0 else 1, 0, 1, high - 1, high]


def wholes(bits, signed):
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    limit = 2**53 if bits == 64 else high  # what a number can hold; columns "beyond" have more
    return lambda r: r.choice(edges(max(low, -limit), min(high, limit))) if r.random() < 0.3 else r.randint(max(low, -limit), min(high, limit))


def decimals(digits, scale):
    return lambda r: decimal.Decimal(r.randint(-(10**digits) + 1, 10**digits - 1)).scaleb(-scale)


def floating(r):
    return r.choice([0.0, -0.0, 1.5, -1e-5, 65504.0]) if r.random() < 0.3 else np.float16(r.gauss(0, 100)).item()


WORDS = ["", "a", "tcp", "ünï", "x" * 200, "pre", "prefix", "prefix of"]

TYPES = {
    "bool": (pa.bool_(), lambda r: r.random() < 0.5),
    **{f"int{b}": (getattr(pa, f"int{b}")(), wholes(b, True)) for b in (8, 16, 32, 64)},
    **{f"uint{b}": (getattr(pa, f"uint{b}")(), wholes(b, False)) for b in (8, 16, 32, 64)},
    "beyond": (pa.int64(), lambda r: r.choice(edges(-(2**63), 2**63 - 1))),
    "half": (pa.float16(), lambda r: np.float16(floating(r))),
    "float": (pa.float32(), floating),
    "double": (pa.float64(), lambda r: r.choice([5e-324, 1.7e308, 0.1]) if r.random() < 0.2 else r.gauss(0, 1e6)),
    **{f"decimal{d}": (pa.decimal128(d, s), decimals(d, s)) for d, s in [(1, 0), (2, 1), (5, 2), (9, 4), (15, 3)]},
    "string": (pa.string(), lambda r: r.choice(WORDS) if r.random() < 0.5 else r.choice(WORDS) + str(r.randrange(1000))),
    "date": (pa.date32(), lambda r: r.randint(-700000, 2900000)),
    "time_ms": (pa.time32("ms"), lambda r: r.randrange(86400 * 10**3)),
    "time_us": (pa.time64("us"), lambda r: r.randrange(86400 * 10**6)),
    "time_ns": (pa.time64("ns"), lambda r: r.randrange(86400 * 10**9)),
    **{f"when_{u}{z}": (pa.timestamp(u, z and "UTC"), lambda r, n=n: r.randint(-(10**10) * n, 8 * 10**9 * n))
       for u, n in [("ms", 10**3), ("us", 10**6), ("ns", 10**9)] for z in ("", "z") for n in [n if u != "ns" else 10**9 // 4]},
}
ENCODINGS = ["dictionary", "PLAIN", "delta", "BYTE_STREAM_SPLIT", "prefixes"]
CODECS = ["none", "snappy", "gzip", "brotli", "zstd", "lz4"]
NULLS = [0, 0.3, 1]


def encoding_of(kind, family):
    """The encoding of a type in a family, "PLAIN" if the family has none for it."""
    whole = pa.types.is_integer(kind) or pa.types.is_temporal(kind)
    if family == "delta" and (whole and kind.bit_width >= 8):
        return "DELTA_BINARY_PACKED"
    if family == "delta" and pa.types.is_string(kind):
        return "DELTA_LENGTH_BYTE_ARRAY"
    if family == "delta" and pa.types.is_boolean(kind):
        return "RLE"
    if family == "prefixes" and (pa.types.is_string(kind) or pa.types.is_decimal(kind)):
        return "DELTA_BYTE_ARRAY"
    if family == "BYTE_STREAM_SPLIT" and not (pa.types.is_string(kind) or pa.types.is_boolean(kind)):
        return family
    return "PLAIN"


def generate(to, count, step):
    combinations = list(itertools.product(["1.0", "2.0"], ENCODINGS, NULLS, CODECS))
    for i in range(0, count, step):
        version, family, nulls, codec = combinations[i * 7 % len(combinations)]  # 7 has no factor of their number
        r = random.Random(i)
        rows = r.choice([0, 1, 7, 8, 9, 127, 128, 129, 500, 1500])
        arrays, encodings = {}, {}
        for name, (kind, draw) in TYPES.items():
            missing, pool = nulls if nulls in (0, 1) else r.choice([0.01, 0.5]), [draw(r) for _ in range(r.choice([3, 40, 2000]))]
            arrays[name] = pa.array([None if r.random() < missing else r.choice(pool) for _ in range(rows)], kind)
            encodings[name] = encoding_of(kind, family)
        extra = {"use_dictionary": True} if family == "dictionary" else {"use_dictionary": False, "column_encoding": encodings}
        path = os.path.join(to, f"{i:03}-{family}-{version[0]}-{codec}-{nulls}.parquet")
        fields = [pa.field(n, a.type, nullable=nulls > 0) for n, a in arrays.items()]
        pq.write_table(pa.table(list(arrays.values()), schema=pa.schema(fields)), path, compression=codec, data_page_version=version,
                       row_group_size=r.choice([100, 501, 10000]), data_page_size=r.choice([64, 1000, 1 << 20]),
                       dictionary_pagesize_limit=r.choice([200, 1 << 20]), write_page_checksum=r.random() < 0.5,
                       store_schema=r.random() < 0.5, use_deprecated_int96_timestamps=family in ("dictionary", "PLAIN") and r.random() < 0.3,
                       store_decimal_as_integer=r.random() < 0.3 and family not in ("prefixes",), write_batch_size=r.choice([10, 1024]), **extra)
        print(path)


if __name__ == "__main__":
    if sys.argv[1] == "generate":
        generate(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        for line in sys.stdin:
            print(json.dumps(values(line.rstrip("\n"))), flush=True)
