package learn

import (
	"context"
	"fmt"
	"math"
	"slices"

	"toptau/diag"
	"toptau/internal/core/matrix"
	"toptau/internal/core/optim"
	"toptau/method"
	"toptau/threshold"
)

// RampOptions are the settings of the anchored top loss. With t_k(w) the smooth tau_k-quantile of the
// population's scores (threshold.SmoothQuantile) and s(u) = 1/(1 + e^-u), it is
//
//	F(w) = mean over k of (1/M+) sum over positives of m_i s((t_k(w) - w'x_i) / Width) + lambda/2 |w - anchor|^2.
//
// The first term is the fraction of positives that a threshold at the rate tau_k misses, with the step
// replaced by a ramp a few Widths long. Positives far on either side of it do not count. No convex loss has
// this property. It is how a linear model improves at the top when it is wrong about most rows. The smooth
// quantile has the variance of a logistic kernel of scale Width. With the rule's weights a on the population,
// grad t_k = X'a and
//
//	grad F = mean over k of (1/M+) sum m_i s'(...) / Width (grad t_k - x_i) + lambda (w - anchor).
//
// F is not convex. The run starts at the anchor and descends, so F is never larger than at the anchor, and
// the last term keeps w near it. There is no intercept, because every t_k moves with the scores.
type RampOptions struct {
	Taus       []threshold.Rate  // nil: 0.003, 0.01, 0.05; see Around
	Population method.Population // Negatives for false positive rates, AllRows for fractions of all rows
	Width      float64           // in units of the anchor's scores; 0: 0.7, which suits logits
	Lambda     float64           // 0: 0.001
	Anchor     []float64         // the weights to start from, usually of logistic regression
	Steps      int               // of L-BFGS; 0: 40
	Tolerance  float64           // of the norm of the gradient, relative to that at the anchor; 0: 1e-8
	Progress   func(optim.Progress)
}

// The defaults of RampOptions.
const (
	DefaultRampWidth  = 0.7
	DefaultRampLambda = 1e-3
	DefaultRampSteps  = 40
)

// Around returns the rates over which the ramp is averaged for a goal: 0.3, 1 and 5 times the goal, without
// rates above one half.
func Around(goal threshold.Rate) []threshold.Rate {
	taus := []threshold.Rate{goal}
	if low, err := threshold.RateOf(0.3 * goal.Float64()); err == nil {
		taus = []threshold.Rate{low, goal}
	}
	if high, err := threshold.RateOf(5 * goal.Float64()); err == nil && high.Float64() <= 0.5 {
		taus = append(taus, high)
	}
	return taus
}

// RampResult is a fitted ramp.
type RampResult struct {
	W          []float64
	Objective  float64      // F
	AtAnchor   float64      // F at the anchor
	Misses     []float64    // for each tau the mean of the ramp, about the fraction of positives missed
	Thresholds []float64    // for each tau t_k(w)
	Gradient   float64      // its norm, relative to that at the anchor
	Reason     optim.Reason // why the run ended
	Steps      int          // of L-BFGS
	Passes     int          // passes over the data, each for scores or a gradient
}

// Ramp descends from the anchor. If ctx is cancelled, the result has the last point, and Reason is
// optim.Cancelled. It fails if an option is out of range.
func Ramp(ctx context.Context, x *matrix.Matrix, o RampOptions) (RampResult, error) {
	o = o.withDefaults()
	if err := o.check(x); err != nil {
		return RampResult{}, err
	}
	f, err := newRamp(x, o)
	if err != nil {
		return RampResult{}, err
	}
	r := RampResult{W: slices.Clone(o.Anchor), AtAnchor: math.NaN()}
	run := optim.LBFGS(ctx, f, r.W, optim.Options{Tolerance: o.Tolerance, Steps: o.Steps, Progress: func(p optim.Progress) {
		if math.IsNaN(r.AtAnchor) { // the first report is that of the start
			r.AtAnchor = p.Value
		}
		if o.Progress != nil {
			o.Progress(p)
		}
	}})
	if run.Value > r.AtAnchor { // by rounding, when no step descends
		copy(r.W, o.Anchor)
		run.Value = f.Move(r.W, make([]float64, len(r.W)))
	}
	r.Objective, r.Gradient, r.Reason, r.Steps, r.Passes = run.Value, run.Gradient, run.Reason, run.Steps, f.passes
	for k := range f.rules {
		r.Misses = append(r.Misses, f.misses[k])
		r.Thresholds = append(r.Thresholds, f.support[k].T)
	}
	return r, nil
}

func (o RampOptions) withDefaults() RampOptions {
	if o.Taus == nil {
		o.Taus = []threshold.Rate{
			threshold.MustRate("0.003"), threshold.MustRate("0.01"), threshold.MustRate("0.05"),
		}
	}
	if o.Width == 0 {
		o.Width = DefaultRampWidth
	}
	if o.Lambda == 0 {
		o.Lambda = DefaultRampLambda
	}
	if o.Steps == 0 {
		o.Steps = DefaultRampSteps
	}
	return o
}

// check refuses options that are out of range. The rules check the rates.
func (o RampOptions) check(x *matrix.Matrix) error {
	switch {
	case len(o.Taus) == 0:
		return &diag.Error{Kind: diag.Usage, Param: "taus", Expected: "at least one rate"}
	case !(o.Width > 0) || math.IsInf(o.Width, 1):
		return badOption("width", o.Width, "a finite number above 0")
	case !(o.Lambda > 0) || math.IsInf(o.Lambda, 1):
		return badOption("lambda", o.Lambda, "a finite number above 0")
	case !(o.Tolerance >= 0) || math.IsInf(o.Tolerance, 1):
		return badOption("tolerance", o.Tolerance, "a finite number above 0")
	case o.Steps < 0:
		return badOption("steps", o.Steps, "a number of at least 1")
	case len(o.Anchor) != x.Cols():
		return fmt.Errorf("an anchor of %d weights for %d columns", len(o.Anchor), x.Cols())
	}
	return nil
}
