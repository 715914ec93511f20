package learn

import (
	"context"
	"fmt"
	"math"

	"toptau/diag"
	"toptau/internal/core/matrix"
	"toptau/internal/core/optim"
)

// ClassWeights are factors of the row weights of each class. 0 means 1.
type ClassWeights struct{ Positive, Negative float64 }

// values returns the two weights.
func (w ClassWeights) values() (positive, negative float64) {
	positive, negative = w.Positive, w.Negative
	if positive == 0 {
		positive = 1
	}
	if negative == 0 {
		negative = 1
	}
	return positive, negative
}

// Options are the settings of a fit.
type Options struct {
	Loss         Loss
	Lambda       float64 // at least 0
	ClassWeights ClassWeights
	Start        *Result // start from its weights; nil: w = 0, or with many rows a fit to a sample
	Tolerance    float64 // of the norm of the gradient, relative to that at w = 0; 0: 1e-8
	Steps        int     // of Newton's method, at most; 0: 200
	Progress     func(optim.Progress)
}

// Result is a fitted model.
type Result struct {
	W          []float64
	Intercept  float64
	Objective  float64      // F
	AtZero     float64      // F at w = 0 with the best intercept
	LowerBound float64      // of min F, by duality; for lambda = 0 it is 0
	Loss       float64      // F without the term in lambda
	Gradient   float64      // its norm at the final point, in the units of Tolerance
	Reason     optim.Reason // why the run ended; NoMinimum: no penalty, and the classes can be separated
	Converged  bool         // Reason is optim.Converged
	Steps      int          // of Newton's method
	Passes     int          // passes over all rows, each for scores, a gradient or a Hessian product
}

// Fit minimises F. If ctx is cancelled, the result has the last point, and Reason is optim.Cancelled. It
// fails if an option is out of range.
func Fit(ctx context.Context, x *matrix.Matrix, o Options) (Result, error) {
	if err := o.check(x); err != nil {
		return Result{}, err
	}
	o.Start = o.startOf(ctx, x)
	return newPointwise(x, o.Loss, o.Lambda, o.ClassWeights).fit(ctx, o), nil
}

// Path fits for each lambda in turn, from the result before it. o.Lambda is not used. Largest first is
// fastest. If ctx is cancelled, it returns the results so far.
func Path(ctx context.Context, x *matrix.Matrix, o Options, lambdas []float64) ([]Result, error) {
	for _, lambda := range lambdas {
		o.Lambda = lambda
		if err := o.check(x); err != nil {
			return nil, err
		}
	}
	f := newPointwise(x, o.Loss, 0, o.ClassWeights)
	results := make([]Result, 0, len(lambdas))
	for _, lambda := range lambdas {
		f.lambda = lambda
		r := f.fit(ctx, o)
		results = append(results, r)
		if r.Reason == optim.Cancelled {
			break
		}
		o.Start = &r
	}
	return results, nil
}

// check refuses options that are out of range.
func (o Options) check(x *matrix.Matrix) error {
	switch positive, negative := o.ClassWeights.values(); {
	case o.Loss != Logistic && o.Loss != SquaredHinge:
		return badOption("loss", int(o.Loss), "logistic or squared-hinge")
	case !(o.Lambda >= 0) || math.IsInf(o.Lambda, 1):
		return badOption("lambda", o.Lambda, "a finite number of at least 0")
	case !(positive > 0) || !(negative > 0) || math.IsInf(positive+negative, 1):
		return badOption("class-weights", fmt.Sprintf("%v and %v", positive, negative), "two finite numbers above 0")
	case !(o.Tolerance >= 0) || math.IsInf(o.Tolerance, 1):
		return badOption("tolerance", o.Tolerance, "a finite number above 0")
	case o.Steps < 0:
		return badOption("steps", o.Steps, "a number of at least 1")
	case o.Start != nil && len(o.Start.W) != x.Cols():
		return fmt.Errorf("a start of %d weights for %d columns", len(o.Start.W), x.Cols())
	}
	return nil
}

func badOption(param string, value any, expected string) error {
	return &diag.Error{Kind: diag.Usage, Param: param, Found: fmt.Sprint(value), Expected: expected}
}

// minScale is the smallest scale of gradients, as a part of the gradient of one class. Where the gradients
// of the classes cancel at the start, their sum is no scale. Chosen by hand.
const minScale = 1e-6

// gradientScale returns F at x, where all scores are equal, and the norm of its gradient there: the unit of
// Tolerance.
func (f *pointwise) gradientScale(x, g []float64) (value, norm float64) {
	value = f.Move(x, g)
	whole := math.Sqrt(optim.Dot(g, g))
	clear(g)
	f.classes[0].addGradient(g[:len(g)-1])
	return value, max(whole, minScale*math.Sqrt(optim.Dot(g, g)))
}

// fit runs Newton's method from o.Start.
func (f *pointwise) fit(ctx context.Context, o Options) Result {
	f.passes = 0
	d := f.Dim() - 1
	x, g := make([]float64, d+1), make([]float64, d+1)
	x[d] = f.loss.intercept(float64(f.classes[0].unit*massOf(f.classes[0].part)),
		float64(f.classes[1].unit*massOf(f.classes[1].part)))
	zero, scale := f.gradientScale(x, g)
	if o.Start != nil {
		copy(x, o.Start.W)
		x[d] = o.Start.Intercept
	}
	run := optim.Newton(ctx, f, x, optim.Options{Tolerance: o.Tolerance, Scale: scale, Steps: o.Steps, Progress: o.Progress})
	r := Result{W: x[:d:d], Intercept: x[d], Objective: run.Value, AtZero: zero, Gradient: run.Gradient, Reason: run.Reason,
		Converged: run.Reason == optim.Converged, Steps: run.Steps}
	r.Loss = r.Objective - float64(f.lambda/2*optim.Dot(r.W, r.W))
	r.LowerBound = f.lowerBound()
	r.Passes = f.passes
	return r
}
