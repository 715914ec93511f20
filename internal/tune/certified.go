package tune

import (
	"context"
	"sync/atomic"
	"time"

	"toptau/internal/matrix"
	"toptau/internal/objective"
	"toptau/internal/solver/certified"
	"toptau/method"
)

// Certified is a Fitter that solves the convex problems to their global optimum, with its bound, one after the other, and
// gives the rest to another scheme.
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
	var index []int
	for i, p := range problems {
		if certified.Possible(p) != nil || s.Cols > 0 && x.Cols() > s.Cols {
			rest, index = append(rest, p), append(index, i)
			continue
		}
		if ctx.Err() != nil {
			return nil
		}
		if fit, finished, err := s.one(ctx, x, p, func(share float64) { w.Progress(i, share) }); finished {
			w.Fitted(i, fit, err)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	return s.Rest.Fit(ctx, x, rest, Watch{
		Fitted:   func(k int, f Fit, err error) { w.Fitted(index[k], f, err) },
		Progress: func(k int, share float64) { w.Progress(index[k], share) },
	})
}

func (s Certified) one(ctx context.Context, x *matrix.Matrix, p method.Problem, progress func(float64)) (Fit, bool, error) {
	start := time.Now()
	f, err := objective.New(p, x)
	if err != nil {
		return Fit{}, true, err
	}
	gap := s.Gap
	if gap == 0 {
		gap = chosenGap
	}
	var rounds atomic.Int64
	res, err := certified.Solve(ctx, f, certified.Options{Gap: gap, Progress: func(certified.Progress) {
		r := float64(rounds.Add(1))
		progress(r / (r + 4)) // most solves end after five to ten rounds
	}})
	if res.Cancelled {
		return Fit{}, false, nil
	}
	if err != nil {
		return Fit{}, true, err
	}
	return Fit{
		W: res.W, At: objective.Value{F: res.Objective, T: res.Threshold}, AtZero: objective.Value{F: res.AtZero, Loss: res.AtZero},
		NoBetterThanZero: res.Objective >= res.AtZero, Kappa: f.Threshold().Kappa(), Certified: &res,
		Iterations: res.Iterations, Passes: res.Passes, RowReads: res.RowReads, Seconds: time.Since(start).Seconds(),
	}, true, nil
}
