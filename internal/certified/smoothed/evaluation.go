// Package smoothed has the training problem with every corner of the hinge smoothed: its value, its gradient,
// Newton's step and a bound for the true problem. It knows scores and a form, but no data source.
//
// With millions of rows many thousands lie near the corner of some hinge, wherever w is. Holding them one by
// one would mean holding the rows of the whole way to the optimum. The smoothed problem is differentiable, so
// Newton's method needs a few passes, and a sample of the rows on the smoothed part gives its second
// derivative.
package smoothed

import (
	"math"

	"toptau/internal/certified/form"
	"toptau/internal/certified/linalg"
)

// Evaluation is the smoothed problem at one point. With the smoothed hinge c, the threshold is a quantile t =
// s + 1/beta with sum m_j c(z_j - s) = volume, or the mean of the largest, t = min over s of s + (1/kappa)
// sum m_j c(z_j - s). Either way
//
//	a_j = m_j c'(z_j - s)/U,   U = sum m_j c'(z_j - s)   (>= kappa for the mean),     p_i = m_i c'(1 + t - z_i)/M+
//
// are feasible for the true problem, and grad t = X'a. So the gradient of the smoothed problem gives a bound
// of the true one.
//
// New sets the fields that need scores alone. The caller sets the others, which need rows.
type Evaluation struct {
	Form  form.Form
	W     []float64
	Mass  float64 // M+
	Loss  Hinge   // of the positives
	Hinge Hinge   // of the population

	Exact float64 // F(w), of the true problem
	T     float64 // its threshold
	Edge  float64 // the lower edge of its band
	Above int     // rows of the population in the band

	Value float64 // of the smoothed problem
	Level float64 // s
	Top   float64 // t
	U     float64

	P         float64   // sum p
	Squares   float64   // sum p^2/m; squared loss only
	WeightedX []float64 // X+'p
	GradT     []float64 // grad t = X'a
	Losses    Sample    // positives on the smoothed part of the loss
	Band      Sample    // rows on the smoothed part of the threshold
}

// Sample is rows with c" > 0, or an evenly spaced part of them.
type Sample struct {
	Count     int     // of all such rows
	PerRow    float64 // number of rows that each sampled one represents
	Rows      []Row
	Curvature []float64 // m c" of the sampled rows
}

// Row is a sampled row. Features writes its features to dst.
type Row struct {
	Weight   float64
	Features func(dst []float64)
}

// New returns an evaluation at w for a smoothing width; mass is M+.
func New(f form.Form, w []float64, width, mass float64) *Evaluation {
	return &Evaluation{Form: f, W: w, Mass: mass, Loss: Hinge{Square: f.Squared, Width: width},
		Hinge: Hinge{Square: f.Kind == form.SquaredQuantile, Width: width}}
}

// Floor returns a score below which no row of the population matters to SetLevel. Edge must be set.
func (e *Evaluation) Floor() float64 { return e.Edge - 2*e.Hinge.Reach() }

// SetLevel sets Level, Top and U from the scores of the population, those below Floor left out, and their
// weights (nil: all 1).
func (e *Evaluation) SetLevel(scores, weights []float64) {
	l := levelSolver{scores, weights, e.Hinge}
	if e.Form.Kind == form.TopMean {
		e.Level = l.levelOfMass(e.Edge-e.Hinge.Reach(), e.Edge+e.Hinge.Reach(), e.Form.Kappa)
		value, mass, _ := l.sums(e.Level)
		e.Top, e.U = e.Level+value/e.Form.Kappa, mass
		return
	}
	volume := float64(e.Form.Kappa * e.Form.Band())
	if e.Hinge.Square {
		volume *= e.Form.Band()
	}
	e.Level = l.levelOfVolume(e.Edge, volume)
	e.Top = e.Level + e.Form.Band()
	_, e.U, _ = l.sums(e.Level)
}

// DualP returns the multiplier p of a positive with score z and weight m.
func (e *Evaluation) DualP(z, m float64) float64 {
	return e.Loss.Slope(1+e.Top-z) * m / e.Mass
}

// DualA returns the multiplier a of a row of the population with score z and weight m.
func (e *Evaluation) DualA(z, m float64) float64 {
	return e.Hinge.Slope(z-e.Level) * m / e.U
}

// Smooth returns the number of rows on the smoothed part of a hinge: those that the second derivative comes
// from.
func (e *Evaluation) Smooth() int { return e.Losses.Count + e.Band.Count }

// LargestA returns the mass of which a row may have at most its part of a.
func (e *Evaluation) LargestA() float64 {
	if e.Form.Kind == form.TopMean {
		return e.Form.Kappa
	}
	return e.U
}

// Gradient returns lambda w + P grad t - X+'p.
func (e *Evaluation) Gradient() []float64 {
	g := make([]float64, len(e.W))
	linalg.Axpy(e.Form.Lambda, e.W, g)
	linalg.Axpy(e.P, e.GradT, g)
	linalg.Axpy(-1, e.WeightedX, g)
	return g
}

// Residual returns what the gradient costs the bound: |gradient|^2/(2 lambda), or R |gradient| for lambda =
// 0.
func (e *Evaluation) Residual(radius float64) float64 {
	g := e.Gradient()
	square := linalg.Dot(g, g)
	if e.Form.Lambda == 0 {
		return float64(radius * math.Sqrt(square))
	}
	return square / (2 * e.Form.Lambda)
}

// Bound returns D(scale p, a) and the best scale. For lambda = 0 the bound holds for |w| <= radius, and the
// scale is 1.
func (e *Evaluation) Bound(radius float64) (bound, scale float64) {
	v := append([]float64(nil), e.WeightedX...)
	linalg.Axpy(-e.P, e.GradT, v)
	linear := e.P - float64(e.P*e.regulariser())
	quadratic := float64(e.Mass / 4 * e.Squares)
	norm2 := linalg.Dot(v, v)
	if e.Form.Lambda == 0 {
		return linear - quadratic - float64(radius*math.Sqrt(norm2)), 1
	}
	scale = 1
	curvature := float64(2*quadratic) + norm2/e.Form.Lambda
	if curvature > 0 {
		scale = math.Max(0, linear/curvature)
	}
	if !e.Form.Squared {
		scale = math.Min(scale, 1) // some p may be at its cap m/M+
	}
	return float64(scale*linear) - float64(float64(scale*scale)*curvature/2), scale
}

// regulariser returns r(a). No slope of a smoothed corner is above 1, so max a_j/m_j <= 1/U; for squares
// sum m c'^2 = 4 sum m c = 4 kappa/beta^2.
func (e *Evaluation) regulariser() float64 {
	switch e.Form.Kind {
	case form.TopMean:
		return 0
	case form.HingeQuantile:
		return (e.Form.Kappa/e.U - 1) / e.Form.Beta
	default:
		return (float64(2*e.Form.Kappa)*e.Form.Band()/e.U - 1) / e.Form.Beta
	}
}

// For returns the same multipliers for another problem on the same rows. It returns nil if they are not
// feasible there.
func (e *Evaluation) For(f form.Form) *Evaluation {
	same := e.Form.Kind == f.Kind && e.Form.Squared == f.Squared
	if !same || f.Kind == form.TopMean && f.Kappa > e.U ||
		f.Kind == form.SquaredQuantile && (f.Kappa != e.Form.Kappa || f.Beta != e.Form.Beta) {
		return nil
	}
	other := *e
	other.Form = f
	return &other
}
