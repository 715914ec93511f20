// Package proof recomputes the two bounds of a certificate: F(w) from above, and D(p, a), which no weights can
// go below. It trusts neither the solver, whose packages it does not import, nor the certificate.
//
// There is one way for all data. D needs sums over the rows of a class with their multipliers (dual.go), F(w) needs sums over the rows
// between cuts of their scores (value.go). Rows that are read give both exactly, up to rounding errors that are bounded one by one
// (rows.go). A database adds for itself, in any order, and the error of such sums is bounded by what they consist of (asked.go).
//
// Every row has one multiplier: its own, that of the only group that has it, or 0. So nothing has to be known about two rows together.
// docs/reference/certificate.md has the mathematics.
package proof

import (
	"context"
	"fmt"
	"math"

	"toptau/diag"
	"toptau/method"
	"toptau/surrogate"
	"toptau/threshold"
)

// Multipliers describe p or a of a dual point. A row has the multiplier of its own, or that of its group, or 0.
type Multipliers struct {
	Single map[int]float64 // by the number of the row
	Held   []int           // rows that are in no group, whatever their scores; nor are those of Single
	At     []float64       // weights by whose scores groups are described
	Groups []Group         // in ascending order, without common scores
}

// Group is rows whose scores at Multipliers.At are from Low to below High. A member of weight m and score z has the multiplier
// max(0, m Value (Rate + Slope (z - Origin))), each operation rounded to float64. For rows that are read, z is the sum of the
// products in the order of the columns; in a database it is the score that the database computes.
type Group struct {
	Low, High                  float64
	Value, Rate, Slope, Origin float64
}

// check fails for groups that contradict themselves. cols is the number of features.
func (m *Multipliers) check(name string, cols int) error {
	if len(m.Groups) > 0 && len(m.At) != cols {
		return infeasible(fmt.Sprintf("groups of %s at a point with %d weights", name, len(m.At)), fmt.Sprintf("%d, one for each column", cols))
	}
	for k, g := range m.Groups {
		if !(g.Low < g.High) || k > 0 && !(m.Groups[k-1].High <= g.Low) {
			return infeasible(fmt.Sprintf("scores from %v to %v of group %d of %s", g.Low, g.High, k+1, name),
				"intervals in ascending order, without common scores")
		}
	}
	return nil
}

// Bounds are F(w) and D(p, a) with bounds on their errors. The exact F(w) is within F ± FError, and the exact dual value of
// every feasible point that (p, a) may have been rounded from is within D ± DError.
type Bounds struct {
	F, FError float64
	D, DError float64 // at least 0, because no loss is negative
	T         float64 // t(w)
	AtZero    float64 // F(0)
	Norm      float64 // |w|, rounded down
}

// Data is labelled rows: Rows or Asked.
type Data interface {
	// cells sums the rows of a class by their scores at w: below the first cut, from one cut to before the next, from the last cut.
	cells(ctx context.Context, population bool, w, cuts []float64, origin float64) (*cells, error)
	// sums adds the rows of a class with their multipliers, those of p or a.
	sums(ctx context.Context, population bool, cols int, m *Multipliers, c *caps) (*sums, error)
}

// Prover proves the bounds of one point on some data.
type Prover struct {
	data       Data
	problem    method.Problem
	positives  threshold.Population
	population threshold.Population
	w          []float64
	squared    bool
	kappa      approx
	massPlus   approx // M+
	f, t       approx // once they are known
}

// New returns a prover of the bounds of a problem at w. It returns an error unless the method is convex and the loss the hinge or the
// squared hinge: other problems have no bound. The populations are the weights of the positives and of the rows that determine the
// threshold.
func New(d Data, p method.Problem, positives, population threshold.Population, w []float64) (*Prover, error) {
	if loss := p.Loss(); !p.Definition().Convex || loss != surrogate.Hinge && loss != surrogate.SquaredHinge {
		return nil, &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("a certificate for %s with the %s loss", p.Method, p.Surrogate),
			Expected: "a convex method with the hinge or the squared hinge"}
	}
	rule, err := p.Rule().Bind(population)
	if err != nil {
		return nil, err
	}
	e := &Prover{data: d, problem: p, positives: positives, population: population, w: w,
		squared: p.Loss() == surrogate.SquaredHinge, massPlus: massOf(positives)}
	// kappa is exact where it counts rows. A fraction of a mass has one rounding more than the mass.
	k := rule.Kappa()
	e.kappa = rounded(k, k*0x1p-50)
	if population.Whole && population.Mass < 1<<53 && k == math.Floor(k) {
		e.kappa = exactly(k)
	}
	return e, nil
}

// massOf returns the weight of some rows: exact for whole numbers, else added with compensation.
func massOf(p threshold.Population) approx {
	if p.Whole && p.Mass < 1<<53 {
		return exactly(p.Mass)
	}
	return rounded(p.Mass, p.Mass*0x1p-50)
}

// Bounds computes both bounds. With lambda = 0 the dual value is a bound for weights of norm at most radius; otherwise radius is
// not used. Rows that miss a constraint by rounding are moved onto it, and the sum of a may miss 1: the error of D covers what that
// changes.
//
// Errors: diag.Data names the constraint that (p, a) violates, or numbers that are not finite.
func (e *Prover) Bounds(ctx context.Context, p, a *Multipliers, radius float64) (Bounds, error) {
	d, err := e.dual(ctx, p, a, e.problem.Lambda, radius)
	if err != nil {
		return Bounds{}, err
	}
	if e.f, e.t, err = e.valueAt(ctx); err != nil {
		return Bounds{}, err
	}
	if !e.f.finite() || !d.finite() {
		return Bounds{}, infeasible(fmt.Sprintf("F(w) or D(p, a) is not finite: their sum is %g", e.f.x+d.x), "numbers that float64 can hold")
	}
	norm := squareOf(e.w).root()
	b := Bounds{F: e.f.x, FError: e.f.e, D: d.x, DError: d.e, T: e.t.x, Norm: max(0, norm.x-norm.e)}
	if b.AtZero = 1; e.problem.Definition().UsesBeta {
		// At w = 0 all scores are 0: M l(-beta t) = kappa.
		top := e.kappa.x / e.population.Mass
		if e.squared {
			top = math.Sqrt(top)
		}
		b.AtZero = 1 + (1-top)/e.problem.Beta
		if e.squared {
			b.AtZero *= b.AtZero
		}
	}
	return b, nil
}

// Norm computes the root of 2 (D - F(w))/lambda for a problem whose own lambda is 0, with a bound on its error. D is the dual value of
// (p, a) for the same problem with the given lambda above 0. Every weights w' with F(w') <= F(w) have D <= F(w') + lambda/2 |w'|^2,
// and so a norm of at least that root. It is 0 if D <= F(w). Bounds must have been called.
func (e *Prover) Norm(ctx context.Context, p, a *Multipliers, lambda float64) (bound, boundError float64, err error) {
	if e.problem.Lambda != 0 || !(lambda > 0) {
		return 0, 0, infeasible(fmt.Sprintf("lambda %g", lambda), "above 0, for a problem with lambda 0")
	}
	d, err := e.dual(ctx, p, a, lambda, 0)
	if err != nil {
		return 0, 0, err
	}
	n := exactly(2).times(d.minus(e.f)).over(exactly(lambda)).positive().root()
	if !n.finite() {
		return 0, 0, infeasible(fmt.Sprintf("the bound on the norm is not finite: D - F(w) = %g", d.x-e.f.x), "numbers that float64 can hold")
	}
	return n.x, n.e, nil
}

// squareOf encloses |w|^2.
func squareOf(w []float64) approx {
	var t tally
	for _, x := range w {
		t.add(exactly(x).times(exactly(x)))
	}
	return t.sum()
}

// infeasible returns the error for a dual point outside its domain.
func infeasible(found, expected string) error {
	return &diag.Error{Kind: diag.Data, Found: "infeasible dual point: " + found, Expected: expected}
}
