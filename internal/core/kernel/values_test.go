package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// everyLevel runs a test with each implementation that this processor has.
func everyLevel(t *testing.T, test func(t *testing.T)) {
	for _, l := range levels() {
		t.Run(l.String(), func(t *testing.T) {
			atLevel(l, func() { test(t) })
		})
	}
}

// atLevel runs f with one implementation.
func atLevel(l level, f func()) {
	before := using
	for f := range using {
		using[f] = family(f).limit(l)
	}
	defer func() { using = before }()
	f()
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 17)) }

// unit returns a number in [0, 1).
func unit(r *rand.Rand) float64 { return float64(r.Uint64()>>11) / (1 << 53) }

// anyFloat64 returns a finite number: often plain, sometimes zero of either sign, subnormal, tiny, huge or whole.
func anyFloat64(r *rand.Rand) float64 {
	switch r.IntN(12) {
	case 0:
		return 0
	case 1:
		return math.Copysign(0, -1)
	case 2:
		return math.Float64frombits(r.Uint64()&(1<<52-1) | r.Uint64()<<63)
	case 3:
		return (unit(r) - 0.5) * 1e-290
	case 4:
		return (unit(r) - 0.5) * 1e200
	case 5:
		return float64(r.IntN(9) - 4)
	}
	return float64(4*unit(r)) - 2
}

// anyFloat32 is anyFloat64 for float32.
func anyFloat32(r *rand.Rand) float32 {
	switch r.IntN(12) {
	case 0:
		return 0
	case 1:
		return float32(math.Copysign(0, -1))
	case 2:
		return math.Float32frombits(r.Uint32()&(1<<23-1) | r.Uint32()<<31)
	case 3:
		return float32((unit(r) - 0.5) * 1e-37)
	case 4:
		return float32((unit(r) - 0.5) * 1e38)
	case 5:
		return float32(r.IntN(9) - 4)
	}
	return float32(float64(4*unit(r)) - 2)
}

func floats64(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = anyFloat64(r)
	}
	return x
}

func floats32(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = anyFloat32(r)
	}
	return x
}

// sparse64 sets most of v to zeros of either sign.
func sparse64(r *rand.Rand, v []float64, active float64) {
	for i := range v {
		if unit(r) >= active {
			v[i] = math.Copysign(0, unit(r)-0.5)
		}
	}
}

// sameBits compares bit for bit. NaNs, which only an overflow can bring, are all alike.
func sameBits[T Float](t testing.TB, what string, got, want []T) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range want {
		g, w := float64(got[i]), float64(want[i])
		if math.Float64bits(g) != math.Float64bits(w) && !(g != g && w != w) {
			t.Fatalf("%s: value %d is %v (%x), want %v (%x)", what, i, g, math.Float64bits(g), w, math.Float64bits(w))
		}
	}
}

// fenced is a copy of x between values that must not change.
type fenced[T Float] struct{ all, x []T }

func fence[T Float](x []T, offset int) fenced[T] {
	const margin = 16
	all := make([]T, margin+offset+len(x)+margin)
	for i := range all {
		all[i] = -12345
	}
	inner := all[margin+offset : margin+offset+len(x) : margin+offset+len(x)]
	copy(inner, x)
	return fenced[T]{all, inner}
}

func (f fenced[T]) check(t testing.TB, what string) {
	t.Helper()
	before := (len(f.all) - len(f.x)) - 16
	for i, v := range f.all {
		if (i < before || i >= before+len(f.x)) && v != -12345 {
			t.Fatalf("%s: wrote outside, at %d of %d..%d", what, i, before, before+len(f.x))
		}
	}
}

// sizes are the feature counts that the table tests go through.
func sizes() []int {
	if testing.Short() {
		return []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 16, 17, 28, 31, 32, 33, 57, 63, 64, 65, 97, 128, 200}
	}
	var all []int
	for d := 1; d <= 200; d++ {
		all = append(all, d)
	}
	return append(all, 1023, 4097, 20000, 100000)
}

func shapeName(d, panels, offset int) string {
	return fmt.Sprintf("d=%d panels=%d offset=%d", d, panels, offset)
}
