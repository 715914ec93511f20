package feature

import (
	"math"
)

// OrderedBits maps numbers to whole numbers in the same order.
func OrderedBits(x float64) uint64 {
	b := math.Float64bits(x + 0) // -0 is 0
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

// fromOrderedBits is the inverse of OrderedBits.
func fromOrderedBits(b uint64) float64 {
	if b>>63 != 0 {
		return math.Float64frombits(b &^ (1 << 63))
	}
	return math.Float64frombits(^b)
}
