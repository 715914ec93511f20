package detmath

import "math"

// Softplus returns log(1 + exp(u)).
func Softplus(u float64) float64 { return max(u, 0) + Log1p(Exp(-math.Abs(u))) }

// Logistic returns 1 / (1 + exp(-x)).
func Logistic(x float64) float64 {
	if x >= 0 {
		return 1 / (1 + Exp(-x))
	}
	e := Exp(x)
	return e / (1 + e)
}
