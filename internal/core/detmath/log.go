package detmath

import (
	"math"
	"slices"
)

// ln 2 in two parts: the product of the first with any exponent is exact.
const (
	ln2High = 0x1.62e42feep-1
	ln2Low  = 0x1.a39ef35793c76p-33
)

// Log returns the natural logarithm of x: -Inf at 0, NaN below 0, +Inf at +Inf.
func Log(x float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 1):
		return x
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	}
	m, k := split(x)
	return logOnePlus(m-1, 0, k)
}

// Log1p returns the natural logarithm of 1 + x, accurate for small x too: -Inf at -1, NaN below -1.
func Log1p(x float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 1):
		return x
	case x < -1:
		return math.NaN()
	case x == -1:
		return math.Inf(-1)
	case math.Abs(x) < 0x1p-54:
		return x // also keeps the sign of zero
	case x > -0.29 && x < 0.41:
		return logOnePlus(x, 0, 0)
	}
	u := 1 + x
	var lost float64 // the rounding error of u
	if x < 1 {
		lost = x - (u - 1)
	} else {
		lost = 1 - (u - x)
	}
	m, k := split(u)
	return logOnePlus(m-1, lost/u, k)
}

// split writes a positive finite x as m 2^k with sqrt(1/2) <= m < sqrt(2).
func split(x float64) (m float64, k int) {
	m, k = math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		k--
	}
	return m, k
}

// logOnePlus returns ln((1 + f) 2^k) + c for sqrt(1/2) <= 1 + f < sqrt(2) and a tiny c.
//
// With s = f / (2 + f), ln(1 + f) = 2 artanh(s) = f - (f^2/2 - s (f^2/2 + R)), R = 2/3 s^2 + 2/5 s^4 + ...: the first term, f,
// is exact, and all rounded terms are small next to it. |s| < 0.1716, so the first term of R left out is below 2^-57 of f.
func logOnePlus(f, c float64, k int) float64 {
	s := f / (2 + f)
	q := float64(s * s)
	r := 2.0/21 + float64(q*(2.0/23))
	r = 2.0/19 + float64(q*r)
	r = 2.0/17 + float64(q*r)
	r = 2.0/15 + float64(q*r)
	r = 2.0/13 + float64(q*r)
	r = 2.0/11 + float64(q*r)
	r = 2.0/9 + float64(q*r)
	r = 2.0/7 + float64(q*r)
	r = 2.0/5 + float64(q*r)
	r = 2.0/3 + float64(q*r)
	r = float64(q * r)
	half := float64(0.5 * float64(f*f))
	e := float64(k)
	small := float64(s*(half+r)) + (float64(e*ln2Low) + c)
	return float64(e*ln2High) - ((half - small) - f)
}

// LogSum returns the logarithm of the sum of numbers given by their logarithms, at least one.
func LogSum(logs []float64) float64 {
	top := slices.Max(logs)
	sum := 0.0
	for _, x := range logs {
		sum += Exp(x - top)
	}
	return top + Log(sum)
}
