package proof

import (
	"fmt"
	"math"

	"toptau/diag"
)

// Claims are what a certificate claims about weights and a dual point.
type Claims struct {
	F, D   float64
	Radius *float64 // lambda = 0: the lower bound holds for weights of norm up to this
}

const (
	// claimSlack is the largest accepted difference between a claim and its recomputation, relative to max(F(0),
	// F(w)). They differ because the solver sums in another order. It is a hundredth of a fit's default gap.
	claimSlack = 1e-8
	// maxRounding is the largest accepted rounding error of a bound, on the same scale: a fit's default gap. With
	// a larger error, a huge radius or huge multipliers could hide any claim in it.
	maxRounding = 1e-6
	// normSlack is the largest accepted excess of a claimed bound on the norm over its recomputation, as a part of the
	// bound, and maxNormRounding the largest accepted rounding error, as a part of |w|. A solver stops at a ratio of
	// |w| to the bound of about 1.005.
	normSlack       = 1e-6
	maxNormRounding = 1e-2
)

// Slack returns the largest difference between a claim and its recomputation that counts as equal.
func (b *Bounds) Slack() float64 { return float64(claimSlack * max(b.AtZero, b.F)) }

// Contradictions returns the reasons why claims do not hold, at least an empty list. Comparisons with NaN fail.
func (b *Bounds) Contradictions(c Claims) []string {
	reasons := []string{}
	require := func(holds bool, format string, numbers ...any) {
		if !holds {
			reasons = append(reasons, fmt.Sprintf(format, numbers...))
		}
	}
	if c.Radius != nil {
		require(*c.Radius >= 2*b.Norm, "the ball's radius %.17g is less than 2|w| = %.17g", *c.Radius, 2*b.Norm)
	}
	require(math.Abs(b.AtZero) <= math.MaxFloat64, "the objective at w = 0 is %v", b.AtZero)
	rounding, most := max(b.FError, b.DError), maxRounding*max(b.AtZero, b.F)
	require(rounding <= most, "rounding may have changed a bound by %.3g; more than %.3g proves nothing", rounding, most)
	require(b.D-b.DError <= b.F+b.FError, "the lower bound %.17g is above the objective %.17g", b.D, b.F)
	require(Agree(c.D, b.D, b.Slack()), "the lower bound is %.17g, not %.17g", b.D, c.D)
	require(Agree(c.F, b.F, b.Slack()), "the model's objective is %.17g, not %.17g", b.F, c.F)
	return reasons
}

// Agree reports whether a claim and its recomputation differ by at most slack.
func Agree(claim, computed, slack float64) bool { return math.Abs(claim-computed) <= slack }

// NormContradictions returns the reasons why the claim of a bound on the norm does not hold. bound and rounding are those of Prover.Norm.
func (b *Bounds) NormContradictions(claim, bound, rounding float64) (reasons []string) {
	if most := maxNormRounding * b.Norm; !(rounding <= most) {
		reasons = append(reasons, fmt.Sprintf("rounding may have changed the bound on the norm by %.3g; more than %.3g proves nothing",
			rounding, most))
	}
	if !(claim <= (bound+rounding)*(1+normSlack)) {
		reasons = append(reasons, fmt.Sprintf("the bound on the norm is %.17g, not %.17g", bound, claim))
	}
	return reasons
}

// Singles returns multipliers of single rows, which a certificate lists once each. name is p or a.
func Singles(name string, rows []int, values []float64) (map[int]float64, error) {
	if len(rows) != len(values) {
		return nil, BadCertificate(fmt.Sprintf("%s with %d rows and %d values", name, len(rows), len(values)), "as many values as rows")
	}
	single := make(map[int]float64, len(rows))
	for k, row := range rows {
		if _, twice := single[row]; twice {
			return nil, BadCertificate(fmt.Sprintf("a row of %s twice", name), "each row that "+name+" may weigh, at most once")
		}
		single[row] = values[k]
	}
	return single, nil
}

// BadCertificate returns the error for a certificate that contradicts itself. found follows "the certificate has".
func BadCertificate(found, expected string) error {
	return &diag.Error{Kind: diag.Model, Found: "the certificate has " + found, Expected: expected}
}
