package main

import "math"

// half returns a number of 16 bits: the same exponent and fraction in 32 bits, times the power of two between the two biases.
func half(b uint16) float64 {
	bits := uint32(b&0x8000)<<16 | uint32(b&0x7fff)<<13
	if b&0x7c00 == 0x7c00 { // infinity or no number
		return float64(math.Float32frombits(bits | 0x7f800000))
	}
	return float64(math.Float32frombits(bits)) * (1 << 112)
}
