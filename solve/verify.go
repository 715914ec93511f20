package solve

import (
	"context"
	"fmt"
	"math"

	"toptau/diag"
	"toptau/internal/core/matrix"
	"toptau/internal/core/proof"
	"toptau/method"
	"toptau/threshold"
)

// Verification is the result of Verify: both bounds as recomputed, with bounds on their rounding errors.
type Verification struct {
	Holds           bool     // the claims agree with what was recomputed, and prove a bound
	Reasons         []string // why not
	Objective       float64  // F(w)
	ObjectiveError  float64
	LowerBound      float64 // no weights have an objective below it; if lambda = 0, none with |w| <= BallRadius
	LowerBoundError float64
	BallRadius      float64 // 0 unless lambda = 0
	NormBound       float64 // lambda = 0: no weights with as small an objective are shorter; 0: no proof
}

// Verify recomputes the objective of weights w and the lower bound of a certificate from the rows, and compares both with the claims of
// the certificate. It trusts neither the solver nor the certificate. The certificate is about p with its Settings.Storage, and about no
// other settings.
//
// Holds reports whether the certificate holds. Verify returns an error if the certificate is no feasible point, and the errors of Solve.
func Verify(ctx context.Context, p Problem, w []float64, c *Certificate) (*Verification, error) {
	problem, err := p.definition()
	if err != nil {
		return nil, err
	}
	if err := p.Settings.Check(); err != nil {
		return nil, err
	}
	rows, cols, err := p.size()
	if err != nil {
		return nil, err
	}
	if err := c.check(problem); err != nil {
		return nil, err
	}
	if len(w) != cols {
		return nil, badData("w", fmt.Sprintf("with %d weights", len(w)), fmt.Sprintf("%d, one for each column", cols))
	}
	of := problem.Definition().Population
	positives, population := p.populations(of)
	prover, err := proof.New(proof.Rows(&blocks{&p, rows, cols}, of), problem, positives, population, w)
	if err != nil {
		return nil, err
	}
	v := &Verification{}
	if err := v.compare(ctx, prover, c, problem.Lambda == 0); err != nil {
		return nil, err
	}
	v.Holds = len(v.Reasons) == 0
	return v, nil
}

// check returns an error for a certificate that cannot be about a problem.
func (c *Certificate) check(p method.Problem) error {
	bad := func(found, expected string) error {
		return &diag.Error{Kind: diag.Data, Param: "certificate", Found: found, Expected: expected}
	}
	switch {
	case c == nil:
		return &diag.Error{Kind: diag.Data, Param: "certificate", Expected: "that of a solution with CertifiedSolver"}
	case p.Lambda != 0 && (c.BallRadius != 0 || c.Norm != nil):
		return bad(fmt.Sprintf("with a ball or a norm, and lambda %v", p.Lambda), "neither, unless lambda is 0")
	case c.Norm != nil && !(c.Norm.Bound >= 0 && c.Norm.Bound <= math.MaxFloat64):
		return bad(fmt.Sprintf("with a norm of %v", c.Norm.Bound), "a finite number of at least 0")
	}
	return nil
}

// compare recomputes the bounds and compares them with the claims.
func (v *Verification) compare(ctx context.Context, prover *proof.Prover, c *Certificate, ball bool) error {
	p, a, err := multipliers(c.P, c.A)
	if err != nil {
		return err
	}
	b, err := prover.Bounds(ctx, p, a, c.BallRadius)
	if err != nil {
		return err
	}
	claims := proof.Claims{F: c.Objective, D: c.LowerBound}
	if ball {
		claims.Radius = &c.BallRadius
	}
	v.Objective, v.ObjectiveError, v.LowerBound, v.LowerBoundError, v.BallRadius = b.F, b.FError, b.D, b.DError, c.BallRadius
	v.Reasons = b.Contradictions(claims)
	if c.Norm == nil {
		return nil
	}
	if p, a, err = multipliers(c.Norm.P, c.Norm.A); err != nil {
		return err
	}
	norm, rounding, err := prover.Norm(ctx, p, a, c.Norm.Lambda)
	if err != nil {
		return err
	}
	v.NormBound = norm
	v.Reasons = append(v.Reasons, b.NormContradictions(c.Norm.Bound, norm, rounding)...)
	return nil
}

// multipliers returns a dual point as a proof needs it.
func multipliers(ofP, ofA Dual) (p, a *proof.Multipliers, err error) {
	p, a = &proof.Multipliers{}, &proof.Multipliers{}
	if p.Single, err = proof.Singles("p", ofP.Row, ofP.Value); err == nil {
		a.Single, err = proof.Singles("a", ofA.Row, ofA.Value)
	}
	return p, a, err
}

// populations returns the weights of the positives, and of the rows that determine the threshold.
func (p *Problem) populations(of method.Population) (positives, population threshold.Population) {
	class := func(without bool) threshold.Population { // all rows but those with a label
		var weights []float64
		n := 0
		for i, label := range p.Positive {
			if label != without {
				n++
				if p.Weight != nil {
					weights = append(weights, p.Weight[i])
				}
			}
		}
		return threshold.NewPopulation(n, weights)
	}
	if of == method.Negatives {
		return class(false), class(true)
	}
	return class(false), threshold.NewPopulation(len(p.Positive), p.Weight)
}

// rowsOfBlock is the number of rows that a proof packs at a time, on each thread. Chosen by hand.
const rowsOfBlock = 4096

// blocks are the rows of a problem, packed again in every pass: a proof keeps no copy of them.
type blocks struct {
	p          *Problem
	rows, cols int
}

func (b *blocks) Count() int { return (b.rows + rowsOfBlock - 1) / rowsOfBlock }

func (b *blocks) Read(_ context.Context, k int) (*matrix.Matrix, error) {
	return b.p.pack(b.cols, k*rowsOfBlock, min(b.rows, (k+1)*rowsOfBlock), true)
}

func (b *blocks) Done(*matrix.Matrix) {}
