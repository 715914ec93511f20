package detmath

import "math"

// Sum is a compensated sum (Neumaier, with Knuth's exact sum of two numbers): its error does not grow with the number of
// terms. The order of the terms decides the last bit, so callers add in the order of the rows. The zero value is 0.
type Sum struct{ high, low float64 }

// Plus returns the sum with one more term. The rounding error of the addition, which is computed exactly whichever term is
// larger, goes to low. Loops use Plus rather than Add, so that the sum stays in registers.
func (s Sum) Plus(x float64) Sum {
	x = float64(x) // a product of the caller is rounded before it is added
	t := s.high + x
	added := t - s.high
	return Sum{high: t, low: s.low + ((s.high - (t - added)) + (x - added))}
}

// Add adds a term.
func (s *Sum) Add(x float64) { *s = s.Plus(x) }

// Value returns the sum. An overflow is an infinity, not NaN.
func (s Sum) Value() float64 {
	if math.IsInf(s.high, 0) {
		return s.high
	}
	return s.high + s.low
}

// SumOf returns the sum of which high and low are the two parts: total and compensation, as the kernels keep them.
func SumOf(high, low float64) Sum { return Sum{high, low} }

// Scale returns the sum times a power of two, exactly unless the parts overflow or become subnormal.
func (s Sum) Scale(power float64) Sum { return Sum{float64(power * s.high), float64(power * s.low)} }

// AddSum adds another sum: first its total, then its compensation.
func (s *Sum) AddSum(other Sum) {
	s.Add(other.high)
	s.Add(other.low)
}
