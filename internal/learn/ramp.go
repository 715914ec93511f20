package learn

import (
	"context"
	"fmt"
	"math"
	"slices"

	"toptau/internal/matrix"
	"toptau/internal/optim"
	"toptau/method"
	"toptau/threshold"
)

// RampOptions are the settings of the anchored top loss. With t_k(w) the smooth tau_k-quantile of the population's scores
// (threshold.SmoothQuantile), s(u) = 1/(1 + e^-u) and M+ the mass of the positives, it is
//
//	F(w) = mean over k of (1/M+) sum over positives of m_i s((t_k(w) - w'x_i) / Width) + lambda/2 |w - anchor|^2.
//
// The first term is the share of positives that a threshold at the rate tau_k misses, with the step replaced by a ramp
// a few Widths long. Positives far on either side of it do not count, which no convex loss can have: that is where a
// linear model that is wrong about the bulk of the rows gains. The smooth quantile has the variance of a logistic
// kernel of scale Width. With the rule's weights a on the population, grad t_k = X'a and
//
//	grad F = mean over k of (1/M+) sum m_i s'(...) / Width (grad t_k - x_i) + lambda (w - anchor).
//
// F is not convex. The run starts at the anchor and descends, so the result is never worse than the anchor on F, and the
// last term keeps it near. Without an intercept: every t_k moves along with the scores.
type RampOptions struct {
	Taus       []threshold.Rate  // nil: 0.003, 0.01, 0.05; see Around
	Population method.Population // Negatives for false positive rates, AllRows for shares of all rows
	Width      float64           // in units of the anchor's scores; 0: 0.7, for logits
	Lambda     float64           // 0: 0.001
	Anchor     []float64         // the weights to start from, of logistic regression as a rule
	Steps      int               // of L-BFGS; 0: 40
	Tolerance  float64           // of the gradient's norm, as a part of that at the anchor; 0: 1e-8
	Progress   func(optim.Progress)
}

// The defaults of RampOptions.
const (
	DefaultRampWidth  = 0.7
	DefaultRampLambda = 1e-3
	DefaultRampSteps  = 40
)

// Around returns the rates that the ramp is averaged over for a goal: 0.3, 1 and 5 times it, those above a half left out.
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
	Misses     []float64    // for each tau the ramp's mean: about the share of positives that are missed
	Thresholds []float64    // for each tau t_k(w)
	Gradient   float64      // its norm as a part of that at the anchor
	Reason     optim.Reason // why the run ended
	Steps      int          // of L-BFGS
	Passes     int          // readings of the data, each for scores or a gradient
}

// Ramp descends from the anchor. A context that ends leaves the best point so far, with Reason saying so. Errors are
// about the options.
func Ramp(ctx context.Context, x *matrix.Matrix, o RampOptions) (RampResult, error) {
	o = o.withDefaults()
	if err := o.validate(x); err != nil {
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
	if run.Value > r.AtAnchor { // by rounding: no step descends
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

// validate is the border at which options are checked; the rules check the rates.
func (o RampOptions) validate(x *matrix.Matrix) error {
	switch {
	case len(o.Taus) == 0:
		return usage("no rate", "at least one")
	case !(o.Width > 0) || math.IsInf(o.Width, 1):
		return usage(fmt.Sprintf("a ramp of width %v", o.Width), "a finite number above 0")
	case !(o.Lambda > 0) || math.IsInf(o.Lambda, 1):
		return usage(fmt.Sprintf("--lambda %v", o.Lambda), "a finite number above 0")
	case !(o.Tolerance >= 0) || math.IsInf(o.Tolerance, 1):
		return usage(fmt.Sprintf("a tolerance of %v", o.Tolerance), "a finite number above 0")
	case o.Steps < 0:
		return usage(fmt.Sprintf("%d steps", o.Steps), "at least 1")
	case len(o.Anchor) != x.Cols():
		return fmt.Errorf("an anchor of %d weights for %d columns", len(o.Anchor), x.Cols())
	}
	return nil
}
