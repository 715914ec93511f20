// Package parquet reads and writes Parquet files column by column.
//
// It reads flat columns and the leaves of nested groups (not of lists) in all encodings and with the codecs snappy,
// gzip, zstd and LZ4, in memory that does not grow with the file: some rows at a time. Whatever a file contains, there
// is no panic, and memory stays in proportion to the bytes of its pages. It writes flat columns of numbers and texts.
//
// The reader of the usual library would add 8.9 MB to a binary of 22.5 MB, and eight modules. See
// docs/design/decisions.
//
// The format is that of https://github.com/apache/parquet-format, version 2.11.
package parquet
