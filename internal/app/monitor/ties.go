package monitor

import (
	"math/bits"

	"toptau/internal/core/detmath"
)

// scoreTies is the stream of tie-breakers of scores. Columns have the streams from 0 on.
const scoreTies = -1

// tieOf returns the tie-breaker of an arriving row in a stream: a hash that looks uniform (SplitMix64; Steele, Lea
// and Flood 2014). It depends on the number of the row alone, so that a monitor that was stopped goes on alike.
func tieOf(seed uint64, row, stream int) uint32 {
	x := seed*0x9e3779b97f4a7c15 + uint64(row)*0xd1342543de82ef95 + uint64(stream+2)*0xaf251af3b0f025b5
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return uint32((x ^ x>>31) >> 32)
}

// ladder is order statistics in ascending order, prepared for rows that arrive.
type ladder struct {
	keys []uint64 // ordinals
	ties []uint32
}

func newLadder(keys []float64, ties []uint32) ladder {
	l := ladder{make([]uint64, len(keys)), ties}
	for i, key := range keys {
		l.keys[i] = detmath.OrderKey(key)
	}
	return l
}

// gap returns the gap of a row, as evidence.Gap does, and counts it by its value unless v is nil. The tie-breaker is computed only if it is needed.
func (l *ladder) gap(key uint64, seed uint64, row, stream int, v *valueCounts) int {
	low := l.lowest(key)
	if low == len(l.keys) || l.keys[low] != key {
		return low
	}
	gap := l.pastTies(low, key, seed, row, stream)
	if v != nil {
		v.countLevel(l.keys, low, gap)
	}
	return gap
}

// lowest returns the number of keys below a key. The values of rows are in no order, so a branch for each comparison
// would be predicted wrongly half of the time: the borrow of a subtraction takes its place.
func (l *ladder) lowest(key uint64) int {
	low := 0
	for n := len(l.keys); n > 0; {
		half := (n + 1) / 2
		_, below := bits.Sub64(l.keys[low+half-1], key, 0)
		low += half & -int(below)
		n -= half
	}
	return low
}

// pastTies returns the gap of a row whose key has low keys below it.
func (l *ladder) pastTies(low int, key uint64, seed uint64, row, stream int) int {
	if low == len(l.keys) || l.keys[low] != key {
		return low
	}
	tie := tieOf(seed, row, stream)
	for low < len(l.keys) && l.keys[low] == key && l.ties[low] < tie {
		low++
	}
	return low
}
