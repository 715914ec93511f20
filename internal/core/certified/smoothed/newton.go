package smoothed

import (
	"toptau/internal/core/certified/form"
	"toptau/internal/core/certified/linalg"
)

// ridgePart is a part of the mean diagonal element, added to the diagonal of H: the rounding of collinear
// columns.
const ridgePart = 1e-13

// NewtonStep returns -H^-1 times the gradient. H is estimated from the sampled rows:
//
//	H = lambda I + (1/M+) sum m c" (x - grad t)(x - grad t)' + P hess t,
//
// where the sum is over the positives. hess t is the same sum over the population, divided by U for a
// quantile. For the mean of the largest it is divided by kappa, and taken about the weighted mean of the
// sampled rows instead of grad t. NewtonStep lets go of the sampled rows; shift is that of the problem's
// rows.
func (e *Evaluation) NewtonStep(shift *linalg.Shift) []float64 {
	d := len(e.W)
	h := make([]float64, d*d)
	e.Losses.addCurvature(shift, 1/e.Mass, e.GradT, h)
	middle := e.GradT
	if e.Form.Kind == form.TopMean {
		middle = nil
	}
	e.Band.addCurvature(shift, e.P/e.LargestA(), middle, h)
	e.Losses.Rows, e.Band.Rows = nil, nil
	var trace float64
	for j := range d {
		h[j*d+j] += e.Form.Lambda
		trace += h[j*d+j]
	}
	for j := range d {
		h[j*d+j] += float64(ridgePart*trace/float64(d)) + 1e-300
	}
	var factor linalg.Cholesky
	factor.Factor(h, d)
	step := make([]float64, d)
	linalg.Axpy(-1, e.Gradient(), step)
	factor.Solve(step)
	return step
}

// addCurvature adds scale times the sum of m c" (x - middle)(x - middle)' to the lower triangle of h. middle
// nil: the weighted mean of the rows.
func (b *Sample) addCurvature(shift *linalg.Shift, scale float64, middle []float64, h []float64) {
	if len(b.Rows) == 0 {
		return
	}
	d := len(shift.Centre)
	set, x := linalg.NewRows(shift), make([]float64, d)
	for _, row := range b.Rows {
		row.Features(x)
		set.Add(x, row.Weight)
	}
	diagonal := make([]float64, set.N)
	linalg.Axpy(scale, b.Curvature, diagonal)
	set.AddGram(diagonal, h, d)
	border, g, total := make([]float64, d), make([]float64, d), linalg.Sum(diagonal)
	set.AddTransposed(diagonal, 1, border)
	if middle == nil {
		linalg.Axpy(1/total, border, g)
	} else {
		linalg.Axpy(1, middle, g)
		linalg.Axpy(-1, shift.Centre, g)
	}
	for i := range d {
		for j := range i + 1 {
			h[i*d+j] += float64(float64(total*g[i])*g[j]) - (float64(border[i]*g[j]) + float64(g[i]*border[j]))
		}
	}
}
