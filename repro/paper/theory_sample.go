package paper

import (
	"context"
	"math"
	"math/rand/v2"

	"toptau/internal/core/certified"
	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/method"
	"toptau/surrogate"
	"toptau/threshold"
)

// Sample is a data set with a name.
type Sample struct {
	Name string
	X    *matrix.Matrix
}

// draws is a stream of random numbers, which is the same on every platform.
type draws struct{ pcg *rand.PCG }

// newDraws returns the stream of a number within a kind.
func newDraws(seed, kind, number uint64) draws {
	const odd = 0x9e3779b97f4a7c15
	return draws{rand.NewPCG(seed+kind*odd, number)}
}

// split returns another stream, for a part of the work.
func (d draws) split(number uint64) draws { return draws{rand.NewPCG(d.pcg.Uint64(), number)} }

// unit returns a number uniform in [0, 1).
func (d draws) unit() float64 { return float64(d.pcg.Uint64()>>11) / (1 << 53) }

// sign returns a number uniform in [-1, 1).
func (d draws) sign() float64 { return float64(2*d.unit()) - 1 }

// below returns a number uniform in 0..n-1, up to a bias of n/2^32.
func (d draws) below(n int) int { return int(d.pcg.Uint64() >> 32 * uint64(n) >> 32) }

// pick returns one of the values.
func pick[T any](d draws, values ...T) T { return values[d.below(len(values))] }

// randomSample returns a small sample of a random kind: uniform, in two clouds, on a coarse grid with tied
// scores, or with outliers.
func randomSample(d draws) (Sample, error) {
	positives, negatives, cols := 1+d.below(30), 1+d.below(60), 1+d.below(5)
	kind := d.below(4)
	var x [][]float64
	var y []bool
	for i := range positives + negatives {
		row := make([]float64, cols)
		for j := range row {
			row[j] = d.sign()
			switch {
			case kind == 1 && i < positives:
				row[j] += 0.5
			case kind == 2:
				row[j] = float64(d.below(5) - 2)
			case kind == 3 && d.below(10) == 0:
				row[j] *= 20
			}
		}
		x, y = append(x, row), append(y, i < positives)
	}
	m, err := matrix.FromDense(x, y, nil, matrix.Float64)
	return Sample{Name: "random data", X: m}, err
}

// subject is a sample with the statistics that the experiments need.
type subject struct {
	Sample
	positives, negatives []float64   // means of the classes
	reach                float64     // largest norm of a row
	spread               []float64   // mean absolute value of each column, 1 for an empty column
	known                [][]float64 // iterates of ADAM and optima
}

// newSubject computes the statistics of a sample.
func newSubject(ctx context.Context, s Sample, d draws) (*subject, error) {
	u := &subject{Sample: s, spread: make([]float64, s.X.Cols())}
	u.positives = u.addClass(s.X.Positives)
	u.negatives = u.addClass(s.X.Negatives)
	for j := range u.spread {
		if u.spread[j] /= float64(s.X.Rows()); u.spread[j] == 0 {
			u.spread[j] = 1
		}
	}
	return u, u.findPoints(ctx, d)
}

// addClass returns the mean of a class and adds its rows to reach and spread.
func (u *subject) addClass(p *matrix.ClassRows) []float64 {
	mean, row := make([]float64, p.Cols()), make([]float64, p.Cols())
	for i := range p.Rows() {
		p.Row(i, row)
		u.reach = max(u.reach, objective.Norm(row))
		for j, v := range row {
			mean[j] += float64(v / float64(p.Rows()))
			u.spread[j] += math.Abs(v)
		}
	}
	return mean
}

// findPoints collects iterates of ADAM and certified optima.
func (u *subject) findPoints(ctx context.Context, d draws) error {
	for _, m := range method.All() {
		o, err := u.objective(d, m)
		if err != nil {
			return err
		}
		w := newWalk(o, u.randomPoint(d, u.spread))
		if err := w.descend(ctx, 200); err != nil {
			return err
		}
		u.known = append(u.known, w.points[len(w.points)/2], w.points[len(w.points)-1])
		if o.Problem().Definition().Convex && o.Problem().Lambda > 0 && certified.Possible(o.Problem()) == nil {
			r, err := certified.Solve(ctx, o, certified.Options{MaxPasses: 30})
			if err != nil {
				return err
			}
			u.known = append(u.known, r.W)
		}
	}
	return nil
}

// randomPoint returns a point in a random direction, with smaller weights for columns with larger values.
func (u *subject) randomPoint(d draws, spread []float64) []float64 {
	w := make([]float64, u.X.Cols())
	size := pick(d, 0.01, 0.1, 1, 10)
	for j := range w {
		w[j] = float64(size*d.sign()) / spread[j]
	}
	return w
}

// drawWeights returns a w for a case: a random point, the direction from the negatives to the positives, an
// iterate or an optimum.
func (u *subject) drawWeights(d draws) []float64 {
	switch d.below(4) {
	case 0:
		flat := make([]float64, len(u.spread))
		for j := range flat {
			flat[j] = u.reach
		}
		return u.randomPoint(d, flat)
	case 1:
		w := u.randomPoint(d, u.spread)
		size := pick(d, 0.1, 1, 10) / u.reach
		for j := range w {
			w[j] = float64(w[j]*0.01) + float64(size*(u.positives[j]-u.negatives[j]))
		}
		return w
	case 2:
		return pick(d, u.known...)
	}
	return u.randomPoint(d, u.spread)
}

// scoreSize returns the size of the numbers in a score at w, to which its rounding is relative. It is at
// least 1, the size of l(0).
func (u *subject) scoreSize(w ...[]float64) float64 {
	size := 1.0
	for _, v := range w {
		size = max(size, float64(u.reach*objective.Norm(v)))
	}
	return size
}

// scored contains the scores of a sample: of the positives, of the negatives, and both in one slice in this
// order.
type scored struct{ positives, negatives, all []float64 }

// scores returns the scores at w.
func (u *subject) scores(w []float64) scored {
	n := u.X.Positives.Rows()
	all := make([]float64, u.X.Rows())
	s := scored{all[:n:n], all[n:], all}
	u.X.Positives.Scores(w, s.positives)
	u.X.Negatives.Scores(w, s.negatives)
	return s
}

// population returns the scores from which a method's threshold is computed.
func (s scored) population(p method.Population) []float64 {
	if p == method.Negatives {
		return s.negatives
	}
	return s.all
}

// threshold returns a method's t for these scores.
func (s scored) threshold(p method.Problem) (float64, error) {
	return thresholdOf(p.Rule(), s.population(p.Definition().Population))
}

// thresholdOf returns the threshold of a rule on some scores.
func thresholdOf(rule threshold.Rule, z []float64) (float64, error) {
	bound, err := rule.Bind(threshold.NewPopulation(len(z), nil))
	if err != nil {
		return 0, err
	}
	var support threshold.Support
	bound.At(z, nil, &support)
	return support.T, nil
}

// problem returns a method with random hyperparameters that are valid for the sample.
func (u *subject) problem(d draws, m method.Method) (method.Problem, error) {
	h := method.Problem{
		Lambda:    pick(d, 0, 1e-5, 1e-3, 0.1),
		Surrogate: pick(d, surrogate.Hinge, surrogate.SquaredHinge, surrogate.Logistic).Name(),
	}
	if m.UsesTau {
		h.Tau = d.rate()
	}
	if m.UsesBeta {
		h.Beta = pick(d, 1e-4, 1e-3, 0.01, 0.1, 1, 10)
	}
	if m.UsesK {
		h.K = 1 + d.below(min(20, u.X.Negatives.Rows()))
	}
	return m.With(h)
}

// rates are the rates of the paper, and larger ones with more than one row of a small sample on top.
var rates = []threshold.Rate{threshold.MustRate("0.01"), threshold.MustRate("0.03"), threshold.MustRate("0.07"),
	threshold.MustRate("0.2"), threshold.MustRate("1/3"), threshold.MustRate("0.75")}

// rate returns a random tau.
func (d draws) rate() threshold.Rate { return pick(d, rates...) }

// objective returns the objective of a method with random hyperparameters.
func (u *subject) objective(d draws, m method.Method) (*objective.Objective, error) {
	p, err := u.problem(d, m)
	if err != nil {
		return nil, err
	}
	return objective.New(p, u.X)
}

// methodsWhere returns the methods with a property, in the paper's order.
func methodsWhere(keep func(method.Method) bool) []method.Method {
	var kept []method.Method
	for _, m := range method.All() {
		if keep(m) {
			kept = append(kept, m)
		}
	}
	return kept
}

// Groups of methods in the statements.
var (
	convexMethods     = methodsWhere(func(m method.Method) bool { return m.Convex })
	grillMethods      = methodsWhere(func(m method.Method) bool { return m.FalsePositives })
	collapsingMethods = methodsWhere(func(m method.Method) bool { return m.CanCollapse }) // the methods of Theorem large_t
	patMatMethods     = methodsWhere(func(m method.Method) bool { return m.UsesBeta })
)
