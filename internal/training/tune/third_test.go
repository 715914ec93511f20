package tune

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"toptau/internal/models/feature"
	"toptau/method"
)

// The third member becomes half of the mean of the boosters if that gains more than its standard error, and it is never chosen alone.
func TestThirdMemberJoins(t *testing.T) {
	const boosters, all = "boosting on boosted, boosting on stochastic", "boosting on boosted, boosting on stochastic, logistic on leaves"
	for _, c := range []struct {
		noise   float64 // of the third member
		maxSize int64
		want    string
	}{
		{0.1, 0, all},
		{0.1, 300, all},
		{0.1, 299, boosters},
		{8, 0, boosters},
	} {
		tasks, folds := fakeTasks(t, map[string]float64{"raw logistic": 8, "boosted boosting": 0.6, "stochastic boosting": 0.8, "leaves logistic": c.noise},
			"raw logistic", "boosted boosting", "stochastic boosting", "leaves logistic")
		for _, task := range tasks {
			task.tried[0].Bytes = 100
		}
		tasks[3].third = true
		s, err := selectMembers(tasks, folds, c.maxSize)
		if err != nil {
			t.Fatal(err)
		}
		if got := memberNames(s); got != c.want || s.Of != 2 || s.Leaves != (c.want == all) || (s.LeavesGain == nil) != (c.maxSize == 299) {
			t.Errorf("%+v: %s, %+v", c, got, s.Choice)
		}
		if c.want == all && s.members[2].share != 0.5 {
			t.Errorf("%+v: shares %+v", c, s.members)
		}
	}
}

// Where a product decides, few boosted trees are behind random ones: these are kept, with the same bytes on any number of threads. Where one column
// of many decides they are dropped after the first fold, and the model is that of the boosters. They are not tried with few positives or named methods.
func TestThirdMemberIsRaced(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: five searches")
	}
	product := func(x []float64) float64 {
		if x[0]*x[1] > 4 {
			return 0.9
		}
		return 0.02
	}
	o := SearchOptions{Goal: linear(t, "--max-fpr 5%").Goal, Seed: 1, Feature: feature.Options{Rounds: 5, Trees: 20}}
	data := ruled(2000, 4, 0, 1, product)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	kept := find(t, data, o)
	if !kept.Choice.Leaves || kept.Choice.LeavesGain.Mean <= 0 || len(kept.Members) != 3 || len(kept.NotTried) != 0 {
		t.Errorf("%+v, not tried %v", kept.Choice, kept.NotTried)
	}
	runtime.GOMAXPROCS(8)
	if several := find(t, data, o); string(modelBytes(t, kept)) != string(modelBytes(t, several)) {
		t.Error("several threads make another model")
	}
	step := ruled(1600, 20, 0, 1, func(x []float64) float64 {
		if x[3] > 2 {
			return 0.6
		}
		return 0.02
	})
	dropped := find(t, step, o)
	if len(dropped.NotTried) != 1 || !strings.Contains(dropped.NotTried[0].Reason, "in the first fold") || dropped.Choice.LeavesGain != nil || len(dropped.Members) != 2 {
		t.Errorf("%+v, not tried %v", dropped.Choice, dropped.NotTried)
	}
	named := o
	named.Method = []method.Name{method.Logistic, method.Boosting}
	for _, f := range []*Found{find(t, step, named), find(t, ruled(800, 4, 0, 1, product), o)} {
		if len(f.NotTried) != 0 || slices.ContainsFunc(f.Candidates, func(c Candidate) bool { return c.Features == feature.EncodeLeaves }) {
			t.Errorf("%d positives: not tried %v", f.Training.Positives, f.NotTried)
		}
	}
}
