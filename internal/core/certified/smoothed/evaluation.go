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

	"toptau/internal/core/certified/form"
	"toptau/internal/core/certified/linalg"
)

// Cell has sums over the rows of a class on one piece of a smoothed hinge, whose slope is linear there. z are
// scores less an origin, which is the corner.
type Cell struct {
	Mass     float64   // sum m
	Score    float64   // sum m z
	Square   float64   // sum m z^2
	Features []float64 // sum m x
	Moment   []float64 // sum m z x
}

// Piece is a linear piece of a slope: Rate + Slope z. The hinge there is Base + slope^2/(2 Slope), or Base + Rate z if Slope is 0,
// up to about Off.
type Piece struct{ Rate, Slope, Base, Off float64 }

// Slopes returns the sum of m c'(z).
func (c *Cell) Slopes(p Piece) float64 { return float64(p.Rate*c.Mass) + float64(p.Slope*c.Score) }

// Squares returns the sum of m c'(z)^2.
func (c *Cell) Squares(p Piece) float64 {
	return math.Max(0, float64(p.Rate*p.Rate*c.Mass)+float64(2*p.Rate*p.Slope*c.Score)+float64(p.Slope*p.Slope*c.Square))
}

// AddGradient adds the sum of m c'(z) x to g.
func (c *Cell) AddGradient(p Piece, scale float64, g []float64) {
	if p.Rate != 0 {
		linalg.Axpy(scale*p.Rate, c.Features, g)
	}
	if p.Slope != 0 {
		linalg.Axpy(scale*p.Slope, c.Moment, g)
	}
}

// Evaluation is the smoothed problem at one point. With the smoothed hinge c, the threshold is a quantile t =
// s + 1/beta with sum m_j c(z_j - s) = volume, or the mean of the largest, t = min over s of s + (1/kappa)
// sum m_j c(z_j - s). Either way
//
//	a_j = m_j c'(z_j - s)/U,   U = sum m_j c'(z_j - s)   (>= kappa for the mean),     p_i = m_i c'(1 + t - z_i)/M+
//
// are feasible for the true problem, and grad t = X'a. So the gradient of the smoothed problem gives a bound
// of the true one. That holds for any s and t, so rounding of the level costs nothing but speed.
type Evaluation struct {
	Form  form.Form
	W     []float64
	Mass  float64 // M+
	Loss  Hinge   // of the positives
	Hinge Hinge   // of the population
	Level float64 // s
	Top   float64 // t
	U     float64

	Value       float64   // of the smoothed problem
	Off         float64   // about the error of Value, beyond rounding
	P           float64   // sum p
	Squares     float64   // sum p^2/m; squared loss only
	Regulariser float64   // r(a)
	WeightedX   []float64 // X+'p
	GradT       []float64 // grad t = X'a
	Losses      Sample    // positives on the smoothed part of the loss
	Band        Sample    // rows on the smoothed part of the threshold
}

// Sample is rows with c" > 0, or a part of them.
type Sample struct {
	Count     float64 // of all such rows, estimated
	Rows      []Row
	Curvature []float64 // m c" of the sampled rows, times Stands
}

// Row is a sampled row. Features writes its features to dst.
type Row struct {
	Score, Weight float64
	Stands        float64 // the number of rows that it stands for
	Features      func(dst []float64)
}

// New returns an evaluation at w for a smoothing width. mass is M+.
func New(f form.Form, w []float64, width, mass float64) *Evaluation {
	return &Evaluation{Form: f, W: w, Mass: mass, Loss: Hinge{Square: f.Squared, Width: width},
		Hinge: Hinge{Square: f.Kind == form.SquaredQuantile, Width: width}}
}

// Volume returns the sum of m c(z - s) that makes s the level of a quantile.
func (e *Evaluation) Volume() float64 {
	volume := float64(e.Form.Kappa * e.Form.Band())
	if e.Hinge.Square {
		volume *= e.Form.Band()
	}
	return volume
}

// GuessLevel returns about the level from scores of the population and their weights, for which the rows of a
// bin may stand as one. edge is the lower edge of the true problem's band.
func (e *Evaluation) GuessLevel(edge float64, scores, weights []float64) float64 {
	l := levelSolver{scores, weights, e.Hinge}
	if e.Form.Kind == form.TopMean {
		return l.levelOfMass(edge-e.Hinge.Width, edge+e.Hinge.Width, e.Form.Kappa)
	}
	// Newton's method needs a level that is not too high.
	low, step := edge, e.Hinge.Width+float64(1e-3*math.Abs(edge))+1e-9
	for range 100 {
		if value, _, _ := l.sums(low); value >= e.Volume() {
			break
		}
		low -= step
		step *= 2
	}
	return l.levelOfVolume(low, e.Volume())
}

// RefineLevel returns a better level than s, from the cells of the population at s: a Newton step for the
// volume or the mass. It reports whether s was good enough.
func (e *Evaluation) RefineLevel(s float64, cells []Cell) (better float64, good bool) {
	var value, slope, curvature float64
	for k, p := range e.Hinge.Pieces() {
		c := &cells[k]
		value += e.Hinge.value(c, p)
		slope += c.Slopes(p)
		curvature += float64(p.Slope * c.Mass)
	}
	if e.Form.Kind == form.TopMean {
		// The mass must not be less than kappa, or a would leave its caps.
		excess := slope - float64(e.Form.Kappa*(1+levelExcess))
		if excess >= 0 && excess <= float64(10*levelExcess*e.Form.Kappa) || !(curvature > 0) {
			return s, slope >= e.Form.Kappa
		}
		return s + excess/curvature, false
	}
	if !(slope > 0) {
		return s, true
	}
	step := (value - e.Volume()) / slope
	return s + step, math.Abs(step) <= levelNoise*(math.Abs(s)+e.Hinge.Width)
}

// levelExcess is the relative excess of the mass over kappa that the level of a mean of the largest has, beyond
// rounding.
const levelExcess = 1e-11

// SetLevel sets the threshold from the cells of the population on the pieces of the hinge at a level, whose scores are less an origin.
func (e *Evaluation) SetLevel(s float64, cells []Cell, pieces []Piece) {
	e.Level, e.U = s, 0
	var value, squares, off float64
	e.GradT = make([]float64, len(e.W))
	for k, p := range pieces {
		c := &cells[k]
		value += e.Hinge.value(c, p)
		e.U += c.Slopes(p)
		squares += c.Squares(p)
		off += float64(p.Off * c.Mass)
		if c.Features != nil {
			c.AddGradient(p, 1, e.GradT)
		}
	}
	for j := range e.GradT {
		e.GradT[j] /= e.U
	}
	switch e.Form.Kind {
	case form.TopMean:
		e.Top = s + value/e.Form.Kappa
		e.Off = off / e.Form.Kappa
	case form.HingeQuantile: // no slope of a smoothed corner is above 1, so a_j/m_j <= 1/U
		e.Top = s + e.Form.Band()
		e.Regulariser = (e.Form.Kappa/e.U - 1) / e.Form.Beta
		e.Off = off / e.U
	default:
		e.Top = s + e.Form.Band()
		e.Regulariser = (math.Sqrt(e.Form.Kappa*squares)/e.U - 1) / e.Form.Beta
	}
}

// SetLoss sets the loss from the cells of the positives on its pieces. Their z are an origin less the score.
func (e *Evaluation) SetLoss(cells []Cell, pieces []Piece) {
	e.WeightedX = make([]float64, len(e.W))
	for k, p := range pieces {
		c := &cells[k]
		e.Value += e.Loss.value(c, p) / e.Mass
		e.Off += float64(p.Off*c.Mass) / e.Mass
		e.P += c.Slopes(p) / e.Mass
		e.Squares += c.Squares(p) / (e.Mass * e.Mass)
		c.AddGradient(p, 1/e.Mass, e.WeightedX)
	}
	if !e.Form.Squared {
		e.Squares = 0
	}
	e.Value += float64(e.Form.Lambda / 2 * linalg.Dot(e.W, e.W))
}

// SetSamples sets the rows that estimate the second derivative: rows near the corner of each class. Those
// without curvature are dropped.
func (e *Evaluation) SetSamples(positives, population []Row) {
	keep := func(rows []Row, curvature func(z float64) float64) (b Sample) {
		for _, r := range rows {
			if c := curvature(r.Score); c > 0 && r.Weight > 0 {
				b.Rows = append(b.Rows, r)
				b.Curvature = append(b.Curvature, r.Stands*r.Weight*c)
				b.Count += r.Stands
			}
		}
		return b
	}
	e.Losses = keep(positives, func(z float64) float64 { return e.Loss.Curvature(1 + e.Top - z) })
	e.Band = keep(population, func(z float64) float64 { return e.Hinge.Curvature(z - e.Level) })
}

// Smooth returns the number of rows on the smoothed part of a hinge: those that the second derivative comes
// from.
func (e *Evaluation) Smooth() int { return int(e.Losses.Count + e.Band.Count) }

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
	linear := e.P - float64(e.P*e.Regulariser)
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
