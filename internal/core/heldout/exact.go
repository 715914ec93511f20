package heldout

import (
	"math"
	"math/big"
	"strings"

	"toptau/diag"
	"toptau/internal/core/binomial"
	"toptau/internal/core/detmath"
	"toptau/internal/core/text"
	"toptau/threshold"
)

// Needed returns the fewest calibration scores with which a rate alpha can be certified at delta: the
// smallest n with (1 - alpha)^n <= delta, ceil(ln delta / ln(1 - alpha)). 59, 299, 2,995 and 29,956 for 5, 1,
// 0.1 and 0.01 % at delta 5 %.
func Needed(alpha, delta threshold.Rate) (int, error) {
	if alpha.IsZero() {
		return 0, unset("alpha")
	}
	if delta.IsZero() {
		return 0, unset("delta")
	}
	ratio := detmath.Log(delta.Float64()) / detmath.Log1p(-alpha.Float64())
	if ratio >= math.MaxInt64/2 {
		return math.MaxInt64, nil
	}
	n := max(1, int(ratio))
	for n > 1 && tailAtMost(n-1, 0, alpha, delta) {
		n--
	}
	for !tailAtMost(n, 0, alpha, delta) {
		n++
	}
	return n, nil
}

// CheckDelta returns an error for a guarantee that fails more often than it holds: such a delta is meant as the confidence.
func CheckDelta(delta threshold.Rate) error {
	if delta.Float64() <= 0.5 {
		return nil
	}
	meant := strings.ReplaceAll(text.Percent(delta.Complement().Float64()), " ", "")
	return &diag.Error{Kind: diag.Usage, Param: "delta", Found: delta.String() + ", the probability with which the guarantee fails",
		Expected: "at most 0.5", Hint: "did you mean " + meant + "?"}
}

// doubtful is the relative distance between tail and delta below which float64 does not decide. The float64
// tail has a relative error of about 1e-12.
const doubtful = 1e-9

// tailAtMost reports whether P(Bin(n, alpha) <= m) <= delta. If float64 does not decide, a sum of 400-bit
// numbers does.
func tailAtMost(n, m int, alpha, delta threshold.Rate) bool {
	tail, d := binomial.AtMost(n, m, alpha.Float64()), delta.Float64()
	if math.Abs(tail-d) > doubtful*d {
		return tail < d
	}
	return wideTail(n, m, alpha).Cmp(exact(delta).SetPrec(rounded)) <= 0
}

const (
	bits    = 400 // precision of the sum
	rounded = 300 // precision of the comparison, so that 9/10 * 9/10 equals 81/100
)

// exact returns the rate to 400 bits.
func exact(r threshold.Rate) *big.Float {
	q, ok := new(big.Rat).SetString(r.String())
	if !ok {
		return big.NewFloat(r.Float64())
	}
	return new(big.Float).SetPrec(bits).SetRat(q)
}

// wideTail returns P(Bin(n, alpha) <= m).
func wideTail(n, m int, alpha threshold.Rate) *big.Float {
	p := exact(alpha)
	q := new(big.Float).SetPrec(bits).Sub(big.NewFloat(1), p)
	term := power(q, n)
	sum := new(big.Float).SetPrec(bits).Set(term)
	odds := new(big.Float).SetPrec(bits).Quo(p, q)
	factor := new(big.Float).SetPrec(bits)
	for j := range m { // from the mass of j to that of j+1
		term.Mul(term, odds)
		term.Mul(term, factor.SetInt64(int64(n-j)))
		term.Quo(term, factor.SetInt64(int64(j+1)))
		sum.Add(sum, term)
	}
	return sum.SetPrec(rounded)
}

// power returns q^n, by squaring.
func power(q *big.Float, n int) *big.Float {
	result := new(big.Float).SetPrec(bits).SetInt64(1)
	square := new(big.Float).SetPrec(bits).Set(q)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			result.Mul(result, square)
		}
		square.Mul(square, square)
	}
	return result
}

// absoluteBound returns 1 - delta^(1/n).
func absoluteBound(n int, delta float64) float64 {
	x := detmath.Log(delta) / float64(n) // below 0
	if x < -0.5 {
		return 1 - detmath.Exp(x)
	}
	term, sum := x, 0.0 // the series of exp(x) - 1: no cancellation for small x
	for j := 2; sum+term != sum; j++ {
		sum += term
		term = float64(term * (x / float64(j)))
	}
	return -sum
}
