// Package binomial computes the binomial distribution in full relative precision for n up to 1e8 and beyond:
// its mass by Loader's saddle-point expansion (C. Loader, Fast and Accurate Computation of Binomial
// Probabilities, 2000), and its tails by adding masses away from the mode, where each is smaller than the one
// before. Formulas on log-gamma lose half the digits at n = 1e8.
package binomial

import (
	"math"

	"toptau/internal/core/detmath"
)

// AtLeast returns P(Bin(n, p) >= k), accurate to about 1e-12 relative while the probability is below one
// half. It takes time proportional to the standard deviation of Bin(n, p). p outside [0,1] counts as the
// nearer end.
func AtLeast(n, k int, p float64) float64 {
	p = min(max(p, 0), 1)
	return atLeast(n, k, p, 1-p)
}

// AtMost returns P(Bin(n, p) <= k), accurate to about 1e-12 relative while the probability is below one half.
func AtMost(n, k int, p float64) float64 {
	p = min(max(p, 0), 1)
	return atLeast(n, n-k, 1-p, p)
}

// atLeast returns P(Bin(n, p) >= k). q = 1-p is given so that a small p or a small q keeps its digits.
func atLeast(n, k int, p, q float64) float64 {
	switch {
	case k <= 0:
		return 1
	case k > n || p == 0:
		return 0
	case q == 0:
		return 1
	case float64(k) > float64(float64(n)*p):
		return fallingTail(n, k, p, q)
	}
	return max(0, 1-fallingTail(n, n-k+1, q, p))
}

// fallingTail returns the sum of the masses of k, k+1, ... k is above the mode, so every ratio of neighbours
// is below 1.
func fallingTail(n, k int, p, q float64) float64 {
	term := Mass(n, k, p, q)
	sum := 0.0
	for j := k; j <= n && term > float64(sum*1e-17); j++ {
		sum += term
		term = float64(term * (float64(float64(n-j)*p) / float64(float64(j+1)*q)))
	}
	return min(sum, 1)
}

// Mass returns P(Bin(n, p) = k), with q = 1-p given.
func Mass(n, k int, p, q float64) float64 {
	switch {
	case k < 0 || k > n:
		return 0
	case p == 0 || q == 0:
		if (p == 0 && k == 0) || (q == 0 && k == n) {
			return 1
		}
		return 0
	case k == 0:
		return detmath.Exp(float64(float64(n) * logComplement(p, q)))
	case k == n:
		return detmath.Exp(float64(float64(n) * logComplement(q, p)))
	}
	x, y, m := float64(k), float64(n-k), float64(n)
	exponent := stirlingError(n) - stirlingError(k) - stirlingError(n-k) -
		deviance(x, float64(m*p)) - deviance(y, float64(m*q))
	return detmath.Exp(exponent) * math.Sqrt(m/float64(x*y)) * (1 / sqrtTwoPi)
}

const sqrtTwoPi = 2.506628274631000502415765284811045253

// logComplement returns log(1 - p) for q = 1-p, computed from the exact one of the two.
func logComplement(p, q float64) float64 {
	if p < 0.5 {
		return detmath.Log1p(-p)
	}
	return detmath.Log(q)
}

// deviance returns x log(x/m) + m - x without cancellation for x near m.
func deviance(x, m float64) float64 {
	if d := x - m; math.Abs(d) < 0.1*(x+m) {
		v := d / (x + m)
		sum, power := float64(d*v), float64(2*x*v)
		v *= v
		for j := 3; ; j += 2 {
			power = float64(power * v)
			next := sum + power/float64(j)
			if next == sum {
				return sum
			}
			sum = next
		}
	}
	return float64(x*detmath.Log(x/m)) + m - x
}

// stirlingError returns log(n!) - log(sqrt(2 pi n) (n/e)^n), n >= 0.
func stirlingError(n int) float64 {
	if n < len(stirlingErrors) {
		return stirlingErrors[n]
	}
	x := float64(n)
	s := 1 / float64(x*x)
	// 1/(12 n) - 1/(360 n^3) + 1/(1260 n^5) - 1/(1680 n^7) + 1/(1188 n^9)
	return (1.0/12 - float64(s*(1.0/360-float64(s*(1.0/1260-float64(s*(1.0/1680-float64(s*(1.0/1188))))))))) / x
}

var stirlingErrors = [...]float64{
	0,
	0.0810614667953272582196702,
	0.0413406959554092940938221,
	0.02767792568499833914878929,
	0.02079067210376509311152277,
	0.01664469118982119216319487,
	0.01387612882307074799874573,
	0.01189670994589177009505572,
	0.010411265261972096497478567,
	0.009255462182712732917728637,
	0.008330563433362871256469318,
	0.007573675487951840794972024,
	0.006942840107209529865664152,
	0.006408994188004207068439631,
	0.005951370112758847735624416,
	0.005554733551962801371038690,
}

// SolveAtLeast returns the p with P(Bin(n, p) >= x) = tail, 1 <= x <= n.
func SolveAtLeast(n, x int, tail float64) float64 {
	return solveTail(n, x, tail, func(p float64) float64 { return atLeast(n, x, p, 1-p) }, 1)
}

// SolveAtMost returns the p with P(Bin(n, p) <= x) = tail, 0 <= x < n.
func SolveAtMost(n, x int, tail float64) float64 {
	return solveTail(n, x+1, tail, func(p float64) float64 { return atLeast(n, n-x, 1-p, p) }, -1)
}

// solveTail returns the p at which a tail that is monotone in p takes a value: Newton's method on the
// logarithm of the tail, which is concave, inside a bracket that every evaluation narrows. sign is 1 for a
// tail that rises with p. Either tail has the derivative sign * k/p * P(Bin(n, p) = k).
func solveTail(n, k int, value float64, tail func(float64) float64, sign float64) float64 {
	low, high := 0.0, 1.0
	p := float64(k) / float64(n+1)
	target := detmath.Log(value)
	for range 200 {
		f := tail(p)
		if float64(sign*(f-value)) < 0 {
			low = p
		} else {
			high = p
		}
		slope := sign * (float64(k) / p) * Mass(n, k, p, 1-p)
		next := p - float64((detmath.Log(f)-target)*(f/slope))
		if !(next > low && next < high) {
			next = 0.5 * (low + high)
		}
		if math.Abs(next-p) <= 1e-16*p || next == low || next == high {
			return next
		}
		p = next
	}
	return p
}
