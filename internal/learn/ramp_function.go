package learn

import (
	"math"

	"toptau/internal/detmath"
	"toptau/internal/matrix"
	"toptau/method"
	"toptau/threshold"
)

// ramp is F of RampOptions: a smooth.Function of the weights.
type ramp struct {
	lambda, width        float64
	anchor               []float64
	positives, negatives *class
	first                int                   // of the population in the vectors over all rows: 0, or the first negative
	weights              []float64             // of the population; nil: all 1
	rules                []threshold.Threshold // one for each tau
	support              []threshold.Support   // what they said last
	misses               []float64             // for each tau the mean of the ramp, at the current point
	z, dz, trial, v      []float64             // of both classes, positives first
	x, p                 []float64             // current point and direction
	square               [3]float64            // |x - anchor|^2, (x - anchor)'p, |p|^2
	passes               int                   // readings of the data
}

// sameVariance is the width of the smooth quantile that has the variance of a logistic kernel of scale 1: sqrt(7/3) pi.
const sameVariance = 4.798862045930803

func newRamp(x *matrix.Matrix, o RampOptions) (*ramp, error) {
	f := &ramp{lambda: o.Lambda, width: o.Width, anchor: o.Anchor}
	f.positives = &class{part: x.Positives, unit: 1 / massOf(x.Positives)}
	f.negatives = &class{part: x.Negatives, unit: 1}
	for _, v := range []*[]float64{&f.z, &f.dz, &f.trial, &f.v} {
		*v = make([]float64, x.Rows())
	}
	n := x.Positives.Rows()
	f.positives.z, f.negatives.z = f.z[:n], f.z[n:]
	f.positives.dz, f.negatives.dz = f.dz[:n], f.dz[n:]
	f.positives.v, f.negatives.v = f.v[:n], f.v[n:]
	f.x, f.p = make([]float64, x.Cols()), make([]float64, x.Cols())
	rows := x.Rows()
	if o.Population == method.Negatives {
		f.first, rows, f.weights = n, x.Negatives.Rows(), x.Negatives.Weights()
	} else {
		f.weights = weightsOfAll(x)
	}
	population := threshold.NewPopulation(rows, f.weights)
	for _, tau := range o.Taus {
		rule, err := threshold.SmoothQuantile{Tau: tau, Width: sameVariance * o.Width}.Bind(population)
		if err != nil {
			return nil, err
		}
		f.rules = append(f.rules, rule)
	}
	f.support = make([]threshold.Support, len(f.rules))
	f.misses = make([]float64, len(f.rules))
	return f, nil
}

// weightsOfAll are the row weights of both classes, positives first; nil when all are 1.
func weightsOfAll(x *matrix.Matrix) []float64 {
	if x.Positives.Weights() == nil && x.Negatives.Weights() == nil {
		return nil
	}
	weights := make([]float64, 0, x.Rows())
	for _, part := range []*matrix.Part{x.Positives, x.Negatives} {
		c := class{part: part, unit: 1}
		for i := range part.Rows() {
			weights = append(weights, c.share(i))
		}
	}
	return weights
}

// Dim is the number of columns.
func (f *ramp) Dim() int { return len(f.x) }

// Move forms the scores at x anew.
func (f *ramp) Move(x, g []float64) float64 {
	copy(f.x, x)
	f.positives.part.Scores(x, f.positives.z)
	f.negatives.part.Scores(x, f.negatives.z)
	f.passes++
	return f.measure(g)
}

// Aim forms the scores of the direction.
func (f *ramp) Aim(p []float64) {
	copy(f.p, p)
	f.positives.part.Scores(p, f.positives.dz)
	f.negatives.part.Scores(p, f.negatives.dz)
	f.passes++
	f.square = [3]float64{}
	for j, q := range p {
		d := f.x[j] - f.anchor[j]
		f.square[0] += float64(d * d)
		f.square[1] += float64(d * q)
		f.square[2] += float64(q * q)
	}
}

// Along costs one evaluation of the thresholds, and of the ramp for each positive and tau.
func (f *ramp) Along(alpha float64) (value, slope float64) {
	f.place(f.trial, alpha)
	f.findThresholds(f.trial)
	dz := f.dz[f.first:]
	for k := range f.rules {
		s := &f.support[k]
		dt := 0.0
		for q, row := range s.Rows {
			dt += float64(s.A[q] * dz[row])
		}
		part := pairInBlocks(len(f.positives.z), func(first, end int) (value, slope float64) {
			for i := first; i < end; i++ {
				m := f.positives.share(i)
				miss, rate := sigmoid((s.T - f.trial[i]) / f.width)
				value += float64(m * miss)
				slope += float64(float64(m*rate) * (dt - f.dz[i]))
			}
			return value, slope
		})
		value += part.first
		slope += part.second / f.width
	}
	taus := float64(len(f.rules))
	ww, wp, pp := f.square[0], f.square[1], f.square[2]
	value = value/taus + float64(f.lambda/2*(ww+float64(alpha*(float64(2*wp)+float64(alpha*pp)))))
	slope = slope/taus + float64(f.lambda*(wp+float64(alpha*pp)))
	return value, slope
}

// Advance moves the scores along.
func (f *ramp) Advance(alpha float64, g []float64) float64 {
	for j, p := range f.p {
		f.x[j] += float64(alpha * p)
	}
	f.place(f.z, alpha)
	return f.measure(g)
}

// place writes the scores at alpha to dst, which may be the current ones.
func (f *ramp) place(dst []float64, alpha float64) {
	for i, z := range f.z {
		dst[i] = z + float64(alpha*f.dz[i])
	}
}

func (f *ramp) findThresholds(z []float64) {
	inParallel(len(f.rules), len(z) >= inlineRows, func(k int) {
		f.rules[k].At(z[f.first:], f.weights, &f.support[k])
	})
}

// measure evaluates everything at the current scores. The coefficients of all rows are joined first, so that X'v is
// formed once.
func (f *ramp) measure(g []float64) (value float64) {
	f.findThresholds(f.z)
	clear(f.v)
	taus := float64(len(f.rules))
	pulls := make([]float64, len(f.rules))
	for k := range f.rules {
		t := f.support[k].T
		part := pairInBlocks(len(f.positives.z), func(first, end int) (value, pull float64) {
			for i := first; i < end; i++ {
				m := f.positives.share(i)
				miss, rate := sigmoid((t - f.z[i]) / f.width)
				value += float64(m * miss)
				rate = float64(m*rate) / float64(f.width*taus)
				f.v[i] -= rate
				pull += rate
			}
			return value, pull
		})
		f.misses[k], pulls[k] = part.first, part.second
		value += part.first / taus
	}
	population := f.v[f.first:]
	for k, pull := range pulls {
		s := &f.support[k]
		for q, row := range s.Rows {
			population[row] += float64(pull * s.A[q])
		}
	}
	clear(g)
	f.positives.addGradient(g)
	f.negatives.addGradient(g)
	f.passes++
	square := 0.0
	for j := range g {
		d := f.x[j] - f.anchor[j]
		g[j] += float64(f.lambda * d)
		square += float64(d * d)
	}
	return value + float64(f.lambda/2*square)
}

// sigmoid returns s(u) = 1/(1 + e^-u) and s'(u). The exponential is only ever taken of -|u|, so nothing overflows.
func sigmoid(u float64) (value, slope float64) {
	e := detmath.Exp(-math.Abs(u))
	value = 1 / (1 + e)
	slope = float64(float64(e*value) * value)
	if u < 0 {
		value = float64(e * value)
	}
	return value, slope
}
