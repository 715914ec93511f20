package proof

import "math"

// approx encloses a real number, which lies within x ± e. Every operation on enclosures returns an enclosure of the exact
// result. An x or e that is NaN or infinite means that nothing is known.
//
// With u = 2^-53, rounding to nearest changes a result y by at most u|y| + 2^-1075. An error is itself computed in float64,
// from fewer than sixteen numbers of at least 0: (1 + u)^16 < 1 + 2^-48. rounded adds both.
type approx struct{ x, e float64 }

// exactly returns a number without an error.
func exactly(x float64) approx { return approx{x: x} }

// rounded returns the result x of one operation, rounded to nearest, whose operands contribute the error e.
func rounded(x, e float64) approx {
	return approx{x, float64(e*(1+0x1p-48)) + float64(math.Abs(x)*0x1p-52) + 0x1p-1070}
}

func (a approx) plus(b approx) approx  { return rounded(a.x+b.x, a.e+b.e) }
func (a approx) minus(b approx) approx { return rounded(a.x-b.x, a.e+b.e) }

func (a approx) times(b approx) approx {
	return rounded(float64(a.x*b.x), float64(math.Abs(a.x)*b.e)+float64(a.e*math.Abs(b.x))+float64(a.e*b.e))
}

// over returns a/b. Since a/b - q = (a - q b)/b, the error is at most (a.e + |q| b.e)/(|b.x| - b.e).
func (a approx) over(b approx) approx {
	divisor := float64((math.Abs(b.x) - b.e) * (1 - 0x1p-48))
	if !(divisor > 0) {
		return approx{math.NaN(), math.Inf(1)}
	}
	q := a.x / b.x
	return rounded(q, (a.e+float64(math.Abs(q)*b.e))/divisor)
}

// root returns the square root of a number of at least 0: |sqrt(a) - sqrt(a.x)| is at most a.e/sqrt(a.x), and at most sqrt(a.e).
func (a approx) root() approx {
	x := math.Sqrt(max(0, a.x))
	e := math.Sqrt(a.e)
	if x > 0 {
		e = min(e, a.e/x)
	}
	return rounded(x, e)
}

// positive returns max(0, a).
func (a approx) positive() approx {
	if a.x+float64(a.e*(1+0x1p-48)) <= 0 {
		return approx{}
	}
	return approx{max(0, a.x), a.e}
}

// atLeast and atMost report whether the relation is certain.
func (a approx) atLeast(b approx) bool {
	d := a.minus(b)
	return d.finite() && d.x >= d.e
}

func (a approx) atMost(b approx) bool { return b.atLeast(a) }

// finite reports whether the enclosure is finite.
func (a approx) finite() bool { return a.x-a.x == 0 && a.e-a.e == 0 }

// tally is a compensated sum (Neumaier) that bounds its error: for n numbers whose magnitudes add up to S, at most u times the
// sum plus (n u)^2 S. Whole numbers whose magnitudes add up to less than 2^53 are added exactly.
type tally struct {
	x, low, size, e float64
	count           int
	fraction        bool
}

func (t *tally) add(a approx) {
	if a.x == 0 && a.e == 0 {
		return
	}
	term := float64(a.x) // a product of the caller is rounded before it is added
	x := t.x + term
	y := x - t.x
	t.low += (t.x - (x - y)) + (term - y)
	t.x = x
	t.size += math.Abs(a.x)
	t.e += a.e
	t.count++
	t.fraction = t.fraction || a.x != math.Floor(a.x)
}

func (t *tally) sum() approx {
	if !t.fraction && t.e == 0 && t.size < 1<<53 {
		return approx{x: t.x}
	}
	x, nu := t.x+t.low, float64(float64(t.count)*0x1p-53)
	lost := float64(math.Abs(x)*0x1p-52) + float64(float64(nu*nu)*t.size)
	return approx{x, float64((t.e+lost)*(1+0x1p-19)) + 0x1p-1070}
}
