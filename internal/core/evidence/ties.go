package evidence

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"toptau/internal/core/detmath"
)

// LevelCounts returns the number of rows at each of some order statistics, by their values alone, for people. above[i] of the sorted keys
// rank above the i-th of them, with tie-breakers. Either the rows with its key or more are counted, or those with more than its
// key, whichever number is nearer to above[i] + 1, which the evidence counts. The first is at least that, the second is less, so the number shows
// which it is. Missing values (+Inf) are always counted. It returns nil if no other key is equal to one of them.
func LevelCounts(sorted []float64, above []int) []int {
	counts, tied := make([]int, len(above)), false
	for i, e := range above {
		key, ranked := sorted[len(sorted)-1-e], e+1
		atLeast := len(sorted) - sort.Search(len(sorted), func(j int) bool { return sorted[j] >= key })
		more := len(sorted) - sort.Search(len(sorted), func(j int) bool { return sorted[j] > key })
		if counts[i] = atLeast; atLeast-ranked > ranked-more && !math.IsInf(key, 1) {
			counts[i] = more
		}
		tied = tied || atLeast-more > 1
	}
	if !tied {
		return nil
	}
	return counts
}

// CheckLevelCounts returns an error for counts that LevelCounts does not return for this number of rows.
func CheckLevelCounts(counts []int, rows, levels int) error {
	if counts != nil && len(counts) != levels {
		return fmt.Errorf("%d counts of rows for %d levels", len(counts), levels)
	}
	for i, n := range counts {
		if n < 0 || n > rows || i > 0 && n > counts[i-1] {
			return fmt.Errorf("a level with %d of %d rows, or out of order", n, rows)
		}
	}
	return nil
}

// tied is a key with its tie-breaker.
type tied struct {
	order uint64 // of the key; see detmath.OrderKey
	tie   uint32
}

// OrderWithTies returns keys in ascending order, equal ones in the order of new uniform tie-breakers. -0 becomes 0.
func OrderWithTies(keys []float64, random *rand.Rand) (sorted []float64, ties []uint32) {
	list, space := make([]tied, len(keys)), make([]tied, len(keys))
	for i, key := range keys {
		list[i] = tied{detmath.OrderKey(key), random.Uint32()}
	}
	for shift := 0; shift < 64; shift += 8 {
		list, space = sortByByte(list, space, shift)
	}
	sorted, ties = make([]float64, len(keys)), make([]uint32, len(keys))
	first := 0 // of the keys that are equal
	for i, e := range list {
		sorted[i], ties[i] = detmath.OfOrderKey(e.order), e.tie
		if e.order != list[first].order {
			slices.Sort(ties[first:i])
			first = i
		}
	}
	slices.Sort(ties[first:])
	return sorted, ties
}

// sortByByte is a step of a radix sort: it sorts by a byte of the keys and keeps the order of equal ones. It returns the sorted list and
// the other memory. Numbers with few digits and those that were float32 have bytes that are all equal, which cost little.
func sortByByte(list, space []tied, shift int) (sorted, other []tied) {
	var next [256]int // the number of keys with a byte, then where the next one belongs
	for i := range list {
		next[uint8(list[i].order>>shift)]++
	}
	first := 0
	for b, count := range next {
		if count == len(list) {
			return list, space
		}
		next[b], first = first, first+count
	}
	for _, e := range list {
		b := uint8(e.order >> shift)
		space[next[b]] = e
		next[b]++
	}
	return space, list
}

// Precedes reports whether a key with its tie-breaker ranks below another.
func Precedes(key float64, tie uint32, otherKey float64, otherTie uint32) bool {
	return key < otherKey || key == otherKey && tie < otherTie
}

// Gap returns the number of kept order statistics that rank below a row: 0 is the gap below all of them. keys and
// ties are in ascending order.
func Gap(keys []float64, ties []uint32, key float64, tie uint32) int {
	i := sort.SearchFloat64s(keys, key)
	for i < len(keys) && keys[i] == key && ties[i] < tie {
		i++
	}
	return i
}
