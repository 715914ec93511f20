package dialect

import "math"

// Scaled returns x / by, which is rounded to float32 if single is set, as a double. Where the database refuses quotients and casts that
// round to 0, it is 0 for such numbers. least is a lower bound of the absolute values of x that are not 0; no condition is written if all
// of them are large enough. x is written twice, so it should be short.
func (d *Dialect) Scaled(x string, by float64, single bool, least float64) string {
	return d.scaled(x, by, single, least, d.Single)
}

// Factor is Scaled as a factor of a double: a float32 may stay one.
func (d *Dialect) Factor(x string, by float64, single bool, least float64) string {
	if d.Narrow == nil {
		return d.Scaled(x, by, single, least)
	}
	return d.scaled(x, by, single, least, d.Narrow)
}

func (d *Dialect) scaled(x string, by float64, single bool, least float64, round func(x string) string) string {
	scaled := x
	if by != 1 {
		scaled = "(" + x + " / " + d.Num(by) + ")"
	}
	if single {
		scaled = round(scaled)
	}
	if !d.Checks {
		return scaled
	}
	none := LastZero(func(y float64) bool {
		if single {
			return float32(y/by) == 0
		}
		return y/by == 0
	})
	if least > none || none == 0 {
		return scaled
	}
	return "CASE WHEN abs(" + x + ") <= " + d.Num(none) + " THEN " + d.Num(0) + " ELSE " + scaled + " END"
}

// roundBySum rounds to a whole number, ties to even, where the database's own function rounds ties away from 0. 1.5 * 2^52 has
// no digits after the point, so the sum is rounded to a whole number. The number must be below 2^51; databases do not
// rearrange sums of doubles.
func roundBySum(x string) string {
	const shift = "6755399441055744e0"
	return "(" + x + " + " + shift + " - " + shift + ")"
}

// LastZero returns the largest number that is not negative and for which zero is true.
func LastZero(zero func(float64) bool) float64 {
	low, high := uint64(0), math.Float64bits(math.MaxFloat64)
	for high-low > 1 {
		if middle := low + (high-low)/2; zero(math.Float64frombits(middle)) {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Float64frombits(low)
}
