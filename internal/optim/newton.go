package optim

import (
	"context"
	"math"
)

// Newton minimises a convex function from x, which it overwrites with the final point.
//
// Each step solves (H + mu I) p = -g by preconditioned conjugate gradients to a residual of min(0.1, sqrt(|g|/Scale))
// |g|, in the norm of the preconditioner, and searches along p. mu is 0 until the search finds a tiny part of p or
// nothing: where the curvature has all but vanished and the slope has not, as the logistic loss has it far on the wrong
// side, p is far too long. It falls again with every step that is taken nearly whole, so the convergence is
// superlinear. It is confirmed on freshly formed scores. When the function falls for ever in a direction that comes up,
// the run ends with NoMinimum.
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

// maxProducts is the number of Hessian products in one step, maxDampings that of its dampings, flatness the part of the
// largest curvature that a product loses by rounding, and idleSteps the number of steps that lower neither the gradient
// nor, beyond rounding, the value, after which the run has met its precision.
const (
	maxProducts = 500
	maxDampings = 20
	flatness    = 1e-13
	idleSteps   = 6
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
			if n.vanishes(ctx) {
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

// measure keeps the books on the gradient and reports.
func (n *newton) measure() {
	n.result.Gradient = norm(n.g)
	if n.o.Scale > 0 {
		n.result.Gradient /= n.o.Scale
	}
	n.idle++
	if n.result.Gradient < n.least {
		n.least, n.idle = n.result.Gradient, 0
	}
	if v := n.result.Value; v < n.lowest-float64(valueNoise*math.Abs(n.lowest)) || math.IsInf(n.lowest, 1) {
		n.lowest, n.idle = v, 0
	}
	if n.o.Progress != nil {
		n.o.Progress(Progress{n.result.Steps, n.o.Steps, n.result.Value, n.result.Gradient})
	}
}

// step takes one step; false, with the reason, when there is none.
func (n *newton) step(ctx context.Context) bool {
	for range maxDampings {
		n.f.Factor(n.damping)
		share := min(0.1, math.Sqrt(n.result.Gradient))
		n.conjugate(ctx, max(share, n.o.Tolerance/(2*n.result.Gradient))) // no more than the run needs
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
		alpha := search(n.f, n.result.Value, slope, 1)
		n.damp(alpha)
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

// damp chooses the damping of the next step from how much of the last one was taken.
func (n *newton) damp(alpha float64) {
	length := norm(n.p) * max(alpha, 1e-6)
	switch {
	case alpha < 1e-4:
		n.damping = max(10*n.damping, 0.1*norm(n.g)/length)
	case alpha >= 0.3 && n.damping < 1e-7*norm(n.g)/length:
		n.damping = 0
	case alpha >= 0.3:
		n.damping /= 100
	}
}

// vanishes tells a small gradient at a minimum from one that has faded on the way down to none: there the curvature
// fades as well, and the Newton step does not shrink.
func (n *newton) vanishes(ctx context.Context) bool {
	if n.f.Bounded() || n.result.Gradient == 0 {
		return false
	}
	n.damping = 0
	n.f.Factor(n.damping)
	n.conjugate(ctx, 1e-10)
	n.f.Aim(n.p)
	return n.f.Falls(true)
}

// conjugate solves (H + mu I) p = -g up to a share of the gradient.
func (n *newton) conjugate(ctx context.Context, share float64) {
	clear(n.p)
	for j, g := range n.g {
		n.r[j] = -g
	}
	n.f.Precondition(n.r, n.y)
	copy(n.d, n.y)
	rho := Dot(n.r, n.y)
	goal := float64(float64(share*share) * rho)
	steepest := 0.0 // the largest curvature met
	for k := 0; k < maxProducts && ctx.Err() == nil; k++ {
		n.f.Product(n.d, n.h)
		addScaled(n.damping, n.d, n.h)
		n.result.Products++
		curvature, size := Dot(n.d, n.h), norm(n.d)
		steepest = max(steepest, norm(n.h)/size)
		if !(curvature > flatness*steepest*size*size) { // the function is linear along d, as far as rounding can tell
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
