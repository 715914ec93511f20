// Package objective joins a method and a matrix: it computes the value, threshold and gradient of the method's objective at
// any w, its dual value at any (p, a), and the same objective on minibatches.
//
// With the threshold t = t(w) on the population, row weights m (1 by default), M+ and M- the sums of the weights of the two
// classes and a surrogate l, the objective of equation "defin_problem" with the terms of the method is
//
//	F(w) = (1/M+) sum over positives of m_i l(t - w'x_i)
//	     + (1/M-) sum over negatives of m_j l(w'x_j - t)       (only methods with false positives)
//	     + lambda/2 |w|^2
//
// and with grad t = X'a on the population,
//
//	grad F = (1/M+) sum m_i l'(t - z_i) (grad t - x_i) + (1/M-) sum m_j l'(z_j - t) (x_j - grad t) + lambda w.
//
// Where l is not differentiable this is a subgradient: l' is the left derivative, and the rule chooses a among ties.
//
// Order. A population of all samples lists the positives first, in stored order, then the negatives; ties at the cut of a
// threshold are filled in that order. Sums over rows are formed pairwise in stored order (sum.go), products X w and X'v in the
// order of package matrix, all in float64. Nothing depends on the number of threads.
//
// The arithmetic is exact in this sense. Package lockstep evaluates objectives in a faster one.
package objective

import (
	"fmt"
	"math"
	"sync"

	"toptau/internal/core/matrix"
	"toptau/method"
	"toptau/surrogate"
	"toptau/threshold"
)

// Objective is a method on a matrix. It has scratch space for one goroutine at a time. Several objectives may share a matrix.
type Objective struct {
	problem    method.Problem
	x          *matrix.Matrix
	loss       surrogate.Surrogate
	population threshold.Population
	rule       threshold.Threshold
	positives  Mass
	negatives  Mass

	weights []float64 // of the population; nil when all are 1
	held    bool      // gradients treat t as a constant
	visits  int64
	active  int64
	scratch
}

// scratch is the space of one evaluation.
type scratch struct {
	z       []float64 // scores, positives first; then the coefficients of X'v in their place
	support threshold.Support
	rows    []int32 // rows of one class that have a coefficient
}

// Terms are the properties of an objective, for evaluators with an arithmetic of their own (package lockstep).
type Terms struct {
	Problem              method.Problem
	Matrix               *matrix.Matrix
	Loss                 surrogate.Surrogate
	Rule                 threshold.Threshold // bound to the population
	Population           threshold.Population
	Weights              []float64 // of the population's rows, positives first; nil when all are 1
	Positives, Negatives Mass
}

// Mass holds the weights of one class.
type Mass struct {
	Weights []float64 // nil when all are 1
	Total   float64   // their sum
}

// Of returns the weight of row i.
func (m Mass) Of(i int) float64 {
	if m.Weights == nil {
		return 1
	}
	return m.Weights[i]
}

func massOf(p *matrix.ClassRows) Mass {
	m := Mass{Weights: p.Weights(), Total: float64(p.Rows())}
	if m.Weights != nil {
		m.Total = sum(len(m.Weights), func(i int) float64 { return m.Weights[i] })
	}
	return m
}

// Value is the objective at one w.
type Value struct {
	F    float64 // the objective
	T    float64 // the threshold t(w)
	Loss float64 // F without the term in lambda
}

// New binds a method to a matrix. It returns an error when the population is too small for the method's threshold.
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
	for _, part := range []*matrix.ClassRows{x.Positives, x.Negatives} {
		m := massOf(part)
		for i := range part.Rows() {
			weights = append(weights, m.Of(i))
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

// Terms returns the properties of the objective.
func (o *Objective) Terms() Terms {
	return Terms{Problem: o.problem, Matrix: o.x, Loss: o.loss, Rule: o.rule, Population: o.population, Weights: o.weights,
		Positives: o.positives, Negatives: o.negatives}
}

// HoldThreshold makes the gradients of At treat the threshold as a constant: grad t = 0. This is the partial gradient by w of
// the original Grill ("perform the gradient only with respect to w and then recompute t", Section 5.1), and no gradient of
// F. Values stay the same, and package lockstep does not know it.
func (o *Objective) HoldThreshold() { o.held = true }

// Dim returns the number of features.
func (o *Objective) Dim() int { return o.x.Cols() }

// Problem returns the method with its hyperparameters.
func (o *Objective) Problem() method.Problem { return o.problem }

// Matrix returns the data.
func (o *Objective) Matrix() *matrix.Matrix { return o.x }

// Population returns a description of the rows that the threshold is computed from.
func (o *Objective) Population() threshold.Population { return o.population }

// Threshold returns the method's rule, bound to the population.
func (o *Objective) Threshold() threshold.Threshold { return o.rule }

// Rows returns the number of rows of both classes.
func (o *Objective) Rows() int { return o.x.Rows() }

// Visits returns the number of row visits of all evaluations so far: every row for X w, the rows with a coefficient for X'v.
func (o *Objective) Visits() int64 { return o.visits }

// Active returns the number of rows that had a coefficient in X'v, in all evaluations so far.
func (o *Objective) Active() int64 { return o.active }

// CountVisits adds to Visits and Active: rows that were scored, and rows that had a coefficient in X'v.
func (o *Objective) CountVisits(scored, active int64) {
	o.visits += scored + active
	o.active += active
}

// Project projects w, in place, on the unit ball of the l2 norm if the method is defined on it.
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

// At returns the objective at w and, unless grad is nil, writes its gradient there. w and grad have Dim elements. It takes
// one X w and, with a gradient, one X'v in which rows without a coefficient are not read.
func (o *Objective) At(w, grad []float64) Value {
	if grad == nil && o.problem.Definition().Population == method.Negatives {
		return o.valueByClass(w)
	}
	o.computeScores(w)
	v := o.AtScores(w, o.z)
	if grad != nil {
		o.gradient(v.T, grad)
		for j := range grad {
			grad[j] += float64(o.problem.Lambda * w[j])
		}
	}
	return v
}

// valueByClass is At without a gradient where the threshold depends on the negatives alone: it needs space for the scores of
// one class at a time.
func (o *Objective) valueByClass(w []float64) Value {
	p, n := o.x.Positives, o.x.Negatives
	o.growScores(max(p.Rows(), n.Rows()))
	z := o.z[:n.Rows()]
	n.Scores(w, z)
	o.rule.At(z, o.weights, &o.support)
	negatives := o.negativeLoss(z)
	z = o.z[:p.Rows()]
	p.Scores(w, z)
	o.visits += int64(o.x.Rows())
	return o.value(w, o.meanLoss(z, o.positives, -1), negatives)
}

// AtScores is At without a gradient for a caller that has the scores of w, positives first: it reads no row.
func (o *Objective) AtScores(w, z []float64) Value {
	positives := o.x.Positives.Rows()
	population := z
	if o.problem.Definition().Population == method.Negatives {
		population = z[positives:]
	}
	o.rule.At(population, o.weights, &o.support)
	return o.value(w, o.meanLoss(z[:positives], o.positives, -1), o.negativeLoss(z[positives:]))
}

// negativeLoss returns the loss of the negatives, which is 0 for methods without false positives.
func (o *Objective) negativeLoss(z []float64) float64 {
	if !o.problem.Definition().FalsePositives {
		return 0
	}
	return o.meanLoss(z, o.negatives, 1)
}

func (o *Objective) value(w []float64, positives, negatives float64) Value {
	v := Value{T: o.support.T, Loss: positives + negatives}
	lambda := o.problem.Lambda
	v.F = v.Loss + float64(float64(lambda/2)*NormSquared(w))
	return v
}

// Release gives the scratch space back. The next evaluation borrows or allocates it again.
func (o *Objective) Release() {
	ReturnScores(o.z)
	o.scratch = scratch{}
}

// TakeScratch moves the scratch space of another objective to o, which saves the next evaluation an allocation.
func (o *Objective) TakeScratch(from *Objective) {
	ReturnScores(o.z)
	o.scratch, from.scratch = from.scratch, scratch{}
}

// spareScores holds score space between evaluations: the runs of a grid evaluate the same rows exactly now and then, and each
// would otherwise keep a vector of all rows.
var spareScores sync.Pool

// ReturnScores gives score space to later calls of BorrowScores. z may be nil.
func ReturnScores(z []float64) {
	if z != nil {
		spareScores.Put(&z)
	}
}

// BorrowScores returns score space of any length and content, or nil where there is none.
func BorrowScores() []float64 {
	if z, ok := spareScores.Get().(*[]float64); ok {
		return *z
	}
	return nil
}

// computeScores fills z with the scores of both classes.
func (o *Objective) computeScores(w []float64) {
	o.growScores(o.x.Rows())
	positives := o.x.Positives.Rows()
	o.x.Positives.Scores(w, o.z[:positives])
	o.x.Negatives.Scores(w, o.z[positives:])
	o.visits += int64(len(o.z))
}

// growScores makes z hold n scores, whose contents are not kept.
func (s *scratch) growScores(n int) {
	if s.z == nil {
		s.z = BorrowScores()
	}
	if n > cap(s.z) {
		s.z = make([]float64, n)
	}
	s.z = s.z[:n]
}

// meanLoss returns the weighted mean of the surrogate at the margins sign (z - t) of one class, or 0 when the class is empty.
func (o *Objective) meanLoss(z []float64, m Mass, sign float64) float64 {
	if len(z) == 0 {
		return 0
	}
	t := o.support.T
	if o.loss == surrogate.Hinge && m.Weights == nil { // most evaluations: without a call per row
		return sumOfBlocks(len(z), func(first, end int) float64 {
			s := 0.0
			for _, zi := range z[first:end] {
				s += max(0, 1+float64(sign*(zi-t)))
			}
			return s
		}) / m.Total
	}
	return sum(len(z), func(i int) float64 { return float64(m.Of(i) * o.loss.Value(float64(sign*(z[i]-t)))) }) / m.Total
}

// gradient writes the gradient of the losses at the scores in z, which it overwrites. It first adds up the coefficients of
// each row, c_i = m_i l'(t - z_i)/M+ for positives, e_j = m_j l'(z_j - t)/M- for negatives and (sum c - sum e) a for the
// population, so that one X'v is enough.
func (o *Objective) gradient(t float64, grad []float64) {
	positives := o.x.Positives.Rows()
	c, e := o.z[:positives], o.z[positives:]
	for i, z := range c {
		c[i] = -float64(o.positives.Of(i)*o.loss.Derivative(t-z)) / o.positives.Total
	}
	rest := -sum(len(c), func(i int) float64 { return c[i] })
	if o.problem.Definition().FalsePositives {
		for j, z := range e {
			e[j] = float64(o.negatives.Of(j)*o.loss.Derivative(z-t)) / o.negatives.Total
		}
		rest -= sum(len(e), func(j int) float64 { return e[j] })
	} else {
		clear(e)
	}
	population := o.z
	if o.problem.Definition().Population == method.Negatives {
		population = e
	}
	if !o.held {
		for k, row := range o.support.Rows {
			population[row] += float64(rest * o.support.A[k])
		}
	}
	clear(grad)
	o.CountVisits(0, o.addRows(o.x.Positives, c, grad))
	o.CountVisits(0, o.addRows(o.x.Negatives, e, grad))
}

// addRows adds X'v to g and returns the number of rows that it reads, those whose v is not 0. It moves these to the front of
// v.
func (s *scratch) addRows(rows *matrix.ClassRows, v, g []float64) int64 {
	s.rows = s.rows[:0]
	for i, x := range v {
		if x != 0 {
			v[len(s.rows)] = x
			s.rows = append(s.rows, int32(i))
		}
	}
	rows.AddGradient(s.rows, v[:len(s.rows)], g)
	return int64(len(s.rows))
}

// Norm returns the l2 norm of w, summed pairwise. It does not overflow unless the norm itself does.
func Norm(w []float64) float64 {
	largest := 0.0
	for _, x := range w {
		largest = max(largest, math.Abs(x))
	}
	if largest == 0 || math.IsInf(largest, 1) {
		return largest
	}
	if largest > 1e-100 && largest < 1e100 {
		return math.Sqrt(NormSquared(w))
	}
	return largest * math.Sqrt(sum(len(w), func(j int) float64 { r := w[j] / largest; return float64(r * r) }))
}

// NormSquared returns the square of the l2 norm of w, summed pairwise.
func NormSquared(w []float64) float64 {
	return sum(len(w), func(j int) float64 { return float64(w[j] * w[j]) })
}
