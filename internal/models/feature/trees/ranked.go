package trees

import (
	"math"
	"slices"

	"toptau/internal/core/detmath"
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
	sortNumbers(r.values)
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
	if len(values) < math.MaxUint16 {
		rankBatches(x, values, func(first int, of []uint16) {
			for k, rank := range of {
				ranks[first+k] = R(rank)
			}
		})
	} else {
		for i, v := range x {
			k, _ := slices.BinarySearch(values, v)
			ranks[i] = R(k)
		}
	}
	for i, v := range x {
		if math.IsNaN(v) {
			ranks[i] = ^R(0)
		}
	}
	return ranks
}

// gather writes the ranks of some rows to dst, whose capacity must be enough. It returns it with the range of the ranks and the number of
// missing values.
func (r *ranked) gather(rows []int32, dst []uint32) (ranks []uint32, low, high uint32, missing int) {
	dst = dst[:len(rows)]
	switch {
	case r.narrow != nil:
		low, high, missing = gatherRanks(r.narrow, rows, dst)
	case r.medium != nil:
		low, high, missing = gatherRanks(r.medium, rows, dst)
	default:
		low, high, missing = gatherRanks(r.wide, rows, dst)
	}
	return dst, low, high, missing
}

func gatherRanks[R uint8 | uint16 | uint32](ranks []R, rows []int32, dst []uint32) (low, high uint32, missing int) {
	low = missingRank
	for k, row := range rows {
		rank := uint32(ranks[row])
		if R(rank) == ^R(0) {
			rank = missingRank
			missing++
		} else {
			high = max(high, rank)
		}
		low = min(low, rank)
		dst[k] = rank
	}
	return low, high, missing
}

// divide puts the rows whose rank is at most last, or that miss a value if missingLeft is set, before the others, and returns their number.
// Both keep their order. The length of spare must be enough for all.
func (r *ranked) divide(rows, spare []int32, last uint32, missingLeft bool) (left int) {
	switch {
	case r.narrow != nil:
		return divideRows(r.narrow, rows, spare, last, missingLeft)
	case r.medium != nil:
		return divideRows(r.medium, rows, spare, last, missingLeft)
	}
	return divideRows(r.wide, rows, spare, last, missingLeft)
}

func divideRows[R uint8 | uint16 | uint32](ranks []R, rows, spare []int32, last uint32, missingLeft bool) (left int) {
	most, missing := R(min(last, uint32(^R(0))-1)), indicator(missingLeft)
	right := 0
	for _, row := range rows {
		// without branches, which a processor would guess wrong
		goes := int(indicator(ranks[row] <= most) | missing&indicator(ranks[row] == ^R(0)))
		rows[left], spare[right] = row, row
		left += goes
		right += 1 - goes
	}
	copy(rows[left:], spare[:right])
	return left
}

func indicator(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// below returns the rank of the largest value that is at most x, between the rank of one that is and that of one that is not.
func (r *ranked) below(x float64, low, high uint32) uint32 {
	for high-low > 1 {
		if middle := low + (high-low)/2; r.values[middle] <= x {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// radixRows is the number of values from which sortNumbers sorts by digits. Chosen by hand.
const radixRows = 512

// sortNumbers sorts numbers, none of which is NaN. Many are sorted by the bytes of their keys, the last one first, each time without changing
// the order of equal ones: that reads them eight times at most, without comparisons that a processor would guess wrong.
func sortNumbers(x []float64) {
	if len(x) < radixRows {
		slices.Sort(x)
		return
	}
	keys, spare := make([]uint64, len(x)), make([]uint64, len(x))
	var counts [8][256]int
	for i, v := range x {
		key := detmath.OrderKey(v)
		keys[i] = key
		for digit := range counts {
			counts[digit][uint8(key>>(8*digit))]++
		}
	}
	for digit := range counts {
		if counts[digit][uint8(keys[0]>>(8*digit))] == len(x) {
			continue // the same byte everywhere
		}
		var next [256]int
		sum := 0
		for b, n := range counts[digit] {
			next[b] = sum
			sum += n
		}
		for _, key := range keys {
			b := uint8(key >> (8 * digit))
			spare[next[b]] = key
			next[b]++
		}
		keys, spare = spare, keys
	}
	for i, key := range keys {
		x[i] = math.Float64frombits(key ^ (^uint64(int64(key)>>63) | 1<<63))
	}
}
