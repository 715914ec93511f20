package certified

import (
	"context"
	"math"

	"toptau/internal/core/certified/form"
	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
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
	minSample    = 4000    // rows of each class, or all of them

	// smoothRows is the number of rows on top, and the number of positives, per column, from which the smoothed problem
	// is used: enough rows then lie on a smoothed corner for a second derivative.
	smoothRows = 20

	// topAtOnce is the number of rows on top, per column, for quantiles of a source that answers each question with a pass, where Newton steps on the
	// smoothed problem cost a pass each and rows two. Pat&Mat-NP 0.01 % on 5 million rows of 28 columns took a third of the processor time
	// of 20. With as few positives per column (kddcup99, 119 columns) it took five times as many passes.
	topAtOnce = 3

	// smoothTop is the number of rows on top of a mean from which the smoothed problem is used: fewer rows can be held. A
	// quantile's band has more rows than it has on top, often very many. Chosen by hand.
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
	s.unit = shape.Population.Mass / float64(shape.Population.Rows)
	if worthSmoothing(whole, shape) {
		if err := s.start.startWide(); err != nil {
			return nil, source.visits
		}
		if s.descent.last, err = s.descent.descend(*s.start.from); err != nil {
			return nil, source.visits
		}
		if s.descent.last.width > 0 {
			// A point belongs to its source: the large problem gets one of its own.
			return &start{at: newPoint(s.descent.last.at.W), width: s.descent.last.width, shift: s.descent.last.shift}, source.visits
		}
	}
	s.start.from = nil
	if err := s.solve(); err != nil || isZero(s.best.at.W) {
		return nil, source.visits
	}
	return &start{at: newPoint(s.best.at.W), solved: true}, source.visits
}

// worthSmoothing reports whether a problem is large, and has enough rows on top and positives for its columns.
func worthSmoothing(f *form.Form, shape Shape) bool {
	return manyOnTop(f, shape) && float64(shape.Positives.Rows) >= smoothRows*float64(shape.Cols)
}

// heldInstead returns the number of rows that are held rather than smoothed: for a quantile's hinge only. Pat&Mat-NP 1 % on a million rows of 20
// columns in PostgreSQL took 17 processor seconds instead of 29, and TopMean-NP 1 % 26 instead of 20, most of them in the restricted problems.
func heldInstead(f *form.Form, shape Shape) int {
	if f.Kind != form.HingeQuantile {
		return 0
	}
	return min(shape.Held, limitsFor(float64(shape.Cols*(shape.Cols+1))/2).held)
}

// manyOnTop reports whether a problem is large and has many rows on top.
func manyOnTop(f *form.Form, shape Shape) bool {
	least := smoothRows * float64(shape.Cols)
	switch {
	case f.Kind == form.TopMean:
		least = math.Max(least, smoothTop)
	case firstKappas*f.Kappa*float64(shape.Population.Rows) <= float64(heldInstead(f, shape))*shape.Population.Mass:
		return false
	case !shape.KeepsScores:
		least = topAtOnce * float64(shape.Cols)
	}
	return shape.Positives.Rows+shape.Population.Rows > sampleAbove &&
		f.Kappa*float64(shape.Population.Rows) >= least*shape.Population.Mass // rows on top: weights count by their ratios
}

// thinned returns a sample of a large matrix, or nil.
func thinned(x *matrix.Matrix) *matrix.Matrix {
	if x.Rows() <= sampleAbove {
		return nil
	}
	stride := x.Rows() / sampleRows
	return &matrix.Matrix{Positives: every(x.Positives, stride), Negatives: every(x.Negatives, stride)}
}

// unequalShares is by how much the shares of the classes in a sample may differ before rows are weighted. Chosen by hand.
const unequalShares = .1

// representative returns a sample of all rows whose classes have the weight that they have among all rows. A sample often has a larger
// share of the positives, which a threshold of all rows must not see.
func representative(x *matrix.Matrix, population method.Population, shape Shape) *matrix.Matrix {
	if population != method.AllRows || x.Positives.Rows() == 0 || x.Negatives.Rows() == 0 {
		return x
	}
	positives, negatives := massOf(x.Positives)/shape.Positives.Mass, massOf(x.Negatives)/(shape.Population.Mass-shape.Positives.Mass)
	factor := negatives / positives
	if !isFinite(factor) || math.Abs(factor-1) <= unequalShares {
		return x
	}
	return &matrix.Matrix{Positives: x.Positives.Weighted(factor), Negatives: x.Negatives}
}

// massOf returns the sum of the weights of some rows.
func massOf(p *matrix.ClassRows) float64 {
	return threshold.NewPopulation(p.Rows(), p.Weights()).Mass
}

// every returns every stride-th row of a class, or more of a small class.
func every(p *matrix.ClassRows, stride int) *matrix.ClassRows {
	return p.Every(0, max(1, min(stride, p.Rows()/minSample)))
}
