package detmath

import "math"

// OrderKey returns a whole number that orders floats. Both zeros have the same; NaN has that of some number above or below all.
func OrderKey(x float64) uint64 {
	b := math.Float64bits(x + 0) // -0 + 0 is 0
	return b ^ (uint64(int64(b)>>63) | 1<<63)
}

// OfOrderKey is the inverse of OrderKey.
func OfOrderKey(k uint64) float64 {
	if k>>63 != 0 {
		return math.Float64frombits(k &^ (1 << 63))
	}
	return math.Float64frombits(^k)
}
