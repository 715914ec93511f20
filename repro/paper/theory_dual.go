package paper

import (
	"toptau/internal/core/certified"
	"toptau/internal/core/objective"
	"toptau/surrogate"
)

// dualClaims returns the statement on the two ways to TopPush: "originally implemented in the dual", here "in the
// primal", and "at least theoretically, equivalent" (Section 5.4).
func dualClaims() []claim {
	return []claim{
		{Check: Check{Name: "toppush-dual", Paper: "Section 5.4",
			Statement: "TopPush's dual has the same value as F, and its multipliers give the w that minimises F; lambda > 0, both hinges"},
			rare: true, try: (*trial).dualSolution,
			note: func() string { return "with lambda = 0, which is on the paper's grid, the dual has no w" }},
	}
}

// dualTolerance is the gap that the solver reaches in every case, relative to F(0).
const dualTolerance = 1e-6

// dualSolution compares the best w with the one that the dual's multipliers give, w(p, a) = X'(p - P a)/lambda. Both F and
// -D grow by at least lambda/2 times the square of the distance from the optimum, so |w - w(p, a)|^2 <= 4 (F - D)/lambda.
func (t *trial) dualSolution() error {
	p, err := t.problem(t.draws, collapsingMethods[0])
	if err != nil {
		return err
	}
	p.Lambda, p.Surrogate = pick(t.draws, 1e-3, 0.1), pick(t.draws, surrogate.Hinge, surrogate.SquaredHinge).Name()
	if p, err = p.Definition().With(p); err != nil {
		return err
	}
	o, err := objective.New(p, t.X)
	if err != nil {
		return err
	}
	r, err := certified.Solve(t.ctx, o, certified.Options{Gap: 1e-12})
	if err != nil || r.Cancelled {
		return err
	}
	multipliers := func(s certified.Sparse, n int) []float64 {
		all := make([]float64, n)
		for k, i := range s.Rows {
			all[i] = s.Values[k]
		}
		return all
	}
	dual, err := o.Dual(multipliers(r.P, t.X.Positives.Rows()), multipliers(r.A, t.X.Negatives.Rows()))
	if err != nil {
		return err
	}
	gap := o.At(r.W, nil).F - dual.D
	t.atMost(gap, dualTolerance*r.AtZero, r.AtZero)
	away := make([]float64, o.Dim())
	for j := range away {
		away[j] = r.W[j] - dual.V[j]/p.Lambda
	}
	distance := objective.Norm(away)
	t.holds(float64(distance*distance) <= 4*(gap+float64(1e-12*r.AtZero))/p.Lambda) // 1e-12: the rounding of F and D
	return nil
}
