package heldout

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"toptau/metric"
	"toptau/threshold"
)

// By hand, at a rate of 10 % and delta 10 %: one set is the umbrella of its own, and sets share delta.
func TestJointlyByHand(t *testing.T) {
	alpha, delta := rate("10%"), rate("10%")
	for _, c := range []struct {
		sizes []int
		above []int // -1: too small
	}{
		{[]int{100}, []int{maxAbove(100, alpha, delta)}},
		{[]int{100, 100}, []int{maxAbove(100, alpha, rate("5%")), maxAbove(100, alpha, rate("5%"))}},
		{[]int{10, 100}, []int{-1, maxAbove(100, alpha, delta)}}, // ten rows have a tail of 35 %
		{[]int{29, 29}, []int{0, 0}},                             // 0.9^29 is 4.7 %: 1 - 0.953^2 is 9.2 %
		{[]int{28, 28}, []int{-1, 0}},                            // 0.9^28 is 5.2 %: only one of them
	} {
		deltas, err := Jointly(c.sizes, alpha, delta)
		if err != nil {
			t.Fatal(err)
		}
		var used []threshold.Rate
		certified := 0
		for i, d := range deltas {
			if d.IsZero() {
				continue
			}
			used = append(used, d)
			certified++
			if got := maxAbove(c.sizes[i], alpha, d); c.sizes[0] != c.sizes[len(c.sizes)-1] && got != c.above[i] || got < slices.Max(c.above)-1 {
				t.Errorf("%v: %d of set %d may lie above, want %d", c.sizes, got, i, c.above[i])
			}
		}
		want := 0
		for _, m := range c.above {
			if m >= 0 {
				want++
			}
		}
		if certified != want || !HoldTogether(used, delta) {
			t.Errorf("%v: deltas %v", c.sizes, deltas)
		}
	}
}

// Every guarantee of disjoint sets together fails in at most a fraction delta of the draws, at sizes around the minimum, with ties and
// with equal scores. Separate guarantees at delta would fail more often.
func TestJointlyBySimulation(t *testing.T) {
	draws := drawsOf(2000)
	alpha, delta := rate("10%"), rate("10%")
	for _, c := range []struct {
		sizes []int
		step  float64 // ties
	}{
		{[]int{29, 29}, 0}, {[]int{35, 60, 90}, 0}, {[]int{200, 60, 500, 45, 45}, 0}, {[]int{200, 60, 500}, 0.05}, {[]int{60, 60}, 1},
	} {
		deltas, err := Jointly(c.sizes, alpha, delta)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(uint64(len(c.sizes)), 27))
		broken := 0
		for range draws {
			fails := false
			for i, n := range c.sizes {
				if deltas[i].IsZero() {
					continue
				}
				z := make([]float64, n)
				for k := range z {
					if z[k] = r.Float64(); c.step > 0 {
						z[k] = math.Floor(z[k]/c.step) * c.step
					}
				}
				s, err := Sort(z, nil, metric.Goal{Kind: metric.GoalMaxFPR, Rate: alpha}.Population())
				if err != nil {
					t.Fatal(err)
				}
				at, err := For(metric.Goal{Kind: metric.GoalMaxFPR, Rate: alpha}, deltas[i], s)
				if err != nil {
					t.Fatal(err)
				}
				above := 1 - at.Value
				if c.step > 0 {
					above = 1 - (math.Round(at.Value/c.step)+1)*c.step
				}
				fails = fails || above > alpha.Float64()+1e-12
			}
			if fails {
				broken++
			}
		}
		t.Logf("%v, steps of %v: some guarantee fails in %d of %d draws", c.sizes, c.step, broken, draws)
		if broken > violationsAllowed(draws, 0.1) {
			t.Errorf("%v: some guarantee fails in %d of %d draws", c.sizes, broken, draws)
		}
		if c.step == 0 && len(c.sizes) > 2 && broken < draws/25 {
			t.Errorf("%v: some guarantee fails in only %d of %d draws: the order statistics are too strict", c.sizes, broken, draws)
		}
	}
}
