package feature

import (
	"context"
	"fmt"
	"slices"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/internal/models/feature/trees"
	"toptau/schema"
)

// FirstRounds returns the map with the first trees of a boosted encoding that Fit made. The curves of an additive
// one stay whole.
func (m *Map) FirstRounds(rounds int) (*Map, error) {
	fewer := *m
	if rounds >= len(m.boosting.Rounds) {
		return m, nil
	}
	fewer.boosting = &Boosting{Intercept: m.boosting.Intercept, Rounds: m.boosting.Rounds[:rounds], curves: m.boosting.curves}
	if block := m.Blocks[0].(*LeavesBlock); !m.boosting.curves {
		fewer.Blocks = blocks{&LeavesBlock{Inputs: block.Inputs, Codes: block.Codes, Trees: slices.Clone(block.Trees[:rounds])}}
	}
	return &fewer, fewer.Prepare()
}

// Grow returns the map with trees added up to a number of them, as Fit would make it with that number. Fit made m with Options.Growing, and
// nothing was added to m before.
func Grow(ctx context.Context, m *Map, rounds int) (*Map, error) {
	more, b := *m, *m.boosting
	sum, err := b.growing.Grow(ctx, rounds)
	if err != nil {
		return nil, err
	}
	b.Rounds = sum.Rounds
	more.boosting = &b
	block := m.Blocks[0].(*LeavesBlock)
	more.Blocks = blocks{&LeavesBlock{Inputs: block.Inputs, Codes: block.Codes, Trees: sum.Trees}}
	return &more, more.Prepare()
}

// StopGrowing lets go of what Grow needs.
func StopGrowing(m *Map) { m.boosting.growing = nil }

// shapes are the sizes by encoding. Trees of one question add curves of single columns, and trees of two questions add
// functions of pairs. Boosted and stochastic trees differ in every setting, so that their mean is better than either
// (decision 9): where two columns of many decide, every tree must be able to ask both; where each of many columns has a
// part, trees on samples are better.
var shapes = map[Encode]trees.Shape{
	EncodeAdditive:   {Rounds: 300, Leaves: 2, Depth: 1, Rate: 0.1, Ridge: 0.1, MinRows: 20, Columns: 0.5, Rows: 1},
	EncodePairs:      {Rounds: 300, Leaves: 4, Depth: 2, Rate: 0.1, Ridge: 0.1, MinRows: 20, Columns: 0.5, Rows: 1},
	EncodeBoosted:    {Rounds: 300, Leaves: 16, Rate: 0.05, Ridge: 0.1, MinRows: 20, Columns: 1, Rows: 1},
	EncodeStochastic: {Rounds: 300, Leaves: 64, Depth: 6, Rate: 0.05, Ridge: 1, MinRows: 1, Curvature: 1, Columns: 0.6, Rows: 0.8},
}

// minSide returns what a leaf needs, in words.
func minSide(s trees.Shape) string {
	if s.Curvature > 0 {
		return "enough rows of both classes"
	}
	return text.Plural(s.MinRows, "row")
}

// DefaultRounds returns the number of trees of a boosted encoding, at most.
func DefaultRounds(e Encode) int { return shapes[e].Rounds }

// grow grows random or boosted trees on some inputs; nil: there is none.
func grow(f *fitter, inputs []int) (Block, error) {
	positive, err := f.labels()
	if err != nil {
		return nil, err
	}
	block := &LeavesBlock{Inputs: inputs}
	rows := trees.Training{Columns: make([]trees.Column, len(inputs)), Positive: positive, Weights: f.weights}
	for i, k := range inputs {
		if isDerived(f.m, k) || f.m.Inputs[k].Kind != schema.Categorical {
			rows.Columns[i] = treeColumn(f, k)
			continue
		}
		c, numbers := f.codes(k, positive)
		rows.Columns[i] = func([]float64) []float64 {
			x := numbers
			numbers = nil // trees read each column once
			return x
		}
		block.Codes = append(block.Codes, c)
	}
	if f.o.Encode.Boosted() {
		err = f.boost(block, rows)
	} else {
		block.Trees, err = rows.Random(f.ctx, f.o.Trees, f.o.Leaves, f.o.Seed)
	}
	if err != nil || len(block.Trees) == 0 {
		return nil, err
	}
	return block, nil
}

// treeColumn returns what trees read of a number, on the training rows.
func treeColumn(f *fitter, k int) trees.Column {
	if !isDerived(f.m, k) {
		in := &f.m.Inputs[k]
		fill := f.o.replacement(in.Fill)
		return func(space []float64) []float64 { return f.filled(&f.t.Columns[in.Column], fill, space) }
	}
	d := f.m.Derived[k-len(f.m.Inputs)]
	first, second := treeColumn(f, d.A), treeColumn(f, d.B)
	return func(space []float64) []float64 {
		x, y := first(space), second(nil)
		for row := range x {
			x[row] = d.Op.Value(x[row], y[row])
		}
		return x
	}
}

// boost grows the trees of a boosted encoding and keeps their sum in the map.
func (f *fitter) boost(block *LeavesBlock, rows trees.Training) error {
	size := shapes[f.o.Encode]
	size.Most = trees.GrowRows
	if f.o.Rounds > 0 {
		size.Rounds = f.o.Rounds
	}
	signs, err := signsOf(f.t, f.o.Monotone, f.m, block.Inputs)
	if err != nil {
		return err
	}
	additive := f.o.Encode == EncodeAdditive
	growing := rows.Boosting(size, signs, additive, f.o.Seed)
	sum, err := growing.Grow(f.ctx, size.Rounds)
	switch {
	case err != nil:
		return err
	case len(sum.Rounds) == 0:
		return &diag.Error{Kind: diag.Data, Found: fmt.Sprintf("no split of the %s training rows for a tree", text.Count(len(f.rows))),
			Expected: "columns that tell the classes apart, with " + minSide(size) + " on either side"}
	}
	block.Trees = sum.Trees
	f.m.boosting = &Boosting{Intercept: sum.Intercept, Rounds: sum.Rounds, curves: additive}
	if f.o.Growing {
		f.m.boosting.growing = growing
	}
	return nil
}
