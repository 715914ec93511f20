package feature

import (
	"context"
	"math"
	"slices"

	"toptau/internal/feature/trees"
	"toptau/internal/table"
	"toptau/schema"
)

// RegrownBytes returns about the memory that Regrow takes for each row: a byte for each bin, and the numbers of rows, scores,
// gradients and weights.
func RegrownBytes(m *Map) int64 { return int64(trees.BinBytes(numberCount(m))) + 90 }

// Regrow returns the map m that Fit made with boosted trees on a sample, with as many trees that grow on other rows: some rows of f, in ascending
// order, of which one stands for mass[class] rows of its class. The values may stay in a file, which is read column by column.
// Inputs, categories and what replaces missing values are those of the sample. The codes of categories, bins and trees come from
// the rows. Of the options Encode, Seed and Monotone count.
//
// Errors: diag.Data for missing values under schema.ImputeError, for a damaged file, and if no split gains anything.
func Regrow(ctx context.Context, m *Map, f *table.Frame, rows []int, mass [2]float64, o Options) (*Map, error) {
	more := *m
	t := f.Shape()
	t.Label = f.Head().Label
	o.Impute, o.Rounds = m.Impute, len(m.boosting.Rounds)
	g := newFitter(t, rows, o)
	g.m, g.frame = &more, f
	g.ctx, g.fail = context.WithCancelCause(ctx)
	defer g.fail(nil)
	if mass[table.Negative] != mass[table.Positive] {
		g.weights = make([]float64, len(g.rows))
		for i, row := range g.rows {
			g.weights[i] = mass[t.Label[row]]
		}
	}
	block, err := g.grow(m.Blocks[0].(*LeavesBlock).Inputs)
	if err != nil {
		return nil, err
	}
	more.Blocks = blocks{block}
	return &more, more.prepare()
}

// readColumn returns a column with its values. Those of a file are read, and missing ones may be an error.
func readColumn(f *fitter, j int) (*table.Column, error) {
	if f.frame == nil {
		return &f.t.Columns[j], nil
	}
	c, err := f.frame.LoadColumn(j)
	if err != nil || f.m.Impute != schema.ImputeError {
		return &c, err
	}
	missing := func(row int) bool { return math.IsNaN(c.Value(row)) }
	if c.Kind == schema.Categorical {
		missing = func(row int) bool { return c.Code(row) < 0 }
	}
	if i := slices.IndexFunc(f.rows, missing); i >= 0 {
		return nil, missingError(f.frame.Head(), f.rows[i], &c)
	}
	return &c, nil
}
