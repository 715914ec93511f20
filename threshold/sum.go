package threshold

import "math"

// sum adds numbers with the rounding errors carried along (Neumaier), so that the order of the rows hardly matters.
type sum struct{ high, low float64 }

func (s *sum) add(x float64) {
	t := s.high + x
	y := t - s.high
	s.low += (s.high - (t - y)) + (x - y)
	s.high = t
}

// total returns the sum; an overflow is an infinity, not NaN.
func (s *sum) total() float64 {
	if math.IsInf(s.high, 0) {
		return s.high
	}
	return s.high + s.low
}
