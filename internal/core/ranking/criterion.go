package ranking

import (
	"fmt"
	"math"
	"sort"

	"toptau/diag"
	"toptau/method"
	"toptau/metric"
	"toptau/threshold"
)

// Criterion is one of the paper's three criteria, or that of a lowest precision or recall, with its rate. The zero value is
// Positives@Top.
type Criterion struct {
	Name  method.Criterion
	Tau   threshold.Rate // unused by method.AtTop
	Paper bool           // count as the paper does: z >= t, t the K-th largest score of the population
}

// Top returns the criterion Positives@Top.
func Top() Criterion { return Criterion{Name: method.AtTop} }

// Quantile returns the criterion Positives@Quantile(tau).
func Quantile(tau threshold.Rate) Criterion { return Criterion{Name: method.AtQuantile, Tau: tau} }

// NP returns the criterion Positives@NP(tau): the true positive rate at a false positive rate of at most tau.
// Ties count against the model.
func NP(tau threshold.Rate) Criterion { return Criterion{Name: method.AtNP, Tau: tau} }

// Precision returns the criterion Positives@Precision(tau): the fraction of positives above the lowest threshold at which at
// least tau of the rows above are positive; 0 without such a threshold.
func Precision(tau threshold.Rate) Criterion { return Criterion{Name: method.AtPrecision, Tau: tau} }

// Recall returns the criterion Negatives@Recall(tau): the fraction of negatives below the highest threshold above which at least
// tau of the positives are. It is Positives@NP(1 - tau) with the classes exchanged and the scores negated.
func Recall(tau threshold.Rate) Criterion { return Criterion{Name: method.AtRecall, Tau: tau} }

// AsInPaper returns the criterion with the paper's count.
func (c Criterion) AsInPaper() Criterion {
	c.Paper = true
	return c
}

// String returns the criterion as results name it: "positives@np(0.01)", "positives@top as in the paper".
func (c Criterion) String() string {
	text := c.Name.String()
	if c.Name != method.AtTop {
		text += "(" + c.Tau.String() + ")"
	}
	if c.Paper {
		text += " as in the paper"
	}
	return text
}

// check returns an error for a criterion that cannot be computed on any data.
func (c Criterion) check() error {
	switch {
	case c.Name < method.AtTop || c.Name > method.AtRecall:
		return &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("criterion %d", int(c.Name)),
			Expected: "positives@top, positives@quantile, positives@np, positives@precision or negatives@recall"}
	case c.Paper && c.Name > method.AtNP:
		return &diag.Error{Kind: diag.Usage, Found: c.Name.String() + " as in the paper", Expected: "one of the paper's criteria"}
	case c.Name != method.AtTop && c.Tau.IsZero():
		return &diag.Error{Kind: diag.Usage, Found: c.Name.String() + " without a rate",
			Expected: "a rate in (0,1)"}
	}
	return nil
}

// Positives computes a criterion. The result is undefined, with the reason, without positives, without a
// population, and for Positives@Quantile with a budget of 0. A criterion that cannot be computed on any data
// is an error.
func (r *Ranking) Positives(c Criterion) (metric.Result, error) {
	if err := c.check(); err != nil {
		return metric.Result{}, err
	}
	switch c.Name {
	case method.AtPrecision:
		return r.Precise(c.Tau, 0), nil
	case method.AtRecall:
		return perClass(r).spared(c)
	case method.AtTop, method.AtNP:
		r = perClass(r)
	}
	res := metric.Result{Criterion: c.String(), Rule: metric.Above, Threshold: math.Inf(-1)}
	if c.Paper {
		res.Rule = metric.AtOrAbove
	}
	res.Undefined = r.undefined(c)
	res.Budget = r.budget(c)
	if res.Defined() && c.Name == method.AtQuantile && res.Budget == 0 {
		res.Undefined = fmt.Sprintf("the budget is 0: floor(%g x %s) = 0", r.mass(c), c.Tau)
	}
	if !res.Defined() {
		res.Denominator = r.PositiveMass()
		return res, nil
	}
	last := r.firstOut(c, res.Budget)
	res.Threshold = r.scores[last]
	top := last // groups 0..top-1 are admitted
	if c.Paper {
		top = last + 1
	}
	res.Proportion = proportion(r.positives[top], r.PositiveMass(), "")
	res.Admitted = r.cumulated(c, top)
	return res, nil
}

// undefined returns why a criterion has no value on this sample at any budget, "" if it has one.
func (r *tieGroups) undefined(c Criterion) string {
	switch positives, negatives := r.totals(); {
	case positives == 0:
		return "there are no positives"
	case c.Name != method.AtQuantile && negatives == 0:
		return "there are no negatives"
	}
	return ""
}

// cumulated returns the mass of the criterion's population in groups 0..g-1.
func (r *tieGroups) cumulated(c Criterion, g int) float64 {
	if c.Name == method.AtQuantile {
		return r.positives[g] + r.negatives[g]
	}
	return r.negatives[g]
}

func (r *tieGroups) mass(c Criterion) float64 { return r.cumulated(c, len(r.scores)) }

// counted reports whether masses of the criterion's population are whole numbers.
func (r *tieGroups) counted(c Criterion) bool {
	return r.whole[1] && (c.Name != method.AtQuantile || r.whole[0])
}

// maxWhole is the largest mass that is treated as a count: float64 represents every smaller whole number.
const maxWhole = 1 << 53

// budget returns B, or K in the paper's count; 0 for Positives@Top.
func (r *tieGroups) budget(c Criterion) float64 {
	mass := r.mass(c)
	whole := r.counted(c) && mass < maxWhole
	switch {
	case c.Name == method.AtTop || mass == 0:
		return 0
	case whole && c.Paper:
		return float64(c.Tau.Ceil(int(mass)))
	case whole:
		return float64(c.Tau.Floor(int(mass)))
	}
	return c.Tau.Times(mass)
}

// firstOut returns the group of the threshold: the first at which the mass exceeds B, or in the paper's count
// the first at which it reaches K. For Positives@Top both are the group of the largest negative.
func (r *tieGroups) firstOut(c Criterion, budget float64) int {
	slack := 0.0
	if !r.counted(c) {
		slack = float64(tolerance * budget)
	}
	g := sort.Search(len(r.scores), func(g int) bool {
		if c.Paper && c.Name != method.AtTop {
			return r.cumulated(c, g+1) >= budget-slack
		}
		return r.cumulated(c, g+1) > budget+slack
	})
	return min(g, len(r.scores)-1)
}

// admits reports whether a row is on top at the threshold of a result.
func admits(r *metric.Result, score float64) bool {
	return score > r.Threshold || r.Rule == metric.AtOrAbove && score == r.Threshold
}
