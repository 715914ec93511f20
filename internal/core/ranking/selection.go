package ranking

import (
	"fmt"
	"math"
	"sort"

	"toptau/diag"
	"toptau/metric"
	"toptau/threshold"
)

// Selection measures a fixed number of best rows, as a review team sees them: the team looks at exactly
// Budget rows. If the last place falls among equal scores, negatives get those places first, so ties count
// against the model.
type Selection struct {
	Budget            float64           // rows looked at, or their mass if rows are weighted
	Threshold         float64           // the score of the last row looked at; every row above it is
	TruePositives     float64           // at least this many in any order of equal scores
	FalsePositives    float64           // at most this many in any order of equal scores
	Precision         metric.Proportion // TruePositives / Budget
	TruePositiveRate  metric.Proportion // TruePositives / n+: the fraction of positives found
	FalsePositiveRate metric.Proportion // FalsePositives / n-
}

// TopCount returns the selection of the count best rows, a mass if rows are weighted. A count that is not
// positive or exceeds the sample is an error, and so is a count that is not whole if rows are counted.
func (r *Ranking) TopCount(count float64) (Selection, error) {
	mass := r.PositiveMass() + r.NegativeMass()
	counted := r.whole[0] && r.whole[1]
	if !(count > 0) || count > mass || (counted && count != math.Floor(count)) {
		return Selection{}, &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("a top count of %g", count),
			Expected: fmt.Sprintf("a number above 0 and at most %g, the number of rows", mass)}
	}
	return r.selection(count), nil
}

// TopFraction returns the selection of the best floor(n tau) rows of all: the P-tau value at tau. With a
// budget of 0 its precision is undefined.
func (r *Ranking) TopFraction(tau threshold.Rate) (Selection, error) {
	c := Quantile(tau)
	if err := c.check(); err != nil {
		return Selection{}, err
	}
	return r.selection(r.budget(c)), nil
}

func (r *tieGroups) selection(budget float64) Selection {
	g := sort.Search(len(r.scores), func(g int) bool { // the group of the last place
		return r.positives[g+1]+r.negatives[g+1] >= budget
	})
	var tp, fp float64
	t := math.Inf(-1)
	if budget > 0 && len(r.scores) > 0 {
		g = min(g, len(r.scores)-1)
		t = r.scores[g]
		left := budget - (r.positives[g] + r.negatives[g])
		tied := r.negatives[g+1] - r.negatives[g]
		fp = r.negatives[g] + min(left, tied)
		tp = r.positives[g] + max(0, left-tied)
	}
	s := r.selected(budget, tp, fp)
	s.Threshold = t
	return s
}

// selected returns a selection with its rates.
func (r *tieGroups) selected(budget, tp, fp float64) Selection {
	positives, negatives := r.totals()
	return Selection{Budget: budget, TruePositives: tp, FalsePositives: fp,
		Precision:         proportion(tp, budget, "the budget is 0"),
		TruePositiveRate:  proportion(tp, positives, "there are no positives"),
		FalsePositiveRate: proportion(fp, negatives, "there are no negatives"),
	}
}

func (s *Selection) rates() [3]*metric.Proportion {
	return [3]*metric.Proportion{&s.Precision, &s.TruePositiveRate, &s.FalsePositiveRate}
}
