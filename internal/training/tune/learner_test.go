package tune

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"toptau/internal/core/certified"
	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/method"
	"toptau/metric"
)

// twoClouds returns rows of two overlapping classes. One negative in twenty lies far out among the positives,
// so that w = 0 is optimal for few rows on top.
func twoClouds(t *testing.T, rows int) *matrix.Matrix {
	t.Helper()
	r := rand.New(rand.NewPCG(9, 8))
	var x [][]float64
	var y []bool
	for i := range rows {
		shift, positive := 0.0, i%4 == 3
		if positive || i%20 == 0 {
			shift = 1
		}
		row := make([]float64, 3)
		for j := range row {
			row[j] = r.NormFloat64() + shift
		}
		x, y = append(x, row), append(y, positive)
	}
	m, err := matrix.FromDense(x, y, nil, matrix.Float32)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestFitsTogetherAreSingleFits fits all settings of every method at the same time and one by one.
func TestFitsTogetherAreSingleFits(t *testing.T) {
	if testing.Short() {
		t.Skip("fits many models")
	}
	x := twoClouds(t, 400)
	goal := metric.RateGoal(metric.GoalMaxFPR, "5%")
	for _, m := range method.All() {
		l, err := methodLearner(m, goal, "")
		if err != nil {
			t.Fatal(err)
		}
		list, o := l.grid(""), fitOptions{gap: foldGap}
		var mu sync.Mutex
		together, most := make([]string, len(list)), make([]float64, len(list))
		err = l.fitAll(context.Background(), x, list, o, Watch{
			Fitted: func(k int, f Fit, err error) {
				mu.Lock()
				defer mu.Unlock()
				together[k] += fmt.Sprint(f.W, f.At, f.Passes, err)
			},
			Progress: func(k int, share float64) {
				mu.Lock()
				defer mu.Unlock()
				most[k] = max(most[k], share)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		for k, s := range list {
			f, err := l.fitOne(context.Background(), x, s, o)
			if alone := fmt.Sprint(f.W, f.At, f.Passes, err); alone != together[k] {
				t.Errorf("%s, %s: together %s, alone %s", m.Name, s, together[k], alone)
			}
			if most[k] > 1 {
				t.Errorf("%s, %s: a progress of %g", m.Name, s, most[k])
			}
		}
	}
}

// TestInterruptedFits ends the context before and within the fits. A setting is fitted or not; nothing is an
// error.
func TestInterruptedFits(t *testing.T) {
	x := twoClouds(t, 400)
	l, err := methodLearner(mustMethod(t, method.PatMatNP), metric.RateGoal(metric.GoalMaxFPR, "5%"), "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var once sync.Once
	err = l.fitAll(ctx, x, l.grid(""), fitOptions{gap: 1e-9}, Watch{
		Fitted: func(_ int, f Fit, err error) {
			if err != nil || f.W == nil {
				t.Errorf("%v, %v", f.W, err)
			}
		},
		Progress: func(int, float64) { once.Do(cancel) },
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := l.fitOne(ctx, x, l.grid("")[0], fitOptions{gap: 1e-9}); err != context.Canceled {
		t.Errorf("a fit after the end: %v", err)
	}
}

func mustMethod(t *testing.T, name method.Name) method.Method {
	t.Helper()
	m, err := method.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestZeroProofsFollowFromEachOther compares what follows from other numbers of rows on top with a proof of its
// own, in both orders.
func TestZeroProofsFollowFromEachOther(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: 240 solves")
	}
	x := twoClouds(t, 400)
	answers := map[bool]int{}
	up, down := zeroProofs{}, zeroProofs{}
	const most = 120
	for i := range most {
		for k, z := range map[int]zeroProofs{1 + i: up, most - i: down} {
			p, err := mustMethod(t, method.TopPushK).With(method.Problem{K: k, Lambda: 1e-3})
			if err != nil {
				t.Fatal(err)
			}
			f, err := objective.New(p, x)
			if err != nil {
				t.Fatal(err)
			}
			got, err := z.isOptimal(context.Background(), f)
			if err != nil {
				t.Fatal(err)
			}
			want, err := certified.IsZeroOptimal(context.Background(), f, certified.Options{})
			if err != nil || got != (want.Verdict == certified.ZeroIsOptimal) {
				t.Errorf("k = %d: %v, proven %v, %v", k, got, want.Verdict, err)
			}
			answers[got]++
		}
	}
	if answers[true] == 0 || answers[false] == 0 || len(up) == most || len(down) == most {
		t.Errorf("answers %v, %d and %d proofs", answers, len(up), len(down))
	}
}
