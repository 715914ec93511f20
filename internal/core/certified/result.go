package certified

import (
	"math"

	"toptau/internal/core/certified/form"
	"toptau/internal/core/objective"
)

// Result is the outcome of a solve. The bounds hold whether it converged or not.
type Result struct {
	W                []float64
	Threshold        float64      // t(W)
	Objective        float64      // F(W), from a pass of its own
	LowerBound       float64      // D(P, A) <= F(w) for all w; if lambda = 0, for all |w| <= BallRadius
	BallRadius       float64      // 0 if lambda > 0
	AtZero           float64      // F(0)
	P, A             Sparse       // the dual point: p of the positives, a of the population
	GroupsP, GroupsA []GroupValue // more of it: multipliers of groups of rows; from SolveSource only
	Passes           int          // passes over the population
	RowReads         float64      // rows read, inner work included, over the number of rows
	Iterations       int          // Newton systems solved
	Rounds           int          // restricted problems solved, and steps on the smoothed problem
	WorkingSet       int          // distinct rows of the population held at the end
	Converged        bool         // the bounds meet within Options.Gap
	Cancelled        bool         // the context ended the solve
	Zero             Verdict      // whether w = 0 is a global minimiser, as far as the bounds show it
	Norm             NormProof    // for lambda = 0: how short W is; zero: no proof
	requestedGap     float64
}

// minScale is the F below which the relative gap is measured against a fixed number: on separable data F
// tends to 0, and a ratio to it means nothing.
const minScale = .01

// RelativeGap returns (F - D)/max(F, 0.01).
func (r *Result) RelativeGap() float64 {
	return math.Max(0, r.Objective-r.LowerBound) / math.Max(r.Objective, minScale)
}

// GapOfDecrease returns (F - D)/(F(0) - D), the fraction of the possible decrease that may be missing. It
// returns false if w = 0 is optimal: nothing can decrease.
func (r *Result) GapOfDecrease() (float64, bool) {
	if r.Zero == ZeroIsOptimal || !(r.AtZero > r.LowerBound) {
		return 0, false
	}
	return math.Max(0, r.Objective-r.LowerBound) / (r.AtZero - r.LowerBound), true
}

// setConverged decides whether the bounds meet.
func (r *Result) setConverged() {
	gap, some := r.GapOfDecrease()
	r.Converged = some && gap <= r.requestedGap || r.Objective-r.LowerBound <= minTarget*r.requestedGap*r.AtZero ||
		r.Zero == ZeroIsOptimal && r.RelativeGap() <= r.requestedGap
}

// Verdict is the answer to the question whether w = 0 is a global minimiser.
type Verdict int

const (
	Undecided Verdict = iota
	ZeroIsOptimal
	ZeroIsNotOptimal
)

// String returns yes, no or undecided.
func (v Verdict) String() string {
	return [...]string{"undecided", "yes", "no"}[v]
}

// Answer returns the verdict for reports; nil means undecided.
func (v Verdict) Answer() *bool {
	if v == Undecided {
		return nil
	}
	yes := v == ZeroIsOptimal
	return &yes
}

// NormProof shows how short a solution W of a problem with lambda = 0 is. (P, A) is a dual point of the same
// problem with Lambda > 0, whose value D bounds F(w) + Lambda/2 |w|^2 from below. So a w with F(w) <= F(W) has
// |w|^2 >= 2 (D - F(W))/Lambda.
type NormProof struct {
	Lambda float64
	P, A   Sparse
	// More of the dual point: multipliers of groups of rows; from SolveSource only.
	GroupsP, GroupsA []GroupValue

	Bound float64 // every w with F(w) <= F(W) has |w| >= Bound; 0 proves nothing
}

// normBoundAt returns the bound of a norm's proof at a point of some length whose objective is known.
func normBoundAt(o *objective.Objective, at objective.Value, length float64, proof *NormProof) (float64, error) {
	p, a, err := expandBoth(o, proof.P, proof.A)
	if err != nil {
		return 0, err
	}
	dual, err := o.DualInBall(p, a, 0) // for its parts
	if err != nil {
		return 0, err
	}
	return normBound(dual.Gain-square(dual.V)/(2*proof.Lambda), at.F, proof.Lambda, length), nil
}

// normBound returns the root of 2 (d - f)/lambda, or 0. The point with objective f and that length is as good as itself, so what the root
// is above its length is rounding.
func normBound(d, f, lambda, length float64) float64 {
	return math.Min(math.Sqrt(math.Max(0, 2*(d-f)/lambda)), length)
}

// Bounds are the two bounds of a certificate.
type Bounds struct {
	Upper, Lower float64 // F(w), D(p, a)
	Threshold    float64 // t(w)
	AtZero       float64 // F(0)
}

// boundsAt returns the bounds at a point whose objective is known.
func boundsAt(o *objective.Objective, at objective.Value, p, a Sparse, radius float64) (Bounds, error) {
	f, err := form.Bind(o.Problem(), o.Threshold())
	if err != nil {
		return Bounds{}, err
	}
	b := Bounds{Upper: at.F, Threshold: at.T, AtZero: f.AtZero(o.Population().Mass)}
	if len(p.Rows) == 0 {
		return b, nil // no loss is negative: the bound is 0
	}
	fullP, fullA, err := expandBoth(o, p, a)
	if err != nil {
		return b, err
	}
	var dual objective.Dual
	if o.Problem().Lambda == 0 {
		dual, err = o.DualInBall(fullP, fullA, radius)
	} else {
		dual, err = o.Dual(fullP, fullA)
	}
	if err != nil {
		return b, err
	}
	b.Lower = math.Max(0, dual.D)
	return b, nil
}

// expandBoth returns p and a with all their elements.
func expandBoth(o *objective.Objective, p, a Sparse) (fullP, fullA []float64, err error) {
	if fullP, err = p.expand(o.Matrix().Positives.Rows(), "p"); err != nil {
		return nil, nil, err
	}
	fullA, err = a.expand(o.Population().Rows, "a")
	return fullP, fullA, err
}
