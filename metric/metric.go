// Package metric measures scores at the top of the list: the paper's three criteria (Section 5.3), confusion counts at
// a threshold, exact curves, and intervals that say what they are.
//
// Notation. z are scores, n+ and n- the numbers (or masses) of positives and negatives, tau a rate. The decision is
// always score > threshold.
//
// One tie rule. With a budget of B samples a positive counts only when it is strictly above the first sample that must
// stay out, the (B+1)-th largest score of the population; B comes from tau's decimal exactly:
//
//	Positives@Top        population: negatives   B = 0
//	Positives@NP         population: negatives   B = floor(n- tau)
//	Positives@Quantile   population: all         B = floor(n tau); undefined when that is 0
//
// So a constant score is worth 0. The paper's own count (a score equal to the threshold counts, and the threshold is
// the K-th largest score, K = max(1, ceil(m tau))) is available by name: Criterion.AsInPaper. With it a constant score
// is worth 100 %.
//
// In other words: the true positive rate at a false positive rate is NP; the precision among a number of best rows, the
// share of positives found there and its false positive rate are TopCount (TopShare for a rate); rates at a threshold
// that is given are At.
//
// Weights. Rows may carry weights m_j >= 0; then counts are masses. The set that a budget admits is the largest set of
// best scores (whole groups of equal scores) whose mass is at most B, where B = floor(M tau) when all weights of the
// population are whole numbers, so that a row of weight 2 is worth two equal rows, and B = M tau otherwise. Masses that
// are not whole are compared with a relative tolerance of 1e-12, so that ten weights of 0.1 behave like ten counts.
//
// Cost. Rank sorts once, O(n log n). Afterwards a criterion takes O(log n), a curve O(n), and one bootstrap replicate
// of an unweighted criterion O(log n) as well (see Ranking.Bootstrap).
package metric

import (
	"fmt"

	"toptau/diag"
	"toptau/method"
	"toptau/threshold"
)

// The criteria of the paper's Table "criteria".
const (
	AtTop      = method.AtTop      // Positives@Top: fraction of positives above the largest negative
	AtQuantile = method.AtQuantile // Positives@Quantile: fraction of positives in the top tau of all rows
	AtNP       = method.AtNP       // Positives@NP: fraction of positives at a false positive rate of at most tau
)

// Criterion is one of the paper's three criteria with its rate. The zero value is Positives@Top.
type Criterion struct {
	Name  method.Criterion
	Tau   threshold.Rate // unused by AtTop
	Paper bool           // count as the paper does: z >= t, t the K-th largest score of the population
}

// Top returns the criterion Positives@Top.
func Top() Criterion { return Criterion{Name: AtTop} }

// Quantile returns the criterion Positives@Quantile(tau).
func Quantile(tau threshold.Rate) Criterion { return Criterion{Name: AtQuantile, Tau: tau} }

// NP returns the criterion Positives@NP(tau): the true positive rate at a false positive rate of at most tau, ties
// against the model.
func NP(tau threshold.Rate) Criterion { return Criterion{Name: AtNP, Tau: tau} }

// AsInPaper returns the criterion by the paper's own count.
func (c Criterion) AsInPaper() Criterion {
	c.Paper = true
	return c
}

// String returns the criterion as it is written in results: "positives@np(0.01)", "positives@top as in the paper".
func (c Criterion) String() string {
	text := c.Name.String()
	if c.Name != AtTop {
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
	case c.Name < AtTop || c.Name > AtNP:
		return &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("criterion %d", int(c.Name)),
			Expected: "positives@top, positives@quantile or positives@np"}
	case c.Name != AtTop && c.Tau.IsZero():
		return &diag.Error{Kind: diag.Usage, Found: c.Name.String() + " without a rate",
			Expected: "a rate in (0,1)"}
	}
	return nil
}
