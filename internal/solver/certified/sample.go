package certified

import (
	"context"

	"toptau/internal/matrix"
	"toptau/internal/objective"
	"toptau/threshold"
)

// A large problem starts from the solution of a small one: every stride-th row of each class, with K scaled. The small
// solution lies within the noise of sampling of the large one, and so do its kinks; the rows near them are the ones that
// matter. It only gives a starting point, so nothing depends on it but the time.
const (
	sampleAbove = 400_000 // rows above which a sample is solved first
	sampleRows  = 120_000 // its size
	sampleGap   = 3e-3
)

// startFromSample returns a point to start from, or nil where no sample is worth its time, and the visits to rows that
// it took.
func startFromSample(ctx context.Context, o *objective.Objective) (w []float64, visits float64) {
	x := o.Matrix()
	if x.Rows() <= sampleAbove {
		return nil, visits
	}
	stride := x.Rows() / sampleRows
	small := &matrix.Matrix{Positives: every(x.Positives, stride), Negatives: every(x.Negatives, stride)}
	p := o.Problem()
	if r, ok := p.Rule.(threshold.TopCount); ok {
		p.Rule = threshold.TopCount{K: max(1, r.K/stride)}
	}
	bound, err := objective.New(p, small)
	if err != nil {
		return nil, visits
	}
	f, err := formOf(p, bound.Threshold().Kappa())
	if err != nil {
		return nil, visits
	}
	f.rule = bound.Threshold()
	source := NewMemory(small, p.Method.Population)
	s := &session{ctx: ctx, source: source, f: f, opt: Options{Gap: sampleGap, MaxPasses: 12}}
	err = s.solve()
	visits = source.visits
	if err != nil || isZero(s.best.w) {
		return nil, visits
	}
	return s.best.w, visits
}

// every takes rows at equal distances, but a few thousand at least.
func every(p *matrix.Part, stride int) *matrix.Part {
	stride = max(1, min(stride, p.Rows()/4000))
	var rows []int
	for i := 0; i < p.Rows(); i += stride {
		rows = append(rows, i)
	}
	return p.Take(rows)
}
