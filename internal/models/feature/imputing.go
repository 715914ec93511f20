package feature

import (
	"slices"

	"toptau/diag"
	"toptau/internal/core/parallel"
	"toptau/schema"
)

// medianRows is the number of training rows that give the medians of Map.Medians. They only stand for values
// that the model does not expect, so more rows would not help. Chosen by hand.
const medianRows = 1000

// addMedians keeps the median of every numeric column on at most medianRows training rows, evenly spaced.
// Scores do not depend on it, because the map refuses missing values.
func (f *fitter) addMedians() {
	step := (len(f.rows) + medianRows - 1) / medianRows
	parallel.For(len(f.m.Inputs), func(k int) {
		in := &f.m.Inputs[k]
		if in.Kind != schema.Numeric {
			return
		}
		values, weights := make([]float64, 0, medianRows), []float64(nil)
		for i := 0; i < len(f.rows); i += step {
			values = append(values, f.t.Columns[in.Column].Value(f.rows[i]))
			if f.weights != nil {
				weights = append(weights, f.weights[i])
			}
		}
		in.Fill = medianOf(values, weights)
	})
	f.m.Medians = true
}

// Imputing returns a map that imputes missing values by a policy, schema.ImputeMedian or schema.ImputeZero,
// although m refuses them. It encodes all other rows as m does.
//
// Errors (diag.Usage): m imputes by another policy; another policy; m has no medians.
func (m *Map) Imputing(policy schema.Impute) (*Map, error) {
	e := &diag.Error{Kind: diag.Usage, Param: "impute", Found: string(policy)}
	switch {
	case policy == m.Impute:
		return m, nil
	case policy != schema.ImputeMedian && policy != schema.ImputeZero:
		e.Expected = "median or zero"
		return nil, e
	case m.Impute != schema.ImputeError:
		e.Expected = string(m.Impute) + ", by which the model imputes missing values"
		return nil, e
	case policy == schema.ImputeMedian && !m.Medians && len(m.Inputs) > 0:
		e.Expected = "a model that has medians"
		e.Fixes = []diag.Fix{{Param: "impute", Value: string(schema.ImputeZero)}}
		e.Hint = "train the model again"
		return nil, e
	}
	imputing := *m
	imputing.Impute = policy
	if policy == schema.ImputeZero {
		imputing.Inputs = slices.Clone(m.Inputs)
		for k := range imputing.Inputs {
			imputing.Inputs[k].Fill = 0
		}
	}
	return &imputing, nil
}
