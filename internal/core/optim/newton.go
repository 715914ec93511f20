package optim

import (
	"context"
	"math"
)

// Newton minimises a convex function. It starts from x and overwrites it with the final point.
//
// Each step solves (H + mu I) p = -g by preconditioned conjugate gradients and searches along p. The residual
// falls to min(0.1, sqrt(|g|/Scale)) |g| in the norm of the preconditioner, so the convergence is superlinear
// (Nocedal and Wright, 7.1).
//
// mu is 0 until the search takes a tiny part of p or nothing. Then p was far too long: where the curvature
// has almost vanished and the slope has not, as the logistic loss far on the wrong side. mu falls again with
// every step that is taken nearly whole.
//
// Convergence is confirmed on newly computed scores. The run ends with NoMinimum if the function falls
// without end in some direction.
func Newton(ctx context.Context, f Curved, x []float64, o Options) Result {
	n := newton{f: f, o: o.withDefaults(), x: x}
	for _, v := range []*[]float64{&n.g, &n.p, &n.r, &n.d, &n.h, &n.y} {
		*v = make([]float64, f.Dim())
	}
	n.run(ctx)
	return n.result
}

type newton struct {
	f      Curved
	o      Options
	result Result

	x, g, p    []float64 // point, gradient, step
	r, d, h, y []float64 // of the conjugate gradients: residual, direction, H d, P r
	least      float64   // the smallest gradient so far
	lowest     float64   // the lowest value so far
	idle       int       // steps since either was beaten
	damping    float64   // mu
}

const (
	maxProducts = 500 // Hessian products of one step, at most
	maxDampings = 20  // values of mu that one step tries, at most

	// flatness is the part of the largest curvature that a Hessian product loses by rounding. A direction
	// with less curvature counts as one in which the function is linear.
	flatness = 1e-13

	// idleSteps is the number of successive steps that lower neither the gradient nor, beyond rounding, the
	// value, after which no more precision can be had. Chosen by hand.
	idleSteps = 6

	// loosest is the largest residual of the conjugate gradients, as a part of the gradient.
	loosest = 0.1

	// fadedAccuracy is the residual of the Newton step that decides whether a vanishing gradient means a
	// minimum.
	fadedAccuracy = 1e-10
)

// The damping, like that of a trust region. All numbers were chosen by hand.
const (
	tinyStep    = 1e-4 // part of p below which p was far too long: mu becomes ten times as large
	nearlyWhole = 0.3  // part of p above which mu shrinks by a factor of 100
	firstMu     = 0.1  // the first mu, in units of |g|/|taken step|, which is a curvature
	minMu       = 1e-7 // mu below it, in the same units, becomes 0
	minTaken    = 1e-6 // part of p that counts as taken if nothing was
)

func (n *newton) run(ctx context.Context) {
	n.result.Value = n.f.Move(n.x, n.g)
	if n.o.Scale == 0 {
		n.o.Scale = norm(n.g)
	}
	n.least, n.lowest = math.Inf(1), math.Inf(1)
	fresh := true
	for {
		n.measure()
		switch {
		case n.result.Gradient <= n.o.Tolerance && !fresh:
			n.result.Value = n.f.Move(n.x, n.g)
			fresh = true
			continue
		case n.result.Gradient <= n.o.Tolerance:
			n.result.Reason = Converged
			if n.hasNoMinimum(ctx) {
				n.result.Reason = NoMinimum
			}
		case ctx.Err() != nil:
			n.result.Reason = Cancelled
		case n.result.Steps >= n.o.Steps:
			n.result.Reason = Limit
		case n.idle >= idleSteps:
			n.result.Reason = Precision
		case !n.step(ctx):
		default:
			fresh = false
			continue
		}
		break
	}
	if !fresh {
		n.result.Value = n.f.Move(n.x, n.g)
		n.measure()
	}
}

// measure sets the norm of the gradient, counts idle steps and reports progress.
func (n *newton) measure() {
	n.result.setGradient(n.g, n.o.Scale)
	n.idle++
	if n.result.Gradient < n.least {
		n.least, n.idle = n.result.Gradient, 0
	}
	if v := n.result.Value; v < n.lowest-float64(valueNoise*math.Abs(n.lowest)) || math.IsInf(n.lowest, 1) {
		n.lowest, n.idle = v, 0
	}
	n.o.report(&n.result)
}

// step takes one step. It returns false, and sets the reason, if there is none.
func (n *newton) step(ctx context.Context) bool {
	for range maxDampings {
		n.f.Factor(n.damping)
		residual := min(loosest, math.Sqrt(n.result.Gradient))
		// No more accurate than the run needs.
		n.solveNewton(ctx, max(residual, n.o.Tolerance/(2*n.result.Gradient)))
		if ctx.Err() != nil {
			n.result.Reason = Cancelled
			return false
		}
		slope := Dot(n.g, n.p)
		if !(slope < 0) {
			break
		}
		n.f.Aim(n.p)
		if !n.f.Bounded() && n.f.Falls(false) {
			n.result.Reason = NoMinimum
			return false
		}
		alpha := lineSearch(n.f, n.result.Value, slope, 1)
		n.setDamping(alpha)
		if alpha > 0 {
			n.result.Value = n.f.Advance(alpha, n.g)
			addScaled(alpha, n.p, n.x)
			n.result.Steps++
			return true
		}
	}
	n.result.Reason = Precision
	return false
}

// setDamping sets mu for the next step from the part of p that was taken.
func (n *newton) setDamping(alpha float64) {
	length := norm(n.p) * max(alpha, minTaken)
	switch {
	case alpha < tinyStep:
		n.damping = max(10*n.damping, firstMu*norm(n.g)/length)
	case alpha >= nearlyWhole && n.damping < minMu*norm(n.g)/length:
		n.damping = 0
	case alpha >= nearlyWhole:
		n.damping /= 100
	}
}

// hasNoMinimum reports whether the gradient is small because the function falls without end and flattens, not because
// a minimum is near. The curvature flattens as well there, so that an undamped Newton step stays long, and the function
// recognises its direction.
func (n *newton) hasNoMinimum(ctx context.Context) bool {
	if n.f.Bounded() || n.result.Gradient == 0 {
		return false
	}
	n.damping = 0
	n.f.Factor(n.damping)
	n.solveNewton(ctx, fadedAccuracy)
	n.f.Aim(n.p)
	return n.f.Falls(true)
}

// solveNewton solves (H + mu I) p = -g by conjugate gradients, up to a residual that is a part of the
// gradient.
func (n *newton) solveNewton(ctx context.Context, part float64) {
	clear(n.p)
	for j, g := range n.g {
		n.r[j] = -g
	}
	n.f.Precondition(n.r, n.y)
	copy(n.d, n.y)
	rho := Dot(n.r, n.y)
	goal := float64(float64(part*part) * rho)
	steepest := 0.0 // the largest curvature so far
	for k := 0; k < maxProducts && ctx.Err() == nil; k++ {
		n.f.Product(n.d, n.h)
		addScaled(n.damping, n.d, n.h)
		n.result.Products++
		curvature, size := Dot(n.d, n.h), norm(n.d)
		steepest = max(steepest, norm(n.h)/size)
		if !(curvature > flatness*steepest*size*size) { // linear along d, up to rounding
			if k == 0 {
				copy(n.p, n.d)
			}
			return
		}
		alpha := rho / curvature
		addScaled(alpha, n.d, n.p)
		addScaled(-alpha, n.h, n.r)
		n.f.Precondition(n.r, n.y)
		before := rho
		rho = Dot(n.r, n.y)
		if !(rho > goal) {
			return
		}
		ratio := rho / before
		for j, y := range n.y {
			n.d[j] = y + float64(ratio*n.d[j])
		}
	}
}
