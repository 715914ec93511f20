package feature

import "math"

// sum is a compensated sum (Neumaier, with Knuth's exact sum of two numbers): its error does not grow with the number of
// terms. The order of the terms decides the last bit, so callers add in the order of the rows.
type sum struct{ total, lost float64 }

// plus is the sum with one more term. It keeps what rounding takes, which the second sum is exactly, whichever of the two
// terms is the larger. Loops take it rather than add, so that the sum stays in registers.
func (s sum) plus(x float64) sum {
	t := s.total + x
	added := t - s.total
	return sum{total: t, lost: s.lost + ((s.total - (t - added)) + (x - added))}
}

func (s *sum) add(x float64) { *s = s.plus(x) }

func (s sum) value() float64 { return s.total + s.lost }

// unit returns a power of two u with |x| u <= 1 for all |x| <= largest. Multiplying by it is exact, so moments computed
// on u x are those of x, and neither their sums overflow nor their squares vanish.
func unit(largest float64) float64 {
	if largest == 0 {
		return 1
	}
	_, e := math.Frexp(largest)
	return math.Ldexp(1, min(-e, 1000)) // 2^1000 lifts even the smallest subnormal well above the underflow of its square
}
