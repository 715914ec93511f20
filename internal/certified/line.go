package certified

import (
	"math"

	"toptau/internal/certified/linalg"
	"toptau/internal/detmath"
)

const (
	// lineSlack is the accuracy of a line search, as a part of the difference of the bounds. Chosen by hand:
	// the next restricted problem starts elsewhere anyway.
	lineSlack = 1e-2

	lineDoublings = 40    // of alpha until the slope is not negative
	lineTrials    = 60    // at most, once the minimum is between two points
	bisectEvery   = 4     // trials: the tangents of a function with few corners converge, those of others need help
	lineNoise     = 1e-12 // relative width of a bracket that rounding cannot shrink
)

// line is F on the ray from + alpha (to - from), on the rows held and the groups. F is convex on it. So two
// tangents with slopes of opposite sign bound it from below by the point where they meet, and F is evaluated
// there next.
//
// The rows held are those that matter at both ends, or nearly so. A restricted problem on them is a lower bound
// of F, and a good guess of where F is smallest. Whether it is right is seen when F is evaluated there.
type line struct {
	s                     *solver
	pos, pop              segment
	norm, slope, constant float64   // of the term in lambda
	at                    []float64 // scores at the current alpha
	order                 []int32
}

// segment has the scores of some rows at one end of a line, and their differences to the other end.
type segment struct{ from, delta, weights []float64 }

// bestOnHeld returns the alpha at which F, on the rows held, is smallest on the ray from one point through
// another, to within slack. It returns 1 if to is as good.
func (s *solver) bestOnHeld(from, to *Point, slack float64) (alpha float64) {
	step := make([]float64, len(from.W))
	for j := range step {
		step[j] = to.W[j] - from.W[j]
	}
	l := &line{s: s, norm: s.form.Lambda * linalg.Dot(step, step), slope: s.form.Lambda * linalg.Dot(from.W, step),
		constant: s.form.Lambda / 2 * linalg.Dot(from.W, from.W)}
	alpha = 1
	s.withGroups(func() {
		l.pos, l.pop = s.pos.segment(from.W, to.W), s.pop.segment(from.W, to.W)
		if linalg.Sum(l.pop.weights) >= s.form.Kappa {
			alpha = l.minimise(slack)
		}
	})
	return alpha
}

// crowdedTrials is the number of points of a line at which F is evaluated where not all rows that matter are held.
// Chosen by hand: each one costs a few sweeps over the scores, and no pass.
const crowdedTrials = 9

// bestByTrial returns about the alpha at which F is smallest on the ray from one point through another, from values
// of F: rows held and groups are not enough to tell where many rows matter. It is a search by parabolas, in a
// bracket around the best value. first and last are F at the two points.
func (s *solver) bestByTrial(from, to *Point, first, last float64) (float64, error) {
	value := func(alpha float64) (float64, error) {
		points, err := s.evaluate(0, pointBetween(from, to, alpha))
		if err != nil {
			return 0, err
		}
		return points[0].f, nil
	}
	type trial struct{ alpha, f float64 }
	a, b, c := trial{0, first}, trial{.5, 0}, trial{1, last}
	var err error
	for k := range crowdedTrials {
		next := b.alpha
		if k > 0 {
			// The vertex of the parabola through the three, kept off their neighbourhood.
			u, v := b.alpha-a.alpha, c.alpha-b.alpha
			left, right := (b.f-a.f)/u, (c.f-b.f)/v
			next = b.alpha + float64(v/2)
			if curvature := (right - left) / (u + v); curvature > 0 {
				next = a.alpha + float64(u/2) - left/(2*curvature)
			}
			least := float64(closest * (c.alpha - a.alpha))
			next = math.Min(c.alpha-least, math.Max(a.alpha+least, next))
			if math.Abs(next-b.alpha) < least {
				if next = b.alpha + least; v < u {
					next = b.alpha - least
				}
			}
		}
		f, e := value(next)
		if err = e; err != nil {
			return 0, err
		}
		switch {
		case k == 0:
			b.f = f
		case f < b.f && next > b.alpha:
			a, b = b, trial{next, f}
		case f < b.f:
			b, c = trial{next, f}, b
		case next > b.alpha:
			c = trial{next, f}
		default:
			a = trial{next, f}
		}
		// The lowest value must be between the other two.
		switch {
		case b.f > a.f && a.alpha == 0:
			c, b = b, trial{b.alpha / 2, 0}
			if b.f, err = value(b.alpha); err != nil {
				return 0, err
			}
		case b.f > c.f:
			a, b, c = b, c, trial{2 * c.alpha, 0}
			if c.f, err = value(c.alpha); err != nil {
				return 0, err
			}
		}
	}
	if b.f < math.Min(first, last) {
		return b.alpha, nil
	}
	return 1, nil
}

// closest is how near a trial may come to an earlier one, as a part of the bracket.
const closest = .05

// segment returns the scores of the rows on a line.
func (h *heldRows) segment(from, to []float64) segment {
	e := segment{make([]float64, h.N), make([]float64, h.N), h.Weight}
	h.scores(from, e.from)
	h.scores(to, e.delta)
	for i, z := range e.from {
		e.delta[i] -= z
	}
	return e
}

// tangent is F and its derivative at one alpha. At a corner any subgradient will do.
type tangent struct{ alpha, value, slope float64 }

func (l *line) tangent(alpha float64) tangent {
	t, slopeT := l.threshold(alpha)
	p, f := &l.pos, &l.s.form
	var value, slope float64
	for i, z := range p.from {
		margin := 1 + t - (z + float64(alpha*p.delta[i]))
		if margin <= 0 {
			continue
		}
		if f.Squared {
			value += float64(p.weights[i] * margin * margin)
			slope += float64(2 * p.weights[i] * margin * (slopeT - p.delta[i]))
		} else {
			value += float64(p.weights[i] * margin)
			slope += float64(p.weights[i] * (slopeT - p.delta[i]))
		}
	}
	mass := l.s.shape.Positives.Mass
	return tangent{alpha,
		value/mass + l.constant + float64(alpha*l.slope) + float64(alpha*alpha*l.norm/2),
		slope/mass + l.slope + float64(alpha*l.norm)}
}

// threshold returns t at alpha and its derivative.
func (l *line) threshold(alpha float64) (t, slope float64) {
	p, f := &l.pop, &l.s.form
	if l.at == nil {
		l.at = make([]float64, len(p.from))
	}
	for i, z := range p.from {
		l.at[i] = z + float64(alpha*p.delta[i])
	}
	t, edge, order := f.Threshold(l.at, p.weights, l.order)
	l.order = order
	return t, f.Slope(l.at, p.weights, p.delta, t, edge, order)
}

// minimise returns an alpha at which F is within slack of the smallest value on the ray.
func (l *line) minimise(slack float64) float64 {
	lo, hi := l.tangent(0), l.tangent(1)
	if !(lo.slope < 0) {
		return 0
	}
	for range lineDoublings {
		if hi.slope >= 0 {
			break
		}
		lo, hi = hi, l.tangent(2*hi.alpha)
	}
	best := lo
	for step := range lineTrials {
		if hi.value < best.value {
			best = hi
		}
		if lo.value < best.value {
			best = lo
		}
		// The tangents meet at lo.alpha + x. Their value there is a lower bound of F.
		width := hi.alpha - lo.alpha
		x := (lo.value - hi.value + float64(hi.slope*width)) / (hi.slope - lo.slope)
		bound := lo.value + float64(lo.slope*x)
		if !(hi.slope > lo.slope) || best.value-bound <= slack || width <= lineNoise*hi.alpha {
			break
		}
		if step%bisectEvery == bisectEvery-1 || x <= 0 || x >= width {
			x = width / 2
		}
		// The new point replaces the end whose slope has its sign.
		next := l.tangent(lo.alpha + x)
		if next.slope < 0 {
			lo = next
		} else {
			hi = next
		}
	}
	if at1 := 1.0; best.alpha != at1 && best.value >= l.tangent(at1).value-slack {
		return at1 // not worth another evaluation
	}
	return best.alpha
}

// The grid of a search on a ray from 0: factors of a point whose scores have standard deviation 1. Chosen by
// hand; the search then narrows the best one.
const (
	rayDecades    = 6  // on each side of 1
	raySteps      = 5  // a decade
	rayNarrowings = 24 // by the golden ratio: to a part in 1e5 of a step
)

// evaluateRay returns the best point on the ray from 0 through another one, found from the scores at that one:
// scores on a ray are multiples of each other. It evaluates F there.
func (s *solver) evaluateRay(through *Point, limit int) (evaluation, error) {
	points, err := s.evaluate(0, through)
	if err != nil {
		return evaluation{}, err
	}
	best := pointBetween(s.zero, through, s.bestOnRay(&points[0]))
	if points, err = s.evaluate(limit, best); err != nil {
		return evaluation{}, err
	}
	return points[0], nil
}

// bestOnRay returns the factor of a point at which the upper bound of F is smallest.
func (s *solver) bestOnRay(e *evaluation) float64 {
	var mass, mean, square float64
	for _, b := range e.pop {
		mass, mean, square = mass+b.Mass, mean+b.Score, square+b.Square
	}
	mean /= mass
	spread := math.Sqrt(math.Max(0, square/mass-float64(mean*mean)))
	if !(spread > 0) || math.IsInf(spread, 1) {
		return 1
	}
	var z, weights, scaled []float64 // of the positives, if all are held
	if s.allPositivesHeld() {
		z, scaled, weights = make([]float64, s.pos.N), make([]float64, s.pos.N), s.pos.Weight
		s.pos.scores(e.at.W, z)
	}
	half := s.form.Lambda / 2 * linalg.Dot(e.at.W, e.at.W)
	value := func(alpha float64) float64 {
		t := e.pop.scaled(alpha).threshold(&s.form).high
		var loss float64
		if z != nil {
			for i, v := range z {
				scaled[i] = alpha * v
			}
			loss = s.form.MeanLoss(t, scaled, weights, 1)
		} else {
			_, loss, _ = e.pos.scaled(alpha).loss(s.form.Squared, t, t)
		}
		return loss/s.shape.Positives.Mass + float64(alpha*alpha*half)
	}
	// The grid, in logarithms. Where all long points are as good, rounding must not choose the longest.
	step := math.Ln10 / raySteps
	at := func(x float64) float64 { return value(detmath.Exp(x) / spread) }
	first, best := s.atZero, -rayDecades*step
	for k := -rayDecades * raySteps; k <= rayDecades*raySteps; k++ {
		if v := at(float64(k) * step); s.beats(v, detmath.Exp(float64(k)*step), first) {
			first, best = v, float64(k)*step
		}
	}
	// Golden section between the neighbours.
	const golden = .6180339887498949
	lo, hi := best-step, best+step
	a, b := hi-float64(golden*(hi-lo)), lo+float64(golden*(hi-lo))
	fa, fb := at(a), at(b)
	for range rayNarrowings {
		if fa <= fb {
			hi, b, fb = b, a, fa
			a = hi - float64(golden*(hi-lo))
			fa = at(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + float64(golden*(hi-lo))
			fb = at(b)
		}
	}
	if fa <= fb {
		return detmath.Exp(a) / spread
	}
	return detmath.Exp(b) / spread
}
