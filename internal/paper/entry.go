package paper

import (
	"toptau/internal/matrix"
	"toptau/internal/tune"
	"toptau/method"
	"toptau/metric"
	"toptau/threshold"
)

// taus are the two rates of the paper's experiments.
var taus = [2]threshold.Rate{threshold.MustRate("0.01"), threshold.MustRate("0.03")}

// entry is one of the 14 "methods" of Table "ranks": two rates make two of a method.
type entry struct {
	Method method.Method
	Tau    threshold.Rate // unset where the method has none
}

// entries lists them in the order of Table "ranks".
func entries() []entry {
	var all []entry
	for _, m := range method.All() {
		if !m.UsesTau {
			all = append(all, entry{Method: m})
			continue
		}
		for _, tau := range taus {
			all = append(all, entry{m, tau})
		}
	}
	return all
}

// Key is the entry's name in files: "patmat-np-0.01".
func (e entry) Key() string {
	if e.Tau.IsZero() {
		return string(e.Method.Name)
	}
	return string(e.Method.Name) + "-" + e.Tau.String()
}

// Title is the entry's name in tables.
func (e entry) Title() string {
	if e.Tau.IsZero() {
		return e.Method.Title
	}
	return e.Method.Title + " τ = " + e.Tau.String()
}

// own is the criterion that the entry's hyperparameter is chosen by.
func (e entry) own() metric.Criterion { return metric.CriterionOf(e.Method, e.Tau) }

// problems are the six points of the entry's grid.
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

// criteria are its columns.
func criteria() [criterionCount]metric.Criterion {
	return [criterionCount]metric.Criterion{metric.Top(), metric.Quantile(taus[0]), metric.Quantile(taus[1]),
		metric.NP(taus[0]), metric.NP(taus[1])}
}

// criterionTitles are their headings.
var criterionTitles = [criterionCount]string{"@Top", "@Quantile 0.01", "@Quantile 0.03", "@NP 0.01", "@NP 0.03"}

// count is the rule by which positives on top are counted.
type count int

const (
	paperCount  count = iota // z >= t: a score equal to the threshold counts, a constant score is worth 100 %
	strictCount              // ties count against the model, a constant score is worth 0
)

// countNames are the rules as they stand in tables.
var countNames = [2]string{"the paper's count", "the strict count"}

func (c count) of(criterion metric.Criterion) metric.Criterion {
	if c == paperCount {
		return criterion.AsInPaper()
	}
	return criterion
}

// score scores the rows of a part.
func score(x *matrix.Matrix, w []float64) metric.Scores {
	s := metric.Scores{Positives: make([]float64, x.Positives.Rows()), Negatives: make([]float64, x.Negatives.Rows())}
	x.Positives.Scores(w, s.Positives)
	x.Negatives.Scores(w, s.Negatives)
	return s
}

// value is a criterion on a ranking; nil where it is undefined.
func value(r *metric.Ranking, c metric.Criterion) (*float64, error) {
	res, err := r.Positives(c)
	if err != nil || res.Undefined != "" {
		return nil, err
	}
	rate := res.Rate
	return &rate, nil
}
