package learn

import (
	"math"

	"toptau/internal/core/detmath"
	"toptau/internal/core/matrix"
	"toptau/method"
	"toptau/threshold"
)

// ramp is F of RampOptions: an optim.Function of the weights.
type ramp struct {
	lambda, width        float64
	anchor               []float64
	positives, negatives *class
	first                int                   // index of the population in the vectors of all rows
	weights              []float64             // of the population; nil: all 1
	rules                []threshold.Threshold // one for each tau
	support              []threshold.Support   // the latest result of each rule
	misses               []float64             // for each tau the mean of the ramp, at the current point
	z, dz, trial, v      []float64             // of both classes, positives first
	x, p                 []float64             // current point and direction
	square               [3]float64            // |x - anchor|^2, (x - anchor)'p, |p|^2
	passes               int                   // over the data
}

// sameVariance is the width of the smooth quantile whose kernel has the variance of a logistic kernel of
// scale 1: sqrt(7/3) pi.
const sameVariance = 4.798862045930803

// newRamp binds the rules to the population.
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

// weightsOfAll returns the row weights of both classes, positives first; nil: all 1.
func weightsOfAll(x *matrix.Matrix) []float64 {
	if x.Positives.Weights() == nil && x.Negatives.Weights() == nil {
		return nil
	}
	weights := make([]float64, 0, x.Rows())
	for _, part := range []*matrix.ClassRows{x.Positives, x.Negatives} {
		c := class{part: part, unit: 1}
		for i := range part.Rows() {
			weights = append(weights, c.weight(i))
		}
	}
	return weights
}

// Dim returns the number of columns.
func (f *ramp) Dim() int { return len(f.x) }

// Move computes the scores at x.
func (f *ramp) Move(x, g []float64) float64 {
	copy(f.x, x)
	f.positives.part.Scores(x, f.positives.z)
	f.negatives.part.Scores(x, f.negatives.z)
	f.passes++
	return f.evaluate(g)
}

// Aim computes the scores of the direction.
func (f *ramp) Aim(p []float64) {
	copy(f.p, p)
	f.positives.part.Scores(p, f.positives.dz)
	f.negatives.part.Scores(p, f.negatives.dz)
	f.passes++
	// |x - anchor + alpha p|^2 is a quadratic in alpha.
	f.square = [3]float64{}
	for j, q := range p {
		d := f.x[j] - f.anchor[j]
		f.square[0] += float64(d * d)
		f.square[1] += float64(d * q)
		f.square[2] += float64(q * q)
	}
}

// Along returns F(x + alpha p) and its derivative in alpha. With scores z + alpha dz and thresholds t_k(alpha), K of them,
//
//	F = 1/(K M+) sum over k and positives of m_i sigmoid((t_k - z_i - alpha dz_i) / width) + lambda/2 |x - anchor + alpha p|^2.
//
// It reads no row.
func (f *ramp) Along(alpha float64) (value, slope float64) {
	f.moveScores(f.trial, alpha)
	f.findThresholds(f.trial)
	dz := f.dz[f.first:]
	for k := range f.rules {
		s := &f.support[k]
		dt := 0.0 // the derivative of t_k along p
		for q, row := range s.Rows {
			dt += float64(s.A[q] * dz[row])
		}
		part := pairInBlocks(len(f.positives.z), func(first, end int) (value, slope float64) {
			for i := first; i < end; i++ {
				m := f.positives.weight(i)
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
	dd, dp, pp := f.square[0], f.square[1], f.square[2] // d = x - anchor
	value = value/taus + float64(f.lambda/2*(dd+float64(alpha*(float64(2*dp)+float64(alpha*pp)))))
	slope = slope/taus + float64(f.lambda*(dp+float64(alpha*pp)))
	return value, slope
}

// Advance moves the scores.
func (f *ramp) Advance(alpha float64, g []float64) float64 {
	for j, p := range f.p {
		f.x[j] += float64(alpha * p)
	}
	f.moveScores(f.z, alpha)
	return f.evaluate(g)
}

// moveScores writes the scores at alpha to dst, which may be the current scores.
func (f *ramp) moveScores(dst []float64, alpha float64) {
	for i, z := range f.z {
		dst[i] = z + float64(alpha*f.dz[i])
	}
}

// findThresholds sets the support of each tau's threshold for the scores z of all rows, of which the population are those from f.first on.
// With few rows, starting goroutines would take longer than the rules.
func (f *ramp) findThresholds(z []float64) {
	inParallel(len(f.rules), len(z) >= inlineRows, func(k int) {
		f.rules[k].At(z[f.first:], f.weights, &f.support[k])
	})
}

// evaluate returns the value at the current scores and sets the gradient. It sums the coefficients of each
// row over all taus first, so that X'v is formed once.
func (f *ramp) evaluate(g []float64) (value float64) {
	f.findThresholds(f.z)
	clear(f.v)
	taus := float64(len(f.rules))
	sums := make([]float64, len(f.rules))
	for k := range f.rules {
		t := f.support[k].T
		part := pairInBlocks(len(f.positives.z), func(first, end int) (value, sum float64) {
			for i := first; i < end; i++ {
				m := f.positives.weight(i)
				miss, rate := sigmoid((t - f.z[i]) / f.width)
				value += float64(m * miss)
				rate = float64(m*rate) / float64(f.width*taus)
				f.v[i] -= rate
				sum += rate
			}
			return value, sum
		})
		f.misses[k], sums[k] = part.first, part.second
		value += part.first / taus
	}
	// The thresholds pull the population: each row by its weight a in the rule.
	population := f.v[f.first:]
	for k, sum := range sums {
		s := &f.support[k]
		for q, row := range s.Rows {
			population[row] += float64(sum * s.A[q])
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

// sigmoid returns s(u) = 1/(1 + e^-u) and s'(u). It takes the exponential of -|u| only, so nothing overflows.
func sigmoid(u float64) (value, slope float64) {
	e := detmath.Exp(-math.Abs(u))
	value = 1 / (1 + e)
	slope = float64(float64(e*value) * value)
	if u < 0 {
		value = float64(e * value)
	}
	return value, slope
}
