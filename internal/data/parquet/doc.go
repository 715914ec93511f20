// Package parquet reads and writes Parquet files column by column.
//
// It reads flat columns and the leaves of nested groups (not of lists) in all encodings and with the codecs snappy,
// gzip, Brotli, zstd and both forms of LZ4, in memory that does not grow with the file: some rows at a time. Whatever a
// file contains, there is no panic, and memory stays in proportion to the bytes of its pages, or to what the user
// allows. It writes flat columns of numbers and texts.
//
// Lists, maps, binary values without a meaning, LZO and encryption are refused by name. A value that the table cannot
// hold is an error with its row: whole numbers beyond 2^53 and decimals of more than 15 digits as numbers, infinity,
// texts that are not UTF-8, and times that are none.
//
// The module integration compares it with pyarrow, value by value: the collection of files of the format's project, and
// files of all types, encodings, versions of pages, codecs and fractions of missing values.
// docs/design/decisions/0013-parquet.md has the figures, and why there is another reader.
//
// The format is that of https://github.com/apache/parquet-format, version 2.11.
package parquet
