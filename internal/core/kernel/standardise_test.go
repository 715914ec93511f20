package kernel

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

func checkStandardise(t *testing.T, x []float64, shift, scale float64) {
	t.Helper()
	want, inside := make([]float64, len(x)), true
	for i, v := range x {
		want[i] = (v - shift) / scale
		inside = inside && !math.IsNaN(want[i]) && !math.IsInf(float64(float32(want[i])), 0)
	}
	for _, l := range levels() {
		atLevel(l, func() {
			dst := fence(make([]float64, len(x)), len(x)%5)
			if got := Standardise(x, dst.x, shift, scale); got != inside {
				t.Fatalf("%s, %d numbers: inside %v, want %v", l, len(x), got, inside)
			}
			for i, v := range want {
				if math.Float64bits(v) != math.Float64bits(dst.x[i]) && v == v {
					t.Fatalf("%s, %d numbers: place %d is %v, want %v", l, len(x), i, dst.x[i], v)
				}
			}
			dst.check(t, l.String())
		})
	}
}

func TestStandardise(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	special := []float64{0, math.Copysign(0, -1), math.MaxFloat32, -math.MaxFloat32, 0x1.ffffffp127, -0x1.ffffffp127,
		math.Nextafter(0x1.ffffffp127, 0), math.NaN(), math.Inf(1), 5e-324, math.MaxFloat64}
	for n := range 70 {
		x := make([]float64, n)
		for i := range x {
			x[i] = anyFloat64(r)
		}
		checkStandardise(t, x, anyFloat64(r), anyFloat64(r))
		checkStandardise(t, x, 0, 1)
		for _, s := range special {
			if n > 0 {
				for i := range x {
					x[i] = r.Float64()
				}
				x[r.IntN(n)] = s
			}
			checkStandardise(t, x, 0, 1)
			checkStandardise(t, x, 0.5, 0.25)
		}
	}
}

// The short way from stored float32 numbers to a panel has the bits of the long one: widened, standardised, rounded.
func TestStandardiseSingles(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	for n := range 70 {
		data, want, inside := make([]byte, 4*n), make([]float32, n), true
		shift, scale := r.NormFloat64(), r.ExpFloat64()
		for i := range n {
			x := float32(r.NormFloat64())
			switch r.IntN(40) {
			case 0:
				x = math.MaxFloat32
			case 1:
				x = float32(math.NaN())
			}
			binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(x))
			want[i] = float32((float64(x) - shift) / scale)
			inside = inside && want[i]-want[i] == 0
		}
		for _, l := range levels() {
			atLevel(l, func() {
				dst := fence(make([]float32, n), n%5)
				if got := StandardiseSingles(data, dst.x, shift, scale); got != inside {
					t.Fatalf("%s, %d numbers: inside %v, want %v", l, n, got, inside)
				}
				for i, v := range want {
					if math.Float32bits(v) != math.Float32bits(dst.x[i]) && v == v {
						t.Fatalf("%s, %d numbers: place %d is %v, want %v", l, n, i, dst.x[i], v)
					}
				}
				dst.check(t, l.String())
			})
		}
	}
}
