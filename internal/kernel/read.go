package kernel

// Read reads every value once, at the speed of memory, and returns their sum in no particular order: what benchmarks
// compare a pass with.
func Read(x []float32) float32 {
	done, sum := vectorRead(x)
	for _, v := range x[done:] {
		sum += v
	}
	return sum
}
