package kernel

// MultiplyAdds does about n fused multiply-adds of float32 numbers as fast as the processor can and returns how many:
// what benchmarks compare a tile with. It is zero where only plain Go runs.
func MultiplyAdds(n int) int { return vectorMultiplyAdds(n) }
