package detmath

import (
	"math"
	"math/big"
)

// Reference values to about 200 bits, from series alone.

const precision = 240

func newBig(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

// bigLn2 is ln 2 = 2 artanh(1/3).
var bigLn2 = func() *big.Float {
	total, power, nine := newBig(0), newBig(2), newBig(9)
	power.Quo(power, newBig(3))
	for k := 1; k < 200; k += 2 {
		total.Add(total, new(big.Float).SetPrec(precision).Quo(power, newBig(float64(k))))
		power.Quo(power, nine)
	}
	return total
}()

// bigExp is e^x: the Taylor series of x - k ln 2, times 2^k.
func bigExp(x *big.Float) *big.Float {
	q, _ := new(big.Float).SetPrec(precision).Quo(x, bigLn2).Float64()
	k := int(math.Round(q))
	r := newBig(float64(k))
	r.Sub(x, r.Mul(r, bigLn2))
	total, term := newBig(1), newBig(1)
	for n := 1; n < 60; n++ {
		term.Mul(term, r)
		term.Quo(term, newBig(float64(n)))
		total.Add(total, term)
	}
	return total.SetMantExp(total, k)
}

// bigLog is ln x by Halley's method on e^y = x, which triples the digits.
func bigLog(x *big.Float) *big.Float {
	m := newBig(0)
	k := x.MantExp(m)
	f, _ := m.Float64()
	y := newBig(math.Log(f))
	for range 3 {
		e := bigExp(y)
		step := newBig(2)
		step.Mul(step, new(big.Float).SetPrec(precision).Sub(m, e))
		step.Quo(step, new(big.Float).SetPrec(precision).Add(m, e))
		y.Add(y, step)
	}
	e := newBig(float64(k))
	return y.Add(y, e.Mul(e, bigLn2))
}

// ulps returns |got - want| in units in the last place of want, subnormal ones included.
func ulps(got float64, want *big.Float) float64 {
	w, _ := want.Float64()
	if math.IsInf(w, 0) || math.IsInf(got, 0) {
		if got == w {
			return 0
		}
		return math.Inf(1)
	}
	exponent := math.MinInt
	if want.Sign() != 0 {
		exponent = want.MantExp(nil) - 53
	}
	unit := math.Ldexp(1, max(exponent, -1074))
	d := new(big.Float).SetPrec(precision).Sub(newBig(got), want)
	d.Quo(d, newBig(unit))
	u, _ := d.Abs(d).Float64()
	return u
}
