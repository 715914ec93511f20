package paper

import (
	"toptau/internal/core/certified"
	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/method"
	"toptau/surrogate"
)

// zeroClaims returns the statements on w = 0 as the global minimum (Section 4.2, Appendix A.3): for TopPush,
// TopPushK, TopMean, TopMean-NP.
func zeroClaims() []claim {
	return []claim{
		{Check: Check{Name: "large-t", Paper: "Theorem 4.2",
			Statement: "t(w) >= mean score of the positives: F(0) <= F(w); TopPush, TopPushK, TopMean, TopMean-NP, any loss and lambda"},
			try: (*trial).largeThreshold},
		{Check: Check{Name: "large-t-sharp", Paper: "-",
			Statement: "t(w) < mean score of the positives: F(s w) < F(0) for some s > 0, so the theorem is sharp"},
			try: (*trial).smallThreshold},
		{Check: Check{Name: "bound", Paper: "Lemma A.4",
			Statement: "the theorem with t written out: mean of the 1, k or K largest scores of negatives, by sorting"},
			try: (*trial).sortedBound},
		{Check: Check{Name: "toppush-zero", Paper: "Corollary 4.3",
			Statement: "positives in the convex hull of the negatives: w = 0 is the global minimum of TopPush"},
			rare: true, try: (*trial).positivesInHull},
		{Check: Check{Name: "topmean-zero", Paper: "Corollary 4.4",
			Statement: "n+ >= n tau: w = 0 is the global minimum of TopMean"},
			try: (*trial).manyPositives},
		{Check: Check{Name: "zero-exactly-when", Paper: "-",
			Statement: "w = 0 is optimal exactly if the positives' mean is in the K-capped hull of the population; certificates"},
			rare: true, try: (*trial).cappedHull},
		{Check: Check{Name: "zero-ordered", Paper: "Section 4.4",
			Statement: "if w = 0 is optimal for a threshold, it is for larger ones: TopMean-NP, then TopPushK with k <= K, then TopPush"},
			rare: true, try: (*trial).largerCollapsesFirst},
		{Check: Check{Name: "zero-invariant", Paper: "-",
			Statement: "the answer is the same for every lambda and loss, and after an invertible affine map of the columns"},
			rare: true, try: (*trial).sameVerdict},
	}
}

// near is the relative difference below which rounding may decide which of two numbers is larger.
const near = 1e-9

// largeThreshold compares F at w with F at 0 if t is large.
func (t *trial) largeThreshold() error {
	o, err := t.objective(t.draws, pick(t.draws, collapsingMethods...))
	if err != nil {
		return err
	}
	w := t.drawWeights(t.draws)
	at := o.At(w, nil)
	if at.T >= mean(t.scores(w).positives) {
		t.atMost(o.At(make([]float64, o.Dim()), nil).F, at.F, t.scoreSize(w)+at.F)
	}
	return nil
}

// smallThreshold compares F near 0 with F at 0 if t is not large. That is rare, so it tries up to eight
// points.
func (t *trial) smallThreshold() error {
	o, err := t.objective(t.draws, pick(t.draws, collapsingMethods...))
	if err != nil {
		return err
	}
	for range 8 {
		w := t.drawWeights(t.draws)
		if lead := mean(t.scores(w).positives) - o.At(w, nil).T; lead > float64(near*t.scoreSize(w)) {
			t.holds(t.falls(o, w, o.At(make([]float64, o.Dim()), nil).F))
			break
		}
	}
	return nil
}

// falls reports whether the objective is below its value at zero at a point between zero and w.
func (t *trial) falls(o *objective.Objective, w []float64, atZero float64) bool {
	zero := make([]float64, len(w))
	for s := 1.0; s > 1e-15; s /= 2 {
		if o.At(combine(w, zero, s), nil).F < atZero {
			return true
		}
	}
	return false
}

// mean returns the mean of numbers.
func mean(z []float64) float64 {
	sum := 0.0
	for _, v := range z {
		sum += v
	}
	return sum / float64(len(z))
}

// sortedBound tests the theorem with a threshold computed here, by sorting.
func (t *trial) sortedBound() error {
	push, pushK, meanNP := collapsingMethods[0], collapsingMethods[1], collapsingMethods[3]
	m := pick(t.draws, push, pushK, meanNP)
	o, err := t.objective(t.draws, m)
	if err != nil {
		return err
	}
	w := t.drawWeights(t.draws)
	s, k := t.scores(w), 1
	switch h := o.Problem(); {
	case m.UsesK:
		k = h.K
	case m.UsesTau:
		k = h.Tau.Ceil(len(s.negatives))
	}
	if topMean(s.negatives, k) >= mean(s.positives) {
		f := o.At(w, nil).F
		t.atMost(o.At(make([]float64, o.Dim()), nil).F, f, t.scoreSize(w)+f)
	}
	return nil
}

// positivesInHull replaces the positives by convex combinations of negatives.
func (t *trial) positivesInHull() error {
	var x [][]float64
	var y []bool
	for i := range t.X.Negatives.Rows() {
		row := make([]float64, t.X.Cols())
		t.X.Negatives.Row(i, row)
		x, y = append(x, row), append(y, false)
	}
	for range 1 + t.below(20) {
		row := x[t.below(t.X.Negatives.Rows())]
		for range t.below(4) {
			row = combine(row, x[t.below(t.X.Negatives.Rows())], t.unit())
		}
		x, y = append(x, row), append(y, true)
	}
	m, err := matrix.FromDense(x, y, nil, matrix.Float64)
	if err != nil {
		return err
	}
	p, err := t.problem(t.draws, collapsingMethods[0])
	if err != nil {
		return err
	}
	o, err := objective.New(p, m)
	if err != nil {
		return err
	}
	return t.zeroIsMin(o)
}

// manyPositives tests the corollary on TopMean.
func (t *trial) manyPositives() error {
	o, err := t.objective(t.draws, collapsingMethods[2])
	if err != nil {
		return err
	}
	if t.X.Positives.Rows() < o.Problem().Tau.Ceil(t.X.Rows()) {
		return nil
	}
	return t.zeroIsMin(o)
}

// zeroIsMin compares F at 0 with F at four points and, for hinge losses, with the certified minimum.
func (t *trial) zeroIsMin(o *objective.Objective) error {
	zero := o.At(make([]float64, o.Dim()), nil).F
	for range 4 {
		w := t.drawWeights(t.draws)
		f := o.At(w, nil).F
		t.atMost(zero, f, t.scoreSize(w)+f)
	}
	if h := o.Problem(); h.Lambda == 0 || certified.Possible(o.Problem()) != nil || t.below(20) > 0 {
		return nil
	}
	r, err := certified.Solve(t.ctx, o, certified.Options{Gap: 1e-9})
	if err != nil || r.Cancelled {
		return err
	}
	t.holds(r.LowerBound >= zero-1e-6 && r.Objective >= zero-Tolerance)
	return nil
}

// decide returns the certified answer whether w = 0 is optimal for a collapsing method on some data.
func (t *trial) decide(p method.Problem, x *matrix.Matrix) (*objective.Objective, certified.Zero, error) {
	o, err := objective.New(p, x)
	if err != nil {
		return nil, certified.Zero{}, err
	}
	z, err := certified.IsZeroOptimal(t.ctx, o, certified.Options{})
	return o, z, err
}

// certifiableProblem returns a problem of a collapsing method with a loss that has certificates.
func (t *trial) certifiableProblem() (method.Problem, error) {
	p, err := t.problem(t.draws, pick(t.draws, collapsingMethods...))
	if err != nil {
		return p, err
	}
	h := p
	h.Surrogate, h.Lambda = pick(t.draws, surrogate.Hinge, surrogate.SquaredHinge).Name(), pick(t.draws, 1e-3, 0.1)
	return p.Definition().With(h)
}

// cappedHull checks the proof of either answer with the data alone.
func (t *trial) cappedHull() error {
	p, err := t.certifiableProblem()
	if err != nil {
		return err
	}
	o, z, err := t.decide(p, t.X)
	if err != nil {
		return err
	}
	switch z.Verdict {
	case certified.ZeroIsOptimal:
		t.weightsReach(o, z)
	case certified.ZeroIsNotOptimal:
		lead := mean(t.scores(z.W).positives) - o.At(z.W, nil).T
		t.holds(lead > 0 && t.falls(o, z.W, o.At(make([]float64, o.Dim()), nil).F))
	}
	return nil
}

// weightsReach checks that the weights are feasible and that their combination of the population is the
// positives' mean, up to the distance of the answer. Then every t(w) is at least the mean score, up to that
// distance times |w|.
func (t *trial) weightsReach(o *objective.Objective, z certified.Zero) {
	n, sum, largest := 0, 0.0, 0.0
	if o.Problem().Definition().Population == method.AllRows {
		n = t.X.Positives.Rows()
	}
	away, row := make([]float64, o.Dim()), make([]float64, o.Dim())
	for i, j := range z.A.Rows {
		sum += z.A.Values[i]
		largest = max(largest, z.A.Values[i])
		if int(j) < n {
			t.X.Positives.Row(int(j), row)
		} else {
			t.X.Negatives.Row(int(j)-n, row)
		}
		for c, v := range row {
			away[c] += float64(z.A.Values[i] * v)
		}
	}
	for c := range away {
		away[c] -= t.subject.positives[c]
	}
	t.equal(sum, 1, 1)
	t.atMost(largest, o.Threshold().Cap(1), 1)
	t.atMost(objective.Norm(away), z.Distance, t.reach)
	w := t.drawWeights(t.draws)
	t.atMost(mean(t.scores(w).positives)-float64(z.Distance*objective.Norm(w)), o.At(w, nil).T, t.scoreSize(w))
}

// largerCollapsesFirst decides for increasing thresholds, with fewer and fewer negatives in the mean. A no
// must never follow a yes.
func (t *trial) largerCollapsesFirst() error {
	push, pushK, meanNP := collapsingMethods[0], collapsingMethods[1], collapsingMethods[3]
	tau := t.rate()
	h := []method.Problem{{Tau: tau}, {K: 1 + t.below(tau.Ceil(t.X.Negatives.Rows()))}, {}}
	last := certified.Undecided
	for i, m := range []method.Method{meanNP, pushK, push} {
		p, err := m.With(h[i])
		if err != nil {
			return err
		}
		_, z, err := t.decide(p, t.X)
		if err != nil {
			return err
		}
		yes, no := last == certified.ZeroIsOptimal, z.Verdict == certified.ZeroIsNotOptimal
		if i > 0 && (yes || no) {
			t.holds(!(yes && no))
		}
		last = z.Verdict
	}
	return nil
}

// sameVerdict tests the answer on objectives with other losses and lambdas, and decides again after an affine
// map.
func (t *trial) sameVerdict() error {
	p, err := t.certifiableProblem()
	if err != nil {
		return err
	}
	_, first, err := t.decide(p, t.X)
	if err != nil || !t.isClear(first) {
		return err
	}
	for range 2 {
		h := p
		h.Lambda, h.Surrogate = pick(t.draws, 1e-5, 1e-3, 0.1, 1), pick(t.draws, surrogate.Hinge, surrogate.SquaredHinge).Name()
		if err := t.verdictHolds(p.Definition(), h, first); err != nil {
			return err
		}
	}
	mapped, err := t.mapSample()
	if err != nil {
		return err
	}
	_, other, err := t.decide(p, mapped)
	if err != nil {
		return err
	}
	t.holds(other.Verdict == first.Verdict || other.Verdict == certified.Undecided)
	return nil
}

// verdictHolds tests an answer on an objective: its minimum is F(0), or F decreases in the direction of the
// answer.
func (t *trial) verdictHolds(m method.Method, h method.Problem, z certified.Zero) error {
	p, err := m.With(h)
	if err != nil {
		return err
	}
	o, err := objective.New(p, t.X)
	if err != nil {
		return err
	}
	zero := o.At(make([]float64, o.Dim()), nil).F
	if z.Verdict == certified.ZeroIsNotOptimal {
		t.holds(t.falls(o, z.W, zero))
		return nil
	}
	r, err := certified.Solve(t.ctx, o, certified.Options{Gap: 1e-9})
	if err != nil || r.Cancelled {
		return err
	}
	// With l'(0) <= 2, F(w) >= F(0) - 2 |w| distance + lambda/2 |w|^2.
	t.holds(r.LowerBound >= zero-1e-6-2*z.Distance*z.Distance/h.Lambda)
	return nil
}

// isClear reports whether an answer is so clear that rounding in a map of the columns cannot change it.
func (t *trial) isClear(z certified.Zero) bool {
	return z.Verdict == certified.ZeroIsOptimal && z.Distance < float64(1e-8*z.Scale) ||
		z.Verdict == certified.ZeroIsNotOptimal && z.Advantage > float64(1e-6*t.scoreSize(z.W))
}

// mapSample returns the sample after an invertible affine map: every column is scaled and shifted, and half
// of the next column is added.
func (t *trial) mapSample() (*matrix.Matrix, error) {
	cols := t.X.Cols()
	scale, shift := make([]float64, cols), make([]float64, cols)
	for j := range cols {
		scale[j], shift[j] = pick(t.draws, 0.5, 2, -1)/t.spread[j], t.sign()
	}
	var x [][]float64
	var y []bool
	for _, part := range []*matrix.ClassRows{t.X.Positives, t.X.Negatives} {
		for i := range part.Rows() {
			row := make([]float64, cols)
			part.Row(i, row)
			for j := range row {
				row[j] = float64(row[j]*scale[j]) + shift[j]
			}
			for j := range cols - 1 {
				row[j] += float64(row[j+1] / 2)
			}
			x, y = append(x, row), append(y, part == t.X.Positives)
		}
	}
	return matrix.FromDense(x, y, nil, matrix.Float64)
}
