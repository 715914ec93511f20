"""Writes the files of TestFilesOfAnotherWriter and TestOddFiles. Needs pyarrow."""

import datetime
import itertools
import os

import pyarrow as pa
import pyarrow.parquet as pq

rows = range(300)
start = datetime.datetime(2024, 5, 31, 0, 0, 59, 250000, datetime.timezone.utc)
gap = pa.array([None if i % 3 == 0 else float(i) for i in rows], pa.float32())
table = pa.table({
    "x": pa.array([i / 8 for i in rows], pa.float64()),
    "whole": pa.array([i * i - 500 for i in rows], pa.int32()),
    "inner": pa.StructArray.from_arrays([gap], ["gap"]),
    "amount": pa.array([i / 8 for i in rows]).cast(pa.decimal128(12, 3)),
    "name": pa.array([["tcp", "udp", None, "ünï"][i % 4] for i in rows], pa.string()),
    "when": pa.array([start + datetime.timedelta(minutes=i) for i in rows], pa.timestamp("ms", "UTC")),
    "day": pa.array([datetime.date(2024, 5, 1 + i % 31) for i in rows], pa.date32()),
})
encodings = {"x": "BYTE_STREAM_SPLIT", "whole": "DELTA_BINARY_PACKED", "inner.gap": "BYTE_STREAM_SPLIT", "amount": "DELTA_BYTE_ARRAY",
             "name": "DELTA_BYTE_ARRAY", "when": "DELTA_BINARY_PACKED", "day": "DELTA_BINARY_PACKED"}
os.chdir(os.path.dirname(os.path.abspath(__file__)))
for codec, version in itertools.product(["NONE", "SNAPPY", "GZIP", "BROTLI", "ZSTD", "LZ4"], ["1.0", "2.0"]):
    pq.write_table(table, f"{codec.lower()}-{version[0]}.parquet", compression=codec, data_page_version=version, row_group_size=200)
for version in ["1.0", "2.0"]:
    pq.write_table(table, f"delta-{version[0]}.parquet", use_dictionary=False, column_encoding=encodings, data_page_version=version)
    names = {"name": "DELTA_LENGTH_BYTE_ARRAY"}
    pq.write_table(table, f"plain-{version[0]}.parquet", use_dictionary=False, column_encoding=names, data_page_version=version, write_page_checksum=True)

edges = pa.table({"n": pa.array([-2**31, 2**31 - 1, 0, 2**31 - 1, -2**31, 7], pa.int32())})
pq.write_table(edges, "odd/int32.parquet", use_dictionary=False, column_encoding={"n": "DELTA_BINARY_PACKED"})
moments = [datetime.datetime(9999, 12, 31, 23, 59, 59, 999999), datetime.datetime(1200, 1, 1, 0, 0, 59), None, datetime.datetime(2024, 2, 29)]
pq.write_table(pa.table({"t": pa.array(moments, pa.timestamp("us"))}), "odd/int96.parquet", use_deprecated_int96_timestamps=True)
pq.write_table(pa.table({"t": pa.array(moments, pa.timestamp("us"))}), "odd/int96-plain.parquet", use_deprecated_int96_timestamps=True,
               use_dictionary=False)
narrow = pa.table({
    "h": pa.array([i / 4 - 9 for i in range(90)], pa.float16()),
    **{f"d{n}": pa.array([i % 9 for i in range(90)]).cast(pa.decimal128(21, 1)).cast(pa.decimal128(n, 1)) for n in (2, 3, 4, 5, 6, 7, 9)},
})
pq.write_table(narrow, "odd/narrow.parquet")
pq.write_table(narrow.slice(0, 0), "odd/no-rows.parquet")
with pq.ParquetWriter("odd/empty-group.parquet", narrow.schema) as w:
    for part in (narrow.slice(0, 60), narrow.slice(0, 0), narrow.slice(60)):
        w.write_table(part)
