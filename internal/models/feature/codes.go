package feature

import (
	"math"
	"math/rand/v2"
	"strconv"

	"toptau/diag"
	"toptau/internal/data/table"
	"toptau/internal/models/feature/trees"
	"toptau/schema"
)

// Smoothing of codes, chosen by hand (a change moves results).
const (
	priorRows = 10           // rows of the prior that each category starts with
	codeRows  = 10           // a category with fewer rows has the code of the prior: its labels would show through
	codeDraw  = 0x636f646573 // stream of the permutation; "codes" in ASCII
)

// codes fits the codes of a categorical input (k in the map). The second result has a number for each training
// row that its own label does not enter: trees grown on the fixed codes would trust rare categories too much,
// because the label of a row is in its own code.
//
// The number of a row comes from the rows before it in a random order (Prokhorenkova and others 2018):
//
//	(positives before + priorRows * prior) / (rows before + priorRows)
func (f *fitter) codes(k int, positive []bool) (CategoryCodes, []float64) {
	in := &f.m.Inputs[k]
	column := &f.t.Columns[in.Column]
	levels := levelsOf(in, column)
	code := func(i int) int32 {
		c := column.Code(f.rows[i])
		switch {
		case c >= 0:
			return levels[c]
		case f.o.Impute == schema.ImputeMedian:
			return 0 // as in resolve
		}
		return codeMissing
	}
	weights := trees.UnitWeights(f.weights) // so that priorRows are rows
	prior := trees.PositiveFraction(positive, weights)
	type tally struct {
		mass, positive float64
		rows           int
	}
	seen, all := make([]tally, len(in.Categories)), make([]tally, len(in.Categories))
	value := func(s *tally) float64 {
		return (s.positive + float64(priorRows*prior)) / (s.mass + priorRows)
	}
	add := func(s *tally, i int) {
		w := trees.WeightAt(weights, i)
		s.rows++
		s.mass += w
		if positive[i] {
			s.positive += w
		}
	}
	for i := range f.rows {
		if c := code(i); c >= 0 {
			add(&all[c], i)
		}
	}
	codes := CategoryCodes{Input: k, Values: make([]float64, len(in.Categories)), Unknown: shortCode(prior)}
	for c := range all {
		codes.Values[c] = codes.Unknown
		if all[c].rows >= codeRows {
			codes.Values[c] = shortCode(value(&all[c]))
		}
	}
	ordered := make([]float64, len(f.rows))
	order := rand.New(rand.NewPCG(f.o.Seed, codeDraw)).Perm(len(f.rows))
	for _, i := range order {
		c := code(i)
		if c < 0 {
			ordered[i] = math.NaN()
			continue
		}
		ordered[i] = codes.Unknown
		if all[c].rows >= codeRows {
			ordered[i] = value(&seen[c])
		}
		add(&seen[c], i)
	}
	return codes, ordered
}

// levelsOf returns the index of each value of a column's dictionary in the categories of its input, codeUnknown for a value without one.
func levelsOf(in *Input, column *table.Column) []int32 {
	position := make(map[string]int32, len(in.Categories))
	for i, category := range in.Categories {
		position[category] = int32(i)
	}
	levels := make([]int32, len(column.Dictionary))
	for c, text := range column.Dictionary {
		levels[c] = codeUnknown
		if i, known := position[text]; known {
			levels[c] = i
		}
	}
	return levels
}

// shortCode rounds a code to six digits, so that model files stay small.
func shortCode(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64)
	if err != nil {
		return x
	}
	return y
}

// labels returns whether each training row is positive, or an error unless every row has a label and both
// classes occur.
func (f *fitter) labels() ([]bool, error) {
	positive := make([]bool, len(f.rows))
	some := [2]bool{} // negative, positive
	for i, row := range f.rows {
		if row >= len(f.t.Label) || f.t.Label[row] == table.Unknown {
			e := errorAt(f.t, row)
			e.Found, e.Expected = "a row without a label", "a label in every training row"
			return nil, e
		}
		positive[i] = f.t.Label[row] == table.Positive
		some[0], some[1] = some[0] || !positive[i], some[1] || positive[i]
	}
	if !some[0] || !some[1] {
		return nil, errOneClass()
	}
	return positive, nil
}

// errOneClass is the error of a fit on rows of one class.
func errOneClass() error {
	return &diag.Error{Kind: diag.Data, Found: "rows of one class", Expected: "rows of both classes",
		Fixes: []diag.Fix{{Param: "label"}, {Param: "positive"}}}
}
