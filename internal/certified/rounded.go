package certified

import (
	"context"
	"math"
)

// rounder is a source that can evaluate the problem with its kinks rounded. With millions of rows many thousands lie near a
// kink wherever w is, and the rounded problem is smooth enough for Newton's method: a few readings where rows held one by
// one would have to be those of the whole way from the start to the optimum. Other sources go that way.
type rounder interface {
	// rounded evaluates F at w, and the same with every kink rounded over a width.
	rounded(ctx context.Context, f form, w []float64, width float64) (*rounded, error)
	// differentiate adds the derivatives of the rounded problem, with at most limit rows of each class for the second one.
	differentiate(ctx context.Context, r *rounded, limit int) error
	// between returns the point from + alpha (to - from), for which no reading is needed.
	between(from, to []float64, alpha float64) []float64
	// dual returns the multipliers of the rounded problem, p times a scale.
	dual(r *rounded, scale float64) (p, a Sparse)
}

// rounded is a problem with rounded kinks at one point. With c the rounded kink the threshold is a quantile t = s + 1/beta,
// sum m_j c(z_j - s) = volume, or the mean of the largest, t = min over s of s + (1/kappa) sum m_j c(z_j - s). Either way
//
//	a_j = m_j c'(z_j - s)/U,   U = sum m_j c'(z_j - s)   (>= kappa for the mean),     p_i = m_i c'(1 + t - z_i)/M+
//
// are feasible, and grad t = X'a. So the gradient gives a bound for the true problem.
type rounded struct {
	f     form
	w     []float64
	exact float64 // F(w)
	t     float64 // its threshold
	edge  float64 // and the lower edge of its band
	above int     // rows of the population in the band

	loss, kink kink    // of the positives and of the population
	value      float64 // of the rounded problem
	level      float64 // s
	top        float64 // t
	mass       float64 // U

	total    float64   // P = sum p
	squares  float64   // sum p^2/m, squared loss only
	weighted []float64 // X+'p
	slope    []float64 // grad t = X'a
	losses   bent      // positives whose loss bends
	band     bent      // rows where the threshold bends
}

// bent is the rows with c” > 0, or some of them, evenly chosen.
type bent struct {
	count     int
	share     float64 // rows that each of the chosen ones stands for
	rows      []Row
	curvature []float64 // m c''
}

// bends is how many rows bend.
func (r *rounded) bends() int { return r.losses.count + r.band.count }

// cap is the mass of which a row may have at most its share of a.
func (r *rounded) cap() float64 {
	if r.f.kind == topMean {
		return r.f.kappa
	}
	return r.mass
}

// gradient is that of the rounded problem, lambda w + P grad t - X+'p.
func (r *rounded) gradient() []float64 {
	g := make([]float64, len(r.w))
	axpy(r.f.lambda, r.w, g)
	axpy(r.total, r.slope, g)
	axpy(-1, r.weighted, g)
	return g
}

// residual is what the gradient costs the bound: |gradient|^2/(2 lambda), or R |gradient|.
func (r *rounded) residual(radius float64) float64 {
	g := r.gradient()
	square := dot(g, g)
	if r.f.lambda == 0 {
		return float64(radius * math.Sqrt(square))
	}
	return square / (2 * r.f.lambda)
}

// bound is D(p, a) after the best scaling of p, which it returns; for lambda = 0 it holds for |w| <= radius. C = M+.
func (r *rounded) bound(mass, radius float64) (bound, scale float64) {
	v := append([]float64(nil), r.weighted...)
	axpy(-r.total, r.slope, v)
	linear := r.total - float64(r.total*r.regulariser())
	quadratic := float64(mass / 4 * r.squares)
	norm2 := dot(v, v)
	if r.f.lambda == 0 {
		return linear - quadratic - float64(radius*math.Sqrt(norm2)), 1
	}
	scale = 1
	curvature := float64(2*quadratic) + norm2/r.f.lambda
	if curvature > 0 {
		scale = math.Max(0, linear/curvature)
	}
	if !r.f.squared {
		scale = math.Min(scale, 1) // a slope may be 1, the cap
	}
	return float64(scale*linear) - float64(float64(scale*scale)*curvature/2), scale
}

// regulariser is r(a): no slope of a rounded corner is above 1, and sum m c'^2 = 4 sum m c = 4 kappa/beta^2 for squares.
func (r *rounded) regulariser() float64 {
	switch r.f.kind {
	case topMean:
		return 0
	case hingeQuantile:
		return (r.f.kappa/r.mass - 1) / r.f.beta
	default:
		return (float64(2*r.f.kappa)*r.f.band()/r.mass - 1) / r.f.beta
	}
}

// of returns the same multipliers for another problem on the same rows, nil where they are not feasible there.
func (r *rounded) of(f form) *rounded {
	same := r.f.kind == f.kind && r.f.squared == f.squared
	if !same || f.kind == topMean && f.kappa > r.mass || f.kind == squaredQuantile && (f.kappa != r.f.kappa || f.beta != r.f.beta) {
		return nil
	}
	other := *r
	other.f = f
	return &other
}
