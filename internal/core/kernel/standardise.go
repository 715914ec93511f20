package kernel

import (
	"encoding/binary"
	"math"
)

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

// StandardiseSingles writes (x - shift) / scale to dst for the float32 numbers x in data, four bytes each (lowest first). The
// result is formed in float64 and rounded to float32 once, as by Standardise and FillPanel. It reports whether all results are
// finite.
func StandardiseSingles(data []byte, dst []float32, shift, scale float64) (inside bool) {
	data = data[:4*len(dst)]
	done, inside := 0, true
	if vectors := len(dst) / 8; uses(columnsFamily) && vectors > 0 {
		inside = asmStandardise(&data[0], vectors, shift, scale, &dst[0])
		done = 8 * vectors
	}
	for i := done; i < len(dst); i++ {
		x := float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
		v := float32((x - shift) / scale)
		dst[i] = v
		inside = inside && v-v == 0
	}
	return inside
}
