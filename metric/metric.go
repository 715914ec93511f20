// Package metric measures scores at the top of the list: the paper's three criteria (Section 5.3), confusion
// counts at a threshold, exact curves, and confidence intervals that name their method.
//
// Notation. z are scores, n+ and n- the numbers (or masses) of positives and negatives, tau a rate. The
// decision is always score > threshold.
//
// There is one tie rule. With a budget of B rows a positive counts only if it is strictly above the first row
// that must stay out, the (B+1)-th largest score of the population. B is computed exactly from the decimal of
// tau:
//
//	Positives@Top        population: negatives   B = 0
//	Positives@NP         population: negatives   B = floor(n- tau)
//	Positives@Quantile   population: all         B = floor(n tau); undefined when that is 0
//
// So a constant score is worth 0. The paper's own count (a score equal to the threshold counts, and the
// threshold is the K-th largest score, K = max(1, ceil(m tau))) is available by name: Criterion.AsInPaper.
// With it a constant score is worth 100 %.
//
// NP is the true positive rate at a false positive rate. TopCount is the precision among a number of best
// rows, with the fraction of positives found and the false positive rate there; TopFraction is the same for a
// rate. At measures the rates at a given threshold.
//
// Weights. Rows may carry weights m_j >= 0; then counts are masses. The set that a budget admits is the
// largest set of best scores (whole groups of equal scores) whose mass is at most B. If all weights of the
// population are whole numbers, B = floor(M tau), so a row of weight 2 is worth two equal rows; otherwise B =
// M tau. Masses that are not whole are compared with a relative tolerance of 1e-12, so ten weights of 0.1
// behave like ten counts.
//
// Cost. Rank sorts once, O(n log n). Afterwards a criterion takes O(log n), a curve O(n), and one bootstrap
// replicate of an unweighted criterion O(log n) as well (see Ranking.Bootstrap).
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

	// Criteria of goals that are no budgets.
	AtPrecision = method.AtPrecision // Positives@Precision: fraction of positives found with a precision of at least tau
	AtRecall    = method.AtRecall    // Negatives@Recall: fraction of negatives without an alert at a recall of at least tau
)

// Criterion is one of the paper's three criteria, or that of a lowest precision or recall, with its rate. The zero value is
// Positives@Top.
type Criterion struct {
	Name  method.Criterion
	Tau   threshold.Rate // unused by AtTop
	Paper bool           // count as the paper does: z >= t, t the K-th largest score of the population
}

// Top returns the criterion Positives@Top.
func Top() Criterion { return Criterion{Name: AtTop} }

// Quantile returns the criterion Positives@Quantile(tau).
func Quantile(tau threshold.Rate) Criterion { return Criterion{Name: AtQuantile, Tau: tau} }

// NP returns the criterion Positives@NP(tau): the true positive rate at a false positive rate of at most tau.
// Ties count against the model.
func NP(tau threshold.Rate) Criterion { return Criterion{Name: AtNP, Tau: tau} }

// Precision returns the criterion Positives@Precision(tau): the fraction of positives above the lowest threshold at which at
// least tau of the rows above are positive; 0 without such a threshold.
func Precision(tau threshold.Rate) Criterion { return Criterion{Name: AtPrecision, Tau: tau} }

// Recall returns the criterion Negatives@Recall(tau): the fraction of negatives below the highest threshold above which at least
// tau of the positives are. It is Positives@NP(1 - tau) with the classes exchanged and the scores negated.
func Recall(tau threshold.Rate) Criterion { return Criterion{Name: AtRecall, Tau: tau} }

// AsInPaper returns the criterion with the paper's count.
func (c Criterion) AsInPaper() Criterion {
	c.Paper = true
	return c
}

// String returns the criterion as results name it: "positives@np(0.01)", "positives@top as in the paper".
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
	case c.Name < AtTop || c.Name > AtRecall:
		return &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("criterion %d", int(c.Name)),
			Expected: "positives@top, positives@quantile, positives@np, positives@precision or negatives@recall"}
	case c.Paper && c.Name > AtNP:
		return &diag.Error{Kind: diag.Usage, Found: c.Name.String() + " as in the paper", Expected: "one of the paper's criteria"}
	case c.Name != AtTop && c.Tau.IsZero():
		return &diag.Error{Kind: diag.Usage, Found: c.Name.String() + " without a rate",
			Expected: "a rate in (0,1)"}
	}
	return nil
}
