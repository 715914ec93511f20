package feature

import (
	"math/bits"

	"toptau/internal/data/table"
)

// ranks numbers the indices that are not zero in some rows of a LIBSVM table in ascending order, from 0. It
// takes one bit for each index up to the largest, and 4 bytes for 64 of them, so that one huge index costs
// little.
type ranks struct {
	marks  []uint64
	before []uint32 // by element of marks: the number of marks in earlier elements
	count  int
}

// newRanks reads the entries of some rows.
func newRanks(s *table.Sparse, rows []int) *ranks {
	words := (s.Cols + 63) / 64
	r := &ranks{marks: make([]uint64, words), before: make([]uint32, words)}
	for _, row := range rows {
		values := s.Value[s.Start[row]:s.Start[row+1]]
		for e, index := range s.Index[s.Start[row]:s.Start[row+1]][:len(values)] {
			if values[e] != 0 {
				r.marks[index/64] |= 1 << (index % 64)
			}
		}
	}
	for k, word := range r.marks {
		r.before[k] = uint32(r.count)
		r.count += bits.OnesCount64(word)
	}
	return r
}

// rankOf returns the rank of an index that has one.
func (r *ranks) rankOf(index uint32) int {
	below := r.marks[index/64] & (1<<(index%64) - 1)
	return int(r.before[index/64]) + bits.OnesCount64(below)
}

// indices returns the indices that have a rank, in ascending order.
func (r *ranks) indices() []uint32 {
	list := make([]uint32, 0, r.count)
	for k, word := range r.marks {
		for ; word != 0; word &= word - 1 {
			list = append(list, uint32(64*k+bits.TrailingZeros64(word)))
		}
	}
	return list
}
