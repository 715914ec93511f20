package proof

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// unit returns a number from 0 to below 1.
func unit(r *rand.Rand) float64 { return float64(r.Uint64()>>11) / (1 << 53) }

// TestApproxHoldsTheExactResult compares every operation with rational numbers, on operands of very different sizes whose true
// values lie at the ends of what they allow.
func TestApproxHoldsTheExactResult(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	rat := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	operand := func() (approx, *big.Rat) {
		a := approx{x: (2*unit(r) - 1) * math.Pow(2, float64(r.IntN(120)-60))}
		if r.IntN(4) == 0 {
			a.x = float64(r.IntN(7) - 3)
		}
		if r.IntN(3) > 0 {
			a.e = math.Abs(a.x)*math.Pow(2, -float64(r.IntN(60))) + 1e-30
		}
		return a, new(big.Rat).Add(rat(a.x), new(big.Rat).Mul(rat(a.e), big.NewRat(int64(r.IntN(3)-1), 1)))
	}
	check := func(what string, got approx, exact *big.Rat) {
		t.Helper()
		if !got.finite() {
			return
		}
		off := new(big.Rat).Sub(rat(got.x), exact)
		if off.Abs(off).Cmp(rat(got.e)) > 0 {
			t.Fatalf("%s: %v ± %v does not hold %s", what, got.x, got.e, exact.FloatString(40))
		}
	}
	for range 3_000 {
		a, x := operand()
		b, y := operand()
		check("plus", a.plus(b), new(big.Rat).Add(x, y))
		check("minus", a.minus(b), new(big.Rat).Sub(x, y))
		check("times", a.times(b), new(big.Rat).Mul(x, y))
		if y.Sign() != 0 {
			check("over", a.over(b), new(big.Rat).Quo(x, y))
		}
		if x.Sign() > 0 {
			check("positive", a.positive(), x)
			square, exact := a.times(a), new(big.Rat).Mul(x, x)
			check("root", square.root(), x)
			if off := new(big.Rat).Sub(rat(square.x), exact); off.Abs(off).Cmp(rat(square.e)) > 0 {
				t.Fatal("times")
			}
		} else {
			check("positive", a.positive(), new(big.Rat))
		}
		if a.atLeast(b) && x.Cmp(y) < 0 || a.atMost(b) && x.Cmp(y) > 0 {
			t.Fatalf("%v and %v are compared wrongly", a, b)
		}
	}
	for range 60 {
		var sum tally
		exact := new(big.Rat)
		for range 1 + r.IntN(600) {
			a, x := operand()
			sum.add(a)
			exact.Add(exact, x)
		}
		check("sum", sum.sum(), exact)
	}
	for _, bad := range []approx{{math.NaN(), 0}, {0, math.NaN()}, {math.Inf(1), 0}, {1, math.Inf(1)}} {
		var sum tally
		sum.add(exactly(1))
		sum.add(bad)
		for _, got := range []approx{bad.plus(exactly(1)), exactly(1).minus(bad), bad.times(exactly(0)), bad.over(exactly(2)), sum.sum()} {
			if got.finite() {
				t.Errorf("%v became %v", bad, got)
			}
		}
		if exactly(1).atLeast(bad) || bad.atLeast(exactly(1)) {
			t.Errorf("%v can be compared", bad)
		}
	}
	if exactly(1).over(approx{1e-3, 2e-3}).finite() {
		t.Error("a division by what may be 0")
	}
}
