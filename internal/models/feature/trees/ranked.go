package trees

import (
	"math"
	"slices"
)

// ranked is a column of training rows as the ranks of its values, in as few bytes as hold them: trees read it
// often and in random order.
type ranked struct {
	values []float64 // ascending, each once
	narrow []uint8   // by row, if there are few values; the largest number is a missing value
	medium []uint16
	wide   []uint32
}

// missingRank is the rank of a missing value.
const missingRank = math.MaxUint32

// rankedOf ranks a column; NaN is a missing value.
func rankedOf(x []float64) ranked {
	var r ranked
	r.values = slices.DeleteFunc(slices.Clone(x), math.IsNaN)
	slices.Sort(r.values)
	r.values = slices.Compact(r.values)
	switch n := len(r.values); {
	case n < math.MaxUint8:
		r.narrow = ranksIn[uint8](x, r.values)
	case n < math.MaxUint16:
		r.medium = ranksIn[uint16](x, r.values)
	default:
		r.wide = ranksIn[uint32](x, r.values)
	}
	return r
}

func ranksIn[R uint8 | uint16 | uint32](x, values []float64) []R {
	ranks := make([]R, len(x))
	for i, v := range x {
		if math.IsNaN(v) {
			ranks[i] = ^R(0)
		} else {
			k, _ := slices.BinarySearch(values, v)
			ranks[i] = R(k)
		}
	}
	return ranks
}

// ranksAt writes the ranks of some rows to dst, whose capacity must be enough, and returns it.
func (r *ranked) ranksAt(rows []int32, dst []uint32) []uint32 {
	dst = dst[:len(rows)]
	switch {
	case r.narrow != nil:
		gatherRanks(r.narrow, rows, dst)
	case r.medium != nil:
		gatherRanks(r.medium, rows, dst)
	default:
		gatherRanks(r.wide, rows, dst)
	}
	return dst
}

func gatherRanks[R uint8 | uint16 | uint32](ranks []R, rows []int32, dst []uint32) {
	for k, row := range rows {
		rank := ranks[row]
		dst[k] = uint32(rank)
		if rank == ^R(0) {
			dst[k] = missingRank
		}
	}
}

// below returns the rank of the largest value that is at most x. There must be one.
func (r *ranked) below(x float64) uint32 {
	k, found := slices.BinarySearch(r.values, x)
	if found {
		return uint32(k)
	}
	return uint32(k - 1)
}
