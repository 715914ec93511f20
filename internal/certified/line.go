package certified

import (
	"context"
	"math"
	"slices"

	"toptau/threshold"
)

// search minimises F on the ray from one point through another; see line.
func (s *Memory) search(ctx context.Context, f form, from, to []float64, slack float64) ([]float64, error) {
	z1, readTo := s.scores(to)
	z0, readFrom := s.scores(from)
	if readTo || readFrom {
		s.passes++
	}
	l := newLine(f, from, to)
	first, positives := s.first(), s.x.Positives.Rows()
	l.population = ends{from: z0[first:], to: z1[first:]}
	l.positives = ends{from: z0[:positives], to: z1[:positives]}
	if s.weights != nil {
		l.population.weights, l.positives.weights = s.weights[first:], s.weights[:positives]
	}
	l.mass = s.shape[0].Mass
	alpha, err := l.minimise(ctx, slack)
	if err != nil {
		return nil, err
	}
	switch alpha {
	case 0:
		return slices.Clone(from), nil
	case 1:
		return slices.Clone(to), nil
	}
	return s.keepPoint(l, alpha, z0, z1), nil
}

// keepPoint remembers the scores of a point of the line, which are those of its ends in between: no reading.
func (s *Memory) keepPoint(l *line, alpha float64, z0, z1 []float64) []float64 {
	w := l.point(alpha)
	z := s.slot(w, recentPoints)
	for i, v := range z0 {
		z[i] = v + float64(alpha*(z1[i]-v))
	}
	return w
}

// ends are the scores of some rows at both ends of a line.
type ends struct{ from, to, weights []float64 }

func (e *ends) weight(i int) float64 {
	if e.weights == nil {
		return 1
	}
	return e.weights[i]
}

// line is F on the ray from + alpha (to - from), from the scores at two points. F is convex on it, so two tangents of
// opposite slope bound it from below where they meet, and that is where it is evaluated next.
type line struct {
	f                     form
	from, to              []float64
	population, positives ends
	mass                  float64 // M+
	norm, slope, constant float64 // of the term in lambda
	few                   *ends   // the part of the population that matters up to reach; nil: not known
	reach, floor          float64
	at                    []float64 // scores at the current alpha
	support               threshold.Support
}

func newLine(f form, from, to []float64) *line {
	step := make([]float64, len(from))
	for j := range step {
		step[j] = to[j] - from[j]
	}
	return &line{f: f, from: from, to: to,
		norm: f.lambda * dot(step, step), slope: f.lambda * dot(from, step), constant: f.lambda / 2 * dot(from, from)}
}

func (l *line) point(alpha float64) []float64 {
	w := make([]float64, len(l.from))
	for j, v := range l.from {
		w[j] = v + float64(alpha*(l.to[j]-v))
	}
	return w
}

// tangent is F and a derivative at one alpha.
type tangent struct{ alpha, value, slope float64 }

func (l *line) tangent(alpha float64) tangent {
	t, slopeT := l.threshold(alpha)
	p := &l.positives
	const block = 1 << 14
	parts := make([][2]float64, (len(p.from)+block-1)/block)
	parallel(len(parts), 8*float64(len(p.from)), func(b int) {
		var value, slope float64
		for i := b * block; i < min((b+1)*block, len(p.from)); i++ {
			v := p.from[i]
			delta := p.to[i] - v
			margin := 1 + t - (v + float64(alpha*delta))
			if margin <= 0 {
				continue
			}
			m := p.weight(i)
			if l.f.squared {
				value += float64(m * margin * margin)
				slope += float64(2 * m * margin * (slopeT - delta))
			} else {
				value += float64(m * margin)
				slope += float64(m * (slopeT - delta))
			}
		}
		parts[b] = [2]float64{value, slope}
	})
	var value, slope float64
	for _, part := range parts {
		value += part[0]
		slope += part[1]
	}
	return tangent{alpha,
		value/l.mass + l.constant + float64(alpha*l.slope) + float64(alpha*alpha*l.norm/2),
		slope/l.mass + l.slope + float64(alpha*l.norm)}
}

// threshold returns t at alpha and its derivative.
func (l *line) threshold(alpha float64) (t, slope float64) {
	if alpha == 0 && isZero(l.from) {
		return l.thresholdAtOrigin()
	}
	if l.few != nil && alpha <= l.reach {
		if t, slope = l.thresholdOf(l.few, alpha); l.support.Edge > l.floor {
			return t, slope // no row that was left out comes near the edge
		}
	}
	return l.thresholdOf(&l.population, alpha)
}

// thresholdAtOrigin is the case of w = 0, where all rows are equal: the mean of the largest grows in proportion to alpha, and a
// quantile like the mean of all.
func (l *line) thresholdAtOrigin() (t, slope float64) {
	p := &l.population
	n := len(p.to)
	mass := sumInBlocks(n, p.weight)
	t, l.support.Edge, _ = l.f.threshold([]float64{0}, []float64{mass}, nil)
	if l.f.kind == topMean {
		var s threshold.Support
		l.f.rule.At(p.to, p.weights, &s)
		return t, s.T
	}
	return t, sumInBlocks(n, func(i int) float64 { return float64(p.weight(i) * p.to[i]) }) / mass
}

func (l *line) thresholdOf(p *ends, alpha float64) (t, slope float64) {
	if cap(l.at) < len(p.from) {
		l.at = make([]float64, len(p.from))
	}
	l.at = l.at[:len(p.from)]
	for i, v := range p.from {
		l.at[i] = v + float64(alpha*(p.to[i]-v))
	}
	l.f.rule.At(l.at, p.weights, &l.support)
	for k, j := range l.support.Rows {
		slope += float64(l.support.A[k] * (p.to[j] - p.from[j]))
	}
	return l.support.T, slope
}

// narrow keeps the rows of the population whose score at alpha = 0 or alpha = reach lies above a floor somewhat below
// both edges: between the two ends no other row's score can be higher. The edge of the rows kept is never above the true
// one, so as long as it stays above the floor the rows left out cannot matter and the threshold is exact.
func (l *line) narrow(reach, edge0, edge1 float64) {
	p := &l.population
	if len(p.from) < 10_000 {
		return
	}
	l.reach = reach
	low, high := math.Min(edge0, edge1), math.Max(edge0, edge1)
	l.floor = low - float64(.25*(high-low)) - float64(1e-9*(math.Abs(low)+math.Abs(high)))
	few := &ends{}
	for i, v := range p.from {
		if v < l.floor && v+float64(reach*(p.to[i]-v)) < l.floor {
			continue
		}
		few.from, few.to = append(few.from, v), append(few.to, p.to[i])
		if p.weights != nil {
			few.weights = append(few.weights, p.weights[i])
		}
	}
	if len(few.from) < len(p.from)*3/4 {
		l.few = few
	}
}

func (l *line) minimise(ctx context.Context, slack float64) (float64, error) {
	lo := l.tangent(0)
	if !(lo.slope < 0) {
		return 0, nil
	}
	edge := l.support.Edge
	hi := l.tangent(1)
	for grow := 0; hi.slope < 0 && grow < 40; grow++ {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		lo, edge = hi, l.support.Edge
		hi = l.tangent(2 * hi.alpha)
	}
	l.narrow(hi.alpha, edge, l.support.Edge)
	for step := range 60 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		best := lo
		if hi.value < lo.value {
			best = hi
		}
		// Where the tangents meet, and the bound there.
		width := hi.alpha - lo.alpha
		x := (lo.value - hi.value + float64(hi.slope*width)) / (hi.slope - lo.slope)
		bound := lo.value + float64(lo.slope*x)
		if !(hi.slope > lo.slope) || best.value-bound <= slack || width <= 1e-14*hi.alpha {
			return best.alpha, nil
		}
		if step%3 == 2 || x <= 0 || x >= width {
			x = width / 2
		}
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
