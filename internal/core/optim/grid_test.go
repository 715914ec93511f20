package optim

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"testing"

	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/method"
	"toptau/surrogate"
	"toptau/threshold"
)

// gridProblems returns every method with two settings, and one with another surrogate.
func gridProblems(t testing.TB) []method.Problem {
	var out []method.Problem
	for _, m := range method.All() {
		out = append(out, problem(t, m, 0.001), problem(t, m, 0.1))
	}
	m, _ := method.ByName("topmean")
	p, err := m.With(method.Problem{Lambda: 0.01, Tau: threshold.MustRate("3%"), Surrogate: surrogate.SquaredHinge.Name()})
	if err != nil {
		t.Fatal(err)
	}
	return append(out, p)
}

// tasksOf binds the problems to the data, and to the same minibatches.
func tasksOf(t *testing.T, data *matrix.Matrix, minibatches int) []Task {
	t.Helper()
	var tasks []Task
	var parts []*matrix.Matrix
	for _, p := range gridProblems(t) {
		full, err := objective.New(p, data)
		if err != nil {
			t.Fatal(err)
		}
		if parts == nil && minibatches > 0 {
			batches, err := full.Minibatches(minibatches, 5, true)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range batches {
				parts = append(parts, b.Matrix())
			}
		}
		task := Task{Full: full}
		for _, x := range parts {
			b, err := objective.New(p, x)
			if err != nil {
				t.Fatal(err)
			}
			task.Batches = append(task.Batches, b)
		}
		tasks = append(tasks, task)
	}
	return tasks
}

func TestGridHasTheBytesOfSingleRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("fits many problems")
	}
	data := moons(t, 15000, 20)
	grids := map[string]func(context.Context, []Task, StepOptions) []Outcome{"adam": AdamGrid, "sgd": SGDGrid}
	for name, single := range solvers {
		for _, minibatches := range []int{0, 2} {
			o := StepOptions{Iterations: 21, Step: 0.05, Start: Random, Seed: 2, TraceEvery: 4}
			var want []string
			for _, task := range tasksOf(t, data, minibatches) {
				r, err := single(context.Background(), task.Full, Batches(task.Batches), o)
				want = append(want, fmt.Sprint(r, err))
			}
			for _, threads := range []int{1, 2, 5} {
				before := runtime.GOMAXPROCS(threads)
				out := grids[name](context.Background(), tasksOf(t, data, minibatches), o)
				runtime.GOMAXPROCS(before)
				for i, r := range out {
					if got := fmt.Sprint(r.Result, r.Err); got != want[i] {
						t.Fatalf("%s, %d minibatches, %d threads, task %d: %s\nalone: %s", name, minibatches, threads, i, got, want[i])
					}
				}
			}
		}
	}
}

// TestReportedValuesAreExact checks that reported values come from the exact arithmetic.
func TestReportedValuesAreExact(t *testing.T) {
	data := moons(t, 3000, 12)
	for _, minibatches := range []int{0, 3} {
		for i, out := range AdamGrid(context.Background(), tasksOf(t, data, minibatches), StepOptions{Iterations: 30, Step: 0.1}) {
			r := out.Result
			full, err := objective.New(gridProblems(t)[i], data)
			if err != nil || out.Err != nil {
				t.Fatal(err, out.Err)
			}
			zero := make([]float64, 12)
			if full.At(r.Last.W, nil) != r.Last.Value || full.At(r.Best.W, nil) != r.Best.Value || full.At(zero, nil) != r.AtZero {
				t.Errorf("task %d: reported %v, %v, %v", i, r.Last.Value, r.Best.Value, r.AtZero)
			}
			if r.Best.F > r.Last.F || r.Trace[len(r.Trace)-1].Value != r.Last.Value {
				t.Errorf("task %d: best %v, last %v", i, r.Best.F, r.Last.F)
			}
		}
	}
}

func TestGridEndsEarly(t *testing.T) {
	data := moons(t, 3000, 12)
	ctx, cancel := context.WithCancel(context.Background())
	tasks := tasksOf(t, data, 0)
	tasks[3].Progress = func(p StepProgress) {
		if p.Iteration == 5 {
			cancel()
		}
	}
	for i, out := range AdamGrid(ctx, tasks, StepOptions{Iterations: 100}) {
		if r := out.Result; out.Err != nil || !r.Cancelled || r.Iterations != 5 || r.Last.Iteration != 5 ||
			r.Last.Value != tasks[i].Full.At(r.Last.W, nil) {
			t.Errorf("task %d: %+v, %v", i, r.Last, out.Err)
		}
	}
	for _, out := range SGDGrid(context.Background(), tasksOf(t, data, 0)[:2], StepOptions{Step: -1}) {
		if out.Err == nil {
			t.Error("a negative step is accepted")
		}
	}
	// A run that overflows does not disturb the others.
	tasks = tasksOf(t, data, 0)
	want := SGDGrid(context.Background(), tasks[1:2], StepOptions{Iterations: 10})[0]
	wild, _ := method.ByName("toppush")
	p, err := wild.With(method.Problem{Lambda: 1e300})
	if err != nil {
		t.Fatal(err)
	}
	o, err := objective.New(p, data)
	if err != nil {
		t.Fatal(err)
	}
	out := SGDGrid(context.Background(), []Task{{Full: o}, tasks[1]}, StepOptions{Iterations: 10})
	if out[0].Err == nil || fmt.Sprint(out[1]) != fmt.Sprint(want) {
		t.Errorf("%v next to a wild run; %v alone; wild: %v", out[1], want, out[0].Err)
	}
}

// hidden is an objective whose type the solvers do not know, so they evaluate it by At.
type hidden struct{ Objective }

func TestExactStepsAreThoseOfAt(t *testing.T) {
	data := moons(t, 900, 7)
	for _, minibatches := range []int{0, 3} {
		for _, start := range []StepOptions{{}, {Start: Random, Seed: 3}, {Jitter: 2}} {
			o := start
			o.Iterations, o.Exact = 40, true
			want := make([]StepResult, 0, 20)
			for _, task := range tasksOf(t, data, minibatches) {
				var batches []Objective
				for _, b := range task.Batches {
					batches = append(batches, hidden{b})
				}
				alone := start
				alone.Iterations = 40
				r, err := Adam(context.Background(), hidden{task.Full}, batches, alone)
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, r)
			}
			for _, threads := range []int{1, 2} {
				before := runtime.GOMAXPROCS(threads)
				for i, got := range AdamGrid(context.Background(), tasksOf(t, data, minibatches), o) {
					if got.Err != nil || got.Result.Last.F != want[i].Last.F || got.Result.Last.T != want[i].Last.T {
						t.Errorf("%d minibatches, %+v, %d threads, task %d: F = %v, want %v", minibatches, start, threads, i,
							got.Result.Last.F, want[i].Last.F)
					}
					for j, w := range got.Result.Last.W {
						if w != want[i].Last.W[j] {
							t.Fatalf("task %d: weight %d is %v, want %v", i, j, w, want[i].Last.W[j])
						}
					}
				}
				runtime.GOMAXPROCS(before)
			}
		}
	}
}

func TestJitterChangesTheLastBitsOfTheStart(t *testing.T) {
	for _, start := range []Start{Zero, Random} {
		r := run{full: &bowl{target: []float64{1, 2, 3}}, options: StepOptions{Start: start, Seed: 1, Jitter: 1}, w: make([]float64, 3)}
		plain := run{full: &bowl{target: []float64{1, 2, 3}}, options: StepOptions{Start: start, Seed: 1}, w: make([]float64, 3)}
		if r.evaluateStart() != nil || plain.evaluateStart() != nil {
			t.Fatal("the start has no value")
		}
		changed := 0
		for j, w := range r.w {
			d := math.Abs(w - plain.w[j])
			if d > lastBit {
				t.Errorf("start %d: weight %d differs by %v, want at most %v", start, j, d, lastBit)
			}
			if d > 0 {
				changed++
			}
		}
		if changed == 0 {
			t.Errorf("start %d is unchanged", start)
		}
	}
}
