// Package solver solves one problem on a packed matrix with the solver that its settings choose. It serves the fits of models and the
// public package solve, which so have the same defaults.
package solver

import (
	"context"

	"toptau/diag"
	"toptau/internal/certified"
	"toptau/internal/matrix"
	"toptau/internal/objective"
	"toptau/internal/optim"
	"toptau/method"
)

// maxWideRows is the number of rows up to which AutoSolver picks CertifiedSolver for more than certified.WideColumns features. The products
// of its rows take 8 bytes for each pair, and were measured on 6,000 rows of 5,000 features (gisette): 15 to 25 processor seconds, with reading.
const maxWideRows = 6000

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
	case features > certified.WideColumns && (rows > maxWideRows || !certified.Wide(p)):
		return method.Adam
	}
	return method.CertifiedSolver
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
