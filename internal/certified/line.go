package certified

import (
	"context"
	"math"

	"toptau/internal/certified/form"
	"toptau/internal/certified/linalg"
	"toptau/threshold"
)

// search minimises F on the ray from one point through another; see line.
func (s *Memory) search(ctx context.Context, f form.Form, from, to *Point, slack float64) (*Point, error) {
	z0, z1 := s.bothScores(from, to)
	l := s.newLine(f, from, to, z0, z1)
	positives := s.x.Positives.Rows()
	l.positives = segment{from: z0[:positives], to: z1[:positives]}
	if s.weights != nil {
		l.positives.weights = s.weights[:positives]
	}
	l.mass = s.shape[0].Mass
	return s.minimiseOn(ctx, l, z0, z1, slack)
}

// newLine returns a line from the scores at two points, without its positives.
func (s *Memory) newLine(f form.Form, from, to *Point, z0, z1 []float64) *line {
	step := make([]float64, len(from.W))
	for j := range step {
		step[j] = to.W[j] - from.W[j]
	}
	l := &line{form: f, from: from, to: to,
		norm: f.Lambda * linalg.Dot(step, step), slope: f.Lambda * linalg.Dot(from.W, step), constant: f.Lambda / 2 * linalg.Dot(from.W, from.W)}
	first := s.first()
	l.population = segment{from: z0[first:], to: z1[first:]}
	if s.weights != nil {
		l.population.weights = s.weights[first:]
	}
	return l
}

// minimiseOn returns the best point of a line.
func (s *Memory) minimiseOn(ctx context.Context, l *line, z0, z1 []float64, slack float64) (*Point, error) {
	alpha, err := l.minimise(ctx, slack)
	if err != nil {
		return nil, err
	}
	switch alpha {
	case 0:
		return l.from, nil
	case 1:
		return l.to, nil
	}
	return s.interpolate(l.from, l.to, z0, z1, alpha), nil
}

// segment has the scores of some rows at both ends of a line.
type segment struct{ from, to, weights []float64 }

func (e *segment) weight(i int) float64 {
	if e.weights == nil {
		return 1
	}
	return e.weights[i]
}

// line is F on the ray from + alpha (to - from), computed from the scores at two points. F is convex on it.
// So two tangents with slopes of opposite sign bound it from below by the point where they meet, and F is
// evaluated there next.
type line struct {
	form                  form.Form
	from, to              *Point
	population, positives segment
	mass                  float64  // M+
	norm, slope, constant float64  // of the term in lambda
	few                   *segment // the part of the population that matters up to reach; nil: not known
	reach, floor          float64
	at                    []float64 // scores at the current alpha
	support               threshold.Support
}

// lineBlock is the number of positives per block of a sum. Changing it changes results in the last bits.
const lineBlock = 1 << 14

// tangent is F and its derivative at one alpha. At a corner any subgradient will do.
type tangent struct{ alpha, value, slope float64 }

func (l *line) tangent(alpha float64) tangent {
	// The losses of the positives fall with their own scores and grow with t.
	t, slopeT := l.threshold(alpha)
	p := &l.positives
	total := linalg.SumsOfBlocks(len(p.from), lineBlock, 8, func(first, end int) [3]float64 {
		var value, slope float64
		for i := first; i < end; i++ {
			v := p.from[i]
			delta := p.to[i] - v
			margin := 1 + t - (v + float64(alpha*delta))
			if margin <= 0 {
				continue
			}
			m := p.weight(i)
			if l.form.Squared {
				value += float64(m * margin * margin)
				slope += float64(2 * m * margin * (slopeT - delta))
			} else {
				value += float64(m * margin)
				slope += float64(m * (slopeT - delta))
			}
		}
		return [3]float64{value, slope}
	})
	// The mean loss and the penalty, lambda/2 |from + alpha step|^2.
	return tangent{alpha,
		total[0]/l.mass + l.constant + float64(alpha*l.slope) + float64(alpha*alpha*l.norm/2),
		total[1]/l.mass + l.slope + float64(alpha*l.norm)}
}

// threshold returns t at alpha and its derivative.
func (l *line) threshold(alpha float64) (t, slope float64) {
	if alpha == 0 && isZero(l.from.W) {
		return l.thresholdAtOrigin()
	}
	// The rows kept are enough as long as their edge stays above the floor.
	if l.few != nil && alpha <= l.reach {
		if t, slope = l.thresholdOf(l.few, alpha); l.support.Edge > l.floor {
			return t, slope // no row that was left out comes near the edge
		}
	}
	return l.thresholdOf(&l.population, alpha)
}

// thresholdAtOrigin is threshold at w = 0. All scores are equal there, so the right derivative is that of the
// mean of the largest scores at to, and for a quantile that of the mean of all.
func (l *line) thresholdAtOrigin() (t, slope float64) {
	p := &l.population
	n := len(p.to)
	mass := linalg.SumInBlocks(n, p.weight)
	t, l.support.Edge, _ = l.form.Threshold([]float64{0}, []float64{mass}, nil)
	if l.form.Kind == form.TopMean {
		var s threshold.Support
		l.form.Rule.At(p.to, p.weights, &s)
		return t, s.T // near 0 the mean of the largest is alpha times that at to
	}
	return t, linalg.SumInBlocks(n, func(i int) float64 { return float64(p.weight(i) * p.to[i]) }) / mass
}

// thresholdOf returns t on some rows, and its derivative a'(to - from).
func (l *line) thresholdOf(p *segment, alpha float64) (t, slope float64) {
	if cap(l.at) < len(p.from) {
		l.at = make([]float64, len(p.from))
	}
	l.at = l.at[:len(p.from)]
	for i, v := range p.from {
		l.at[i] = v + float64(alpha*(p.to[i]-v))
	}
	l.form.Rule.At(l.at, p.weights, &l.support)
	for k, j := range l.support.Rows { // grad t = Z'a
		slope += float64(l.support.A[k] * (p.to[j] - p.from[j]))
	}
	return l.support.T, slope
}

const (
	// narrowRows is the number of rows from which leaving some out pays. Chosen by hand.
	narrowRows = 10_000
	// floorMargin is how far the floor is below the edges, as a part of their distance, and edgeNoise of
	// their size.
	floorMargin = .25
)

// narrow keeps the rows of the population whose score at alpha = 0 or at alpha = reach is above a floor
// somewhat below both edges. Between the ends no other row's score can be above the floor. The edge of the
// rows kept is never above the true one. So as long as it stays above the floor, the rows left out do not
// matter and the threshold is exact.
func (l *line) narrow(reach, edge0, edge1 float64) {
	p := &l.population
	if len(p.from) < narrowRows {
		return
	}
	l.reach = reach
	// The edge may dip below both ends in between, so the floor is lower than either.
	low, high := math.Min(edge0, edge1), math.Max(edge0, edge1)
	l.floor = low - float64(floorMargin*(high-low)) - float64(edgeNoise*(math.Abs(low)+math.Abs(high)))
	few := &segment{}
	for i, v := range p.from {
		if v < l.floor && v+float64(reach*(p.to[i]-v)) < l.floor {
			continue
		}
		few.from, few.to = append(few.from, v), append(few.to, p.to[i])
		if p.weights != nil {
			few.weights = append(few.weights, p.weights[i])
		}
	}
	if len(few.from) < len(p.from)*3/4 { // else a second copy of the scores is not worth it
		l.few = few
	}
}

const (
	lineDoublings = 40    // of alpha until the slope is not negative
	lineTrials    = 60    // at most, once the minimum is between two points
	lineNoise     = 1e-14 // relative distance of two alphas that rounding cannot tell apart
	bisectEvery   = 3     // trials: the tangents' point converges slowly where one end stays
)

// minimise returns an alpha whose F is within slack of the smallest one.
func (l *line) minimise(ctx context.Context, slack float64) (float64, error) {
	// Bracket the minimum: lo has a negative slope, hi has not.
	lo := l.tangent(0)
	if !(lo.slope < 0) {
		return 0, nil
	}
	edge := l.support.Edge
	hi := l.tangent(1)
	for grow := 0; hi.slope < 0 && grow < lineDoublings; grow++ {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		lo, edge = hi, l.support.Edge
		hi = l.tangent(2 * hi.alpha)
	}
	// Between lo and hi few rows can be near the edge.
	l.narrow(hi.alpha, edge, l.support.Edge)
	for step := range lineTrials {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		best := lo
		if hi.value < lo.value {
			best = hi
		}
		// The tangents meet at lo.alpha + x. Their value there is a lower bound of F.
		width := hi.alpha - lo.alpha
		x := (lo.value - hi.value + float64(hi.slope*width)) / (hi.slope - lo.slope)
		bound := lo.value + float64(lo.slope*x)
		if !(hi.slope > lo.slope) || best.value-bound <= slack || width <= lineNoise*hi.alpha {
			return best.alpha, nil
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
	if hi.value < lo.value {
		return hi.alpha, nil
	}
	return lo.alpha, nil
}
