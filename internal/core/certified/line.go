package certified

import (
	"math"

	"toptau/internal/core/certified/linalg"
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

// lineSearch finds the best point between two points, or on a ray.
type lineSearch struct {
	*state
	eval *evaluator
}

// searchLine returns the point on the ray from one point through another at which F seems smallest; nil: it is one
// of the two, or evaluating it would cost a pass. upper is F at the first.
func (ls *lineSearch) searchLine(from *Point, to evaluation, upper float64) (next *Point, err error) {
	if !ls.shape.KeepsScores {
		return nil, nil
	}
	var alpha float64
	switch {
	case isZero(from.W):
		alpha = ls.bestOnRay(&to)
	case ls.useGroups:
		if alpha, err = ls.bestByTrial(from, to.at, upper, to.f); err != nil {
			return nil, err
		}
	default:
		alpha = ls.bestOnHeld(from, to.at, lineSlack*(math.Min(ls.upper, to.f)-ls.lower))
	}
	if alpha == 0 || alpha == 1 {
		return nil, nil
	}
	return pointBetween(from, to.at, alpha), nil
}

// line is F on the ray from + alpha (to - from), on the rows held and the groups. F is convex on it. So two
// tangents with slopes of opposite sign bound it from below by the point where they meet, and F is evaluated
// there next.
//
// The rows held are those that matter at both ends, or nearly so. A restricted problem on them is a lower bound
// of F, and a good guess of where F is smallest. Whether it is right is seen when F is evaluated there.
type line struct {
	s                     *state
	pos, pop              segment
	norm, slope, constant float64   // of the term in lambda
	at                    []float64 // scores at the current alpha
	order                 []int32
}

// segment has the scores of some rows at one end of a line, and their differences to the other end.
type segment struct{ from, delta, weights []float64 }

// bestOnHeld returns the alpha at which F, on the rows held, is smallest on the ray from one point through
// another, to within slack. It returns 1 if to is as good.
func (ls *lineSearch) bestOnHeld(from, to *Point, slack float64) (alpha float64) {
	step := make([]float64, len(from.W))
	for j := range step {
		step[j] = to.W[j] - from.W[j]
	}
	l := &line{s: ls.state, norm: ls.form.Lambda * linalg.Dot(step, step), slope: ls.form.Lambda * linalg.Dot(from.W, step),
		constant: ls.form.Lambda / 2 * linalg.Dot(from.W, from.W)}
	alpha = 1
	ls.withGroups(func() {
		l.pos, l.pop = ls.pos.segment(from.W, to.W), ls.pop.segment(from.W, to.W)
		if linalg.Sum(l.pop.weights) >= ls.form.Kappa {
			alpha = l.minimise(slack)
		}
	})
	return alpha
}

// groupTrials is the number of points of a line at which F is evaluated where not all rows that matter are held.
// Chosen by hand: each one costs a few sweeps over the scores, and no pass.
const groupTrials = 9

// bestByTrial returns about the alpha at which F is smallest on the ray from one point through another, from values
// of F: rows held and groups are not enough to tell where many rows matter. It is a search by parabolas, in a
// bracket around the best value. first and last are F at the two points.
func (ls *lineSearch) bestByTrial(from, to *Point, first, last float64) (float64, error) {
	value := func(alpha float64) (float64, error) {
		points, err := ls.eval.evaluate(0, pointBetween(from, to, alpha))
		if err != nil {
			return 0, err
		}
		return points[0].f, nil
	}
	a, b, c := trial{0, first}, trial{.5, 0}, trial{1, last}
	var err error
	for k := range groupTrials {
		next := b.alpha
		if k > 0 {
			next = nextTrial(a, b, c)
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

// trial is a value of F on a line.
type trial struct{ alpha, f float64 }

// closest is how near a trial may come to an earlier one, as a part of the bracket.
const closest = .05

// nextTrial returns the vertex of the parabola through three trials, kept off their neighbourhood.
func nextTrial(a, b, c trial) float64 {
	u, v := b.alpha-a.alpha, c.alpha-b.alpha
	left, right := (b.f-a.f)/u, (c.f-b.f)/v
	next := b.alpha + float64(v/2)
	if curvature := (right - left) / (u + v); curvature > 0 {
		next = a.alpha + float64(u/2) - left/(2*curvature)
	}
	minDistance := float64(closest * (c.alpha - a.alpha))
	next = math.Min(c.alpha-minDistance, math.Max(a.alpha+minDistance, next))
	if math.Abs(next-b.alpha) < minDistance {
		if next = b.alpha + minDistance; v < u {
			next = b.alpha - minDistance
		}
	}
	return next
}

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
