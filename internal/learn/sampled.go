package learn

import (
	"context"

	"toptau/internal/matrix"
	"toptau/internal/optim"
)

// With many rows the first steps of Newton's method are far from the minimum, and a part of the rows points as well as all:
// a fit to every eighth row, its classes weighted to their masses, is the start. It has a start of its own kind if its rows
// are still many. The minimum does not depend on it.
const (
	manyRows     = 100_000
	thinning     = 8
	leastThinned = 10_000 // rows of a class that stay all together
	thinTol      = 1e-4
)

// start is the Start given, or that from a sample of the rows; nil where neither helps.
func (o Options) start(ctx context.Context, x *matrix.Matrix) *Result {
	if o.Start != nil || x.Rows() < manyRows {
		return o.Start
	}
	sample := &matrix.Matrix{Positives: thinned(x.Positives), Negatives: thinned(x.Negatives)}
	o.ClassWeights.Positive, o.ClassWeights.Negative = o.ClassWeights.of()
	o.ClassWeights.Positive *= massOf(x.Positives) / massOf(sample.Positives)
	o.ClassWeights.Negative *= massOf(x.Negatives) / massOf(sample.Negatives)
	o.Tolerance, o.Progress = max(o.Tolerance, thinTol), nil
	r, err := Fit(ctx, sample, o)
	if err != nil || !r.Converged && r.Reason != optim.Cancelled {
		return nil
	}
	return &r
}

// thinned is every eighth row of a part with many.
func thinned(p *matrix.Part) *matrix.Part {
	if p.Rows() <= leastThinned {
		return p
	}
	return p.Every(0, thinning)
}
