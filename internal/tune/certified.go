package tune

import (
	"context"
	"time"

	"toptau/internal/certified"
	"toptau/internal/matrix"
	"toptau/internal/objective"
	"toptau/method"
)

// Certified is a Fitter that solves the convex problems to their global optimum, with its bound, side by side on shared
// readings, and gives the rest to another scheme.
type Certified struct {
	Gap  float64 // of the decrease; 0: 1e-4, below what a validation part can tell apart
	Cols int     // features above which Rest is used for all problems; 0: no limit
	Rest Paper
}

// chosenGap is the default of Certified.Gap.
const chosenGap = 1e-4

// Fit is a Fitter.
func (s Certified) Fit(ctx context.Context, x *matrix.Matrix, problems []method.Problem, w Watch) error {
	var rest []method.Problem
	var index []int // of rest in problems
	var list []*objective.Objective
	var at []int // of list in problems
	for i, p := range problems {
		if certified.Possible(p) != nil || s.Cols > 0 && x.Cols() > s.Cols {
			rest, index = append(rest, p), append(index, i)
			continue
		}
		o, err := objective.New(p, x)
		if err != nil {
			w.Fitted(i, Fit{}, err)
			continue
		}
		list, at = append(list, o), append(at, i)
	}
	if err := s.solve(ctx, list, w.of(at)); err != nil || len(rest) == 0 || ctx.Err() != nil {
		return err
	}
	return s.Rest.Fit(ctx, x, rest, w.of(index))
}

// of reports on some of the problems: at are their numbers.
func (w Watch) of(at []int) Watch {
	return Watch{
		Fitted:   func(k int, f Fit, err error) { w.Fitted(at[k], f, err) },
		Progress: func(k int, share float64) { w.Progress(at[k], share) },
	}
}

// solve solves the problems together. They are reported at the end, when it is known what each one's part of the time is.
func (s Certified) solve(ctx context.Context, list []*objective.Objective, w Watch) error {
	gap := s.Gap
	if gap == 0 {
		gap = chosenGap
	}
	type solved struct {
		i   int
		fit Fit
		err error
	}
	var all []solved
	start := time.Now()
	_, err := certified.SolveAll(ctx, list, certified.Options{Gap: gap}, certified.Watch{
		Solved: func(i int, r certified.Result, err error) bool {
			if !r.Cancelled {
				all = append(all, solved{i, certifiedFit(list[i], r), err})
				w.Progress(i, 1)
			}
			return true
		},
		Progress: func(i int, p certified.Progress) {
			r := float64(p.Round)
			w.Progress(i, r/(r+4)) // most solves end after five to ten rounds
		},
	})
	seconds := time.Since(start).Seconds() / float64(max(1, len(all)))
	for _, r := range all {
		if r.err != nil {
			w.Fitted(r.i, Fit{}, r.err)
			continue
		}
		r.fit.Seconds = seconds
		w.Fitted(r.i, r.fit, nil)
	}
	return err
}

func certifiedFit(o *objective.Objective, r certified.Result) Fit {
	return Fit{
		W: r.W, At: objective.Value{F: r.Objective, T: r.Threshold}, AtZero: objective.Value{F: r.AtZero, Loss: r.AtZero},
		NoBetterThanZero: r.Objective >= r.AtZero, Kappa: o.Threshold().Kappa(), Certified: &r,
		Iterations: r.Iterations, Passes: r.Passes, RowReads: r.RowReads,
	}
}
