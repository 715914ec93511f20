package optim

import "math"

// Dot returns the sum of x_j y_j. Four partial sums of every fourth term make it fast; their order is fixed.
func Dot(x, y []float64) float64 {
	var a, b, c, d float64
	y = y[:len(x)]
	j := 0
	for ; j+4 <= len(x); j += 4 {
		a += float64(x[j] * y[j])
		b += float64(x[j+1] * y[j+1])
		c += float64(x[j+2] * y[j+2])
		d += float64(x[j+3] * y[j+3])
	}
	for ; j < len(x); j++ {
		a += float64(x[j] * y[j])
	}
	return (a + b) + (c + d)
}

// addScaled adds a x to y.
func addScaled(a float64, x, y []float64) {
	for j, v := range x {
		y[j] += float64(a * v)
	}
}

func norm(x []float64) float64 { return math.Sqrt(Dot(x, x)) }
