package feature

import (
	"fmt"
	"slices"
	"strconv"

	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
)

const sparseKind = "sparse"

// SparseBlock has a sparse feature x / scale for each index of a LIBSVM file. Values are not shifted: a shift
// would move scores and threshold alike, so that no objective changes, and zeros would not stay zeros.
type SparseBlock struct {
	Index    []uint32  `json:"index"`              // indices with a weight, as in the file: 1-based, ascending
	Constant []uint32  `json:"constant,omitempty"` // indices without a weight: not 0 and equal in every training row; ascending
	Scale    []float64 `json:"scale,omitempty"`    // by position in Index; absent: x is not changed

	position []int32 // by index: its position in Index, -1 for none; nil if the indices are too far apart
}

// Kind returns "sparse".
func (b *SparseBlock) Kind() string { return sparseKind }

// Spec returns a sparse column for each index.
func (b *SparseBlock) Spec() matrix.BlockSpec {
	return matrix.BlockSpec{Kind: matrix.Sparse, Cols: len(b.Index)}
}

func (b *SparseBlock) appendWeights(m *Map, list []Weight) []Weight {
	for _, index := range b.Index {
		list = append(list, Weight{Name: IndexName(index), Input: inputOf(m, index)})
	}
	return list
}

// IndexName returns the name of an index of LIBSVM rows, which counts from 1.
func IndexName(index uint32) string { return "index " + strconv.FormatUint(uint64(index), 10) }

func (b *SparseBlock) encode(_ *Map, t *table.Table, row int, first uint32, dst *Encoded) error {
	s := t.Sparse
	values := s.Value[s.Start[row]:s.Start[row+1]]
	n := len(dst.Cols)
	cols := slices.Grow(dst.Cols, len(values))[:n+len(values)]
	encoded := slices.Grow(dst.Values, len(values))[:len(cols)]
	scale := b.Scale
	for e, index := range s.Index[s.Start[row]:s.Start[row+1]][:len(values)] {
		x := values[e]
		if x == 0 {
			continue
		}
		j := b.find(index + 1)
		if j < 0 {
			if _, constant := slices.BinarySearch(b.Constant, index+1); !constant {
				dst.countUnknownIndex()
			}
			continue
		}
		v := x
		if scale != nil {
			v /= scale[j]
		}
		if !fits(v) {
			return rangeError(t, row, IndexName(index+1), x)
		}
		cols[n], encoded[n] = first+uint32(j), v
		n++
	}
	dst.Cols, dst.Values = cols[:n], encoded[:n]
	return nil
}

// find returns the position of an index among the weights, or -1.
func (b *SparseBlock) find(index uint32) int {
	if b.position != nil {
		if int(index) < len(b.position) {
			return int(b.position[index])
		}
		return -1
	}
	if j, found := slices.BinarySearch(b.Index, index); found {
		return j
	}
	return -1
}

func (b *SparseBlock) reads([]bool) {}

func (b *SparseBlock) check(m *Map) error {
	if !m.Sparse {
		return fmt.Errorf("indices in a map of columns")
	}
	if b.Scale != nil && len(b.Scale) != len(b.Index) {
		return fmt.Errorf("%d scales for %d indices", len(b.Scale), len(b.Index))
	}
	for _, s := range b.Scale {
		if !(s > 0) {
			return fmt.Errorf("scale %g is not positive", s)
		}
	}
	if !ascending(b.Index) || !ascending(b.Constant) {
		return fmt.Errorf("indices are not ascending from 1")
	}
	b.position = nil
	if n := len(b.Index); n > 0 && int(b.Index[n-1]) < 4*n+1<<16 {
		b.position = make([]int32, b.Index[n-1]+1)
		for i := range b.position {
			b.position[i] = -1
		}
		for j, index := range b.Index {
			b.position[index] = int32(j)
		}
	}
	return nil
}

func ascending(list []uint32) bool {
	previous := uint32(0)
	for _, index := range list {
		if index <= previous {
			return false
		}
		previous = index
	}
	return true
}

// inputOf returns the input of an index, counted from 1; -1 for none.
func inputOf(m *Map, index uint32) int {
	k, found := slices.BinarySearchFunc(m.Inputs, int(index)-1, func(in Input, column int) int { return in.Column - column })
	if !m.Sparse || !found {
		return -1
	}
	return k
}
