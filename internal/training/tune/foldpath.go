package tune

import (
	"context"
	"errors"
	"time"

	"toptau/internal/core/certified"
	"toptau/internal/core/learn"
	"toptau/method"
)

// Precision of the fits. A criterion that counts rows does not see more than the first: on magic04 no criterion moved
// by more than 0.15 points against ten times the precision. The final fit is reported with its certificate.
const (
	searchTolerance = 1e-3 // of fits that only give scores to other rows
	foldTolerance   = 1e-4 // of fits whose mean is the model
	lastTolerance   = 1e-6
	foldGap         = 1e-2 // of certified optima in folds
	leafFoldGap     = 3e-2 // on leaves, which separate the rows that they were grown on: the last digits of their optima take most of the time
	leafGap         = 1e-3 // of the last certified optimum on leaves
)

// foldPath is a task in one fold.
type foldPath struct {
	fold    *foldRows
	x       *encodedFold
	options fitOptions
	fit     fitFunc      // nil: the learner fits all settings at the same time
	known   *foldOutcome // of its only setting; nil: it is fitted
}

// foldOutcome is a setting in one fold.
type foldOutcome struct {
	scores foldScores
	value  float64 // of the criterion
	zero   bool    // w = 0 is a certified optimum
	err    error

	seconds float64 // of the fit alone
}

// outcome measures a fit on the fold's validation rows.
func (p *foldPath) outcome(f *Fit, err error) (o foldOutcome) {
	if err == nil {
		if whole, _ := finiteWeights(f.W); !whole {
			err = errors.New("its weights are not finite")
		}
	}
	if o.err = err; err != nil {
		return o
	}
	o.zero = f.Certified != nil && f.Certified.Zero == certified.ZeroIsOptimal
	z := scoreMatrix(p.x.validation, f.W)
	z.intercept = -f.At.T
	if p.fold.keepsFitted {
		z.fitted = make([]float64, p.x.train.Negatives.Rows())
		p.x.train.Negatives.Scores(f.W, z.fitted)
	}
	o.scores, o.value, o.err = p.fold.measure(z)
	return o
}

// fitOne fits a setting and measures it.
func (p *foldPath) fitOne(ctx context.Context, s Setting) foldOutcome {
	if p.known != nil {
		return *p.known
	}
	start := time.Now()
	fit, err := p.fit(ctx, s)
	seconds := time.Since(start).Seconds()
	o := p.outcome(&fit, err)
	o.seconds = seconds
	return o
}

func newFoldPath(t *task, r *foldRows, x *encodedFold, classWeight float64) foldPath {
	anchor := func(ctx context.Context, lambda float64) ([]float64, error) {
		if w := x.logistic[lambda]; w != nil {
			return w, nil
		}
		// Logistic regression was never scored: it is fitted here.
		logistic := convexLearner(method.Logistic, learn.Logistic, classWeight)
		f, err := logistic.fitOne(ctx, x.train, Setting{Lambda: lambda}, fitOptions{features: x.features, tolerance: searchTolerance})
		if err == nil {
			x.logistic[lambda] = f.W
		}
		return f.W, err
	}
	p := foldPath{fold: r, x: x, options: fitOptions{features: x.features, anchor: anchor, tolerance: searchTolerance, gap: foldGap}}
	if t.Features.ReadsLabels() {
		p.options.gap = leafFoldGap
	}
	if t.raced != nil && t.raced.fold == r {
		p.known = &t.raced.foldOutcome
	}
	if t.learner.start == nil || x.train == nil {
		return p
	}
	fit := t.learner.start(x.train, p.options)
	p.fit = fit
	if t.Learner == method.Logistic {
		p.fit = func(ctx context.Context, setting Setting) (Fit, error) {
			f, err := fit(ctx, setting)
			if err == nil {
				x.logistic[setting.Lambda] = f.W
			}
			return f, err
		}
	}
	return p
}

// size returns about how many bytes a model with a setting takes in a file. Boosting uses the first trees only.
func (p *foldPath) size(s *Setting) int64 {
	columns := p.x.features.Cols()
	if b := p.x.features.Boosting(); b != nil && s.Trees > 0 && s.Trees < len(b.Rounds) {
		columns = columns * s.Trees / len(b.Rounds)
	}
	return int64(p.x.columnBytes * float64(columns))
}
