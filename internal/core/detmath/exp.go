package detmath

import "math"

// Exp returns e to the power x, +Inf from about 709.8 on and 0 from about -745.2 down; NaN stays NaN.
//
// With k the whole number nearest to 32 x / ln 2, e^x = 2^(k/32) e^r and |r| <= ln 2 / 64. The factor 2^(j/32), j = k mod 32,
// comes from a table in two parts, and e^r - 1 from its Taylor series, whose first term left out is below 2^-57.
func Exp(x float64) float64 {
	const (
		overflow  = 709.782712893384   // just above ln(math.MaxFloat64)
		underflow = -745.1332191019412 // half the smallest subnormal
		perOctave = 1 << octaveBits    // entries of the table
		inverse   = perOctave / math.Ln2
		stepHigh  = 0x1.62e42feep-1 / perOctave       // ln 2 to 32 bits: its product with k is exact
		stepLow   = 0x1.a39ef35793c76p-33 / perOctave // the rest
	)
	switch {
	case math.IsNaN(x):
		return x
	case x > overflow:
		return math.Inf(1)
	case x < underflow:
		return 0
	case math.Abs(x) < 0x1p-54:
		return 1 + x
	}
	n := math.Floor(float64(x*inverse) + 0.5)
	high := x - float64(n*stepHigh)
	low := float64(n * stepLow)
	r := high - low
	k := int(n)
	j := k & (perOctave - 1)

	tail := 1.0/120 + float64(r*(1.0/720))
	tail = 1.0/24 + float64(r*tail)
	tail = 1.0/6 + float64(r*tail)
	tail = 0.5 + float64(r*tail)
	lost := (high - r) - low // the rounding error of r
	p := r + (lost + float64(float64(r*r)*tail))

	m := exp2High[j] + (exp2Low[j] + float64(exp2High[j]*p))
	k = (k - j) / perOctave
	if k > -1022 && k < 1024 {
		return float64(m * math.Float64frombits(uint64(k+1023)<<52))
	}
	return math.Ldexp(m, k)
}
