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
	sampleAbove = 200_000 // rows above which a sample is solved first
	sampleRows  = 100_000 // its size
	sampleGap   = 3e-3
	topRows     = 20 // mass on top, and positives, a column from which kinks are rounded
)

// startFromSample returns a point to start from, or nil where no sample is worth its time, and the visits to rows that
// it took.
func startFromSample(ctx context.Context, o *objective.Objective) (from *start, visits float64) {
	x := o.Matrix()
	if x.Rows() <= sampleAbove {
		return nil, visits
	}
	stride := x.Rows() / sampleRows
	small := &matrix.Matrix{Positives: every(x.Positives, stride), Negatives: every(x.Negatives, stride)}
	p := o.Problem()
	if r, ok := p.Rule().(threshold.TopCount); ok {
		p.K = max(1, r.K/stride)
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
	source := NewMemory(small, p.Definition().Population)
	s := &session{ctx: ctx, source: source, f: f, opt: Options{Gap: sampleGap, MaxPasses: 12}}
	if worthRounding(o) {
		if err := s.sketch(source); err != nil {
			return nil, source.visits
		}
		if s.done() {
			return &s.last, source.visits
		}
	}
	if err := s.solve(); err != nil || isZero(s.best.w) {
		return nil, source.visits
	}
	return &start{w: s.best.w}, source.visits
}

// worthRounding reports whether there are many more rows on top, and many more positives, than columns, so that enough rows
// bend for a second derivative.
func worthRounding(o *objective.Objective) bool {
	x := o.Matrix()
	wanted := topRows * float64(x.Cols())
	return x.Rows() > sampleAbove && o.Threshold().Kappa() >= wanted && float64(x.Positives.Rows()) >= wanted
}

// sketch begins like a problem without a sample and solves with rounded kinks alone.
func (s *session) sketch(source rounder) error {
	s.origin()
	e, err := s.beginOnRay()
	if err != nil {
		return err
	}
	first := start{w: e.w, width: firstWidth * s.atZero, frame: s.pos.frame}
	if e.f >= s.atZero {
		first.w = make([]float64, s.shape.Cols)
	}
	s.last, err = s.descend(source, first)
	return err
}

// every takes rows at equal distances, but a few thousand at least.
func every(p *matrix.Part, stride int) *matrix.Part {
	return p.Every(0, max(1, min(stride, p.Rows()/4000)))
}
