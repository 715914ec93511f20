package table

import (
	"sync/atomic"

	"toptau/internal/packed"
)

// storedColumn is a column of a table whose values stay in a packed file. The file keeps the chunks that were read
// last, so that reading rows in their order is fast, and reading others is slow.
//
// Values are read in the middle of computations, which do not expect errors. So a failure makes all further values
// missing, and Table.Failure returns it. The caller asks for it before the result is used.
type storedColumn struct {
	file   *storedFile
	column int
	codes  [][]int32 // of a categorical column, by block: the codes in the table of the block's texts
}

// storedFile is a packed file that a table reads.
type storedFile struct {
	*packed.File
	failed atomic.Pointer[error]
}

// Failure returns the error that made values of a stored column unreadable, nil if there was none.
func (t *Table) Failure() error {
	if t.storage == nil {
		return nil
	}
	if failed := t.storage.failed.Load(); failed != nil {
		return *failed
	}
	return nil
}

// Stored reports whether the features stay in a file, so that the table is larger than its memory.
func (t *Table) Stored() bool { return t.storage != nil }

// BlockRows returns the number of rows that a stored table reads together, 0 for a table in memory.
func (t *Table) BlockRows() int {
	if t.storage == nil {
		return 0
	}
	return t.storage.BlockRows()
}

// ForgetChunks frees the chunks of a stored table's file that were read last.
func (t *Table) ForgetChunks() {
	if t.storage != nil {
		t.storage.Forget()
	}
}

// InFile reports whether the values stay in a packed file.
func (c *Column) InFile() bool { return c.stored != nil }

// ReadChunk reads the values of a column that stays in a file, of one of the table's blocks of BlockRows rows, into chunk,
// whose memory it uses again.
func (c *Column) ReadChunk(block int, chunk *packed.Chunk) error {
	return c.stored.file.Read(block, c.stored.column, chunk)
}

// segment returns the segment of a row and the row's place in it; nil if it could not be read.
func (s *storedColumn) segment(row int) (block int, segment *packed.Segment, place int) {
	size := s.file.BlockRows()
	block = row / size
	if s.file.failed.Load() != nil {
		return block, nil, 0
	}
	chunk, err := s.file.Chunk(block, s.column)
	if err != nil {
		s.file.failed.CompareAndSwap(nil, &err)
		return block, nil, 0
	}
	row %= size
	return block, &chunk.Segments[row/packed.SegmentRows], row % packed.SegmentRows
}

// numbers is Column.Range.
func (s *storedColumn) numbers(first, n int, space []float64) []float64 {
	space = space[:n]
	for to := space; len(to) > 0; {
		_, segment, i := s.segment(first)
		if segment == nil {
			for j := range to {
				to[j] = missingNumber
			}
			break
		}
		k := min(len(to), segment.Rows()-i)
		copy(to, segment.Numbers(i, k, to))
		first, to = first+k, to[k:]
	}
	return space
}

// wholes is Column.ReadCodes.
func (s *storedColumn) wholes(first int, dst []int32) {
	for len(dst) > 0 {
		block, segment, i := s.segment(first)
		if segment == nil {
			for j := range dst {
				dst[j] = -1
			}
			return
		}
		k := min(len(dst), segment.Rows()-i)
		segment.Wholes(i, dst[:k])
		for j, code := range dst[:k] {
			if code >= 0 {
				dst[j] = s.codes[block][code]
			}
		}
		first, dst = first+k, dst[k:]
	}
}
