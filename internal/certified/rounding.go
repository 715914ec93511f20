package certified

import (
	"context"
	"math"
	"slices"

	"toptau/internal/matrix"
)

// rounded evaluates the problem at w.
func (s *Memory) rounded(ctx context.Context, f form, w []float64, width float64) (*rounded, error) {
	z, err := s.scoresOnce(ctx, w)
	if err != nil {
		return nil, err
	}
	r := &rounded{f: f, w: slices.Clone(w)}
	r.loss, r.kink = kink{square: f.squared, width: width}, kink{square: f.kind == squaredQuantile, width: width}
	first := s.first()
	var weights []float64
	if s.weights != nil {
		weights = s.weights[first:]
	}
	f.rule.At(z[first:], weights, &s.support)
	r.t, r.edge, r.above = s.support.T, s.support.Edge, len(s.support.Rows)
	s.findLevel(r, z)
	square := float64(f.lambda / 2 * dot(w, w))
	mass := s.shape[0].Mass
	r.exact = s.sumPositives(func(i int) float64 { return lossAt(f.squared, 1+r.t-z[i]) })/mass + square
	r.value = s.sumPositives(func(i int) float64 { return r.loss.value(1 + r.top - z[i]) })/mass + square
	return r, nil
}

// scoresOnce returns the scores of w; a reading for them counts as a pass.
func (s *Memory) scoresOnce(ctx context.Context, w []float64) ([]float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	z, read := s.scores(w)
	if read {
		s.passes++
	}
	return z, nil
}

// sumPositives adds up m times a term.
func (s *Memory) sumPositives(term func(i int) float64) float64 {
	return sumInBlocks(s.x.Positives.Rows(), func(i int) float64 { return float64(s.weight(i) * term(i)) })
}

// findLevel sets the level, the threshold and the mass of the rounded problem.
func (s *Memory) findLevel(r *rounded, z []float64) {
	floor := r.edge - 2*r.kink.reach() // below it every slope is 0
	count := 0
	for _, v := range z[s.first():] {
		if v > floor {
			count++
		}
	}
	few := ends{from: make([]float64, 0, count)}
	for i := s.first(); i < len(z); i++ {
		if z[i] > floor {
			few.from = append(few.from, z[i])
			if s.weights != nil {
				few.weights = append(few.weights, s.weights[i])
			}
		}
	}
	l := leveller{&few, r.kink}
	if r.f.kind == topMean {
		r.level = l.ofMass(r.edge-r.kink.reach(), r.edge+r.kink.reach(), r.f.kappa)
		value, mass, _ := l.sums(r.level)
		r.top, r.mass = r.level+value/r.f.kappa, mass
		return
	}
	volume := float64(r.f.kappa * r.f.band())
	if r.kink.square {
		volume *= r.f.band()
	}
	r.level = l.ofVolume(r.edge, volume)
	r.top = r.level + r.f.band()
	_, r.mass, _ = l.sums(r.level)
}

// leveller finds levels of scores.
type leveller struct {
	rows *ends
	kink kink
}

// sums are those of m c(z - s), m c'(z - s) and m c”(z - s).
func (l leveller) sums(s float64) (value, slope, bend float64) {
	const block = 1 << 14
	z := l.rows.from
	parts := make([][3]float64, (len(z)+block-1)/block)
	parallel(len(parts), 4*float64(len(z)), func(b int) {
		var part [3]float64
		for i := b * block; i < min((b+1)*block, len(z)); i++ {
			v, d, e := l.kink.at(z[i] - s)
			m := l.rows.weight(i)
			part[0] += float64(m * v)
			part[1] += float64(m * d)
			part[2] += float64(m * e)
		}
		parts[b] = part
	})
	for _, part := range parts {
		value += part[0]
		slope += part[1]
		bend += part[2]
	}
	return value, slope, bend
}

// ofVolume solves sum m c(z - s) = volume, from a level that is not too high: the sum is convex and falling, so Newton's
// method stays on that side.
func (l leveller) ofVolume(s, volume float64) float64 {
	for range 100 {
		value, slope, _ := l.sums(s)
		if slope == 0 {
			return s
		}
		step := (value - volume) / slope
		s += step
		if !(step > 1e-15*math.Abs(s)) {
			return s
		}
	}
	return s
}

// ofMass returns about the highest level between lo and hi with sum m c'(z - s) >= mass, which lo fulfils.
func (l leveller) ofMass(lo, hi, mass float64) float64 {
	s := lo + float64((hi-lo)/2)
	for range 60 {
		_, slope, bend := l.sums(s)
		if slope >= mass {
			lo = s
		} else {
			hi = s
		}
		if slope >= mass && slope <= mass*(1+1e-13) || !(hi-lo > 1e-15*math.Abs(s)) {
			break
		}
		if s += (slope - mass) / bend; !(s > lo && s < hi) {
			s = lo + float64((hi-lo)/2)
		}
	}
	return lo
}

// differentiate reads the rows whose multipliers are not zero.
func (s *Memory) differentiate(ctx context.Context, r *rounded, limit int) error {
	z, err := s.scoresOnce(ctx, r.w)
	if err != nil {
		return err
	}
	positives, cols := s.x.Positives.Rows(), s.x.Cols()
	r.weighted, r.slope = make([]float64, cols), make([]float64, cols)
	s.addRows(s.x.Positives, 0, z, r, func(i int, z float64) float64 { return s.p(r, z, i) }, r.weighted)
	a := func(i int, z float64) float64 { return s.a(r, z, i) }
	if s.all {
		s.addRows(s.x.Positives, 0, z, r, a, r.slope)
	}
	s.addRows(s.x.Negatives, positives, z, r, a, r.slope)
	r.total = sumInBlocks(positives, func(i int) float64 { return s.p(r, z[i], i) })
	if r.loss.square {
		r.squares = s.sumPositives(func(i int) float64 { v := s.p(r, z[i], i) / s.weight(i); return float64(v * v) })
	}
	r.losses = s.bent(0, positives, limit, z, func(i int) float64 { return r.loss.bend(1 + r.top - z[i]) })
	r.band = s.bent(s.first(), len(z), limit, z, func(i int) float64 { return r.kink.bend(z[i] - r.level) })
	return nil
}

// p and a are the multipliers of row i, counted over both parts, whose score is z.
func (s *Memory) p(r *rounded, z float64, i int) float64 {
	return r.loss.slope(1+r.top-z) * s.weight(i) / s.shape[0].Mass
}

func (s *Memory) a(r *rounded, z float64, i int) float64 {
	return r.kink.slope(z-r.level) * s.weight(i) / r.mass
}

// addRows adds value(i, z[i]) times row i to g for the rows of a part, whose first row is number offset.
func (s *Memory) addRows(part *matrix.Part, offset int, z []float64, r *rounded, value func(i int, z float64) float64, g []float64) {
	z = z[offset : offset+part.Rows()]
	s.visits += float64(s.read.add(part, r.w, z, func(i int, score float64) float64 { return value(offset+i, score) }, g))
}

// bent chooses rows where bend is not zero.
func (s *Memory) bent(first, end, limit int, z []float64, bend func(i int) float64) (b bent) {
	s.numbers = s.numbers[:0]
	for i := first; i < end; i++ {
		if bend(i) > 0 && s.weight(i) > 0 {
			s.numbers = append(s.numbers, int32(i))
		}
	}
	b.count = len(s.numbers)
	for k := 0; k < b.count; k += max(1, (b.count+limit-1)/limit) {
		i := int(s.numbers[k])
		b.rows = append(b.rows, Row{ID: i - first, Score: z[i], Weight: s.weight(i), Features: func(dst []float64) { s.row(i, dst) }})
		b.curvature = append(b.curvature, s.weight(i)*bend(i))
	}
	b.share = float64(b.count) / float64(max(1, len(b.rows)))
	s.visits += float64(len(b.rows))
	return b
}

// between remembers the scores of a point between two recent ones.
func (s *Memory) between(from, to []float64, alpha float64) []float64 {
	z1, readTo := s.scores(to)
	z0, readFrom := s.scores(from)
	if readTo || readFrom {
		s.passes++
	}
	return s.keepPoint(&line{from: from, to: to}, alpha, z0, z1)
}

// dual returns the multipliers row by row.
func (s *Memory) dual(r *rounded, scale float64) (p, a Sparse) {
	z, read := s.scores(r.w)
	if read {
		s.passes++
	}
	p = sparse(z[:s.x.Positives.Rows()], func(i int, z float64) float64 { return scale * s.p(r, z, i) })
	a = sparse(z[s.first():], func(i int, z float64) float64 { return s.a(r, z, s.first()+i) })
	return p, a
}
