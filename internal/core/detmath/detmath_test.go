package detmath

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// uniform returns numbers in [low, high) from a fixed seed.
func uniform(low, high float64, n int) []float64 {
	r := rand.New(rand.NewPCG(1, math.Float64bits(low)))
	x := make([]float64, n)
	for i := range x {
		x[i] = low + (high-low)*float64(r.Uint64()>>11)/(1<<53)
	}
	return x
}

// anyFloats returns finite numbers of every magnitude and sign.
func anyFloats(n int) []float64 {
	r := rand.New(rand.NewPCG(2, 3))
	var x []float64
	for len(x) < n {
		if f := math.Float64frombits(r.Uint64()); !math.IsNaN(f) && !math.IsInf(f, 0) {
			x = append(x, f)
		}
	}
	return x
}

func TestExpTableIsTwoToTheFractions(t *testing.T) {
	root := newBig(2)
	for range octaveBits {
		root.Sqrt(root)
	}
	power := newBig(1)
	for j := range exp2High {
		got := newBig(exp2High[j])
		got.Add(got, newBig(exp2Low[j]))
		got.Sub(got, power)
		if d, _ := got.Float64(); math.Abs(d) > 0x1p-105 {
			t.Errorf("entry %d is off by %g", j, d)
		}
		if exp2High[j]+exp2Low[j] != exp2High[j] {
			t.Errorf("entry %d: the low part %g reaches into the high part", j, exp2Low[j])
		}
		power.Mul(power, root)
	}
}

// worst reports the largest error of f against a reference, in units in the last place.
func worst(t *testing.T, f func(float64) float64, reference func(*big.Float) *big.Float, points []float64) {
	t.Helper()
	largest, at := 0.0, 0.0
	for _, x := range points {
		if u := ulps(f(x), reference(newBig(x))); !(u <= largest) {
			largest, at = u, x
		}
	}
	t.Logf("largest error %.4f ulp at %v", largest, at)
	if !(largest < 1) {
		t.Errorf("error of %v ulp at %v: got %v", largest, at, f(at))
	}
}

func TestExpIsWithinOneUnit(t *testing.T) {
	points := uniform(-745.13, 709.78, 1500)
	points = append(points, uniform(-1, 1, 1000)...)
	points = append(points, uniform(-0.02, 0.02, 500)...)
	points = append(points, uniform(-745.2, -700, 800)...)
	for k := -30; k < 30; k++ { // the seams of the table
		points = append(points, (float64(k)+0.5)*math.Ln2/32, float64(k)*math.Ln2/32)
	}
	points = append(points, 709.782712893384, math.Nextafter(709.782712893384, 0), -745.1332191019412, 1, -1, 0x1p-54, -0x1p-60)
	worst(t, Exp, bigExp, points)
}

func TestLogIsWithinOneUnit(t *testing.T) {
	var points []float64
	for _, x := range anyFloats(1000) {
		points = append(points, math.Abs(x))
	}
	points = append(points, uniform(0.5, 2, 1500)...)
	points = append(points, uniform(0.99, 1.01, 500)...)
	points = append(points, math.SmallestNonzeroFloat64, math.MaxFloat64, 0x1p-1022, 2, 0.5, math.Sqrt2, math.Sqrt2/2,
		math.Nextafter(1, 0), math.Nextafter(1, 2))
	worst(t, Log, bigLog, points)
}

func TestLog1pIsWithinOneUnit(t *testing.T) {
	log1p := func(x *big.Float) *big.Float { // 1 + x is exact where it matters
		one := new(big.Float).SetPrec(2200).SetInt64(1)
		sum := one.Add(one, x)
		if f, _ := x.Float64(); math.Abs(f) < 0x1p-60 {
			return new(big.Float).SetPrec(precision).Set(x) // x - x^2/2 is within 2^-61 of x
		}
		return bigLog(new(big.Float).SetPrec(precision).Set(sum))
	}
	points := uniform(-0.999, 3, 1200)
	points = append(points, uniform(-0.3, -0.28, 300)...)
	points = append(points, uniform(0.4, 0.42, 300)...)
	points = append(points, uniform(-1e-3, 1e-3, 500)...)
	for _, x := range anyFloats(1000) {
		if x > -1 {
			points = append(points, x)
		}
	}
	points = append(points, math.Nextafter(-1, 0), math.MaxFloat64, 1, 0x1p53, 0x1p54, -0x1p-53, 0x1p-54)
	worst(t, Log1p, log1p, points)
}

func TestSpecialValues(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"Exp(0)", Exp(0), 1},
		{"Exp(-0)", Exp(math.Copysign(0, -1)), 1},
		{"Exp(Inf)", Exp(inf), inf},
		{"Exp(-Inf)", Exp(-inf), 0},
		{"Exp(710)", Exp(710), inf},
		{"Exp(-746)", Exp(-746), 0},
		{"Exp(Max)", Exp(math.MaxFloat64), inf},
		{"Exp(-Max)", Exp(-math.MaxFloat64), 0},
		{"Exp(NaN)", Exp(nan), nan},
		{"Log(0)", Log(0), -inf},
		{"Log(-1)", Log(-1), nan},
		{"Log(1)", Log(1), 0},
		{"Log(2)", Log(2), math.Ln2},
		{"Log(Inf)", Log(inf), inf},
		{"Log(-Inf)", Log(-inf), nan},
		{"Log(NaN)", Log(nan), nan},
		{"Log1p(0)", Log1p(0), 0},
		{"Log1p(1)", Log1p(1), math.Ln2},
		{"Log1p(-1)", Log1p(-1), -inf},
		{"Log1p(-2)", Log1p(-2), nan},
		{"Log1p(Inf)", Log1p(inf), inf},
		{"Log1p(-Inf)", Log1p(-inf), nan},
		{"Log1p(NaN)", Log1p(nan), nan},
	} {
		if c.got != c.want && !(math.IsNaN(c.got) && math.IsNaN(c.want)) {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
	if !math.Signbit(Log1p(math.Copysign(0, -1))) {
		t.Error("Log1p(-0) lost its sign")
	}
}

// On many more points the functions are compared with package math, which is itself within one unit, except for
// logarithms of subnormal numbers (on amd64).
func TestAgreesWithMath(t *testing.T) {
	close := func(name string, x, got, want float64) {
		t.Helper()
		if math.IsNaN(got) && math.IsNaN(want) || got == want {
			return
		}
		if !(math.Abs(got-want) <= 0x1p-51*math.Abs(want)+0x1p-1073) {
			t.Errorf("%s(%v) = %v, package math has %v", name, x, got, want)
		}
	}
	points := append(anyFloats(100000), uniform(-800, 800, 100000)...)
	for _, x := range points {
		close("Exp", x, Exp(x), math.Exp(x))
		if !(math.Abs(x) < 0x1p-1022) {
			close("Log", x, Log(x), math.Log(x))
		}
		close("Log1p", x, Log1p(x), math.Log1p(x))
	}
}

// The bits are part of the contract: the same on every platform and in every version.
func TestBitsAreFixed(t *testing.T) {
	mix := func(f func(float64) float64, points []float64) uint64 {
		h := uint64(14695981039346656037)
		for _, x := range points {
			y := f(x)
			if math.IsNaN(y) {
				y = -1
			}
			h = (h ^ math.Float64bits(y)) * 1099511628211
		}
		return h
	}
	points := append(uniform(-750, 750, 20000), anyFloats(5000)...)
	for _, c := range []struct {
		name string
		f    func(float64) float64
		want uint64
	}{
		{"Exp", Exp, 0x943e93883219001f},
		{"Log", Log, 0xaf28974600de8619},
		{"Log1p", Log1p, 0x3e6b04665eb6a248},
	} {
		if got := mix(c.f, points); got != c.want {
			t.Errorf("%s: digest %#x, want %#x", c.name, got, c.want)
		}
	}
}

func BenchmarkExp(b *testing.B)   { bench(b, Exp, -20, 20) }
func BenchmarkLog(b *testing.B)   { bench(b, Log, 0.1, 20) }
func BenchmarkLog1p(b *testing.B) { bench(b, Log1p, 0, 1) }

func bench(b *testing.B, f func(float64) float64, low, high float64) {
	points := uniform(low, high, 1024)
	total := 0.0
	for i := range b.N {
		total += f(points[i%1024])
	}
	if math.IsNaN(total) {
		b.Fatal("NaN")
	}
}
