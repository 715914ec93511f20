package certified

import (
	"context"
	"math"

	"toptau/internal/certified/form"
	"toptau/internal/matrix"
	"toptau/internal/objective"
	"toptau/method"
	"toptau/threshold"
)

// A large problem starts from the solution of a small one: every stride-th row of each class, with K scaled.
// The two solutions differ by the noise of sampling, so the rows near the corners of the small one are about
// those that matter. It only gives a starting point: nothing but the time depends on it. The numbers were
// chosen by hand on simulated data.
const (
	sampleAbove  = 200_000 // rows above which a sample is solved first
	sampleRows   = 100_000 // rows of the sample
	sampleGap    = 3e-3    // about the noise of sampling
	samplePasses = 60      // over the sample, at most
	leastSample  = 4000    // rows of each class, or all of them

	// smoothRows is the mass on top, and the number of positives, per column, from which the smoothed problem
	// is used: enough rows then lie on a smoothed corner for a second derivative.
	smoothRows = 20

	// smoothTop is the mass on top of a mean from which the smoothed problem is used: fewer rows can be held. A
	// quantile's band has more rows than its mass on top, often very many. Chosen by hand.
	smoothTop = 2000
)

// startFromSample returns a start from a sample of a problem's rows, or nil if the sample did not help. visits is the
// number of rows read. The form and the shape are those of all rows.
func startFromSample(ctx context.Context, p method.Problem, small *matrix.Matrix, whole *form.Form, shape Shape) (from *start, visits float64) {
	if r, ok := p.Rule().(threshold.TopCount); ok {
		rows := small.Negatives.Rows()
		if p.Definition().Population == method.AllRows {
			rows += small.Positives.Rows()
		}
		p.K = max(1, int(float64(r.K)*float64(rows)/float64(shape.Population.Rows)))
	}
	o2, err := objective.New(p, small)
	if err != nil {
		return nil, visits
	}
	f, err := form.Bind(p, o2.Threshold())
	if err != nil {
		return nil, visits
	}
	source := NewMemory(small, p.Definition().Population)
	s := newSolver(ctx, source, f, Options{Gap: sampleGap, MaxPasses: samplePasses})
	if worthSmoothing(whole, shape) {
		if err := s.startWide(); err != nil {
			return nil, source.visits
		}
		if s.last, err = s.descend(*s.start); err != nil {
			return nil, source.visits
		}
		if s.last.width > 0 {
			// A point belongs to its source: the large problem gets one of its own.
			return &start{at: newPoint(s.last.at.W), width: s.last.width, shift: s.last.shift}, source.visits
		}
	}
	s.start = nil
	if err := s.solve(); err != nil || isZero(s.best.at.W) {
		return nil, source.visits
	}
	return &start{at: newPoint(s.best.at.W), solved: true}, source.visits
}

// worthSmoothing reports whether a problem is large, and has enough rows on top and positives for its columns.
func worthSmoothing(f *form.Form, shape Shape) bool {
	return manyOnTop(f, shape) && float64(shape.Positives.Rows) >= smoothRows*float64(shape.Cols)
}

// manyOnTop reports whether a problem is large and has many rows on top.
func manyOnTop(f *form.Form, shape Shape) bool {
	least := smoothRows * float64(shape.Cols)
	if f.Kind == form.TopMean {
		least = math.Max(least, smoothTop)
	}
	return shape.Positives.Rows+shape.Population.Rows > sampleAbove && f.Kappa >= least
}

// startWide makes a descent on the smoothed problem the start: from the best point on the ray through the difference
// of the means, or from w = 0, with wide hinges.
func (s *solver) startWide() error {
	s.startAtZero()
	e, err := s.startOnRay()
	if err != nil {
		return err
	}
	s.start = &start{at: e.at, width: firstWidth * s.atZero, shift: s.pos.Shift}
	if e.f >= s.atZero {
		s.start.at = s.zero
	}
	return nil
}

// thinned returns a sample of a large matrix, or nil.
func thinned(x *matrix.Matrix) *matrix.Matrix {
	if x.Rows() <= sampleAbove {
		return nil
	}
	stride := x.Rows() / sampleRows
	return &matrix.Matrix{Positives: every(x.Positives, stride), Negatives: every(x.Negatives, stride)}
}

// every returns every stride-th row of a class, or more of a small class.
func every(p *matrix.ClassRows, stride int) *matrix.ClassRows {
	return p.Every(0, max(1, min(stride, p.Rows()/leastSample)))
}
