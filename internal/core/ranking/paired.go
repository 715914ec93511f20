package ranking

import (
	"fmt"
	"math"

	"toptau/diag"
	"toptau/internal/core/binomial"
	"toptau/method"
	"toptau/metric"
)

// PairedScores contains the scores of several models on the same rows: Positives[m][i] is the score of model
// m for positive row i.
type PairedScores struct {
	Positives, Negatives             [][]float64
	PositiveWeights, NegativeWeights []float64 // of the rows; nil: 1 each
	// The entity of each row, as numbers from 0; nil: every row is its own entity. Replicates draw entities with
	// all their rows of both classes.
	PositiveGroups, NegativeGroups []int
	// PositiveValues are amounts of the positive rows, such as money. Criteria are then fractions of their sum
	// instead of the positives' mass. Budgets do not depend on them. nil: no amounts.
	PositiveValues []float64
}

// Paired is a criterion of several models on the same rows.
type Paired struct {
	Results     []metric.Result     // of each model, with intervals from these replicates
	Differences []metric.Difference // of each model to the reference

	scores    PairedScores
	bootstrap Bootstrap
	pairing   *pairing
	drawn     replicates
}

// PairedBootstrap computes a criterion for each model and its difference to the model numbered reference.
//
// In every replicate all models have the same rows with the same drawn masses (see Bootstrap), or the same
// entities. Each model's threshold is found again on them by the tie rule of the package. Intervals run
// between percentiles of the replicates. Those of a difference run between percentiles of the differences,
// computed with the gap of the positives against one model and in its favour. At fixed thresholds such an
// interval excludes 0 exactly if the sign test does, on the positives that only one model finds.
//
// Without weights and entities only rows near the top of some model's list matter. A replicate then draws the
// masses of these rows, and one mass for all others; it draws the others only if a threshold turns out to lie
// below. The distribution is the same, at the cost of the budget instead of all rows. Otherwise a replicate
// costs O(n) for each model.
func PairedBootstrap(s PairedScores, c Criterion, reference int, b Bootstrap) (Paired, error) {
	b, err := b.check()
	if err != nil {
		return Paired{}, err
	}
	if err := s.check(reference); err != nil {
		return Paired{}, err
	}
	if c.Name == method.AtRecall {
		return pairedRecall(s, c, reference, b)
	}
	out := Paired{scores: s, bootstrap: b}
	var first *Ranking
	for m := range s.Positives {
		r, err := Rank(s.model(m))
		if err != nil {
			return Paired{}, err
		}
		res, err := r.Positives(c)
		if err != nil {
			return Paired{}, err
		}
		if m == 0 {
			first = r
		}
		if s.PositiveValues != nil {
			res = Valued(res, s.Positives[m], s.PositiveValues)
		}
		out.Results = append(out.Results, res)
	}
	undefined := out.Results[0].Undefined // whether a criterion is defined depends only on the rows
	if undefined == "" {
		out.pairing = newPairing(s, c, first, out.Results[0].Budget)
		out.drawn = out.pairing.drawAll(b)
	}
	for m := range out.Results {
		if undefined != "" {
			out.Results[m].NoInterval = undefined
		} else {
			out.Results[m].Interval = out.interval(m)
		}
		out.Differences = append(out.Differences, out.Difference(m, reference, 1))
	}
	return out, nil
}

// interval returns the interval of one model's criterion.
func (p *Paired) interval(model int) *metric.Interval {
	d, found := &p.drawn, p.drawn.found[model]
	lows, highs := make([]float64, p.bootstrap.Replicates), make([]float64, p.bootstrap.Replicates)
	for i := range lows {
		lows[i] = found[i][negativesAbove]
		highs[i] = d.withGap(i, found[i][positivesAbove])
	}
	return newInterval(p.kind(), p.bootstrap, p.Results[model].Rate, lows, highs)
}

func (p *Paired) kind() string {
	if p.scores.PositiveGroups != nil {
		return metric.GroupInterval
	}
	return metric.BootstrapInterval
}

// Difference compares two models on the replicates. If several comparisons are to hold together, their number
// divides the probability of failure (Bonferroni). With R replicates that is exact for up to about R/40
// comparisons at a confidence of 95 %. Models that put the rows in the same order differ by 0 with certainty.
func (p *Paired) Difference(model, reference, comparisons int) metric.Difference {
	if text := p.Results[model].Undefined; text != "" {
		return metric.Difference{Undefined: text}
	}
	d := p.scores.difference(p.Results[model], p.Results[reference], model, reference)
	b := p.bootstrap
	b.Confidence = 1 - (1-b.Confidence)/float64(max(1, comparisons))
	lows, highs := make([]float64, b.Replicates), make([]float64, b.Replicates)
	if !p.pairing.orders[model].same(&p.pairing.orders[reference]) {
		for i := range lows {
			lows[i] = -p.drawn.lead(i, reference, model)
			highs[i] = p.drawn.lead(i, model, reference)
		}
	}
	d.Interval = newInterval(p.kind(), b, d.Rate, lows, highs)
	return d
}

func (s *PairedScores) model(m int) Scores {
	return Scores{Positives: s.Positives[m], Negatives: s.Negatives[m],
		PositiveWeights: s.PositiveWeights, NegativeWeights: s.NegativeWeights}
}

// check returns an error for vectors that do not belong to the same rows.
func (s *PairedScores) check(reference int) error {
	wrong := func(format string, args ...any) error {
		return &diag.Error{Kind: diag.Data, Found: fmt.Sprintf(format, args...), Expected: "scores of the same rows"}
	}
	if len(s.Positives) == 0 || len(s.Positives) != len(s.Negatives) {
		return wrong("scores of %d models for positives and %d for negatives", len(s.Positives), len(s.Negatives))
	}
	if reference < 0 || reference >= len(s.Positives) {
		return wrong("reference %d of %d models", reference, len(s.Positives))
	}
	n := [2]int{len(s.Positives[0]), len(s.Negatives[0])}
	for m := range s.Positives {
		if len(s.Positives[m]) != n[0] || len(s.Negatives[m]) != n[1] {
			return wrong("%d and %d scores of model %d, %d and %d of model 0",
				len(s.Positives[m]), len(s.Negatives[m]), m, n[0], n[1])
		}
	}
	if n[0]+n[1] > math.MaxInt32 {
		return wrong("%d rows", n[0]+n[1])
	}
	if s.PositiveValues != nil && len(s.PositiveValues) != n[0] {
		return wrong("%d amounts of %d positives", len(s.PositiveValues), n[0])
	}
	for _, v := range s.PositiveValues {
		if !(v >= 0) || math.IsInf(v, 0) {
			return wrong("an amount of %v", v)
		}
	}
	if (s.PositiveGroups == nil) != (s.NegativeGroups == nil) {
		return wrong("entities of one class only")
	}
	for class, groups := range [2][]int{s.PositiveGroups, s.NegativeGroups} {
		if groups != nil && len(groups) != n[class] {
			return wrong("%d entities for %d rows", len(groups), n[class])
		}
		for _, g := range groups {
			if g < 0 || g >= n[0]+n[1] {
				return wrong("entity number %d for %d rows", g, n[0]+n[1])
			}
		}
	}
	return nil
}

// difference compares the positives that two models find, each at its threshold.
func (s *PairedScores) difference(a, b metric.Result, m, reference int) metric.Difference {
	d := metric.Difference{Rate: a.Rate - b.Rate}
	net := map[int]int{}         // by entity
	amounts := map[int]float64{} // likewise
	for i := range s.Positives[m] {
		found, before := admits(&a, s.Positives[m][i]), admits(&b, s.Positives[reference][i])
		if found == before {
			continue
		}
		unit, sign := i, 1
		if s.PositiveGroups != nil {
			unit = s.PositiveGroups[i]
		}
		if found {
			d.Gained++
		} else {
			d.Lost++
			sign = -1
		}
		net[unit] += sign
		if s.PositiveValues != nil {
			amounts[unit] += float64(float64(sign) * s.PositiveValues[i])
		}
	}
	if s.PositiveValues != nil {
		d.SignTest = signFlips(amounts)
		return d
	}
	var up, down int
	for _, sum := range net {
		switch {
		case sum > 0:
			up++
		case sum < 0:
			down++
		}
	}
	d.SignTest = min(1, 2*binomial.AtLeast(up+down, max(up, down), 0.5))
	return d
}

// mirrored returns the scores negated and the classes exchanged.
func (s PairedScores) mirrored() (PairedScores, error) {
	if s.PositiveValues != nil {
		return s, &diag.Error{Kind: diag.Usage, Param: string(metric.GoalMinRecall), Found: "together with amounts",
			Expected: "only one of the two"}
	}
	negated := func(lists [][]float64) [][]float64 {
		out := make([][]float64, len(lists))
		for m, list := range lists {
			for _, z := range list {
				out[m] = append(out[m], -z+0)
			}
		}
		return out
	}
	return PairedScores{Positives: negated(s.Negatives), Negatives: negated(s.Positives), PositiveWeights: s.NegativeWeights,
		NegativeWeights: s.PositiveWeights, PositiveGroups: s.NegativeGroups, NegativeGroups: s.PositiveGroups}, nil
}

// pairedRecall is PairedBootstrap for Negatives@Recall. The rows that are gained and lost are negatives.
func pairedRecall(s PairedScores, c Criterion, reference int, b Bootstrap) (Paired, error) {
	m, err := s.mirrored()
	if err != nil {
		return Paired{}, err
	}
	out, err := PairedBootstrap(m, NP(c.Tau.Complement()), reference, b)
	for i := range out.Results {
		out.Results[i] = unmirrored(out.Results[i], c)
	}
	return out, err
}
