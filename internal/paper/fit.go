package paper

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"toptau/internal/certified"
	"toptau/internal/matrix"
	"toptau/internal/objective"
	"toptau/internal/optim"
	"toptau/internal/tune"
	"toptau/method"
)

// fitted is an entry's points with their weights.
type fitted struct {
	points  []Point
	w       [][]float64
	seconds float64
	rows    int
	limits  []string
}

// newFitted is an entry's grid before anything is fitted.
func newFitted(problems []method.Problem, x *matrix.Matrix) fitted {
	f := fitted{points: make([]Point, len(problems)), w: make([][]float64, len(problems)), rows: x.Rows()}
	for i, p := range problems {
		h := p
		f.points[i] = Point{Lambda: h.Lambda, Beta: h.Beta, K: h.K, Failed: "not fitted"}
	}
	return f
}

// adam runs the paper's scheme for all points of some entries on shared passes: 1,000 iterations, last iterate.
func adam(ctx context.Context, x *matrix.Matrix, minibatches int, v variant, list []entry,
	progress func(share float64)) ([]fitted, error) {
	out := make([]fitted, len(list))
	type place struct{ entry, point int }
	var problems []method.Problem
	var places []place
	for i, e := range list {
		own, err := e.problems()
		if err != nil {
			return nil, err
		}
		out[i] = newFitted(own, x)
		for j, p := range own {
			problems, places = append(problems, p), append(places, place{i, j})
		}
	}
	scheme := tune.Paper{
		// What a step on minibatches does to the objective on all rows is not needed on the way.
		Options:     optim.StepOptions{Start: v.Start, Seed: v.Seed, Step: v.Step, TraceEvery: optim.DefaultIterations},
		Minibatches: minibatches,
	}
	var mu sync.Mutex
	done := make([]float64, len(problems))
	err := scheme.Fit(ctx, x, problems, tune.Watch{
		Fitted: func(k int, f tune.Fit, err error) {
			mu.Lock()
			defer mu.Unlock()
			at := places[k]
			to := &out[at.entry]
			to.seconds += f.Seconds
			to.w[at.point] = f.W
			to.points[at.point].adam(f, err)
		},
		Progress: func(k int, share float64) {
			mu.Lock()
			defer mu.Unlock()
			done[k] = share
			var sum float64
			for _, s := range done {
				sum += s
			}
			progress(sum / float64(len(done)))
		},
	})
	if err == nil {
		err = ctx.Err()
	}
	return out, err
}

// adam takes over what a run of ADAM ended with.
func (p *Point) adam(f tune.Fit, err error) {
	switch {
	case err != nil:
		p.Failed = err.Error()
	case math.IsInf(f.At.F, 0) || math.IsNaN(f.At.F):
		p.Failed = "the objective overflowed"
	default:
		p.Failed, p.F, p.AtZero, p.Passes = "", f.At.F, f.AtZero.F, f.Passes
	}
}

// Limits of the certified repeat. A problem on more rows than certifiedRows is solved on a part of them, which is said.
const (
	certifiedRows    = 30_000
	certifiedGap     = 1e-4 // of the decrease: below what a validation part can tell apart
	certifiedSystems = 150  // Newton systems after which a solve stops, at the end of a round, with the bounds that it has
)

// certify solves the six points of an entry to their global optimum, each from where the last one ended. Where w = 0 is
// proven optimal for the rule, whatever lambda, there is nothing to solve.
func certify(ctx context.Context, x *matrix.Matrix, e entry, zero func(method.Problem) (*ZeroAnswer, error),
	progress func(share float64)) (fitted, error) {
	problems, err := e.problems()
	if err != nil {
		return fitted{}, err
	}
	begin := time.Now()
	f := newFitted(problems, x)
	y := x
	if n := x.Rows(); n > certifiedRows {
		y = evenly(x, certifiedRows)
		f.rows = y.Rows()
		f.limits = append(f.limits, fmt.Sprintf("solved on %s of %s training rows", whole(y.Rows()), whole(n)))
	}
	var chain certified.Chain
	order := chainOrder(problems)
	for done, i := range order {
		o, err := objective.New(problems[i], y)
		if err != nil {
			f.points[i].Failed = err.Error()
			continue
		}
		answer, err := zero(problems[i])
		if err != nil {
			return f, err
		}
		if answer.Verdict == certified.ZeroIsOptimal.String() {
			f.w[i] = make([]float64, x.Cols())
			f.points[i].zero(o)
		} else {
			res, err := limited(ctx, &chain, o)
			if ctx.Err() != nil {
				return f, ctx.Err()
			}
			if err != nil {
				f.points[i].Failed = err.Error()
				continue
			}
			f.w[i] = res.W
			f.points[i].certified(&res)
			if !res.Converged {
				f.limits = append(f.limits, fmt.Sprintf("point %d without a proof to the gap after %d Newton systems",
					i+1, res.Iterations))
			}
		}
		progress(float64(done+1) / float64(len(order)))
	}
	f.seconds = time.Since(begin).Seconds()
	return f, nil
}

// limited solves until the gap or the limit of work is reached. The work is counted, not timed, so that the result does not
// depend on the machine.
func limited(ctx context.Context, chain *certified.Chain, o *objective.Objective) (certified.Result, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	return chain.Solve(ctx, o, certified.Options{Gap: certifiedGap, Progress: func(p certified.Progress) {
		if p.Systems >= certifiedSystems {
			stop()
		}
	}})
}

// zero takes over a proof that w = 0 is optimal.
func (p *Point) zero(o *objective.Objective) {
	at := o.At(make([]float64, o.Dim()), nil).F
	p.Failed, p.F, p.AtZero, p.Lower, p.Converged, p.Zero = "", at, at, &at, true, true
}

// certified takes over a solve.
func (p *Point) certified(r *certified.Result) {
	lower := r.LowerBound
	p.Failed, p.F, p.AtZero, p.Lower, p.Radius = "", r.Objective, r.AtZero, &lower, r.BallRadius
	p.Converged, p.Zero, p.Passes = r.Converged, r.Zero == certified.ZeroIsOptimal, r.Passes
}

// chainOrder goes from large to small lambda and beta and from small to large k, as a chain wants it.
func chainOrder(problems []method.Problem) []int {
	order := make([]int, len(problems))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		g, h := problems[a], problems[b]
		switch {
		case g.Lambda != h.Lambda:
			return descending(g.Lambda, h.Lambda)
		case g.Beta != h.Beta:
			return descending(g.Beta, h.Beta)
		}
		return g.K - h.K
	})
	return order
}

func descending(a, b float64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}

// evenly takes about n rows, evenly spaced in the order in which each class is stored, in the proportion of the classes.
func evenly(x *matrix.Matrix, n int) *matrix.Matrix {
	take := func(p *matrix.Part) *matrix.Part {
		list := make([]int, int(int64(p.Rows())*int64(n)/int64(x.Rows())))
		for i := range list {
			list[i] = int(int64(i) * int64(p.Rows()) / int64(len(list)))
		}
		return p.Take(list)
	}
	return &matrix.Matrix{Positives: take(x.Positives), Negatives: take(x.Negatives)}
}

// ZeroAnswer says whether w = 0 is a global minimiser of a rule, whatever lambda and beta.
type ZeroAnswer struct {
	Key       string  `json:"key"`
	Verdict   string  `json:"verdict"` // yes, no, undecided
	Distance  float64 `json:"distance"`
	Scale     float64 `json:"scale"`
	Advantage float64 `json:"advantage"`
}

// isZeroOptimal decides it for the rule of a problem.
func isZeroOptimal(ctx context.Context, x *matrix.Matrix, p method.Problem) (*ZeroAnswer, error) {
	o, err := objective.New(p, x)
	if err != nil {
		return nil, err
	}
	z, err := certified.IsZeroOptimal(ctx, o, certified.Options{})
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return &ZeroAnswer{Verdict: z.Verdict.String(), Distance: z.Distance, Scale: z.Scale, Advantage: z.Advantage}, nil
}
