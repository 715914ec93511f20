// Package solve solves one of the paper's eight problems on arrays: rows of numbers, labels and weights. It needs no file, no table and no
// model, and returns weights, a threshold and a certificate. Verify checks a certificate with code that shares nothing with the solvers.
//
// The result is weights w, one for each column, and a threshold t(w). Rows with w'x >= t are above the threshold. Package method defines
// the objective F(w), and docs/reference/certificate.md the certificate.
//
// The package does not change the columns. The term lambda/2 |w|^2 treats them alike, so they should be of similar size: standardise
// them first if they are not.
//
// Everything is deterministic: the same problem gives the same bits on any number of threads. With CertifiedSolver, or with float64
// storage, they are also the same for Dense, Flat and CSR.
package solve

import (
	"context"

	"toptau/diag"
	"toptau/internal/core/certified"
	"toptau/internal/core/objective"
	"toptau/internal/core/solver"
	"toptau/method"
	"toptau/surrogate"
	"toptau/threshold"
)

// Problem is a method with its hyperparameters on labelled rows. Its slices are not changed or kept.
type Problem struct {
	X        Rows
	Positive []bool    // one for each row; both classes must occur
	Weight   []float64 // one for each row, finite and above 0; nil: all 1

	Method    method.Name    // one of method.All, such as "topmean-np"
	Surrogate surrogate.Name // the loss, such as "squared-hinge"; "": hinge
	Lambda    float64        // in lambda/2 |w|^2: finite, at least 0
	Tau       float64        // the fraction on top, as the shortest decimal: 0.07 is exactly 7/100; 0: not set
	Beta      float64        // the scale in a surrogate quantile, above 0; 0: not set
	K         int            // TopPushK: the number of negatives on top; 0: not set

	// Settings of the solver. The zero value is that of a fit: CertifiedSolver for a convex method with the hinge or the squared hinge
	// and at most 2000 columns, or at most 6000 rows if the population is the negatives, lambda is above 0, and it is not PatMatNP with the
	// squared hinge; otherwise Adam. By default X is rounded to float32, and the rounded numbers are the problem.
	Settings method.Settings
}

// Solution is the result of Solve.
type Solution struct {
	W             []float64       // weights, one for each column: the best that were found, and 0 if none has a lower objective
	Threshold     float64         // t(W)
	Objective     float64         // F(W)
	AtZero        float64         // F(0)
	ZeroIsOptimal bool            // it is proven that w = 0 is a global minimum: the problem has no better answer
	Settings      method.Settings // those that were used
	Passes        int             // passes over the rows
	Converged     bool            // CertifiedSolver: F(W) and the lower bound are within the gap of the settings
	Cancelled     bool            // the context ended the solve
	Certificate   *Certificate    // what proves the lower bound; nil with Adam and SGD: nothing bounds the distance to the optimum
}

// Certificate proves that no weights have an objective below LowerBound.
type Certificate struct {
	Objective  float64    // F(W)
	LowerBound float64    // D(P, A) <= F(w) for all w; if lambda = 0, for all |w| <= BallRadius
	BallRadius float64    // 0 unless lambda = 0
	P, A       Dual       // multipliers of the positives, and of the rows that determine the threshold
	Norm       *NormProof // lambda = 0: how short W is; nil: no proof
}

// Dual is a sparse vector over the rows of X.
type Dual struct {
	Row   []int // 0-based, each at most once
	Value []float64
}

// NormProof proves that all weights w with F(w) <= F(W) have a norm of at least Bound. P and A are a dual point of the same problem with
// this Lambda, which is above 0.
type NormProof struct {
	Lambda, Bound float64
	P, A          Dual
}

// Solve minimises the objective of a problem. A cancelled context is not an error.
//
// Errors are of type *diag.Error: a parameter of the method that is missing or out of range, slices that do not fit together, one class
// only, or a number that is not finite, with its place. Found describes the fault, Expected what would be valid.
func Solve(ctx context.Context, p Problem) (*Solution, error) {
	problem, err := p.definition()
	if err != nil {
		return nil, err
	}
	s := p.Settings
	if err := solver.CompleteSettings(problem, &s); err != nil {
		return nil, err
	}
	rows, cols, err := p.size()
	if err != nil {
		return nil, err
	}
	x, err := p.pack(cols, 0, rows, false)
	if err != nil {
		return nil, err
	}
	f, err := objective.New(problem, x)
	if err != nil {
		return nil, err
	}
	if s.Solver = solver.Choose(&s, problem, rows, cols); s.Solver == method.CertifiedSolver {
		return certify(ctx, f, s)
	}
	r, err := solver.Descend(ctx, f, &s, nil)
	if err != nil {
		return nil, err
	}
	best, _ := r.Answer()
	return &Solution{W: best.W, Threshold: best.T, Objective: best.F, AtZero: r.AtZero.F, Settings: s, Passes: r.Passes,
		Cancelled: r.Cancelled}, nil
}

// definition returns the method with its hyperparameters.
func (p *Problem) definition() (method.Problem, error) {
	d := method.Problem{Method: p.Method, Surrogate: p.Surrogate, Lambda: p.Lambda, Beta: p.Beta, K: p.K}
	if p.Tau != 0 {
		var err error
		if d.Tau, err = threshold.RateOf(p.Tau); err != nil {
			return d, diag.At(err, diag.Error{Param: "tau"})
		}
	}
	return d.Complete()
}

// certify solves a problem with a certificate.
func certify(ctx context.Context, f *objective.Objective, s method.Settings) (*Solution, error) {
	r, err := solver.Certify(ctx, f, certified.Options{Gap: s.Gap, MaxPasses: s.MaxPasses})
	if err != nil {
		return nil, err
	}
	s.Iterations = r.Iterations
	positives, population := solver.Rows(f)
	of := func(v certified.Sparse, rows []int) Dual {
		d := Dual{Row: make([]int, len(v.Rows)), Value: v.Values}
		for k, i := range v.Rows {
			d.Row[k] = rows[i]
		}
		return d
	}
	c := &Certificate{Objective: r.Objective, LowerBound: r.LowerBound, BallRadius: r.BallRadius,
		P: of(r.P, positives), A: of(r.A, population)}
	if n := &r.Norm; n.Lambda > 0 {
		c.Norm = &NormProof{Lambda: n.Lambda, Bound: n.Bound, P: of(n.P, positives), A: of(n.A, population)}
	}
	return &Solution{W: r.W, Threshold: r.Threshold, Objective: r.Objective, AtZero: r.AtZero,
		ZeroIsOptimal: r.Zero == certified.ZeroIsOptimal, Settings: s, Passes: r.Passes, Converged: r.Converged, Cancelled: r.Cancelled,
		Certificate: c}, nil
}
