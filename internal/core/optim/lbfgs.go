package optim

import (
	"context"
	"math"
)

// LBFGS minimises a differentiable function, convex or not. It starts from x and overwrites it with the final
// point. The values descend, up to the rounding of a sum.
//
// The model of the inverse Hessian comes from the last Memory steps s and changes of the gradient y with s'y
// > 0, and starts from the multiple s'y / y'y of the identity (Nocedal and Wright, Numerical Optimization,
// algorithm 7.4). The first step has no model: the line search starts at length |x|, or 1 for x = 0.
func LBFGS(ctx context.Context, f Function, x []float64, o Options) Result {
	l := lbfgs{f: f, o: o.withDefaults(), x: x}
	l.g, l.p, l.before = make([]float64, f.Dim()), make([]float64, f.Dim()), make([]float64, f.Dim())
	l.run(ctx)
	return l.result
}

// minCurvature is the smallest cosine of s and y of a pair that enters the model. Below it s'y is mostly
// rounding error.
const minCurvature = 1e-12

// lbfgs is the state of a run.
type lbfgs struct {
	f      Function
	o      Options
	result Result

	x, g, p []float64
	before  []float64 // the gradient before the step
	pairs   []pair    // oldest first
}

// pair is a step with the change of the gradient that it made.
type pair struct {
	s, y  []float64
	rho   float64 // 1 / s'y
	alpha float64 // of the two-loop recursion
}

func (l *lbfgs) run(ctx context.Context) {
	l.result.Value = l.f.Move(l.x, l.g)
	if l.o.Scale == 0 {
		l.o.Scale = norm(l.g)
	}
	for {
		l.measure()
		switch {
		case l.result.Gradient <= l.o.Tolerance:
			l.result.Reason = Converged
		case ctx.Err() != nil:
			l.result.Reason = Cancelled
		case l.result.Steps >= l.o.Steps:
			l.result.Reason = Limit
		case !l.step():
			l.result.Reason = Precision
		default:
			continue
		}
		break
	}
	if l.result.Steps > 0 { // measure the result on newly computed scores
		l.result.Value = l.f.Move(l.x, l.g)
		l.measure()
	}
}

// measure sets the norm of the gradient and reports progress.
func (l *lbfgs) measure() {
	l.result.setGradient(l.g, l.o.Scale)
	l.o.report(&l.result)
}

// step takes one step. If the line search finds nothing along the model's direction, it drops the model and
// tries steepest descent. It returns false if that fails too.
func (l *lbfgs) step() bool {
	for {
		l.setDirection()
		slope := Dot(l.g, l.p)
		// A quasi-Newton step has length 1 near the minimum; steepest descent has no scale of its own.
		guess := 1.0
		if len(l.pairs) == 0 {
			guess = 1 / norm(l.p)
			if size := norm(l.x); size > 0 {
				guess *= size
			}
		}
		alpha := 0.0
		if slope < 0 {
			l.f.Aim(l.p)
			alpha = lineSearch(l.f, l.result.Value, slope, guess)
		}
		if alpha > 0 {
			l.advance(alpha)
			return true
		}
		if len(l.pairs) == 0 {
			return false
		}
		l.pairs = l.pairs[:0]
	}
}

// advance takes the step and updates the model.
func (l *lbfgs) advance(alpha float64) {
	copy(l.before, l.g)
	l.result.Value = l.f.Advance(alpha, l.g)
	addScaled(alpha, l.p, l.x)
	l.result.Steps++
	// The oldest pair makes place for the new one.
	var next pair
	if len(l.pairs) == l.o.Memory {
		next = l.pairs[0]
		copy(l.pairs, l.pairs[1:])
		l.pairs = l.pairs[:len(l.pairs)-1]
	} else {
		next.s, next.y = make([]float64, len(l.x)), make([]float64, len(l.x))
	}
	for j := range l.x {
		next.s[j] = float64(alpha * l.p[j])
		next.y[j] = l.g[j] - l.before[j]
	}
	product := Dot(next.s, next.y)
	if !(product > minCurvature*norm(next.s)*norm(next.y)) || math.IsInf(1/product, 1) {
		return
	}
	next.rho = 1 / product
	l.pairs = append(l.pairs, next)
}

// setDirection writes the model's direction to p, by the two-loop recursion.
func (l *lbfgs) setDirection() {
	for j, g := range l.g {
		l.p[j] = -g
	}
	if len(l.pairs) == 0 {
		return
	}
	// First loop, newest to oldest; then the initial scaling; second loop, oldest to newest.
	for k := len(l.pairs) - 1; k >= 0; k-- {
		q := &l.pairs[k]
		q.alpha = float64(q.rho * Dot(q.s, l.p))
		addScaled(-q.alpha, q.y, l.p)
	}
	last := l.pairs[len(l.pairs)-1]
	scale := 1 / (last.rho * Dot(last.y, last.y))
	for j := range l.p {
		l.p[j] *= scale
	}
	for k := range l.pairs {
		q := &l.pairs[k]
		beta := float64(q.rho * Dot(q.y, l.p))
		addScaled(q.alpha-beta, q.s, l.p)
	}
}
