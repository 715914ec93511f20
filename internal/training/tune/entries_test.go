package tune

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"

	"toptau/internal/core/learn"
	"toptau/internal/core/matrix"
	"toptau/internal/models/feature"
	"toptau/method"
	"toptau/result"
	"toptau/schema"
	"toptau/threshold"
)

// With KeepAll every learner and the baselines come back with the best setting of the cross-validation,
// fitted to the training rows. By hand: logistic regression and the ramp on two encodings.
func TestEntriesByHand(t *testing.T) {
	data := simulated(120, 480, 4)
	o := quick(t, "--max-fpr 10%")
	o.Encoding = []feature.Encode{feature.EncodeRaw, feature.EncodeScorecard}
	o.Method, o.KeepAll, o.TestFraction = []method.Name{method.SVM, method.Ramp}, true, threshold.MustRate("25%")
	f := find(t, data, o)
	if len(f.Entries) != 6 || len(f.TestRows) != 150 || len(f.Rows) != 450 {
		t.Fatalf("%d entries, %d test rows, %d training rows", len(f.Entries), len(f.TestRows), len(f.Rows))
	}
	for i := range f.Entries {
		e := &f.Entries[i]
		for _, c := range f.Candidates {
			if c.Task == e.Task && c.Status == Fitted && c.Mean > e.Score {
				t.Errorf("%s: %v, another setting has %v", e.Task, e.Score, c.Mean)
			}
		}
		if e.Status != Fitted || e.Task.Learner == method.SVM {
			continue
		}
		m, _, err := feature.Fit(data, schema.Schema{}, f.Rows, feature.Options{Encode: e.Task.Features})
		if err != nil {
			t.Fatal(err)
		}
		x, err := m.Matrix(data, f.Rows, matrix.Float32)
		if err != nil {
			t.Fatal(err)
		}
		lambda := max(e.Anchor, f.Candidates[e.Candidate].Lambda)
		if e.Task.Learner == method.Ramp {
			lambda = e.Anchor
		}
		logistic, err := learn.Fit(context.Background(), x, learn.Options{Lambda: lambda, Tolerance: foldTolerance})
		if err != nil {
			t.Fatal(err)
		}
		want := logistic.W
		if e.Task.Learner == method.Ramp {
			r, err := learn.Ramp(context.Background(), x, learn.RampOptions{Anchor: want, Lambda: e.Lambda,
				Taus: rampRates(o.Goal, x.Negatives.Rows()), Population: method.Negatives, Tolerance: foldTolerance})
			if err != nil {
				t.Fatal(err)
			}
			want = r.W
		}
		for j := range want {
			if math.Abs(want[j]-e.W[j]) > 1e-12 {
				t.Fatalf("%s: weight %d is %v, by hand %v", e.Task, j, e.W[j], want[j])
			}
		}
	}
}

func TestEntriesDoNotDependOnThreads(t *testing.T) {
	o := linear(t, "--max-fpr 10%", "topmean-np")
	o.KeepAll = true
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var want []float64
	for _, threads := range []int{1, 3} {
		runtime.GOMAXPROCS(threads)
		var got []float64
		for _, e := range find(t, simulated(60, 240, 6), o).Entries {
			got = append(append(got, e.W...), e.Offset)
		}
		if want == nil {
			want = got
		}
		if len(got) == 0 || !slices.Equal(got, want) {
			t.Errorf("%d threads give other entries", threads)
		}
	}
}

// Interrupted, the entries are those that were finished: the baselines come first.
func TestEntriesOfACancelledSearch(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o := linear(t, "--max-fpr 5%", method.SVM, method.Ramp)
	o.KeepAll = true
	o.Progress = func(p result.Progress) {
		if p.Stage == "fit" && p.Done >= 1 {
			cancel()
		}
	}
	f, err := Search(ctx, Data{Table: simulated(60, 240, 1)}, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Entries) != 3 || f.Entries[0].Status != Fitted || f.Entries[0].Task.Learner != method.Logistic ||
		f.Entries[2].Status != Unfinished {
		t.Errorf("%+v", f.Entries)
	}
	if _, err = Search(ctx, Data{Table: simulated(60, 240, 1)}, o); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// All learners that the goal has a rate for, and nothing next to the name.
func TestAllLearners(t *testing.T) {
	for goal, want := range map[string]int{"--max-fpr 10%": 11, "--absolute-top": 5} {
		o := linear(t, goal, AllLearners)
		p, err := newPlan(Data{Table: simulated(60, 240, 1)}, o)
		if err != nil || len(p.tasks) != want {
			t.Errorf("%s: %d tasks, want %d: %v", goal, len(p.tasks), want, err)
		}
		o.Method = append(o.Method, method.SVM)
		if _, err = newPlan(Data{Table: simulated(60, 240, 1)}, o); err == nil {
			t.Errorf("%s: all with others", goal)
		}
	}
}
