package kernel

import "math"

// fma32 returns x*y + z, rounded once to float32, with any compiler and on any processor.
//
// The product of two float32 numbers is exact in float64: 48 bits, exponents from -298 to 256. The sum s of it and z
// is rounded to float64, and a second time to float32. The second rounding gives the wrong neighbour only when s lies
// exactly half way between two float32 numbers while the true sum does not, because rounding is monotone. There, the
// sum is rounded to odd: of the two float64 numbers around an inexact sum, the one whose last bit is 1. It is never a
// half-way point, and lies on the true sum's side of each. 53 bits are enough for this (24 + 2 would be).
//
// Half-way points of normal float32 numbers have the bit below the last one set and nothing behind it. Those of
// subnormal numbers vary, so small sums take the longer way, too.
func fma32(x, y, z float32) float32 {
	p := float64(float64(x) * float64(y))
	s := p + float64(z)
	bits := math.Float64bits(s)
	if bits&(1<<29-1) != 1<<28 && bits&(0x7ff<<52) >= (1023-126)<<52 {
		return float32(s)
	}
	return roundedToOdd(p, float64(z), s)
}

// roundedToOdd returns p + z, rounded to odd and then to float32; s is p + z rounded to nearest.
func roundedToOdd(p, z, s float64) float32 {
	// The error of a float64 sum is a float64 number, found without overflow here (Moller, Knuth).
	virtual := s - p
	remainder := (p - (s - virtual)) + (z - virtual)
	bits := math.Float64bits(s)
	if bits&1 == 0 && (remainder > 0 || remainder < 0) {
		if (remainder > 0) == (s > 0) {
			bits++ // the true sum is farther from zero
		} else {
			bits--
		}
	}
	return float32(math.Float64frombits(bits))
}
