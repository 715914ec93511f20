// Package solver solves one problem on a packed matrix with the solver that its settings choose. It serves the fits of models and the
// public package solve, which so have the same defaults.
package solver

import (
	"context"

	"toptau/diag"
	"toptau/internal/core/certified"
	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/internal/core/optim"
	"toptau/method"
)

// The numbers of rows up to which AutoSolver picks CertifiedSolver for more than certified.WideColumns features, in processor seconds that were
// measured with reading. The products of the rows take 4 bytes for each pair.
const (
	// maxWideRows is for problems that are solved by the products of rows that matter: gisette (6,000 x 5,000) 11 to 16; 0/1 columns with
	// labels that are noise (6,000 x 2,500) more than 55 to 71.
	maxWideRows = 6000
	// maxWiderRows is for these with at most widerRatio rows a feature: leaves of trees (10,000 x 9,600) 4 to 5, with labels that are noise 11 to 45.
	maxWiderRows = 10_000
	widerRatio   = 1.25
	// maxInteriorRows is for the other problems, which cost the cube of the rows: words (1,200 x 60,000) 5 to 8, gisette (2,000 x 5,000) 5 to 44.
	maxInteriorRows = 1500
)

// CompleteSettings checks the settings and fills in the seed. It replaces AutoSolver by Adam if no certificate
// is possible. Otherwise Choose decides by the numbers of rows and features.
func CompleteSettings(p method.Problem, s *method.Settings) error {
	if err := s.Check(); err != nil {
		return err
	}
	if s.Solver == "auto" {
		s.Solver = method.AutoSolver
	}
	if s.Seed == 0 {
		s.Seed = 1
	}
	possible := certified.Possible(p)
	switch {
	case s.Solver == method.CertifiedSolver && possible != nil:
		return &diag.Error{Kind: diag.Usage, Param: "solver", Found: string(s.Solver), Err: possible,
			Expected: "a convex method with the hinge or the squared hinge", Fixes: []diag.Fix{{Param: "solver", Value: string(method.Adam)}}}
	case s.Solver == method.AutoSolver && possible != nil:
		s.Solver = method.Adam
	}
	return nil
}

// Choose returns the solver of complete settings for a problem on a number of rows and features.
func Choose(s *method.Settings, p method.Problem, rows, features int) method.Solver {
	switch {
	case s.Solver != method.AutoSolver:
		return s.Solver
	case features > certified.WideColumns && rows > certifiedRows(p, features):
		return method.Adam
	}
	return method.CertifiedSolver
}

// certifiedRows returns the number of rows up to which wide data are solved with a certificate.
func certifiedRows(p method.Problem, features int) int {
	if !certified.Wide(p) {
		return maxInteriorRows
	}
	return max(maxWideRows, min(maxWiderRows, int(widerRatio*float64(features))))
}

// Storage returns the storage of the settings, Float32 if none is set.
func Storage(s method.Storage) matrix.Storage {
	if s == method.Float64 {
		return matrix.Float64
	}
	return matrix.Float32
}

// Certify minimises the objective with a certificate. Unless the passes are limited, it takes further ones to prove that w = 0 is optimal
// or not.
func Certify(ctx context.Context, f *objective.Objective, o certified.Options) (certified.Result, error) {
	r, err := certified.Solve(ctx, f, o)
	if err == nil && o.MaxPasses == 0 {
		err = r.ProveZero(ctx, f)
	}
	return r, err
}

// Descend minimises the objective with Adam or SGD. It replaces defaults in the settings by the values that it used. progress may be nil.
func Descend(ctx context.Context, f *objective.Objective, s *method.Settings, progress func(optim.StepProgress)) (optim.StepResult, error) {
	steps := optim.StepOptions{Iterations: s.Iterations, Step: s.Step, Seed: s.Seed, Progress: progress}
	if s.Start == method.RandomStart {
		steps.Start = optim.Random
	}
	var batches []optim.Objective
	if s.Minibatches > 1 {
		parts, err := f.Minibatches(s.Minibatches, s.Seed, s.Stratified)
		if err != nil {
			return optim.StepResult{}, err
		}
		batches = optim.Batches(parts)
	}
	minimise := optim.Adam
	if s.Solver == method.SGD {
		minimise = optim.SGD
	}
	r, err := minimise(ctx, f, batches, steps)
	if err != nil {
		return r, err
	}
	s.Iterations, s.Minibatches = r.Iterations, max(1, s.Minibatches)
	if s.Start == "" {
		s.Start = method.ZeroStart
	}
	if s.Step == 0 {
		s.Step = optim.DefaultStep
	}
	return r, nil
}

// Rows returns the 0-based numbers in the data of the rows that p and a are about: the positives, and the population of the threshold.
func Rows(f *objective.Objective) (p, a []int) {
	rows := make([]int, 0, f.Rows())
	for _, class := range []*matrix.ClassRows{f.Matrix().Positives, f.Matrix().Negatives} {
		for i := range class.Rows() {
			rows = append(rows, class.Source(i))
		}
	}
	positives := f.Matrix().Positives.Rows()
	if f.Problem().Definition().Population == method.Negatives {
		return rows[:positives], rows[positives:]
	}
	return rows[:positives], rows
}
