package optim

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"toptau/diag"
	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/method"
	"toptau/threshold"
)

// bowl is F = |w - target|^2 / 2, optionally within the unit ball: an Objective of another type.
type bowl struct {
	target []float64
	ball   bool
	visits int64
	at     func(w []float64) // called at every evaluation
}

func (b *bowl) Dim() int      { return len(b.target) }
func (b *bowl) Rows() int     { return 10 }
func (b *bowl) Visits() int64 { return b.visits }

func (b *bowl) Project(w []float64) {
	if norm := objective.Norm(w); b.ball && norm > 1 {
		for j := range w {
			w[j] /= norm
		}
	}
}

func (b *bowl) At(w, grad []float64) objective.Value {
	if b.at != nil {
		b.at(w)
	}
	b.visits += 10
	v := objective.Value{}
	for j, x := range b.target {
		if grad != nil {
			grad[j] = w[j] - x
		}
		v.F += (w[j] - x) * (w[j] - x) / 2
	}
	return v
}

type solve func(context.Context, Objective, []Objective, StepOptions) (StepResult, error)

var solvers = map[string]solve{"adam": Adam, "sgd": SGD}

func TestAdamSteps(t *testing.T) {
	// With a constant gradient, bias correction makes every step of ADAM step/(1 + epsilon/|g|).
	b := &bowl{target: []float64{1e6, -1e6}}
	r, err := Adam(context.Background(), b, nil, StepOptions{Iterations: 7, Step: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range []float64{3.5, -3.5} {
		if math.Abs(r.Last.W[j]-want) > 1e-4 {
			t.Errorf("w[%d] = %v after 7 steps of 0.5, want %v", j, r.Last.W[j], want)
		}
	}
}

func TestSGDSteps(t *testing.T) {
	b := &bowl{target: []float64{8}}
	r, err := SGD(context.Background(), b, nil, StepOptions{Iterations: 2, Step: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	want := 4 + 4*0.5/math.Sqrt2
	if math.Abs(r.Last.W[0]-want) > 1e-15*want {
		t.Errorf("w = %v, want %v", r.Last.W[0], want)
	}
}

func TestDefaultsAreThePapers(t *testing.T) {
	b := &bowl{target: []float64{1e6}}
	r, err := Adam(context.Background(), b, nil, StepOptions{})
	if err != nil || r.Iterations != 1000 || math.Abs(r.Last.W[0]-10) > 1e-4 {
		t.Errorf("%d steps to %v, %v; want 1000 of 0.01", r.Iterations, r.Last.W, err)
	}
}

func TestResultIsConsistent(t *testing.T) {
	for name, solve := range solvers {
		b := &bowl{target: []float64{1, -2, 0.5}}
		var calls []StepProgress
		r, err := solve(context.Background(), b, nil, StepOptions{Iterations: 400, Step: 0.1,
			Progress: func(p StepProgress) { calls = append(calls, p) }})
		if err != nil {
			t.Fatal(name, err)
		}
		if r.Last.F > 0.3*r.AtZero.F || r.Last.F >= r.AtZero.F {
			t.Errorf("%s: F went from %v to %v", name, r.AtZero.F, r.Last.F)
		}
		if got := b.At(r.Last.W, nil).F; got != r.Last.F || r.Last.Iteration != 400 {
			t.Errorf("%s: F of the last iterate is %v, reported %v", name, got, r.Last.F)
		}
		if got := b.At(r.Best.W, nil).F; got != r.Best.F {
			t.Errorf("%s: F of the best iterate is %v, reported %v", name, got, r.Best.F)
		}
		if len(r.Trace) != 401 || r.Passes != 402 || r.RowReads != 402 { // one more than points: F(0)
			t.Errorf("%s: %d trace points, %d passes, %v row reads", name, len(r.Trace), r.Passes, r.RowReads)
		}
		for k, p := range r.Trace {
			if p.Iteration != k || p.F < r.Best.F {
				t.Errorf("%s: trace point %d is %v, the best is %v", name, k, p, r.Best.F)
			}
		}
		if len(calls) != 400 || calls[399].Iteration != 400 || calls[0].Of != 400 || calls[0].Minibatch {
			t.Errorf("%s: %d progress calls", name, len(calls))
		}
	}
}

func TestTraceEvery(t *testing.T) {
	r, err := Adam(context.Background(), &bowl{target: []float64{5}}, nil, StepOptions{Iterations: 10, TraceEvery: 4})
	if err != nil {
		t.Fatal(err)
	}
	var at []int
	for _, p := range r.Trace {
		at = append(at, p.Iteration)
	}
	if fmt.Sprint(at) != "[0 4 8 10]" {
		t.Errorf("trace points %v", at)
	}
}

func TestProjection(t *testing.T) {
	for name, solve := range solvers {
		outside := 0.0
		b := &bowl{target: []float64{3, 4}, ball: true}
		b.at = func(w []float64) { outside = max(outside, objective.Norm(w)) }
		for _, start := range []Start{Zero, Random} {
			r, err := solve(context.Background(), b, nil, StepOptions{Iterations: 500, Step: 0.1, Start: start, Seed: 3})
			if err != nil {
				t.Fatal(name, err)
			}
			// Projected gradient steps end in (0.6, 0.8). ADAM's steps are no gradient steps: it ends
			// elsewhere on the sphere.
			if name == "sgd" && (math.Abs(r.Last.W[0]-0.6) > 1e-3 || math.Abs(r.Last.W[1]-0.8) > 1e-3) {
				t.Errorf("%s: %v, want (0.6, 0.8)", name, r.Last.W)
			}
			if math.Abs(objective.Norm(r.Last.W)-1) > 1e-12 || r.Last.F > 8.2 {
				t.Errorf("%s: %v, F = %v", name, r.Last.W, r.Last.F)
			}
		}
		if outside > 1+1e-15 {
			t.Errorf("%s: an iterate had norm %v", name, outside)
		}
	}
}

func TestAnswerIsNeverAboveZero(t *testing.T) {
	for name, c := range map[string]struct {
		target, step float64
		start        Start
		better       bool
	}{
		"every step overshoots": {target: .001, step: 5},
		"and starts elsewhere":  {target: .001, step: 5, start: Random},
		"the last step is best": {target: 8, step: .5, better: true},
		"an early one is best":  {target: 1, step: .9, better: true},
	} {
		b := &bowl{target: []float64{c.target}}
		r, err := Adam(context.Background(), b, nil, StepOptions{Iterations: 3, Step: c.step, Start: c.start, Seed: 1})
		if err != nil {
			t.Fatal(name, err)
		}
		at, better := r.Answer()
		if better != c.better || at.F > math.Min(r.AtZero.F, r.Last.F) || b.At(at.W, nil).F != at.F || !better && at.W[0] != 0 {
			t.Errorf("%s: %+v, better than 0: %v; last %+v, at zero %v", name, at, better, r.Last, r.AtZero)
		}
	}
}

func TestRandomStart(t *testing.T) {
	start := func(seed uint64) []float64 {
		b := &bowl{target: make([]float64, 1000)}
		var points [][]float64
		b.at = func(w []float64) { points = append(points, append([]float64(nil), w...)) }
		r, err := Adam(context.Background(), b, nil, StepOptions{Iterations: 1, Start: Random, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if r.AtZero.F != 0 || r.Trace[0].F == 0 || r.Last.F < r.AtZero.F {
			t.Errorf("F(0) = %v, F(start) = %v", r.AtZero.F, r.Trace[0].F)
		}
		return points[1]
	}
	w := start(1)
	low, high := w[0], w[0]
	for _, x := range w {
		low, high = min(low, x), max(high, x)
	}
	if low < -1 || high > 1 || low > -0.98 || high < 0.98 {
		t.Errorf("the start lies in [%v, %v]", low, high)
	}
	if fmt.Sprint(w) != fmt.Sprint(start(1)) || fmt.Sprint(w) == fmt.Sprint(start(2)) {
		t.Error("the start does not follow the seed")
	}
}

func TestMinibatchesTakeTurns(t *testing.T) {
	var order []int
	var batches []Objective
	for k := range 3 {
		b := &bowl{target: []float64{float64(k)}}
		b.at = func([]float64) { order = append(order, k) }
		batches = append(batches, b)
	}
	full := &bowl{target: []float64{1}}
	fulls := 0
	full.at = func([]float64) { fulls++ }
	minibatch := true
	r, err := Adam(context.Background(), full, batches, StepOptions{Iterations: 20,
		Progress: func(p StepProgress) { minibatch = minibatch && p.Minibatch }})
	if err != nil {
		t.Fatal(err)
	}
	for k, b := range order {
		if b != k%3 {
			t.Fatalf("minibatches in the order %v", order)
		}
	}
	if len(order) != 20 || !minibatch {
		t.Errorf("%d minibatch steps", len(order))
	}
	if fulls != 11 || len(r.Trace) != 11 { // the start, every tenth of the way, the end
		t.Errorf("%d evaluations of the full objective, %d trace points", fulls, len(r.Trace))
	}
	if r.Passes != 31 || r.RowReads != 31 { // here a minibatch claims as many rows as the full data
		t.Errorf("%d passes, %v row reads", r.Passes, r.RowReads)
	}
	if got := full.At(r.Last.W, nil).F; got != r.Last.F {
		t.Errorf("F of the last iterate is %v, reported %v", got, r.Last.F)
	}
}

func TestCancellation(t *testing.T) {
	for name, solve := range solvers {
		for _, after := range []int{0, 1, 17} {
			ctx, cancel := context.WithCancel(context.Background())
			b := &bowl{target: []float64{5}}
			if after == 0 {
				cancel()
			}
			r, err := solve(ctx, b, nil, StepOptions{Iterations: 100, TraceEvery: 10, Progress: func(p StepProgress) {
				if p.Iteration == after {
					cancel()
				}
			}})
			cancel()
			if err != nil || !r.Cancelled || r.Iterations != after || r.Last.Iteration != after {
				t.Errorf("%s, cancelled after %d: %+v, %v", name, after, r, err)
			}
			if got := b.At(r.Last.W, nil).F; got != r.Last.F || r.Best.W == nil {
				t.Errorf("%s: F of the last iterate is %v, reported %v", name, got, r.Last.F)
			}
		}
	}
}

func TestOptionsOutOfRange(t *testing.T) {
	for text, o := range map[string]StepOptions{
		"iterations -1":     {Iterations: -1},
		"step -0.5":         {Step: -0.5},
		"step NaN":          {Step: math.NaN()},
		"step +Inf":         {Step: math.Inf(1)},
		"trace-every -1":    {TraceEvery: -1},
		"start 7, expected": {Start: 7},
	} {
		_, err := Adam(context.Background(), &bowl{target: []float64{1}}, nil, o)
		if f := diag.Of(err); f == nil || f.Kind != diag.Usage || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestDivergenceIsAnError(t *testing.T) {
	r, err := SGD(context.Background(), &bowl{target: []float64{1}}, nil, StepOptions{Step: 1e200})
	if f := diag.Of(err); f == nil || f.Kind != diag.Usage || !strings.Contains(err.Error(), "smaller step") {
		t.Error(err)
	}
	if math.IsNaN(r.Best.F) || math.IsInf(r.Best.F, 0) || len(r.Best.W) != 1 {
		t.Errorf("best of a diverged run: %+v", r.Best)
	}
}

// moons are two overlapping classes, one row in five positive.
func moons(t testing.TB, rows, cols int) *matrix.Matrix {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	b := matrix.NewBuilder(matrix.Layout{{Kind: matrix.Dense, Cols: cols}}, matrix.Float32)
	x := make([]float64, cols)
	for i := range rows {
		for j := range x {
			x[j] = float64(r.Uint64()>>11)/(1<<52) - 1
			if i%5 == 0 {
				x[j] += 0.6 * float64(j%2)
			}
		}
		b.Add(i%5 == 0, x, nil, nil, 1, i)
	}
	m, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func problem(t testing.TB, m method.Method, lambda float64) method.Problem {
	t.Helper()
	h := method.Problem{Lambda: lambda}
	if m.UsesTau {
		h.Tau = threshold.MustRate("5%")
	}
	if m.UsesBeta {
		h.Beta = 1
	}
	if m.UsesK {
		h.K = 5
	}
	p, err := m.With(h)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAllMethodsDescend(t *testing.T) {
	data := moons(t, 600, 8)
	for _, m := range method.All() {
		o, err := objective.New(problem(t, m, 0.001), data)
		if err != nil {
			t.Fatal(err)
		}
		batches, err := o.Minibatches(3, 1, true)
		if err != nil {
			t.Fatal(err)
		}
		for name, solve := range solvers {
			for _, parts := range [][]Objective{nil, Batches(batches)} {
				r, err := solve(context.Background(), o, parts, StepOptions{Iterations: 300, Step: 0.02, Start: Random, Seed: 4})
				if err != nil {
					t.Fatal(m.Name, name, err)
				}
				if !(r.Last.F < 0.95*r.Trace[0].F) || r.Best.F > r.Last.F {
					t.Errorf("%s by %s, %d minibatches: from %v to %v, best %v", m.Name, name, len(parts), r.Trace[0].F, r.Last.F, r.Best.F)
				}
				if norm := objective.Norm(r.Last.W); m.Ball && norm > 1+1e-12 {
					t.Errorf("%s: |w| = %v", m.Name, norm)
				}
				if r.RowReads < float64(r.Passes)-1 || r.RowReads > 3*float64(r.Passes) {
					t.Errorf("%s: %d passes, %v row reads", m.Name, r.Passes, r.RowReads)
				}
			}
		}
	}
}

func TestSameBytesForAnyThreads(t *testing.T) {
	data := moons(t, 60000, 40) // large enough for several goroutines
	m, _ := method.ByName("patmat")
	var want string
	for _, threads := range []int{1, 2, 8} {
		before := runtime.GOMAXPROCS(threads)
		o, err := objective.New(problem(t, m, 0.001), data)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Adam(context.Background(), o, nil, StepOptions{Iterations: 8})
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(r); want == "" {
			want = got
		} else if got != want {
			t.Fatalf("%d threads: %s\n1 thread: %s", threads, got, want)
		}
	}
}
