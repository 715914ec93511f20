package objective

import (
	"math"
	"slices"

	"toptau/diag"
	"toptau/internal/matrix"
	"toptau/method"
	"toptau/surrogate"
	"toptau/threshold"
)

// Enclosure holds F(w) and D(p, a) with bounds on their rounding errors. The exact F(w) is within F ± FError, and the exact dual
// value of every feasible point that (p, a) may have been rounded from is within D ± DError. docs/reference/certificate.md derives both.
type Enclosure struct {
	F, FError float64
	D, DError float64 // at least 0, because no loss is negative
	T         float64 // t(w)
	Norm      float64 // |w|
}

// Enclose computes F(w) and D(p, a) of a method with the hinge or the squared hinge from the rows, independently of At and
// Dual: one row after the other, and with every rounding error bounded. With lambda = 0 the dual value is a bound for weights
// of norm at most radius; otherwise radius is not used. p and a are as in Dual, and so are the errors.
func (o *Objective) Enclose(w, p, a []float64, radius float64) (Enclosure, error) {
	if len(w) != o.Dim() {
		return Enclosure{}, infeasible("w has %g elements", float64(len(w)), "one for each column", "")
	}
	e := encloser{Objective: o, kappa: o.kappa(), massPlus: o.positives.sum()}
	f, t, err := e.valueAt(w)
	if err != nil {
		return Enclosure{}, err
	}
	d, err := e.dual(p, a, o.problem.Lambda, radius)
	if err != nil {
		return Enclosure{}, err
	}
	if !f.finite() || !d.finite() {
		return Enclosure{}, infeasible("F(w) or D(p, a) is not finite: their sum is %g", f.x+d.x, "numbers that float64 can hold", "")
	}
	return Enclosure{F: f.x, FError: f.e, D: d.x, DError: d.e, T: t.x, Norm: Norm(w)}, nil
}

// EncloseNorm computes the root of 2 (D - F(w))/lambda for a problem whose own lambda is 0, with a bound on its rounding error.
// D is the dual value of (p, a) for the same problem with the given lambda above 0. Every weights w' with F(w') <= F(w) have
// D <= F(w') + lambda/2 |w'|^2, and so a norm of at least that root. It is 0 if D <= F(w). All is computed as by Enclose.
func (o *Objective) EncloseNorm(w, p, a []float64, lambda float64) (bound, boundError float64, err error) {
	if len(w) != o.Dim() {
		return 0, 0, infeasible("w has %g elements", float64(len(w)), "one for each column", "")
	}
	if o.problem.Lambda != 0 || !(lambda > 0) {
		return 0, 0, infeasible("lambda %g", lambda, "above 0, for a problem with lambda 0", "")
	}
	e := encloser{Objective: o, kappa: o.kappa(), massPlus: o.positives.sum()}
	f, _, err := e.valueAt(w)
	if err != nil {
		return 0, 0, err
	}
	d, err := e.dual(p, a, lambda, 0)
	if err != nil {
		return 0, 0, err
	}
	return normBound(d, f, lambda)
}

// normBound encloses the root of 2 (d - f)/lambda.
func normBound(d, f approx, lambda float64) (bound, boundError float64, err error) {
	n := exactly(2).times(d.minus(f)).over(exactly(lambda)).positive().root()
	if !n.finite() {
		return 0, 0, infeasible("the bound on the norm is not finite: D - F(w) = %g", d.x-f.x, "numbers that float64 can hold", "")
	}
	return n.x, n.e, nil
}

// encloser is the state of Enclose and EncloseNorm.
type encloser struct {
	*Objective
	kappa    approx
	massPlus approx    // M+
	scores   []approx  // positives first
	norms    []float64 // norms of the population's rows, rounded up

	cols   []uint32 // space for a row
	values []float64
}

// sum returns the sum of the weights of a class.
func (m Mass) sum() approx {
	if m.Weights == nil {
		return exactly(m.Total)
	}
	var t tally
	for _, x := range m.Weights {
		t.add(exactly(x))
	}
	return t.sum()
}

// kappa returns the weight on top. It is exact where it counts rows. Fractional weights are added with compensation, to within
// 2u, and their sum is multiplied by tau with one rounding.
func (o *Objective) kappa() approx { return massOnTop(o.rule, o.population) }

func massOnTop(rule threshold.Threshold, p threshold.Population) approx {
	k := rule.Kappa()
	if p.Whole && p.Mass < 1<<53 && k == math.Floor(k) {
		return exactly(k)
	}
	return rounded(k, k*0x1p-50)
}

// valueAt encloses F(w) and t(w).
func (e *encloser) valueAt(w []float64) (f, t approx, err error) {
	if err = e.readRows(w); err != nil {
		return f, t, err
	}
	if t, err = e.threshold(); err != nil {
		return f, t, err
	}
	return e.value(w, t), t, nil
}

// readRows computes the scores of all rows and the norms of the population's.
func (e *encloser) readRows(w []float64) error {
	e.scores = make([]approx, 0, e.Rows())
	for _, part := range []*matrix.ClassRows{e.x.Positives, e.x.Negatives} {
		counts := part == e.x.Negatives || e.problem.Definition().Population != method.Negatives
		for i := range part.Rows() {
			e.cols, e.values = part.Entries(i, e.cols[:0], e.values[:0])
			var score tally
			square := 0.0
			for k, x := range e.values {
				score.add(exactly(x).times(exactly(w[e.cols[k]])))
				square += float64(x * x)
			}
			z := score.sum()
			if !z.finite() {
				return &diag.Error{Kind: diag.Data, Found: "the score of " + at(part, i) + " is not finite",
					Expected: "weights and rows whose products float64 can hold"}
			}
			e.scores = append(e.scores, z)
			if counts {
				e.norms = append(e.norms, float64(math.Sqrt(square)*(1+float64(float64(len(e.values)+2)*0x1p-52)))+0x1p-500)
			}
		}
	}
	return nil
}

// populationScores returns the scores that the threshold is computed from.
func (e *encloser) populationScores() []approx {
	if e.problem.Definition().Population == method.Negatives {
		return e.scores[e.x.Positives.Rows():]
	}
	return e.scores
}

// threshold encloses t(w). It uses the t of the rule as a first guess, which may be wrong.
func (e *encloser) threshold() (approx, error) {
	z := e.populationScores()
	guess := make([]float64, len(z))
	for j := range z {
		guess[j] = z[j].x
	}
	e.rule.At(guess, e.weights, &e.support)
	switch e.problem.Rule().(type) {
	case threshold.TopCount, threshold.TopMean:
		return e.meanOfTop(z, e.support.Edge), nil
	}
	return e.quantile(z, e.support.T)
}

// meanOfTop encloses t = min over s of s + (1/kappa) sum m_j max(0, z_j - s). At the minimum the weight above s is at most
// kappa and the weight from s up is at least kappa. Any s gives an upper bound. Where these weights miss kappa by rounding,
// the bound is too high by at most the difference times the distance to the farthest score on that side.
func (e *encloser) meanOfTop(z []approx, s float64) approx {
	var excess, above, from tally
	highest, lowest := s, s
	for j, zj := range z {
		m := exactly(weight(e.weights, j))
		excess.add(m.times(zj.minus(exactly(s)).positive()))
		if zj.x > s {
			above.add(m)
		}
		if zj.x >= s {
			from.add(m)
		}
		highest, lowest = max(highest, zj.x+zj.e), min(lowest, zj.x-zj.e)
	}
	return meanAbove(s, e.kappa, excess.sum(), above.sum(), from.sum(), highest, lowest)
}

// meanAbove encloses the mean of the largest, from the sum of the excess over s and the weights above s and from s up.
func meanAbove(s float64, kappa, excess, above, from approx, highest, lowest float64) approx {
	t := exactly(s).plus(excess.over(kappa))
	tooMuch, tooLittle := above.minus(kappa), kappa.minus(from)
	missed := exactly(max(0, tooMuch.x+tooMuch.e)).times(exactly(highest - s))
	missed = missed.plus(exactly(max(0, tooLittle.x+tooLittle.e)).times(exactly(s - lowest))).over(kappa)
	t.e += missed.x + missed.e
	return t
}

// quantile encloses the root t of G(t) = sum m_j l(beta (z_j - t)) = kappa. G decreases, so t lies between a point where G is
// certainly at least kappa and one where it is certainly at most kappa. Steps of growing length from a guess find both.
func (e *encloser) quantile(z []approx, guess float64) (approx, error) {
	beta := exactly(e.problem.Beta)
	g := func(t float64) (sum approx, slope float64) {
		var all tally
		for j, zj := range z {
			y := exactly(1).plus(beta.times(zj.minus(exactly(t)))).positive()
			m := exactly(weight(e.weights, j))
			if y == (approx{}) {
				continue
			}
			slope += float64(m.x * beta.x)
			if e.squared() {
				slope += float64(2 * m.x * beta.x * y.x)
				y = y.times(y)
			}
			all.add(m.times(y))
		}
		return all.sum(), slope
	}
	sum, slope := g(guess)
	step := float64(math.Abs(guess) * 0x1p-52)
	if slope > 0 {
		step += (math.Abs(sum.x-e.kappa.x) + sum.e + e.kappa.e) / slope
	}
	step = max(step, 0x1p-1060)
	const doublings = 200 // enough for any distance between two float64 numbers near the guess
	find := func(sign float64, good func(approx) bool) (float64, bool) {
		for d, k := step, 0; k < doublings; d, k = 2*d, k+1 {
			t := guess + float64(sign*d)
			if sum, _ := g(t); good(sum) {
				return t, true
			}
		}
		return 0, false
	}
	low, foundLow := find(-1, e.kappa.atMost)
	high, foundHigh := find(1, e.kappa.atLeast)
	if !foundLow || !foundHigh {
		return approx{}, infeasible("no threshold can be enclosed near %g", guess, "scores that differ by more than their rounding errors", "")
	}
	return rounded(guess, max(high-guess, guess-low)), nil
}

func (e *encloser) squared() bool { return e.loss == surrogate.SquaredHinge }

// value encloses F(w) at the threshold t.
func (e *encloser) value(w []float64, t approx) approx {
	var losses, squares tally
	for i, z := range e.scores[:e.x.Positives.Rows()] {
		y := exactly(1).plus(t.minus(z)).positive()
		if e.squared() {
			y = y.times(y)
		}
		losses.add(exactly(e.positives.Of(i)).times(y))
	}
	for _, x := range w {
		squares.add(exactly(x).times(exactly(x)))
	}
	half := exactly(e.problem.Lambda).over(exactly(2))
	return losses.sum().over(e.massPlus).plus(half.times(squares.sum()))
}

// dual encloses D(p, a) for a lambda, or 0 if it is negative.
func (e *encloser) dual(p, a []float64, lambda, radius float64) (approx, error) {
	feasible, err := e.feasibleP(p)
	if err != nil {
		return approx{}, err
	}
	// The exact caps differ from the computed ones by the rounding of their two operations and of M+.
	loose := 0x1p-50 + e.massPlus.e/e.massPlus.x
	q := make([]approx, len(p))
	var sum, squares tally
	for i, x := range feasible {
		q[i] = rounded(x, math.Abs(p[i]-x)+float64(x*loose))
		if x == 0 {
			q[i] = approx{}
		}
		sum.add(q[i])
		squares.add(q[i].times(q[i]).over(exactly(e.positives.Of(i))))
	}
	mass := sum.sum()
	if mass.x == 0 {
		return approx{}, nil // 0 <= F for any a
	}
	given := a
	if a, err = e.feasibleA(given); err != nil {
		return approx{}, err
	}
	moved, shift := e.moved(given, a)
	gain := mass.minus(mass.times(e.regulariser(a, moved)))
	if e.squared() {
		gain = gain.minus(e.massPlus.over(exactly(4)).times(squares.sum()))
	}
	v := e.length(q, a, mass)
	v.e += float64(float64((mass.x+mass.e)*shift) * (1 + 0x1p-48))
	return dualValue(gain, v, lambda, radius), nil
}

// dualValue encloses the dual value, or 0 if it is negative, from all of it except for the norm of v.
func dualValue(gain, v approx, lambda, radius float64) approx {
	var d approx
	if lambda > 0 {
		d = gain.minus(v.times(v).over(exactly(2).times(exactly(lambda))))
	} else {
		d = gain.minus(exactly(radius).times(v))
	}
	return approx{max(0, d.x), d.e}
}

// moved bounds the sums of |a_j - b_j| and of |a_j - b_j| |x_j| for a feasible b. Cutting a_j to its exact cap takes away at
// most its excess over the lower end of the cap. A sum below 1 is then corrected in proportion to the distances to the caps, a
// sum above 1 in proportion to a. Earlier changes are included, so that the bounds also hold for the distance from the point
// that the caller passed.
func (e *encloser) moved(given, a []float64) (moved, shift float64) {
	var sum, change, below, belowShift, ownShift, all tally
	for j, x := range a {
		limit := exactly(1)
		if !e.problem.Definition().UsesBeta {
			if most := exactly(weight(e.weights, j)).over(e.kappa); most.x-most.e < 1 {
				limit = most
			}
		}
		changed := math.Abs(given[j]-x) + max(0, x-(limit.x-limit.e))
		gap := max(0, limit.x-x)
		sum.add(exactly(x))
		change.add(exactly(changed))
		ownShift.add(exactly(float64(changed * e.norms[j])))
		below.add(exactly(gap))
		belowShift.add(exactly(float64(gap * e.norms[j])))
		all.add(exactly(float64(x * e.norms[j])))
	}
	return movedBy(sum.sum(), change.sum(), approx{x: ownShift.x}, approx{x: below.x}, approx{x: belowShift.x}, approx{x: all.x},
		func() float64 { return slices.Max(e.norms) })
}

// movedBy returns the bounds of moved from its sums and the largest norm of a row.
func movedBy(whole, changed, ownShift, below, belowShift, all approx, longest func() float64) (moved, shift float64) {
	off := math.Abs(1-whole.x) + whole.e + changed.x
	// The mean norm of the rows whose a changes.
	mean := all.x / whole.x
	if below.x > 0x1p-20 {
		mean = max(mean, belowShift.x/below.x)
	} else {
		mean = longest()
	}
	const up = 1 + 0x1p-10 // covers the rounding errors of these sums
	return 2 * up * (changed.x + off), 2 * up * (ownShift.x + float64(off*mean))
}

// regulariser encloses r(a) for points that differ from a by at most moved. r of the hinge grows with the largest a_j/m_j, r of
// the squared hinge with a norm of a/sqrt(m).
func (e *encloser) regulariser(a []float64, moved float64) approx {
	if !e.problem.Definition().UsesBeta {
		return approx{}
	}
	var steepest approx
	var squares tally
	for j, x := range a {
		ratio := exactly(x).over(exactly(weight(e.weights, j)))
		if ratio.x > steepest.x {
			steepest = ratio
		}
		squares.add(exactly(x).times(ratio))
	}
	return quantileRegulariser(e.squared(), exactly(e.problem.Beta), e.kappa, exactly(e.Objective.population.MinWeight), steepest, squares.sum(), moved)
}

// quantileRegulariser encloses r(a) of a surrogate quantile from the largest a_j/m_j and the sum of a_j^2/m_j.
func quantileRegulariser(squared bool, beta, kappa, smallest, steepest, squares approx, moved float64) approx {
	var top approx
	if squared {
		top = kappa.times(squares).root()
		change := kappa.over(smallest).root().times(exactly(moved))
		top.e += change.x + change.e
	} else {
		change := exactly(moved).over(smallest)
		steepest.e += change.x + change.e
		top = kappa.times(steepest)
	}
	return top.minus(exactly(1)).over(beta)
}

// length encloses |v| for v = sum p_i x_i - P sum a_j x_j.
func (e *encloser) length(p []approx, a []float64, mass approx) approx {
	c := make([]approx, e.Rows())
	copy(c, p)
	first := 0
	if e.problem.Definition().Population == method.Negatives {
		first = len(p)
	}
	for j, x := range a {
		if x != 0 {
			c[first+j] = c[first+j].minus(mass.times(exactly(x)))
		}
	}
	sums := make([]tally, e.Dim())
	row := 0
	for _, part := range []*matrix.ClassRows{e.x.Positives, e.x.Negatives} {
		for i := range part.Rows() {
			if c[row] != (approx{}) {
				e.cols, e.values = part.Entries(i, e.cols[:0], e.values[:0])
				for k, x := range e.values {
					sums[e.cols[k]].add(c[row].times(exactly(x)))
				}
			}
			row++
		}
	}
	var squares, errors tally
	for j := range sums {
		v := sums[j].sum()
		squares.add(exactly(v.x).times(exactly(v.x)))
		errors.add(exactly(v.e).times(exactly(v.e)))
	}
	v, spread := squares.sum().root(), errors.sum().root()
	v.e += spread.x + spread.e
	return v
}
