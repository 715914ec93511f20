package feature

import (
	"context"

	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/internal/models/feature/trees"
	"toptau/schema"
)

// Boosting is what a fit keeps of the trees of a boosted encoding: the sum of trees that gradient boosting
// itself would predict with. As a weight vector it is a model, and where a linear fit may start.
type Boosting struct {
	Intercept float64
	Rounds    []trees.Round
	curves    bool            // the rounds add to the curves of columns
	growing   *trees.Boosting // adds trees; nil: none can be added
}

// Weights returns the sum of the first rounds as a weight vector of a map with this many columns.
func (b *Boosting) Weights(rounds, cols int) []float64 {
	w := make([]float64, cols)
	for _, r := range b.Rounds[:min(rounds, len(b.Rounds))] {
		for i, v := range r.Values {
			w[r.First+i] += v
		}
	}
	return w
}

// Strength is how far the questions about a numeric column move the sum of boosted trees.
type Strength struct {
	Column int // position among the table's columns
	Name   string
	Gain   float64
}

// Strengths returns the strength of each numeric input of a map that Fit made with a boosted encoding.
func Strengths(m *Map) []Strength {
	gains := make([]float64, numberCount(m))
	for t := range m.trees(m.boosting.Weights(len(m.boosting.Rounds), m.cols)) {
		t.tree.AddGains(t.weights, gains)
	}
	var list []Strength
	for k := range m.Inputs {
		if in := &m.Inputs[k]; in.Kind == schema.Numeric {
			list = append(list, Strength{in.Column, in.Name, gains[k]})
		}
	}
	return list
}

// BoostingScores returns the scores that rows of a labelled table have with the first rounds of Boosting, without its
// intercept, for each of some numbers of rounds. They are those of a matrix of the rows with Boosting.Weights, to the bit.
func (m *Map) BoostingScores(ctx context.Context, t *table.Table, rows []int, rounds []int) ([][]float64, error) {
	p, err := newPacking(m, t, rows, matrix.Float32)
	if err != nil {
		return nil, err
	}
	scores, weights := make([][]float64, len(rounds)), make([][]float64, len(rounds))
	for k, n := range rounds {
		scores[k], weights[k] = make([]float64, 0, rowCount(t, rows)), m.boosting.Weights(n, m.cols)
	}
	add := func(cols []uint32) {
		for k, w := range weights {
			trees := cols
			if !m.boosting.curves { // the weights of later trees are 0
				trees = cols[:min(rounds[k], len(cols))]
			}
			z := 0.0
			for _, col := range trees {
				z += w[col]
			}
			scores[k] = append(scores[k], z)
		}
	}
	err = p.encodeRows(ctx, func(b *batch) error {
		for i, row := range b.Sources {
			switch {
			case !b.done:
				if err := m.Encode(t, row, &p.row); err != nil {
					return err
				}
				add(p.row.Cols)
			case i == 0:
				add(b.Cols[:b.Ends[0]])
			default:
				add(b.Cols[b.Ends[i-1]:b.Ends[i]])
			}
		}
		return nil
	})
	return scores, err
}
