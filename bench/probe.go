//go:build amd64 && !purego

package main

import "toptau/internal/core/kernel"

// readAll reads every value once, at the speed of memory, and returns their sum in no particular order.
func readAll(x []float32) float32 {
	var sums [8]float32
	blocks := len(x) / 128
	if kernel.Implementation() == "Go" {
		blocks = 0
	}
	if blocks > 0 {
		readAVX2(&x[0], blocks, &sums[0])
	}
	sum := float32(0)
	for _, s := range sums {
		sum += s
	}
	for _, v := range x[128*blocks:] {
		sum += v
	}
	return sum
}

// multiplyAdds does about n fused multiply-adds of float32 numbers as fast as the processor can and returns their number: 0
// where only plain Go runs.
func multiplyAdds(n int) int {
	const accumulators = 12
	switch kernel.Implementation() {
	case "AVX512":
		rounds := max(1, n/(accumulators*16))
		multiplyAVX512(rounds)
		return rounds * accumulators * 16
	case "AVX2":
		rounds := max(1, n/(accumulators*8))
		multiplyAVX2(rounds)
		return rounds * accumulators * 8
	}
	return 0
}
