// Package packed stores columns in few bytes, each value with all its bits: in memory as segments, and in a
// packed file. docs/reference/packed.md describes the file.
//
// A packed file is a typed copy of a table: columns of numbers and columns of text, without roles. Its rows
// are in blocks of equal size, and each block has a chunk for each column, so that a program can read some
// columns of some rows. Each chunk has a checksum, which is compared whenever the chunk is read.
package packed
