package paper

import (
	"toptau/method"
	"toptau/surrogate"
)

// countClaims returns the statements on the counts of right and wrong decisions and their surrogates (Section
// 2, Appendix A.1).
func countClaims() []claim {
	return []claim{
		{Check: Check{Name: "surrogate-counts", Paper: "equation (4), Section 2",
			Statement: "each surrogate count is at least the count: l(s) >= [s >= 0] for tp, fn, tn, fp"},
			try: (*trial).surrogateCounts},
		{Check: Check{Name: "fn-fp", Paper: "Lemma A.1",
			Statement: "fp = a fp + (1-a) fn + (1-a)(K - n+) + (1-a)(q - 1) at the quantile, scores not tied at it"},
			try: func(t *trial) error { return t.fnfp(printedExtra, func(ties int) bool { return ties == 1 }) }},
		{Check: Check{Name: "fn-fp-ties", Paper: "Lemma A.1", Refuted: true,
			Statement: "the same with q > 1 scores tied at the quantile"},
			try: func(t *trial) error { return t.fnfp(printedExtra, func(ties int) bool { return ties > 1 }) },
			note: func() string {
				return "false if some of the tied samples belong to the K on top: 3, 2, 2, 1 with K = 3"
			}},
		{Check: Check{Name: "fn-fp-corrected", Paper: "Lemma A.1, corrected",
			Statement: "the same with the number of samples at or above t, minus K, instead of q - 1"},
			try: func(t *trial) error { return t.fnfp(correctedExtra, func(int) bool { return true }) }},
	}
}

// counts are the true counts at a threshold (equation defin_counts). A score equal to t counts as above.
type counts struct{ tp, fn, tn, fp int }

// counts returns the counts at t.
func (s scored) counts(t float64) counts {
	var c counts
	for _, z := range s.positives {
		if z-t >= 0 {
			c.tp++
		}
	}
	for _, z := range s.negatives {
		if z-t >= 0 {
			c.fp++
		}
	}
	c.fn, c.tn = len(s.positives)-c.tp, len(s.negatives)-c.fp
	return c
}

// surrogateCounts compares the counts with their surrogates at the threshold of a random method.
func (t *trial) surrogateCounts() error {
	w := t.drawWeights(t.draws)
	s := t.scores(w)
	p, err := t.problem(t.draws, pick(t.draws, method.All()...))
	if err != nil {
		return err
	}
	at, err := s.threshold(p)
	if err != nil {
		return err
	}
	l := p.Loss()
	true, size := s.counts(at), t.scoreSize(w)
	t.atMost(float64(true.tp), surrogateSum(l, s.positives, at, 1), size)
	t.atMost(float64(true.fn), surrogateSum(l, s.positives, at, -1), size)
	t.atMost(float64(true.tn), surrogateSum(l, s.negatives, at, -1), size)
	t.atMost(float64(true.fp), surrogateSum(l, s.negatives, at, 1), size)
	return nil
}

// surrogateSum returns the sum of l(sign (z - t)) (equation defin_counts_surr).
func surrogateSum(l surrogate.Surrogate, z []float64, t, sign float64) float64 {
	sum := 0.0
	for _, z := range z {
		sum += l.Value(float64(sign * (z - t)))
	}
	return sum
}

// printedExtra returns the last term of the lemma as printed.
func printedExtra(_, _, ties int) int { return ties - 1 }

// correctedExtra returns the corrected last term: the number of samples at or above t, minus K.
func correctedExtra(above, k, _ int) int { return above - k }

// fnfp tests the equation of the lemma at the exact quantile of all scores, in whole numbers: alpha is a
// multiple of 1/4. extra returns its last term from the number of samples at or above t, K, and the number of
// samples at t.
func (t *trial) fnfp(extra func(above, k, ties int) int, when func(ties int) bool) error {
	s := t.scores(t.drawWeights(t.draws))
	grill := grillMethods[0]
	p, err := t.problem(t.draws, grill)
	if err != nil {
		return err
	}
	at, err := s.threshold(p)
	if err != nil {
		return err
	}
	ties := 0
	for _, z := range s.all {
		if z == at {
			ties++
		}
	}
	if !when(ties) {
		return nil
	}
	c, k := s.counts(at), p.Tau.Ceil(len(s.all))
	alpha := t.below(5) // quarters
	right := alpha*c.fp + (4-alpha)*(c.fn+k-len(s.positives)+extra(c.tp+c.fp, k, ties))
	t.holds(4*c.fp == right)
	return nil
}
