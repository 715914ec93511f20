package paper

import (
	"slices"

	"toptau/internal/core/matrix"
	"toptau/internal/core/ranking"
	"toptau/internal/training/tune"
	"toptau/method"
	"toptau/threshold"
)

// taus are the two rates of the paper's experiments.
var taus = [2]threshold.Rate{threshold.MustRate("0.01"), threshold.MustRate("0.03")}

// entry is one of the 14 "methods" of Table "ranks": two rates make two of a method.
//
// The paper says of Grill: "perform the gradient only with respect to w and then recompute t" (Section 5.1). So the steps
// of Grill and Grill-NP hold the threshold, dt/dw = 0. An implicit entry has the gradient of the objective
// instead, as all other methods; it is a row of its own in the tables and has no part in the ranks of others.
type entry struct {
	Method   method.Method
	Tau      threshold.Rate // zero if the method has none
	Implicit bool           // of a method that is not convex: steps along the gradient of F, with dt/dw
}

// entries returns the 14 entries in the order of Table "ranks".
func entries() []entry {
	var all []entry
	for _, m := range method.All() {
		if !m.UsesTau {
			all = append(all, entry{Method: m})
			continue
		}
		for _, tau := range taus {
			all = append(all, entry{Method: m, Tau: tau})
		}
	}
	return all
}

// tableEntries returns the rows of the tables, which are the entries with cells: the 14 entries, and each one that is not convex
// with the implicit gradient as well.
func tableEntries() []entry {
	var all []entry
	for _, e := range entries() {
		all = append(all, e)
		if certifiedless(e) {
			e.Implicit = true
			all = append(all, e)
		}
	}
	return all
}

// holdsThreshold reports whether the entry's steps treat the threshold as a constant.
func (e entry) holdsThreshold() bool { return certifiedless(e) && !e.Implicit }

// position returns the entry's number among the 14.
func (e entry) position() int {
	e.Implicit = false
	return slices.Index(entries(), e)
}

// Key returns the entry's name in files: "patmat-np-0.01".
func (e entry) Key() string {
	key := string(e.Method.Name)
	if !e.Tau.IsZero() {
		key += "-" + e.Tau.String()
	}
	if e.Implicit {
		key += "-implicit"
	}
	return key
}

// Title returns the entry's name in tables.
func (e entry) Title() string {
	title := e.Method.Title
	if e.Implicit {
		title += ", implicit,"
	}
	if !e.Tau.IsZero() {
		title += " τ = " + e.Tau.String()
	}
	return title
}

// criterion returns the criterion that selects the entry's hyperparameter.
func (e entry) criterion() ranking.Criterion { return ranking.CriterionOfMethod(e.Method, e.Tau) }

// problems returns the six points of the entry's grid.
func (e entry) problems() ([]method.Problem, error) {
	var list []method.Problem
	for _, h := range tune.Grid(e.Method, e.Tau, "") {
		p, err := e.Method.With(h)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// criterionCount is the number of columns of Table "ranks".
const criterionCount = 5

// criteria returns the columns of Table "ranks".
func criteria() [criterionCount]ranking.Criterion {
	return [criterionCount]ranking.Criterion{ranking.Top(), ranking.Quantile(taus[0]), ranking.Quantile(taus[1]),
		ranking.NP(taus[0]), ranking.NP(taus[1])}
}

// criterionTitles are the headings of the criteria.
var criterionTitles = [criterionCount]string{"@Top", "@Quantile 0.01", "@Quantile 0.03", "@NP 0.01", "@NP 0.03"}

// count is a rule for counting the positives on top.
type count int

const (
	paperCount  count = iota // z >= t: a score equal to the threshold counts, so a constant score gives 100 %
	strictCount              // ties count against the model, so a constant score gives 0
)

// countNames are the names of the rules in tables.
var countNames = [2]string{"the paper's count", "the strict count"}

// of returns a criterion with the rule of the count.
func (c count) of(criterion ranking.Criterion) ranking.Criterion {
	if c == paperCount {
		return criterion.AsInPaper()
	}
	return criterion
}

// scoreRows returns the scores of the rows of a part.
func scoreRows(x *matrix.Matrix, w []float64) ranking.Scores {
	s := ranking.Scores{Positives: make([]float64, x.Positives.Rows()), Negatives: make([]float64, x.Negatives.Rows())}
	x.Positives.Scores(w, s.Positives)
	x.Negatives.Scores(w, s.Negatives)
	return s
}

// criterionValue returns a criterion of a ranking, and nil if it is undefined.
func criterionValue(r *ranking.Ranking, c ranking.Criterion) (*float64, error) {
	res, err := r.Positives(c)
	if err != nil || res.Undefined != "" {
		return nil, err
	}
	rate := res.Rate
	return &rate, nil
}
