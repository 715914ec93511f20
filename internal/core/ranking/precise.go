package ranking

import (
	"math"
	"slices"

	"toptau/metric"
	"toptau/threshold"
)

// Precise returns the criterion Positives@Precision(tau), with a margin of a number of standard errors: a threshold with K of M rows above
// it positive counts if
//
//	K - tau M >= errors sqrt(M tau (1 - tau)).
func (r *Ranking) Precise(tau threshold.Rate, errors float64) metric.Result {
	c := Precision(tau)
	res := metric.Result{Criterion: c.String(), Rule: metric.Above, Threshold: math.Inf(-1),
		Proportion: metric.Proportion{Denominator: r.PositiveMass(), Undefined: r.undefined(c)}}
	if !res.Defined() {
		return res
	}
	p := tau.Float64()
	last := 0 // groups 0..last-1 are alerts
	for g := range r.scores {
		k, m := r.positives[g+1], r.positives[g+1]+r.negatives[g+1]
		if k-float64(p*m) >= float64(errors*math.Sqrt(float64(m*float64(p*(1-p)))))-float64(tolerance*m) {
			last = g + 1
		}
	}
	if last < len(r.scores) {
		res.Threshold = r.scores[last]
	}
	res.Admitted = r.positives[last] + r.negatives[last]
	res.Budget = res.Admitted
	res.Proportion = proportion(r.positives[last], r.PositiveMass(), "")
	return res
}

// spared returns the criterion Negatives@Recall. The threshold is just below the score of the first positive that must be
// found, so that equal scores are alerts.
func (r *Ranking) spared(c Criterion) (metric.Result, error) {
	m := r.mirrored()
	res, err := m.Positives(NP(c.Tau.Complement()))
	if err != nil {
		return res, err
	}
	return unmirrored(res, c), nil
}

// mirrored returns the ranking by the negated scores with the classes exchanged.
func (r *Ranking) mirrored() *Ranking {
	n := len(r.scores)
	m := &Ranking{counts: [2]int{r.counts[1], r.counts[0]}, weighted: r.weighted,
		tieGroups: tieGroups{make([]float64, n), make([]float64, n+1), make([]float64, n+1), [2]bool{r.whole[1], r.whole[0]}}}
	for g := range n {
		m.scores[g] = -r.scores[n-1-g] + 0
		m.positives[g+1] = r.NegativeMass() - r.negatives[n-1-g]
		m.negatives[g+1] = r.PositiveMass() - r.positives[n-1-g]
	}
	for class := range m.rows.groups {
		for _, g := range r.rows.groups[1-class] {
			m.rows.groups[class] = append(m.rows.groups[class], int32(n-1)-g)
		}
		m.rows.weights[class] = slices.Clone(r.rows.weights[1-class])
		slices.Reverse(m.rows.groups[class])
		slices.Reverse(m.rows.weights[class])
	}
	return m
}

// unmirrored returns a result on mirrored rows as that of Negatives@Recall.
func unmirrored(r metric.Result, c Criterion) metric.Result {
	r.Criterion = c.String()
	if r.Threshold = math.Nextafter(-r.Threshold, math.Inf(-1)); r.Undefined != "" {
		r.Undefined = undefinedRecall
	}
	return r
}

const undefinedRecall = "there are no positives or no negatives"
