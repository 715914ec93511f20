package paper

import (
	"math"
	"slices"

	"toptau/method"
	"toptau/threshold"
)

// thresholdClaims returns the statements that compare thresholds (Section 4.3, Appendix A.4).
func thresholdClaims() []claim {
	push, mean, meanNP := collapsingMethods[1], collapsingMethods[2], collapsingMethods[3]
	return []claim{
		{Check: Check{Name: "same-rule", Paper: "Sections 2.3.3 and 6",
			Statement: "TopPushK with k = K is TopMean-NP, and with k = 1 TopPush: equal thresholds"},
			try: func(t *trial) error { return t.sameRule(push, meanNP) }},
		{Check: Check{Name: "stable", Paper: "Section 2.1.2",
			Statement: "one score moved by d moves t by at most |d| (TopPush), |d|/k (TopPushK), |d|/K (TopMean, TopMean-NP)"},
			try: (*trial).oneOutlier},
		{Check: Check{Name: "patmat-above-topmean", Paper: "Lemma A.5",
			Statement: "t of Pat&Mat >= t of TopMean, t of Pat&Mat-NP >= t of TopMean-NP; three losses"},
			try: func(t *trial) error { return t.aboveMean(threshold.Rate.Ceil) }},
		{Check: Check{Name: "patmat-above-topmean-floor", Paper: "Lemma A.5", Refuted: true,
			Statement: "the same when n tau is rounded down, not up, in TopMean"},
			try: func(t *trial) error {
				return t.aboveMean(func(tau threshold.Rate, n int) int { return max(1, tau.Floor(n)) })
			}},
		{Check: Check{Name: "grill-above-np", Paper: "Lemma A.6, first part",
			Statement: "if the positives' quantile is above the negatives', t of Grill >= t of Grill-NP"},
			try: func(t *trial) error { return t.classesCompared(kthLargest, grillMethods, false) }},
		{Check: Check{Name: "grill-above-np-strictly", Paper: "Lemma A.6, first part", Refuted: true,
			Statement: "the same with > in the conclusion, as printed"},
			try: func(t *trial) error { return t.classesCompared(kthLargest, grillMethods, true) }},
		{Check: Check{Name: "topmean-above-np", Paper: "Lemma A.6, second part",
			Statement: "if the positives' top mean is above the negatives', t of TopMean > t of TopMean-NP"},
			try: func(t *trial) error { return t.classesCompared(topMean, []method.Method{mean, meanNP}, false) }},
		{Check: Check{Name: "patmat-above-np", Paper: "-",
			Statement: "t of Pat&Mat >= t of Pat&Mat-NP if and only if the positives' surrogate quantile is above the negatives'"},
			try: (*trial).patMatCompared},
		{Check: Check{Name: "centring", Paper: "-",
			Statement: "a constant added to all scores is added to every threshold, so centring columns changes no objective"},
			try: (*trial).centring},
	}
}

// topMean returns the mean of the k largest numbers. It sorts them, independently of package threshold.
func topMean(z []float64, k int) float64 {
	sorted := slices.Clone(z)
	slices.Sort(sorted)
	sum := 0.0
	for _, v := range sorted[len(sorted)-k:] {
		sum += v
	}
	return sum / float64(k)
}

// kthLargest returns the k-th largest number.
func kthLargest(z []float64, k int) float64 {
	sorted := slices.Clone(z)
	slices.Sort(sorted)
	return sorted[len(sorted)-k]
}

// sameRule compares TopPushK with TopPush at k = 1 and with TopMean-NP at k = K.
func (t *trial) sameRule(push, mean method.Method) error {
	w := t.drawWeights(t.draws)
	s := t.scores(w)
	tau := t.rate()
	for _, k := range []int{1, tau.Ceil(len(s.negatives))} {
		one, err := push.With(method.Problem{K: k})
		if err != nil {
			return err
		}
		other, err := method.All()[0].With(method.Problem{})
		if k > 1 {
			other, err = mean.With(method.Problem{Tau: tau})
		}
		if err != nil {
			return err
		}
		a, err := s.threshold(one)
		if err != nil {
			return err
		}
		b, err := s.threshold(other)
		if err != nil {
			return err
		}
		t.holds(a == b)
		t.equal(a, topMean(s.negatives, k), t.scoreSize(w))
	}
	return nil
}

// oneOutlier changes one score of the population by a large amount.
func (t *trial) oneOutlier() error {
	w := t.drawWeights(t.draws)
	p, err := t.problem(t.draws, pick(t.draws, collapsingMethods...))
	if err != nil {
		return err
	}
	z := t.scores(w).population(p.Definition().Population)
	before, err := thresholdOf(p.Rule(), z)
	if err != nil {
		return err
	}
	k := max(1, p.K)
	if p.Definition().UsesTau {
		k = p.Tau.Ceil(len(z))
	}
	d := float64(t.scoreSize(w) * t.sign())
	z[t.below(len(z))] += d
	after, err := thresholdOf(p.Rule(), z)
	t.atMost(math.Abs(after-before), math.Abs(d)/float64(k), t.scoreSize(w))
	return err
}

// aboveMean compares a surrogate quantile with the mean of the n tau largest scores, rounded by round.
func (t *trial) aboveMean(round func(tau threshold.Rate, n int) int) error {
	w := t.drawWeights(t.draws)
	s := t.scores(w)
	p, err := t.problem(t.draws, pick(t.draws, patMatMethods...))
	if err != nil {
		return err
	}
	above, err := s.threshold(p)
	if err != nil {
		return err
	}
	z := s.population(p.Definition().Population)
	below := topMean(z, round(p.Tau, len(z)))
	t.atMost(below, above, t.scoreSize(w)+1/p.Beta)
	return nil
}

// classesCompared tests Lemma A.6: if a rule gives the positives a larger threshold than the negatives, the
// threshold of all rows is at least that of the negatives, or larger if strictly is set.
func (t *trial) classesCompared(rule func(z []float64, k int) float64, methods []method.Method, strictly bool) error {
	w := t.drawWeights(t.draws)
	s := t.scores(w)
	tau := t.rate()
	if !(rule(s.positives, tau.Ceil(len(s.positives))) > rule(s.negatives, tau.Ceil(len(s.negatives)))) {
		return nil
	}
	var at [2]float64
	for i, m := range methods {
		p, err := m.With(method.Problem{Tau: tau})
		if err != nil {
			return err
		}
		if at[i], err = s.threshold(p); err != nil {
			return err
		}
	}
	if strictly {
		t.holds(at[0] > at[1])
	} else {
		t.atMost(at[1], at[0], t.scoreSize(w))
	}
	return nil
}

// patMatCompared uses that at the threshold of the negatives, the sum of l over all rows is n- tau plus the
// sum over the positives. That is at least n tau exactly if the positives' own threshold is at least t.
func (t *trial) patMatCompared() error {
	w := t.drawWeights(t.draws)
	s := t.scores(w)
	p, err := t.problem(t.draws, patMatMethods[0])
	if err != nil {
		return err
	}
	var at [3]float64
	for i, z := range [][]float64{s.all, s.positives, s.negatives} {
		if at[i], err = thresholdOf(p.Rule(), z); err != nil {
			return err
		}
	}
	size := t.scoreSize(w) + 1/p.Beta
	if at[1] >= at[2] {
		t.atMost(at[2], at[0], size)
	} else {
		t.atMost(at[0], at[2], size)
	}
	return nil
}

// centring subtracts a constant from all scores.
func (t *trial) centring() error {
	w := t.drawWeights(t.draws)
	p, err := t.problem(t.draws, pick(t.draws, method.All()...))
	if err != nil {
		return err
	}
	z, size := t.scores(w).population(p.Definition().Population), t.scoreSize(w)
	before, err := thresholdOf(p.Rule(), z)
	if err != nil {
		return err
	}
	shift := float64(size * t.sign())
	moved := make([]float64, len(z))
	for i := range z {
		moved[i] = z[i] - shift
	}
	after, err := thresholdOf(p.Rule(), moved)
	if err != nil {
		return err
	}
	if p.Definition().UsesBeta {
		size += 1 / p.Beta
	}
	t.equal(after, before-shift, size)
	return nil
}
