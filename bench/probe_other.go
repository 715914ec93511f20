//go:build !amd64 || purego

package main

// readAll reads every value once and returns their sum.
func readAll(x []float32) float32 {
	sum := float32(0)
	for _, v := range x {
		sum += v
	}
	return sum
}

// multiplyAdds does nothing and returns 0: there is no assembly.
func multiplyAdds(int) int { return 0 }
