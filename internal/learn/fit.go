package learn

import (
	"context"
	"fmt"
	"math"

	"toptau/diag"
	"toptau/internal/matrix"
	"toptau/internal/optim"
)

// ClassWeights multiply the weights of the rows of a class. 0 means 1.
type ClassWeights struct{ Positive, Negative float64 }

func (w ClassWeights) of() (positive, negative float64) {
	positive, negative = w.Positive, w.Negative
	if positive == 0 {
		positive = 1
	}
	if negative == 0 {
		negative = 1
	}
	return positive, negative
}

// Balanced are the class weights M / (2 M+) and M / (2 M-), which give both classes the same say.
func Balanced(x *matrix.Matrix) ClassWeights {
	positives, negatives := massOf(x.Positives), massOf(x.Negatives)
	half := (positives + negatives) / 2
	return ClassWeights{half / positives, half / negatives}
}

// Options are the settings of a fit.
type Options struct {
	Loss         Loss
	Lambda       float64 // at least 0
	ClassWeights ClassWeights
	Start        *Result // whose weights to start from; nil: w = 0 with its best intercept, or a fit to some of many rows
	Tolerance    float64 // of the gradient's norm, as a part of its norm at w = 0 with the best intercept; 0: 1e-8
	Steps        int     // of Newton's method, at most; 0: 200
	Progress     func(optim.Progress)
}

// Result is a fitted baseline.
type Result struct {
	W          []float64
	Intercept  float64
	Objective  float64      // F
	AtZero     float64      // F at w = 0 with the best intercept
	LowerBound float64      // of min F, by duality; 0, the bound of every loss, for lambda = 0
	Loss       float64      // F without the term in lambda
	Gradient   float64      // its norm at the final point, as Tolerance counts it
	Reason     optim.Reason // why the run ended; NoMinimum for classes that can be separated without a penalty
	Converged  bool         // Reason is optim.Converged
	Steps      int          // of Newton's method
	Passes     int          // readings of all rows, each for scores, a gradient or a product with the Hessian
}

// Fit minimises F. A context that ends leaves the best point so far, with Reason saying so. Errors are about the options.
func Fit(ctx context.Context, x *matrix.Matrix, o Options) (Result, error) {
	if err := o.validate(x); err != nil {
		return Result{}, err
	}
	o.Start = o.start(ctx, x)
	return newPointwise(x, o.Loss, o.Lambda, o.ClassWeights).fit(ctx, o), nil
}

// Path fits for one lambda after the other, each from the result before it; o.Lambda is not used. Largest first is
// fastest. It ends early with the results so far when the context ends.
func Path(ctx context.Context, x *matrix.Matrix, o Options, lambdas []float64) ([]Result, error) {
	for _, lambda := range lambdas {
		o.Lambda = lambda
		if err := o.validate(x); err != nil {
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

// validate is the border at which options are checked.
func (o Options) validate(x *matrix.Matrix) error {
	switch positive, negative := o.ClassWeights.of(); {
	case o.Loss != Logistic && o.Loss != SquaredHinge:
		return usage(fmt.Sprintf("loss %d", int(o.Loss)), "logistic or squared-hinge")
	case !(o.Lambda >= 0) || math.IsInf(o.Lambda, 1):
		return usage(fmt.Sprintf("--lambda %v", o.Lambda), "a finite number of at least 0")
	case !(positive > 0) || !(negative > 0) || math.IsInf(positive+negative, 1):
		return usage(fmt.Sprintf("class weights %v and %v", positive, negative), "two finite numbers above 0")
	case !(o.Tolerance >= 0) || math.IsInf(o.Tolerance, 1):
		return usage(fmt.Sprintf("a tolerance of %v", o.Tolerance), "a finite number above 0")
	case o.Steps < 0:
		return usage(fmt.Sprintf("%d steps", o.Steps), "at least 1")
	case o.Start != nil && len(o.Start.W) != x.Cols():
		return fmt.Errorf("a start of %d weights for %d columns", len(o.Start.W), x.Cols())
	}
	return nil
}

func usage(found, expected string) error {
	return &diag.Error{Kind: diag.Usage, Found: found, Expected: expected}
}

// scale is F and the norm of its gradient at x, in which all scores are equal; the norm at least what rounding makes of the
// one class's part of it where the two cancel.
func (f *pointwise) scale(x, g []float64) (value, norm float64) {
	value = f.Move(x, g)
	whole := math.Sqrt(optim.Dot(g, g))
	clear(g)
	f.classes[0].addGradient(g[:len(g)-1])
	return value, max(whole, 1e-6*math.Sqrt(optim.Dot(g, g)))
}

func (f *pointwise) fit(ctx context.Context, o Options) Result {
	f.passes = 0
	d := f.Dim() - 1
	x, g := make([]float64, d+1), make([]float64, d+1)
	x[d] = f.loss.intercept(float64(f.classes[0].unit*massOf(f.classes[0].part)),
		float64(f.classes[1].unit*massOf(f.classes[1].part)))
	zero, scale := f.scale(x, g)
	if o.Start != nil {
		copy(x, o.Start.W)
		x[d] = o.Start.Intercept
	}
	run := optim.Newton(ctx, f, x, optim.Options{Tolerance: o.Tolerance, Scale: scale, Steps: o.Steps, Progress: o.Progress})
	r := Result{W: x[:d:d], Intercept: x[d], Objective: run.Value, AtZero: zero, Gradient: run.Gradient, Reason: run.Reason,
		Converged: run.Reason == optim.Converged, Steps: run.Steps}
	r.Loss = r.Objective - float64(f.lambda/2*optim.Dot(r.W, r.W))
	r.LowerBound = f.bound()
	r.Passes = f.passes
	return r
}
