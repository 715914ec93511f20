package detmath

import "math"

// MeanAndError returns the mean of some values and its standard error, which is 0 for fewer than two values.
func MeanAndError(values []float64) (mean, standardError float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	if len(values) < 2 {
		return mean, 0
	}
	var squares float64
	for _, v := range values {
		squares += float64((v - mean) * (v - mean))
	}
	return mean, math.Sqrt(squares / float64(n*(n-1)))
}
