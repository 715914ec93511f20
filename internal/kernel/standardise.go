package kernel

// Standardise writes (x[i] - shift) / scale to dst, which may be x and is as long. It reports whether all results are
// finite, also once they are rounded to float32.
func Standardise(x, dst []float64, shift, scale float64) (inside bool) {
	dst = dst[:len(x)]
	inside = true
	for i, v := range x {
		v = (v - shift) / scale
		dst[i] = v
		single := float32(v)
		inside = inside && single-single == 0
	}
	return inside
}
