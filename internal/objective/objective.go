// Package objective joins a method and a matrix: the value, threshold and gradient of the method's objective at any w, its
// dual value at any (p, a), and the same objective on minibatches.
//
// With the threshold t = t(w) on the population, row weights m (1 by default), M+ and M- the masses of the two classes and
// a surrogate l, the objective of equation "defin_problem" with the terms of the method is
//
//	F(w) = (1/M+) sum over positives of m_i l(t - w'x_i)
//	     + (1/M-) sum over negatives of m_j l(w'x_j - t)       (only methods with false positives)
//	     + lambda/2 |w|^2
//
// and with grad t = X'a on the population,
//
//	grad F = (1/M+) sum m_i l'(t - z_i) (grad t - x_i) + (1/M-) sum m_j l'(z_j - t) (x_j - grad t) + lambda w.
//
// At a kink this is a subgradient: l' is the left derivative, and the rule chooses a among ties.
//
// Order. A population of all samples lists the positives first, in stored order, then the negatives; ties at the cut of a
// threshold are filled in that order. Sums over rows are formed pairwise in stored order (sum.go), products X w and X'v as
// package matrix says, all in float64: nothing depends on the number of threads.
//
// (*Objective).At is exact in this sense. Lockstep evaluates several objectives on the same data at once, in the fast
// arithmetic: that is what ADAM and SGD step on.
package objective

import (
	"fmt"
	"math"
	"sync"

	"toptau/diag"
	"toptau/internal/matrix"
	"toptau/method"
	"toptau/surrogate"
	"toptau/threshold"
)

// Objective is a method on a matrix. It owns scratch space: one goroutine at a time. Several objectives may share a matrix.
type Objective struct {
	problem    method.Problem
	x          *matrix.Matrix
	loss       surrogate.Surrogate
	population threshold.Population
	rule       threshold.Threshold
	positives  mass
	negatives  mass

	z       []float64 // scores, positives first, and then the coefficients of X'v in their place
	weights []float64 // of the population; nil: all 1
	support threshold.Support
	rows    []int32 // with a coefficient, of one class
	visits  int64
	active  int64
	sampled threshold.Threshold // see Lockstep.guess
}

// mass is the weights of one class: nil and their number when all are 1.
type mass struct {
	weights []float64
	total   float64
}

func (m mass) of(i int) float64 {
	if m.weights == nil {
		return 1
	}
	return m.weights[i]
}

func massOf(p *matrix.Part) mass {
	m := mass{weights: p.Weights(), total: float64(p.Rows())}
	if m.weights != nil {
		m.total = sum(len(m.weights), func(i int) float64 { return m.weights[i] })
	}
	return m
}

// Value is the objective at one w.
type Value struct {
	F    float64 // the objective
	T    float64 // the threshold t(w)
	Loss float64 // F without the term in lambda
}

// New binds a method to a matrix. It fails when the population is too small for the method's threshold.
func New(p method.Problem, x *matrix.Matrix) (*Objective, error) {
	o := &Objective{problem: p, x: x, loss: p.Loss()}
	if o.loss == nil {
		o.loss = surrogate.Hinge
	}
	o.positives, o.negatives = massOf(x.Positives), massOf(x.Negatives)
	rows, weights := populationOf(p.Definition().Population, x)
	o.weights = weights
	o.population = threshold.NewPopulation(rows, weights)
	rule, err := p.Rule().Bind(o.population)
	if err != nil {
		return nil, fmt.Errorf("%s on %d %s: %w", p.Definition().Title, rows, populationName(p.Definition().Population), err)
	}
	o.rule = rule
	return o, nil
}

// populationOf returns the rows and weights that a threshold is computed from.
func populationOf(p method.Population, x *matrix.Matrix) (int, []float64) {
	if p == method.Negatives {
		return x.Negatives.Rows(), x.Negatives.Weights()
	}
	if x.Positives.Weights() == nil && x.Negatives.Weights() == nil {
		return x.Rows(), nil
	}
	weights := make([]float64, 0, x.Rows())
	for _, part := range []*matrix.Part{x.Positives, x.Negatives} {
		m := massOf(part)
		for i := range part.Rows() {
			weights = append(weights, m.of(i))
		}
	}
	return x.Rows(), weights
}

func populationName(p method.Population) string {
	if p == method.Negatives {
		return "negatives"
	}
	return "rows"
}

// Dim is the number of features.
func (o *Objective) Dim() int { return o.x.Cols() }

// Problem is the method with its hyperparameters.
func (o *Objective) Problem() method.Problem { return o.problem }

// Matrix is the data.
func (o *Objective) Matrix() *matrix.Matrix { return o.x }

// Population describes the rows that the threshold is computed from.
func (o *Objective) Population() threshold.Population { return o.population }

// Threshold is the method's rule, bound to the population.
func (o *Objective) Threshold() threshold.Threshold { return o.rule }

// Rows is the number of rows of both classes.
func (o *Objective) Rows() int { return o.x.Rows() }

// Visits is the number of row visits of all evaluations so far: every row for X w, the rows with a coefficient for X'v.
func (o *Objective) Visits() int64 { return o.visits }

// Active is the number of rows that had a coefficient in X'v, in all evaluations so far.
func (o *Objective) Active() int64 { return o.active }

// Project projects w, in place, on the unit ball of the l2 norm when the method asks for it.
func (o *Objective) Project(w []float64) {
	if !o.problem.Definition().Ball {
		return
	}
	if norm := Norm(w); norm > 1 {
		for j := range w {
			w[j] /= norm
		}
	}
}

// At returns the objective at w and, unless grad is nil, writes its gradient there. w and grad have Dim elements. It
// costs one X w and, with a gradient, one X'v in which rows without a coefficient are not read.
func (o *Objective) At(w, grad []float64) Value {
	if grad == nil && o.problem.Definition().Population == method.Negatives {
		return o.inTurn(w)
	}
	o.score(w)
	v := o.AtScores(w, o.z)
	if grad != nil {
		o.gradient(v.T, grad)
		for j := range grad {
			grad[j] += float64(o.problem.Lambda * w[j])
		}
	}
	return v
}

// inTurn is At without a gradient where the threshold depends on the negatives alone: the positives' scores take the place of
// theirs.
func (o *Objective) inTurn(w []float64) Value {
	p, n := o.x.Positives, o.x.Negatives
	o.room(max(p.Rows(), n.Rows()))
	z := o.z[:n.Rows()]
	n.Scores(w, z)
	o.rule.At(z, o.weights, &o.support)
	alarms := o.alarms(z)
	z = o.z[:p.Rows()]
	p.Scores(w, z)
	o.visits += int64(o.x.Rows())
	return o.value(w, o.misses(z), alarms)
}

// AtScores is At without a gradient for a caller that has the scores of w, positives first: it reads no row.
func (o *Objective) AtScores(w, z []float64) Value {
	positives := o.x.Positives.Rows()
	population := z
	if o.problem.Definition().Population == method.Negatives {
		population = z[positives:]
	}
	o.rule.At(population, o.weights, &o.support)
	return o.value(w, o.misses(z[:positives]), o.alarms(z[positives:]))
}

// misses is the loss of the positives with scores z at the threshold in support, and alarms that of the negatives.
func (o *Objective) misses(z []float64) float64 { return o.losses(z, o.positives, -1) }

func (o *Objective) alarms(z []float64) float64 {
	if !o.problem.Definition().FalsePositives {
		return 0
	}
	return o.losses(z, o.negatives, 1)
}

func (o *Objective) value(w []float64, misses, alarms float64) Value {
	v := Value{T: o.support.T, Loss: misses + alarms}
	lambda := o.problem.Lambda
	v.F = v.Loss + float64(float64(lambda/2)*normSquared(w))
	return v
}

// Release gives the scratch space back; the next evaluation makes it anew, or takes what another one has left.
func (o *Objective) Release() {
	leaveSpace(o.z)
	o.z, o.support, o.rows = nil, threshold.Support{}, nil
}

// spareScores is score space that objectives have given back: runs evaluate the same rows exactly now and then.
var spareScores sync.Pool

func leaveSpace(z []float64) {
	if z != nil {
		spareScores.Put(&z)
	}
}

// spareSpace is space that was left, of any length; nil where there is none.
func spareSpace() []float64 {
	if z, ok := spareScores.Get().(*[]float64); ok {
		return *z
	}
	return nil
}

// score fills z with the scores of both classes.
func (o *Objective) score(w []float64) {
	o.room(o.x.Rows())
	positives := o.x.Positives.Rows()
	o.x.Positives.Scores(w, o.z[:positives])
	o.x.Negatives.Scores(w, o.z[positives:])
	o.visits += int64(len(o.z))
}

// room makes z hold n scores.
func (o *Objective) room(n int) {
	if o.z == nil {
		o.z = spareSpace()
	}
	o.z = resize(o.z, n)
}

// losses is the weighted mean of the surrogate at the margins sign (z - t) of one class; 0 when the class is empty.
func (o *Objective) losses(z []float64, m mass, sign float64) float64 {
	if len(z) == 0 {
		return 0
	}
	t := o.support.T
	if o.loss == surrogate.Hinge && m.weights == nil { // most of all evaluations: without a call for each row
		return sumOfBlocks(len(z), func(first, end int) float64 {
			s := 0.0
			for _, zi := range z[first:end] {
				s += max(0, 1+float64(sign*(zi-t)))
			}
			return s
		}) / m.total
	}
	return sum(len(z), func(i int) float64 { return float64(m.of(i) * o.loss.Value(float64(sign*(z[i]-t)))) }) / m.total
}

// gradient writes the gradient of the losses at the scores in z, which are given up: all coefficients of rows are joined
// first, c_i = m_i l'(t - z_i)/M+ on the positives, e_j = m_j l'(z_j - t)/M- on the negatives and (sum c - sum e) a on the
// population, so that X'v is formed once.
func (o *Objective) gradient(t float64, grad []float64) {
	positives := o.x.Positives.Rows()
	c, e := o.z[:positives], o.z[positives:]
	for i, z := range c {
		c[i] = -float64(o.positives.of(i)*o.loss.Derivative(t-z)) / o.positives.total
	}
	rest := -sum(len(c), func(i int) float64 { return c[i] })
	if o.problem.Definition().FalsePositives {
		for j, z := range e {
			e[j] = float64(o.negatives.of(j)*o.loss.Derivative(z-t)) / o.negatives.total
		}
		rest -= sum(len(e), func(j int) float64 { return e[j] })
	} else {
		clear(e)
	}
	population := o.z
	if o.problem.Definition().Population == method.Negatives {
		population = e
	}
	for k, row := range o.support.Rows {
		population[row] += float64(rest * o.support.A[k])
	}
	clear(grad)
	o.visitActive(o.addRows(o.x.Positives, c, grad))
	o.visitActive(o.addRows(o.x.Negatives, e, grad))
}

func (o *Objective) visitActive(rows int64) {
	o.visits += rows
	o.active += rows
}

// addRows adds X'v to g and returns the number of rows that it reads, those whose v is not 0. It gives v up: these move to its
// front.
func (o *Objective) addRows(part *matrix.Part, v, g []float64) int64 {
	o.rows = o.rows[:0]
	for i, x := range v {
		if x != 0 {
			v[len(o.rows)] = x
			o.rows = append(o.rows, int32(i))
		}
	}
	part.AddGradient(o.rows, v[:len(o.rows)], g)
	return int64(len(o.rows))
}

// Norm is the l2 norm of w, summed pairwise. It does not overflow before w does.
func Norm(w []float64) float64 {
	largest := 0.0
	for _, x := range w {
		largest = max(largest, math.Abs(x))
	}
	if largest == 0 || math.IsInf(largest, 1) {
		return largest
	}
	if largest > 1e-100 && largest < 1e100 {
		return math.Sqrt(normSquared(w))
	}
	return largest * math.Sqrt(sum(len(w), func(j int) float64 { r := w[j] / largest; return float64(r * r) }))
}

func normSquared(w []float64) float64 {
	return sum(len(w), func(j int) float64 { return float64(w[j] * w[j]) })
}

// usage is a mistake in the flags.
func usage(found, expected, hint string) error {
	return &diag.Error{Kind: diag.Usage, Found: found, Expected: expected, Hint: hint}
}
