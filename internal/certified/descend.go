package certified

import "math"

// start is where Newton's method with rounded kinks begins or ended.
type start struct {
	w     []float64
	width float64 // of the kinks; 0: w is a direction only
	frame *frame
}

const (
	firstWidth  = .05  // of the first kinks, relative to F(0): a good part of the rows bends
	warmWidth   = .005 // the same after another problem
	leastWidth  = 1e-10
	bentRows    = 20_000 // of a class, for the second derivative
	bendsWanted = 4      // bending rows a column without which the second derivative means nothing
	mostSteps   = 30
	patience    = 4 // steps within which the gap must halve
)

// descend minimises the problem with rounded kinks by Newton's method, and narrows the kinks as far as the gap asks for.
// It ends when that is done, when the steps bring little, or when too few rows bend; it returns the last point.
func (s *session) descend(source rounder, from start) (start, error) {
	now, err := s.widened(source, &from)
	if err != nil {
		return from, err
	}
	gaps := []float64{math.Inf(1)}
	for range mostSteps {
		from.w = now.w
		residual, rest := s.offer(now)
		gaps = append(gaps, s.upper-s.lower)
		if s.report(); s.done() || stalled(gaps) || s.spent() || now.bends() < bendsWanted*len(now.w) {
			return from, nil
		}
		width := from.width
		if residual < rest { // which falls with the square of the width
			width = math.Max(leastWidth*s.atZero, width*math.Max(.1, math.Min(.5, math.Sqrt(.25*s.target()/rest))))
		}
		before := now
		if now, err = s.advance(source, now, &from.width, width); err != nil || now == before {
			return from, err
		}
		if err := source.differentiate(s.ctx, now, bentRows); err != nil {
			return from, err
		}
	}
	return from, nil
}

// widened evaluates the start with kinks that are wide enough for a second derivative.
func (s *session) widened(source rounder, from *start) (*rounded, error) {
	for {
		r, err := source.rounded(s.ctx, s.f, from.w, from.width)
		if err != nil {
			return nil, err
		}
		if err = source.differentiate(s.ctx, r, bentRows); err != nil {
			return nil, err
		}
		if r.bends() >= 2*bendsWanted*len(r.w) || from.width > 10*s.atZero {
			return r, nil
		}
		from.width *= 3
	}
}

// stalled reports whether the last steps have not halved the gap.
func stalled(gaps []float64) bool {
	last := len(gaps) - 1
	return last >= patience && gaps[last] > .5*gaps[last-patience]
}

// offer takes over the point and the bound if they are better. It returns how far the bound is below the best value: what
// the gradient costs, and the rest, which is due to the width.
func (s *session) offer(r *rounded) (residual, rest float64) {
	s.rounds++
	s.accept(evaluation{w: r.w, f: r.exact, t: r.t, edge: r.edge, above: r.above})
	bound := s.offerBound(r)
	residual = r.residual(s.f.ball(r.w))
	return residual, s.upper - bound - residual
}

// offerBound takes over the bound if it is better.
func (s *session) offerBound(r *rounded) float64 {
	radius := s.f.ball(r.w)
	bound, scale := r.bound(s.shape.Positives.Mass, radius)
	if bound > s.lower {
		s.lower, s.rounded, s.scale, s.radius = bound, r, scale, radius
		s.theta = scale * r.total / r.cap()
	}
	return bound
}

// advance takes one Newton step, shortened until the rounded problem's value falls, and evaluates the new point with kinks
// of a new width, which is set. Narrower kinks have smaller values: that they fall is no less to ask for. It returns the old
// point where no step helps.
func (s *session) advance(source rounder, now *rounded, width *float64, narrower float64) (*rounded, error) {
	step := s.newtonStep(now)
	fall := float64(1e-4*dot(now.gradient(), step)) + float64(1e-12*math.Abs(now.value))
	w := append([]float64(nil), now.w...)
	axpy(1, step, w)
	if s.upper == s.atZero && narrower < *width {
		// Where w = 0 is optimal nothing has a scale but the kinks: w shrinks with them.
		fall = math.Abs(fall)
		for j := range w {
			w[j] *= narrower / *width
		}
	}
	for range 10 {
		next, err := source.rounded(s.ctx, s.f, w, narrower)
		if err != nil {
			return nil, err
		}
		if next.value <= now.value+fall {
			*width = narrower
			return next, nil
		}
		w, narrower = source.between(now.w, w, .3), *width
	}
	return now, nil
}

// newtonStep is -H^-1 times the gradient, with H estimated from rows that bend:
//
//	H = lambda I + (1/M+) sum m c'' (x - grad t)(x - grad t)' + P hess t,
//
// the sum over the positives. hess t is the same sum over the population, for a quantile over U; for the mean of the largest
// over kappa, about the weighted mean of the rows that bend instead of grad t.
func (s *session) newtonStep(r *rounded) []float64 {
	d := len(r.w)
	h := make([]float64, d*d)
	s.addBent(&r.losses, 1/s.shape.Positives.Mass, r.slope, h)
	middle := r.slope
	if s.f.kind == topMean {
		middle = nil
	}
	s.addBent(&r.band, r.total/r.cap(), middle, h)
	r.losses.rows, r.band.rows = nil, nil
	var trace float64
	for j := range d {
		h[j*d+j] += r.f.lambda
		trace += h[j*d+j]
	}
	for j := range d {
		h[j*d+j] += float64(1e-13*trace/float64(d)) + 1e-300
	}
	var factor cholesky
	factor.factor(h, d)
	s.systems++
	step := make([]float64, d)
	axpy(-1, r.gradient(), step)
	factor.solve(step)
	return step
}

// addBent adds scale times the sum of m c” (x - middle)(x - middle)' to the lower triangle of h; middle nil: the rows' mean.
func (s *session) addBent(b *bent, scale float64, middle []float64, h []float64) {
	if len(b.rows) == 0 {
		return
	}
	d := s.shape.Cols
	set, x := newRows(s.pos.frame), make([]float64, d)
	for _, row := range b.rows {
		row.Features(x)
		set.add(x, row.Weight)
	}
	diagonal := make([]float64, set.n)
	axpy(b.share*scale, b.curvature, diagonal)
	set.addGram(diagonal, h, d)
	border, g, total := make([]float64, d), make([]float64, d), sum(diagonal)
	set.addTransposed(diagonal, 1, border)
	if middle == nil {
		axpy(1/total, border, g)
	} else {
		axpy(1, middle, g)
		axpy(-1, s.pos.centre, g)
	}
	for i := range d {
		for j := range i + 1 {
			h[i*d+j] += float64(float64(total*g[i])*g[j]) - (float64(border[i]*g[j]) + float64(g[i]*border[j]))
		}
	}
}
