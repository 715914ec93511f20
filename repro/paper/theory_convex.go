package paper

import (
	"math"

	"toptau/internal/core/objective"
	"toptau/method"
)

// convexClaims returns the statements on convexity and continuity (Section 4.1, Appendix A.2) and the
// gradient (Section 5.1, Appendix C).
func convexClaims() []claim {
	return []claim{
		{Check: Check{Name: "convex", Paper: "Theorem 4.1, Section 4.1",
			Statement: "F is convex along a segment: TopPush, TopPushK, TopMean, TopMean-NP, Pat&Mat, Pat&Mat-NP; three losses"},
			try: func(t *trial) error { return t.segment(convexMethods...) }},
		{Check: Check{Name: "grill-not-convex", Paper: "Section 4.1", Refuted: true,
			Statement: "F of Grill is convex along a segment"},
			try: func(t *trial) error { return t.segment(grillMethods[0]) }},
		{Check: Check{Name: "grill-np-not-convex", Paper: "Section 4.1", Refuted: true,
			Statement: "F of Grill-NP is convex along a segment"},
			try: func(t *trial) error { return t.segment(grillMethods[1]) }},
		{Check: Check{Name: "surrogate-quantile-convex", Paper: "Lemma A.2",
			Statement: "both surrogate quantiles are convex functions of w, with l(beta (z - t)); three losses"},
			try: (*trial).quantileSegment},
		{Check: Check{Name: "lipschitz", Paper: "Lemma A.3",
			Statement: "|t(u) - t(v)| <= max |x'(u - v)| for the quantiles and every other threshold"},
			try: (*trial).lipschitz},
		{Check: Check{Name: "gradient", Paper: "equation (27), Appendix C",
			Statement: "F(v) >= F(u) + grad F(u)'(v - u) for the convex methods"},
			try: (*trial).subgradient},
	}
}

// combine returns a u + (1-a) v.
func combine(u, v []float64, a float64) []float64 {
	w := make([]float64, len(u))
	for j := range w {
		w[j] = float64(a*u[j]) + float64((1-a)*v[j])
	}
	return w
}

// segment compares F inside a segment with its values at both ends.
func (t *trial) segment(methods ...method.Method) error {
	o, err := t.objective(t.draws, pick(t.draws, methods...))
	if err != nil {
		return err
	}
	u, v, a := t.drawWeights(t.draws), t.drawWeights(t.draws), t.unit()
	ends := float64(a*o.At(u, nil).F) + float64((1-a)*o.At(v, nil).F)
	t.atMost(o.At(combine(u, v, a), nil).F, ends, t.scoreSize(u, v)+ends)
	return nil
}

// quantileSegment compares the surrogate quantile inside a segment with its values at both ends.
func (t *trial) quantileSegment() error {
	p, err := t.problem(t.draws, pick(t.draws, patMatMethods...))
	if err != nil {
		return err
	}
	u, v, a := t.drawWeights(t.draws), t.drawWeights(t.draws), t.unit()
	var at [3]float64
	for i, w := range [][]float64{u, v, combine(u, v, a)} {
		if at[i], err = t.scores(w).threshold(p); err != nil {
			return err
		}
	}
	t.atMost(at[2], float64(a*at[0])+float64((1-a)*at[1]), t.scoreSize(u, v)+1/p.Beta)
	return nil
}

// lipschitz compares the change of a threshold with the largest change of a score.
func (t *trial) lipschitz() error {
	p, err := t.problem(t.draws, pick(t.draws, method.All()...))
	if err != nil {
		return err
	}
	u := t.drawWeights(t.draws)
	v := combine(u, t.drawWeights(t.draws), pick(t.draws, 0, 0.9, 0.999))
	a, b := t.scores(u), t.scores(v)
	ta, err := a.threshold(p)
	if err != nil {
		return err
	}
	tb, err := b.threshold(p)
	if err != nil {
		return err
	}
	step, size := 0.0, t.scoreSize(u, v)
	for i := range a.all {
		step = max(step, math.Abs(a.all[i]-b.all[i]))
	}
	if p.Definition().UsesBeta {
		size += 1 / p.Beta
	}
	t.atMost(math.Abs(ta-tb), step, size)
	return nil
}

// subgradient compares F with its linear bound from another point.
func (t *trial) subgradient() error {
	o, err := t.objective(t.draws, pick(t.draws, convexMethods...))
	if err != nil {
		return err
	}
	u, v, g := t.drawWeights(t.draws), t.drawWeights(t.draws), make([]float64, o.Dim())
	at, other := o.At(u, g).F, o.At(v, nil).F
	linear := at
	for j := range g {
		linear += float64(g[j] * (v[j] - u[j]))
	}
	t.atMost(linear, other, t.scoreSize(u, v)+at+other+float64(objective.Norm(g)*objective.Norm(combine(v, u, 2))))
	return nil
}
