// Package restricted solves the inner problem of the certified solver: a training problem on rows held in
// memory, with a dual point that bounds the whole problem.
//
// The rows are all positives, or some, and some rows of the population. A dual point (p, a) on them is one of
// the whole problem, with zeros elsewhere. So its value is a lower bound of the whole problem, whichever rows
// are held and however well the restricted problem is solved. The package knows rows and a form, but no data
// source.
//
// Solver chooses between three ways. Pat&Mat with the squared hinge is differentiable: Newton's method
// (newton.go). All others: a primal-dual interior-point method (interior.go), in the space of the rows where
// that has fewer dimensions than the columns (rowspace.go, rowsystem.go).
//
// Comments on constants quote numbers of steps. They were measured with a prototype of the same method in
// numpy, on public data sets.
package restricted

import (
	"math"

	"toptau/internal/core/certified/form"
	"toptau/internal/core/certified/linalg"
)

// Problem is the problem on the rows held.
type Problem struct {
	form.Form
	Positives, Population *linalg.Rows
	Mass                  float64 // M+ of all positives. Those that are not held have p = 0.
	Unit                  float64 // a usual weight of a row
}

// Result is the best point and the best dual point that a solve found. They need not belong together.
type Result struct {
	W       []float64
	Value   float64   // F of the restricted problem at W
	Bound   float64   // D(P, A), a lower bound of the whole problem; for lambda = 0 in a ball
	Radius  float64   // for lambda = 0: of the ball that Bound holds in
	Length  float64   // |v| of the dual point; for lambda = 0 the bound in another ball is Bound + (Radius - R) Length
	P, A    []float64 // one element for each row held
	Theta   float64   // the largest a_j/m_j, times sum p, for the next start; 0: unknown
	Systems int       // Newton systems solved
	Closed  bool      // Value - Bound reached the tolerance

	steps int
	gain  float64 // the largest D without its term in |v|
}

// iterate is a problem with a current point and the best points so far, in the units of F.
type iterate struct {
	Problem
	w      []float64
	zp, zs []float64 // scores of w on the positives and on the population
	best   Result

	scratchP, scratchS []float64 // one element for each positive, each row of the population
	order              []int32   // scratch of Threshold
}

func newIterate(p Problem) iterate {
	v := iterate{Problem: p, w: make([]float64, p.Positives.D),
		zp: make([]float64, p.Positives.N), scratchP: make([]float64, p.Positives.N),
		zs: make([]float64, p.Population.N), scratchS: make([]float64, p.Population.N)}
	v.best.Value, v.best.Bound, v.best.gain = math.Inf(1), math.Inf(-1), math.Inf(-1)
	return v
}

// computeScores sets the scores of the current point.
func (v *iterate) computeScores() {
	v.Positives.Times(v.w, v.zp)
	v.Population.Times(v.w, v.zs)
}

// offerPoint keeps the current point if it is the best so far.
func (v *iterate) offerPoint() {
	t, _, order := v.Threshold(v.zs, v.Population.Weight, v.order)
	v.order = order
	value := v.MeanLoss(t, v.zp, v.Positives.Weight, v.Mass) + float64(v.Lambda/2*linalg.Dot(v.w, v.w))
	if value < v.best.Value {
		v.best.Value = value
		v.best.W = append(v.best.W[:0], v.w...)
	}
}

// offerDual keeps a dual point if its bound is the best so far. p must be feasible; a is repaired. Both are
// overwritten.
func (v *iterate) offerDual(p, a []float64, theta float64) {
	if !v.Repair(a, v.Population.Weight) {
		return
	}
	radius := v.Ball(v.w)
	bound, length := v.bound(p, a, radius)
	if bound > v.best.Bound {
		v.best.Bound, v.best.Radius, v.best.Length = bound, radius, length
		v.best.P = append(v.best.P[:0], p...)
		v.best.A = append(v.best.A[:0], a...)
		v.best.Theta = theta
	}
}

// bound returns D(p, a) and |v|. D(p, a) is A - B - |v|^2/(2 lambda) after the best scaling of p, which it applies. For lambda
// = 0 it returns A - B - R |v|, which holds for |w| <= R = radius, and does not scale.
//
//	A = P - P r(a),   B = (M+/4) sum p^2/m for the squared loss, else 0,   v = sum p x - P sum a x,   P = sum p
//
// D(theta p, a) = theta A - theta^2 (B + |v|^2/(2 lambda)) is largest at theta = A/(2B + |v|^2/lambda). For
// the hinge p may not exceed m/M+.
func (v *iterate) bound(p, a []float64, radius float64) (bound, length float64) {
	total := linalg.Sum(p)
	g := make([]float64, v.Positives.D)
	v.Positives.AddTransposed(p, 1, g)
	v.Population.AddTransposed(a, -total, g)
	linear := total - float64(total*v.Regulariser(a, v.Population.Weight))
	var quadratic, fullest float64 // fullest: the largest p_i as a part of its cap
	for i, m := range v.Positives.Weight {
		if v.Squared {
			quadratic += float64(v.Mass/4*p[i]*p[i]) / m
		} else {
			fullest = max(fullest, p[i]*v.Mass/m)
		}
	}
	norm2 := linalg.Dot(g, g)
	if v.Lambda == 0 {
		v.best.gain = max(v.best.gain, linear-quadratic)
		length = math.Sqrt(norm2)
		return linear - quadratic - float64(radius*length), length
	}
	curvature := float64(2*quadratic) + norm2/v.Lambda
	scale := math.Inf(1)
	if fullest > 0 {
		scale = 1 / fullest
	}
	if curvature > 0 {
		scale = min(scale, max(0, linear/curvature))
	} else if math.IsInf(scale, 1) {
		scale = 1
	}
	for i := range p {
		p[i] *= scale
	}
	return float64(scale*linear) - float64(float64(scale*scale)*curvature/2), scale * math.Sqrt(norm2)
}

// Bound evaluates the dual point of an earlier problem. p must be feasible and a is repaired; both are
// overwritten. w is a point near the optimum, for the ball. It reports false if a cannot be repaired.
func Bound(p Problem, w, dualP, dualA []float64, theta float64) (Result, bool) {
	v := newIterate(p)
	copy(v.w, w)
	v.offerDual(dualP, dualA, theta)
	return v.best, v.best.P != nil
}
