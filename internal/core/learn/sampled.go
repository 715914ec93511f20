package learn

import (
	"context"

	"toptau/internal/core/matrix"
	"toptau/internal/core/optim"
)

// With many rows the first steps of Newton's method are far from the minimum, and a sample of the rows points
// as well as all. So a fit to every eighth row is the start, with class weights that keep the masses of the
// classes. If its rows are still many, it has such a start itself. The minimum does not depend on it. The
// numbers were chosen by hand.
const (
	manyRows        = 100_000 // rows from which a sample is fitted first
	sampleEvery     = 8       // rows
	minSampled      = 10_000  // rows of a class up to which all are in the sample
	sampleTolerance = 1e-4    // of the fit to the sample
)

// startOf returns o.Start, or a start from a sample of many rows; nil: neither.
func (o Options) startOf(ctx context.Context, x *matrix.Matrix) *Result {
	if o.Start != nil || x.Rows() < manyRows {
		return o.Start
	}
	sample := &matrix.Matrix{Positives: sampleClass(x.Positives), Negatives: sampleClass(x.Negatives)}
	o.ClassWeights.Positive, o.ClassWeights.Negative = o.ClassWeights.values()
	o.ClassWeights.Positive *= massOf(x.Positives) / massOf(sample.Positives)
	o.ClassWeights.Negative *= massOf(x.Negatives) / massOf(sample.Negatives)
	o.Tolerance, o.Progress = max(o.Tolerance, sampleTolerance), nil
	r, err := Fit(ctx, sample, o)
	if err != nil || !r.Converged && r.Reason != optim.Cancelled {
		return nil
	}
	return &r
}

// sampleClass returns every eighth row of a class with many rows.
func sampleClass(p *matrix.ClassRows) *matrix.ClassRows {
	if p.Rows() <= minSampled {
		return p
	}
	return p.Every(0, sampleEvery)
}
