package metric

import (
	"encoding/json"
	"fmt"
	"math"
	"sort"
)

// Rules by which a Result's threshold decides a row.
const (
	Above     = "score > threshold"
	AtOrAbove = "score >= threshold" // only in the paper's count
)

// Result is the value of a criterion with its threshold and budget.
type Result struct {
	Criterion  string  // its name and rate: "positives@np(0.01)"
	Proportion         // of positives: Numerator above the threshold, Denominator n+
	Threshold  float64 // rows above it are on top; null: undefined
	Rule       string  // "score > threshold"; AtOrAbove in the paper's count
	// The number of samples of the population that may be on top, or their mass. In the paper's count it is K, and 0 for
	// Positives@Top.
	Budget float64
	// The number or mass of the samples that are on top: at most the budget, in the paper's count at least the budget.
	Admitted float64
}

// Positives computes a criterion. The result is undefined, with the reason, without positives, without a
// population, and for Positives@Quantile with a budget of 0. A criterion that cannot be computed on any data
// is an error.
func (r *Ranking) Positives(c Criterion) (Result, error) {
	if err := c.check(); err != nil {
		return Result{}, err
	}
	switch c.Name {
	case AtPrecision:
		return r.Precise(c.Tau, 0), nil
	case AtRecall:
		return perClass(r).spared(c)
	case AtTop, AtNP:
		r = perClass(r)
	}
	res := Result{Criterion: c.String(), Rule: Above, Threshold: math.Inf(-1)}
	if c.Paper {
		res.Rule = AtOrAbove
	}
	res.Undefined = r.undefined(c)
	res.Budget = r.budget(c)
	if res.Defined() && c.Name == AtQuantile && res.Budget == 0 {
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
	case c.Name != AtQuantile && negatives == 0:
		return "there are no negatives"
	}
	return ""
}

// cumulated returns the mass of the criterion's population in groups 0..g-1.
func (r *tieGroups) cumulated(c Criterion, g int) float64 {
	if c.Name == AtQuantile {
		return r.positives[g] + r.negatives[g]
	}
	return r.negatives[g]
}

func (r *tieGroups) mass(c Criterion) float64 { return r.cumulated(c, len(r.scores)) }

// counted reports whether masses of the criterion's population are whole numbers.
func (r *tieGroups) counted(c Criterion) bool {
	return r.whole[1] && (c.Name != AtQuantile || r.whole[0])
}

// maxWhole is the largest mass that is treated as a count: float64 represents every smaller whole number.
const maxWhole = 1 << 53

// budget returns B, or K in the paper's count; 0 for Positives@Top.
func (r *tieGroups) budget(c Criterion) float64 {
	mass := r.mass(c)
	whole := r.counted(c) && mass < maxWhole
	switch {
	case c.Name == AtTop || mass == 0:
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
		if c.Paper && c.Name != AtTop {
			return r.cumulated(c, g+1) >= budget-slack
		}
		return r.cumulated(c, g+1) > budget+slack
	})
	return min(g, len(r.scores)-1)
}

// tolerance is the relative difference up to which masses that are not whole count as equal. Chosen by hand.
const tolerance = 1e-12

// MarshalJSON writes null for undefined values.
func (r Result) MarshalJSON() ([]byte, error) {
	var t *float64
	if r.Defined() {
		t = finite(r.Threshold)
	}
	return json.Marshal(struct {
		Criterion string `json:"criterion"`
		proportionJSON
		Threshold *float64 `json:"threshold"`
		Rule      string   `json:"rule"`
		Budget    float64  `json:"budget"`
		Admitted  float64  `json:"admitted"`
	}{r.Criterion, r.shadow(), t, r.Rule, r.Budget, r.Admitted})
}
