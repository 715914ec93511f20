package kernel

import (
	"math"
	"math/big"
	"testing"
)

// exactFused is x*y + z with all digits, rounded once.
func exactFused(x, y, z float32) float32 {
	const digits = 2000 // from 2^-298 to 2^256
	exact := func(v float32) *big.Float { return new(big.Float).SetPrec(digits).SetFloat64(float64(v)) }
	product := new(big.Float).SetPrec(digits).Mul(exact(x), exact(y))
	sum := new(big.Float).SetPrec(digits).Add(product, exact(z))
	if sum.Sign() == 0 { // big.Float rounds to nearest, so its zero has the right sign
		return float32(math.Copysign(0, map[bool]float64{true: -1, false: 1}[sum.Signbit()]))
	}
	rounded, _ := sum.Float32()
	return rounded
}

func checkFused(t testing.TB, x, y, z float32) {
	t.Helper()
	got, want := fma32(x, y, z), exactFused(x, y, z)
	if math.Float32bits(got) != math.Float32bits(want) {
		t.Fatalf("fma32(%x, %x, %x) = %x, want %x", x, y, z, got, want)
	}
	if vector, ok := vectorFused(x, y, z); ok && math.Float32bits(vector) != math.Float32bits(want) {
		t.Fatalf("the processor's fma(%x, %x, %x) = %x, want %x", x, y, z, vector, want)
	}
}

// vectorFused lets the processor multiply and add.
func vectorFused(x, y, z float32) (float32, bool) {
	if Implementation() == levelGo.String() {
		return 0, false
	}
	panel, scores := make([]float32, PanelRows), make([]float32, PanelRows)
	panel[5], scores[5] = x, z
	ScoreTile(panel, []float32{y}, 1, scores, true)
	return scores[5], true
}

func TestFusedAtItsEdges(t *testing.T) {
	smallest, normal := float32(0x1p-149), float32(0x1p-126)
	largest := float32(math.MaxFloat32)
	negativeZero := float32(math.Copysign(0, -1))
	edges := []float32{0, negativeZero, 1, -1, 0x1.000002p0, -0x1.000002p0, 0x1.fffffep-1, 3, 1.0 / 3,
		smallest, -smallest, 3 * smallest, normal, -normal, normal - smallest, normal + smallest, 0x1p-75, -0x1p-75, 0x1p-100,
		largest, -largest, 0x1p127, 0x1p64, -0x1p64, 0x1.fffffep63, 0x1p103, -0x1p103, 0x1.8p-24, 0x1p-24, 0x1p-25, 0x1p-48, 0x1p-70}
	for _, x := range edges {
		for _, y := range edges {
			for _, z := range edges {
				checkFused(t, x, y, z)
			}
		}
	}
}

// A sum next to the middle of two float32 numbers, closer than float64 can show, must not be rounded twice.
func TestFusedIsRoundedOnce(t *testing.T) {
	for _, c := range []struct{ x, y, z, want float32 }{
		{0x1p-60, 1, 1, 1},
		{0x1.000002p-13, 0x1.000002p-12, 0x1p0, 0x1p0},
		{0x1.000002p-12, 0x1.000002p-12, 0x1p0, 0x1.000002p0}, // just above the middle
		{0x1.000002p-12, 0x1.fffffcp-13, 0x1p0, exactFused(0x1.000002p-12, 0x1.fffffcp-13, 1)},
		{0x1p-149, 0x1p-1, 0x1p-149, 0x1p-148},                   // a tie between subnormals, to even
		{0x1.000002p-75, 0x1p-75, 0, 0x1p-149},                   // just above half the smallest number
		{0x1p-75, 0x1p-75, 0, 0},                                 // half of it: to even
		{-0x1p-75, 0x1p-75, 0, float32(math.Copysign(0, -1))},    // underflow keeps the sign
		{0x1p64, 0x1.fffffep63, 0x1p103, float32(math.Inf(1))},   // the middle above the largest number
		{0x1p64, 0x1.fffffep63, 0x1.fffffep102, math.MaxFloat32}, // just below that
	} {
		if got := exactFused(c.x, c.y, c.z); got != c.want {
			t.Errorf("the reference gives %x for %x*%x+%x, want %x", got, c.x, c.y, c.z, c.want)
		}
		checkFused(t, c.x, c.y, c.z)
	}
}

// nearMiddle returns x, y, z whose sum lies at, or next to, the middle of two float32 numbers.
func nearMiddle(seed uint64) (x, y, z float32) {
	r := newRand(seed)
	z = float32(math.Ldexp(1+unit(r), r.IntN(40)-160))
	if seed%3 == 0 {
		z = float32(math.Ldexp(1+unit(r), r.IntN(250)-126))
	}
	ulp := float64(math.Nextafter32(z, float32(math.Inf(1)))) - float64(z)
	x = float32(math.Ldexp(1+unit(r), r.IntN(60)-30))
	y = float32((float64(r.IntN(5)) + 0.5) * ulp / float64(x))
	if r.IntN(2) == 0 {
		y = -y
	}
	return x, y, z
}

func TestFusedNearTheMiddle(t *testing.T) {
	for seed := range uint64(20000) {
		x, y, z := nearMiddle(seed)
		if math.IsInf(float64(y), 0) {
			continue
		}
		checkFused(t, x, y, z)
	}
}

func TestFusedOfInfinities(t *testing.T) {
	inf := float32(math.Inf(1))
	if fma32(1, 2, inf) != inf || fma32(-1, 2, -inf) != -inf {
		t.Error("an infinite sum does not stay")
	}
	if s := fma32(inf, 1, -inf); s == s {
		t.Error("infinity minus infinity is a number")
	}
}

func FuzzFused(f *testing.F) {
	for seed := range uint64(20) {
		x, y, z := nearMiddle(seed)
		f.Add(math.Float32bits(x), math.Float32bits(y), math.Float32bits(z))
	}
	f.Add(uint32(1), uint32(0x3f000000), uint32(1))
	f.Add(uint32(0x7f7fffff), uint32(0x7f7fffff), uint32(0xff7fffff))
	f.Fuzz(func(t *testing.T, x, y, z uint32) {
		finite := func(bits uint32) float32 {
			v := math.Float32frombits(bits)
			if v-v != 0 {
				return math.Float32frombits(bits & 0x807fffff)
			}
			return v
		}
		checkFused(t, finite(x), finite(y), finite(z))
	})
}
