package campaigns_test

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"toptau/dataset"
	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/internal/core/solver"
	"toptau/internal/models/feature"
	"toptau/internal/training/rowset"
	"toptau/method"
	"toptau/model"
	"toptau/result"
	"toptau/surrogate"
)

// This file checks certificates in rational numbers. It shares only the packed rows with Verify, and nothing with the solver.
// Square roots and the roots of quadratic equations are enclosed between rational numbers.

// interval encloses a real number between two rational ones.
type interval struct{ low, high *big.Rat }

func ratOf(x float64) *big.Rat      { return new(big.Rat).SetFloat64(x) }
func addRat(x, y *big.Rat) *big.Rat { return new(big.Rat).Add(x, y) }
func subRat(x, y *big.Rat) *big.Rat { return new(big.Rat).Sub(x, y) }
func mulRat(x, y *big.Rat) *big.Rat { return new(big.Rat).Mul(x, y) }
func quoRat(x, y *big.Rat) *big.Rat { return new(big.Rat).Quo(x, y) }
func minRat(x, y *big.Rat) *big.Rat {
	if x.Cmp(y) <= 0 {
		return x
	}
	return y
}
func maxRat(x, y *big.Rat) *big.Rat { return subRat(addRat(x, y), minRat(x, y)) }

var (
	ratZero = new(big.Rat)
	ratOne  = big.NewRat(1, 1)
)

func exactly(x *big.Rat) interval { return interval{x, x} }

// sqrtRat encloses a square root to about 2^-200 of its size.
func sqrtRat(x *big.Rat) interval {
	if x.Sign() <= 0 {
		return exactly(ratZero)
	}
	shift := max(0, 200+(x.Denom().BitLen()-x.Num().BitLen())/2)
	scaled := new(big.Int).Lsh(x.Num(), uint(2*shift))
	low := new(big.Int).Sqrt(scaled.Quo(scaled, x.Denom()))
	unit := new(big.Int).Lsh(big.NewInt(1), uint(shift))
	high := new(big.Int).Add(low, big.NewInt(1))
	return interval{new(big.Rat).SetFrac(low, unit), new(big.Rat).SetFrac(high, unit)}
}

// exactProblem is a training problem in rational numbers.
type exactProblem struct {
	method       method.Method
	squared      bool
	lambda, beta *big.Rat
	x            [][]*big.Rat // positives first
	m            []*big.Rat
	positives    int
	mass, kappa  *big.Rat // M+, and the mass on top
	sourceOf     []int    // 1-based rows of the data
	dim          int
	slack        *big.Rat      // largest violation of a constraint that counts as rounding
	classes      [2][]classRow // the positives and the population, for groups
	lightest     *big.Rat      // of the population
}

// bindProblem encodes and packs all rows and binds the problem to them.
func bindProblem(ctx context.Context, p method.Problem, storage method.Storage, m *model.Model, d *dataset.Data) (*objective.Objective, error) {
	features := feature.MapOf(m.Features())
	if err := features.Check(rowset.Of(d).Table); err != nil {
		return nil, err
	}
	x, err := features.MatrixContext(ctx, rowset.Of(d).Table, nil, solver.Storage(storage))
	if err != nil {
		return nil, err
	}
	return objective.New(p, x)
}

// newExactProblem copies the packed rows of an objective.
func newExactProblem(f *objective.Objective) *exactProblem {
	h := f.Problem()
	e := &exactProblem{method: h.Definition(), squared: h.Loss() == surrogate.SquaredHinge, lambda: ratOf(h.Lambda),
		beta: ratOf(h.Beta), positives: f.Matrix().Positives.Rows(), dim: f.Dim(), mass: ratZero}
	row := make([]float64, f.Dim())
	for _, p := range []*matrix.ClassRows{f.Matrix().Positives, f.Matrix().Negatives} {
		for i := range p.Rows() {
			p.Row(i, row)
			exact := make([]*big.Rat, len(row))
			for j, x := range row {
				exact[j] = ratOf(x)
			}
			weight := 1.0
			if p.Weights() != nil {
				weight = p.Weights()[i]
			}
			e.x, e.m, e.sourceOf = append(e.x, exact), append(e.m, ratOf(weight)), append(e.sourceOf, p.Source(i)+1)
		}
	}
	for _, m := range e.m[:e.positives] {
		e.mass = addRat(e.mass, m)
	}
	e.setKappa(h)
	e.slack = big.NewRat(1001, 1e12)
	e.classes = [2][]classRow{rowsOfClass(f, false), rowsOfClass(f, true)}
	return e
}

// first returns the first row of the population.
func (e *exactProblem) first() int {
	if e.method.Population == method.Negatives {
		return e.positives
	}
	return 0
}

func (e *exactProblem) setKappa(h method.Problem) {
	total, whole := ratZero, true
	e.lightest = e.m[e.first()]
	for _, m := range e.m[e.first():] {
		total, whole = addRat(total, m), whole && m.IsInt()
		e.lightest = minRat(e.lightest, m)
	}
	tau, _ := new(big.Rat).SetString(h.Tau.String())
	switch {
	case e.method.UsesBeta:
		e.kappa = mulRat(total, tau)
	case e.method.UsesK:
		e.kappa = new(big.Rat).SetInt64(int64(h.K))
	case !e.method.UsesTau:
		e.kappa = ratOne
	case whole:
		top := mulRat(total, tau)
		ceil := new(big.Int).Add(top.Num(), new(big.Int).Sub(top.Denom(), big.NewInt(1)))
		e.kappa = maxRat(ratOne, new(big.Rat).SetInt(ceil.Quo(ceil, top.Denom())))
	default:
		e.kappa = maxRat(e.lightest, mulRat(total, tau))
	}
	e.kappa = minRat(e.kappa, total)
}

// scores returns w'x of every row.
func (e *exactProblem) scores(w []*big.Rat) []*big.Rat {
	z := make([]*big.Rat, len(e.x))
	for i, row := range e.x {
		z[i] = ratZero
		for j, x := range row {
			z[i] = addRat(z[i], mulRat(x, w[j]))
		}
	}
	return z
}

// threshold encloses t(w) for scores z.
func (e *exactProblem) threshold(z []*big.Rat) interval {
	z, m := z[e.first():], e.m[e.first():]
	order := make([]int, len(z))
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(i, j int) int { return z[j].Cmp(z[i]) })
	if !e.method.UsesBeta {
		sum, left := ratZero, e.kappa
		for _, j := range order {
			take := minRat(m[j], left)
			sum, left = addRat(sum, mulRat(take, z[j])), subRat(left, take)
		}
		return exactly(quoRat(sum, e.kappa))
	}
	if e.squared {
		return e.rootOfSquares(z, m)
	}
	// The root for the best rows alone is at most the root for all rows. For some number of best rows both are equal.
	var t *big.Rat
	mass, sum := ratZero, ratZero
	for _, j := range order {
		mass, sum = addRat(mass, m[j]), addRat(sum, mulRat(m[j], z[j]))
		level := quoRat(addRat(mulRat(e.beta, sum), subRat(mass, e.kappa)), mulRat(e.beta, mass))
		if t == nil || level.Cmp(t) > 0 {
			t = level
		}
	}
	return exactly(t)
}

// rootOfSquares encloses the root of sum m max(0, 1 + beta (z - t))^2 = kappa.
func (e *exactProblem) rootOfSquares(z, m []*big.Rat) interval {
	excess := func(t *big.Rat) int {
		sum := ratZero
		for j := range z {
			if y := addRat(ratOne, mulRat(e.beta, subRat(z[j], t))); y.Sign() > 0 {
				sum = addRat(sum, mulRat(m[j], mulRat(y, y)))
			}
		}
		return sum.Cmp(e.kappa)
	}
	beta, _ := e.beta.Float64()
	kappa, _ := e.kappa.Float64()
	approximate := func(t float64) (sum float64) {
		for j := range z {
			zj, _ := z[j].Float64()
			mj, _ := m[j].Float64()
			y := max(0, 1+beta*(zj-t))
			sum += mj * y * y
		}
		return sum
	}
	high := math.Inf(-1)
	for j := range z {
		zj, _ := z[j].Float64()
		high = max(high, zj)
	}
	high += 1 / beta
	low := high - 1/beta
	for step := 1 / beta; approximate(low) < kappa && step < 1e300; step *= 2 {
		low -= step
	}
	for range 100 {
		if middle := low + (high-low)/2; approximate(middle) >= kappa {
			low = middle
		} else {
			high = middle
		}
	}
	width := math.Abs(low)*0x1p-50 + 0x1p-60/beta
	t := interval{ratOf(low - width), ratOf(high + width)}
	for excess(t.low) < 0 {
		width *= 4
		t.low = ratOf(low - width)
	}
	for excess(t.high) > 0 {
		width *= 4
		t.high = ratOf(high + width)
	}
	for range 40 {
		if middle := quoRat(addRat(t.low, t.high), big.NewRat(2, 1)); excess(middle) >= 0 {
			t.low = middle
		} else {
			t.high = middle
		}
	}
	return t
}

// objective encloses F(w).
func (e *exactProblem) objective(w []*big.Rat) interval {
	z := e.scores(w)
	t := e.threshold(z)
	square := ratZero
	for _, x := range w {
		square = addRat(square, mulRat(x, x))
	}
	at := func(t *big.Rat) *big.Rat {
		sum := ratZero
		for i, zi := range z[:e.positives] {
			y := addRat(ratOne, subRat(t, zi))
			if y.Sign() <= 0 {
				continue
			}
			if e.squared {
				y = mulRat(y, y)
			}
			sum = addRat(sum, mulRat(e.m[i], y))
		}
		return addRat(quoRat(sum, e.mass), mulRat(quoRat(e.lambda, big.NewRat(2, 1)), square))
	}
	return interval{at(t.low), at(t.high)}
}

// feasible moves values onto their constraints. It returns false if they are farther away than 1e-9, which counts as rounding.
func (e *exactProblem) feasible(p, a []*big.Rat) bool {
	nearly := addRat(ratOne, e.slack)
	for i := range p {
		limit := quoRat(e.m[i], e.mass)
		if p[i].Sign() < 0 || !e.squared && p[i].Cmp(mulRat(limit, nearly)) > 0 {
			return false
		}
		if !e.squared {
			p[i] = minRat(p[i], limit)
		}
	}
	sum := ratZero
	for _, x := range a {
		sum = addRat(sum, x)
	}
	if off := subRat(sum, ratOne); off.Abs(off).Cmp(e.slack) > 0 {
		return false
	}
	limits := make([]*big.Rat, len(a))
	sum, left := ratZero, ratZero
	for j := range a {
		limits[j] = ratOne
		if !e.method.UsesBeta {
			limits[j] = minRat(ratOne, quoRat(e.m[e.first()+j], e.kappa))
		}
		if a[j].Sign() < 0 || a[j].Cmp(mulRat(limits[j], nearly)) > 0 {
			return false
		}
		a[j] = minRat(a[j], limits[j])
		sum, left = addRat(sum, a[j]), addRat(left, subRat(limits[j], a[j]))
	}
	missing := subRat(ratOne, sum)
	for j := range a {
		switch {
		case missing.Sign() <= 0:
			a[j] = quoRat(a[j], sum)
		case left.Sign() > 0:
			a[j] = addRat(a[j], mulRat(quoRat(missing, left), subRat(limits[j], a[j])))
		}
	}
	return true
}

// bound encloses D(p, a), cut at 0, for a feasible point.
func (e *exactProblem) bound(p, a []*big.Rat, radius *big.Rat) interval {
	total, squares := ratZero, ratZero
	v := make([]*big.Rat, e.dim)
	for j := range v {
		v[j] = ratZero
	}
	for i, x := range p {
		total, squares = addRat(total, x), addRat(squares, quoRat(mulRat(x, x), e.m[i]))
	}
	c := make([]*big.Rat, len(e.x))
	for i := range c {
		c[i] = ratZero
		if i < len(p) {
			c[i] = p[i]
		}
		if i >= e.first() {
			c[i] = subRat(c[i], mulRat(total, a[i-e.first()]))
		}
		for j, x := range e.x[i] {
			v[j] = addRat(v[j], mulRat(c[i], x))
		}
	}
	square := ratZero
	for _, x := range v {
		square = addRat(square, mulRat(x, x))
	}
	regulariser := e.regulariser(a)
	cost := exactly(ratZero)
	if e.lambda.Sign() > 0 {
		cost = exactly(quoRat(square, mulRat(big.NewRat(2, 1), e.lambda)))
	} else {
		length := sqrtRat(square)
		cost = interval{mulRat(radius, length.low), mulRat(radius, length.high)}
	}
	if e.squared {
		losses := mulRat(quoRat(e.mass, big.NewRat(4, 1)), squares)
		cost = interval{addRat(cost.low, losses), addRat(cost.high, losses)}
	}
	at := func(regulariser, cost *big.Rat) *big.Rat {
		return maxRat(ratZero, subRat(subRat(total, mulRat(total, regulariser)), cost))
	}
	return interval{at(regulariser.high, cost.high), at(regulariser.low, cost.low)}
}

// regulariser encloses r(a).
func (e *exactProblem) regulariser(a []*big.Rat) interval {
	if !e.method.UsesBeta {
		return exactly(ratZero)
	}
	steepest, squares := ratZero, ratZero
	for j, x := range a {
		ratio := quoRat(x, e.m[e.first()+j])
		steepest, squares = maxRat(steepest, ratio), addRat(squares, mulRat(x, ratio))
	}
	top := exactly(mulRat(e.kappa, steepest))
	if e.squared {
		top = sqrtRat(mulRat(e.kappa, squares))
	}
	return interval{quoRat(subRat(top.low, ratOne), e.beta), quoRat(subRat(top.high, ratOne), e.beta)}
}

// place returns p and a with all their elements.
func (e *exactProblem) place(fromP, fromA model.DualWeights) (p, a []*big.Rat, defect string) {
	p, a = make([]*big.Rat, e.positives), make([]*big.Rat, len(e.x)-e.first())
	for _, half := range []struct {
		to    []*big.Rat
		first int
		from  model.DualWeights
	}{{p, 0, fromP}, {a, e.first(), fromA}} {
		for k := range half.to {
			half.to[k] = ratZero
		}
		for k, row := range half.from.Rows {
			i := slices.Index(e.sourceOf[half.first:half.first+len(half.to)], row)
			if i < 0 || half.to[i].Sign() != 0 {
				return p, a, fmt.Sprintf("row %d has no multiplier, or occurs twice", row)
			}
			half.to[i] = ratOf(half.from.Values[k])
		}
	}
	addGroups(p, e.classes[0], &fromP)
	addGroups(a, e.classes[1], &fromA)
	return p, a, ""
}

// normDefect returns what is wrong with a verification that accepts a bound on the norm of the weights w, whose squared norm
// and objective are given; "" if the bound holds.
func (e *exactProblem) normDefect(c *model.NormProof, v *result.Verification, square *big.Rat, f interval) string {
	p, a, defect := e.place(c.P, c.A)
	if defect != "" {
		return "norm: " + defect
	}
	d := exactly(ratZero)
	if slices.Max(append(slices.Clone(c.P.Values), 0)) > 0 {
		if !e.feasible(p, a) {
			return "the dual point of the norm is not feasible"
		}
		lambda := e.lambda
		e.lambda = ratOf(c.Lambda)
		d = e.bound(p, a, ratZero)
		e.lambda = lambda
	}
	scale := quoRat(big.NewRat(2, 1), ratOf(c.Lambda))
	bound := interval{sqrtRat(mulRat(scale, subRat(d.low, f.high))).low, sqrtRat(mulRat(scale, subRat(d.high, f.low))).high}
	norm, rounding := sqrtRat(square), *v.NormBoundError
	claim := mulRat(ratOf(c.Bound), big.NewRat(999_998, 1_000_000))
	switch {
	case bound.low.Cmp(norm.high) > 0:
		return "the exact bound on the norm is above the norm"
	case !within(*v.NormBound, bound, rounding):
		return fmt.Sprintf("the exact bound on the norm %s is not within %v of %v", bound.low.FloatString(25), rounding, *v.NormBound)
	case claim.Cmp(addRat(bound.high, ratOf(2*rounding))) > 0:
		return fmt.Sprintf("the claimed bound on the norm %v is above the exact %s", c.Bound, bound.high.FloatString(25))
	case ratOf(rounding).Cmp(mulRat(norm.high, big.NewRat(101, 10_000))) > 0:
		return fmt.Sprintf("the rounding %v of the bound on the norm %v hides a claim", rounding, *v.NormBound)
	}
	return ""
}

// exactDefect returns what is wrong with a verification that accepts a certificate, "" if both bounds hold.
func exactDefect(m *model.Model, d *dataset.Data, c *model.Certificate, v *result.Verification) string {
	parts := m.Parts()
	problem, err := parts.Members[0].Problem.Complete() // the model's, not the certificate's
	if err != nil {
		return err.Error()
	}
	f, err := bindProblem(context.Background(), problem, c.Storage, m, d)
	if err != nil {
		return err.Error()
	}
	e := newExactProblem(f)
	p, a, defect := e.place(c.P, c.A)
	if defect != "" {
		return defect
	}
	w := make([]*big.Rat, len(parts.Weights))
	norm := ratZero
	for j, x := range parts.Weights {
		w[j] = ratOf(x)
		norm = addRat(norm, mulRat(w[j], w[j]))
	}
	upper := e.objective(w)
	lower, radius := exactly(ratZero), ratZero
	if c.BallRadius != nil {
		radius = ratOf(*c.BallRadius)
		if mulRat(radius, radius).Cmp(mulRat(norm, big.NewRat(3999, 1000))) < 0 {
			return fmt.Sprintf("w lies outside half the ball of radius %v", *c.BallRadius)
		}
	}
	if e.lambda.Sign() == 0 && c.BallRadius == nil {
		return "no ball"
	}
	if slices.ContainsFunc(p, func(x *big.Rat) bool { return x.Sign() > 0 }) {
		if !e.feasible(p, a) {
			return "the dual point is not feasible"
		}
		lower = e.bound(p, a, radius)
	}
	if c.Norm != nil {
		if defect := e.normDefect(c.Norm, v, norm, upper); defect != "" {
			return defect
		}
	}
	switch {
	case lower.low.Cmp(upper.high) > 0:
		return "the exact lower bound is above the exact objective"
	case !within(v.Objective, upper, v.ObjectiveError):
		return fmt.Sprintf("the exact objective %s is not within %v of %v", upper.low.FloatString(25), v.ObjectiveError, v.Objective)
	case !within(*v.Lower, lower, v.LowerBoundError):
		return fmt.Sprintf("the exact lower bound %s is not within %v of %v", lower.low.FloatString(25), v.LowerBoundError, *v.Lower)
	case !within(c.Objective, upper, v.Slack+v.ObjectiveError):
		return fmt.Sprintf("the claimed objective %v differs from the exact %s by more than %v", c.Objective, upper.low.FloatString(25), v.Slack)
	case !within(c.LowerBound, lower, v.Slack+v.LowerBoundError):
		return fmt.Sprintf("the claimed lower bound %v differs from the exact %s by more than %v", c.LowerBound, lower.low.FloatString(25), v.Slack)
	case !(v.Slack <= 1.01e-8*max(v.AtZero, v.Objective)) || !(max(v.ObjectiveError, v.LowerBoundError) <= 101*v.Slack):
		return fmt.Sprintf("the slack is %v, the errors %v and %v", v.Slack, v.ObjectiveError, v.LowerBoundError)
	}
	return ""
}

// within reports whether a number enclosed in an interval may lie within a distance of x. The intervals are far narrower than
// the distances.
func within(x float64, i interval, distance float64) bool {
	if math.IsNaN(x) || math.IsInf(x, 0) || math.IsNaN(distance) || math.IsInf(distance, 0) {
		return false
	}
	return subRat(ratOf(x), i.high).Cmp(ratOf(distance)) <= 0 && subRat(i.low, ratOf(x)).Cmp(ratOf(distance)) <= 0
}
