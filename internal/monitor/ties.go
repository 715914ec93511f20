package monitor

import "toptau/calibrate"

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

// gapOf returns the gap of an arriving row between ascending order statistics. The tie-breaker is computed only if
// it is needed.
func gapOf(keys []float64, ties []uint32, key float64, seed uint64, row, stream int) int {
	low, high := 0, len(keys)
	for low < high {
		middle := int(uint(low+high) >> 1)
		if keys[middle] < key {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == len(keys) || keys[low] != key {
		return low
	}
	return calibrate.Gap(keys, ties, key, tieOf(seed, row, stream))
}
