package metric

import (
	"math"
	"slices"

	"toptau/diag"
	"toptau/threshold"
)

// Precise returns the criterion Positives@Precision(tau), with a margin of a number of standard errors: a threshold with K of M rows above
// it positive counts if
//
//	K - tau M >= errors sqrt(M tau (1 - tau)).
func (r *Ranking) Precise(tau threshold.Rate, errors float64) Result {
	c := Precision(tau)
	res := Result{Criterion: c.String(), Rule: Above, Threshold: math.Inf(-1),
		Proportion: Proportion{Denominator: r.PositiveMass(), Undefined: r.undefined(c)}}
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
func (r *Ranking) spared(c Criterion) (Result, error) {
	m := r.mirrored()
	res, err := m.Positives(NP(c.Tau.Complement()))
	if err != nil {
		return res, err
	}
	return res.mirrored(c), nil
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

// mirrored returns a result on mirrored rows as that of Negatives@Recall.
func (r Result) mirrored(c Criterion) Result {
	r.Criterion = c.String()
	if r.Threshold = math.Nextafter(-r.Threshold, math.Inf(-1)); r.Undefined != "" {
		r.Undefined = undefinedRecall
	}
	return r
}

const undefinedRecall = "there are no positives or no negatives"

// mirrored returns the scores negated and the classes exchanged.
func (s PairedScores) mirrored() (PairedScores, error) {
	if s.PositiveValues != nil {
		return s, &diag.Error{Kind: diag.Usage, Param: string(GoalMinRecall), Found: "together with amounts", Expected: "only one of the two"}
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
		out.Results[i] = out.Results[i].mirrored(c)
	}
	return out, err
}

// precision draws a replicate of all groups and returns Positives@Precision with all gaps against the positives, and in their favour.
func (d *drawn) precision(tau float64) (low, high float64) {
	gaps := d.groups()
	total := d.positives[len(d.r.scores)] + gaps[0]
	for g := range d.r.scores {
		k, m := d.positives[g+1], d.positives[g+1]+d.negatives[g+1]
		if k >= float64(tau*(m+gaps[1])) {
			low = k
		}
		if k+gaps[0] >= float64(tau*(m+gaps[0])) {
			high = k + gaps[0]
		}
	}
	return low / total, min(1, high/total)
}

// preciselyFound is found for Positives@Precision.
func (d *drawing) preciselyFound(o *order) (out [3]float64) {
	gaps := [3][2]float64{{}, {0, d.gap[1]}, {d.gap[0], 0}} // above all rows: nothing, the negatives' gap, the positives'
	var worth, positives, all float64
	for i := 0; i < len(o.rows); {
		for score := o.scores[i]; i < len(o.rows) && o.scores[i] == score; i++ {
			row := o.rows[i]
			m := d.mass[row]
			all += m
			if int(row) >= d.counts[0] {
				continue
			}
			positives += m
			if d.values != nil {
				m = float64(m * d.values[row])
			}
			worth += m
		}
		for k, gap := range gaps {
			if positives+gap[0] >= float64(d.tau*(all+gap[0]+gap[1])) {
				out[k] = worth
			}
		}
	}
	for k := range out {
		out[k] /= d.worth
	}
	return out
}
