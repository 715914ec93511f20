package kernel

// Standardise writes (x[i] - shift) / scale to dst, which may be x and is as long. It reports whether all results are
// finite, also once they are rounded to float32.
func Standardise(x, dst []float64, shift, scale float64) (inside bool) {
	dst = dst[:len(x)]
	done, inside := 0, true
	if uses(standardiseFamily) {
		width := 4
		if using[standardiseFamily] == levelAVX512 {
			width = 8
		}
		if vectors := len(x) / width; vectors > 0 {
			inside = asmStandardise(&x[0], &dst[0], vectors, shift, scale)
			done = vectors * width
		}
	}
	for i, v := range x[done:] {
		v = (v - shift) / scale
		dst[done+i] = v
		single := float32(v)
		inside = inside && single-single == 0
	}
	return inside
}
