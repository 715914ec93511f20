package heldout

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"

	"toptau/calibrate"
	"toptau/internal/core/binomial"
	"toptau/method"
	"toptau/metric"
	"toptau/threshold"
)

var tiedDraws = flag.Int("tied", 0, "TestIntervalsOfTiedScores: draws for each step and goal, instead of 60")

// grid is the standard normal distribution, rounded to multiples of a step plus an offset in steps; step 0: not rounded.
type grid struct{ step, offset float64 }

func (g grid) draw(r *rand.Rand) float64 {
	if g.step == 0 {
		return r.NormFloat64()
	}
	return (math.Round(r.NormFloat64()/g.step-g.offset) + g.offset) * g.step
}

// above returns P(Z > z).
func (g grid) above(z float64) float64 {
	if g.step != 0 {
		z = (math.Floor(z/g.step-g.offset+1e-9) + g.offset + 0.5) * g.step
	}
	return math.Erfc(z/math.Sqrt2) / 2
}

// The printed 95 % interval holds the rate on new rows, however many scores are tied at the threshold. The figures of docs/guide/guarantees.md:
//
//	go test ./internal/core/heldout -run TestIntervalsOfTiedScores -tied 1000 -v
func TestIntervalsOfTiedScores(t *testing.T) {
	draws, offsets := *tiedDraws, []float64{0, 0.25, 0.5, 0.75}
	if draws == 0 {
		draws, offsets = 60, offsets[:1]
	}
	for _, c := range []struct {
		goal  metric.Goal
		delta threshold.Rate
	}{
		{goal: maxFPR("1%")}, {goal: maxFPR("5%")}, {goal: metric.RateGoal(metric.GoalTop, "2%")}, {goal: metric.RateGoal(metric.GoalMinRecall, "80%")},
		{maxFPR("1%"), rate("5%")},
	} {
		for _, step := range []float64{0, 0.1, 0.25, 0.5} {
			for _, offset := range offsets {
				g := grid{step, offset}
				r := rand.New(rand.NewPCG(uint64(1000*step), uint64(100*offset)))
				inside, tied, below := 0, 0, 0
				for range draws {
					at := g.threshold(t, r, c.goal, c.delta)
					p := g.above(at.Value)
					if c.goal.Kind == metric.GoalMinRecall { // just below the score that it includes
						p = g.above(at.Value - 1e-6)
					}
					if at.Expected.Low <= p && p <= at.Expected.High {
						inside++
					} else if p < at.Expected.Low {
						below++
					}
					if at.Expected.Tied != nil {
						tied++
					}
				}
				t.Logf("%v, delta %v, step %v, offset %v: %d of %d rates in the interval, %d below; %d thresholds tied", c.goal, c.delta, step, offset, inside, draws, below, tied)
				if allowed := .94 - 3*math.Sqrt(.95*.05/float64(draws)); float64(inside) < allowed*float64(draws) {
					t.Errorf("%v, delta %v, step %v: %d of %d rates in the interval", c.goal, c.delta, step, inside, draws)
				}
				if step == 0 && tied > 0 {
					t.Errorf("%v: %d thresholds of continuous scores are tied", c.goal, tied)
				}
			}
		}
	}
}

// threshold returns the threshold of 1,000 scores.
func (g grid) threshold(t *testing.T, r *rand.Rand, goal metric.Goal, delta threshold.Rate) *Threshold {
	z := make([]float64, 1000)
	for i := range z {
		z[i] = g.draw(r)
	}
	s, err := Sort(z, nil, goal.Population())
	if err != nil {
		t.Fatal(err)
	}
	at, err := For(goal, delta, s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// Tied scores at the threshold are counted, in memory or not, with weights or without; the neighbour of each case has no ties there.
func TestExpectedOfTiedScores(t *testing.T) {
	z := make([]float64, 1050)
	for i := range 50 {
		z[i] = 1
	}
	weights := make([]float64, len(z))
	for i := range weights {
		weights[i] = 2
	}
	for _, c := range []struct {
		name    string
		scores  []float64
		weights []float64
		goal    metric.Goal
		delta   string
		rate    float64
		tied    *calibrate.Tied
		low     float64
		high    float64
	}{
		{"none above", z[:1000], nil, maxFPR("1%"), "", 0, &calibrate.Tied{Equal: 50, Counted: 0}, 0, 0.003682},
		{"none above, certified", z[:1000], nil, maxFPR("1%"), "5%", 0, &calibrate.Tied{Equal: 50, Counted: 0}, 0, 0.003682},
		{"none above, weighted", z[:1000], weights[:1000], maxFPR("1%"), "", 0, &calibrate.Tied{Equal: 50, Counted: 0}, 0, 0.003682},
		{"some above", z[:1000], nil, maxFPR("10%"), "", 0.05, &calibrate.Tied{Equal: 950, Counted: 50}, 0.036384, 0.066763},
		{"some above, weighted", z[:1000], weights[:1000], maxFPR("10%"), "", 0.05, &calibrate.Tied{Equal: 950, Counted: 50}, 0.036384, 0.066763},
		{"above all", z[:1000], nil, metric.Goal{Kind: metric.GoalAbsoluteTop}, "", 0, &calibrate.Tied{Equal: 50, Counted: 0}, 0, 0.003682},
		{"recall", z[15:65], nil, metric.RateGoal(metric.GoalMinRecall, "60%"), "", 0.7, &calibrate.Tied{Equal: 35, Counted: 35}, 0.541952, 0.829738},
		{"recall, certified", z[15:65], nil, metric.RateGoal(metric.GoalMinRecall, "60%"), "5%", 1, &calibrate.Tied{Equal: 15, Counted: 50}, 0.928878, 1},
		{"between two scores", []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, nil, maxFPR("25%"), "", 0.25, nil, 0.028145, 0.600094},
		{"one score", []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, nil, maxFPR("20%"), "", 0.2, nil, 0.002809, 0.482497},
		{"ties elsewhere", []float64{1, 1, 3, 4, 5, 6, 7, 8, 9}, nil, maxFPR("20%"), "", 0.2, nil, 0.002809, 0.482497},
	} {
		s, err := Sort(c.scores, c.weights, c.goal.Population())
		if err != nil {
			t.Fatal(err)
		}
		var delta threshold.Rate
		if c.delta != "" {
			delta = rate(c.delta)
		}
		for _, from := range []*Sorted{s, elsewhere(s)} {
			if from != s && c.weights != nil {
				continue
			}
			at, err := For(c.goal, delta, from)
			if err != nil {
				t.Fatal(err)
			}
			e := at.Expected
			if e.Rate != c.rate || math.Abs(e.Low-c.low) > 1e-6 || math.Abs(e.High-c.high) > 1e-6 || (e.Tied == nil) != (c.tied == nil) ||
				e.Tied != nil && *e.Tied != *c.tied {
				t.Errorf("%s: %+v, tied %+v", c.name, e, e.Tied)
			}
		}
	}
}

// Without ties the interval is at most a tenth wider than that of the order statistic, whose distribution is known.
func TestExpectedOfOrderStatistic(t *testing.T) {
	for _, n := range []int{299, 473, 773, 1000, 4635, 20_000} {
		at, err := drawnTail(rand.New(rand.NewPCG(1, 1)), n, tails()[0]).certified(rate("1%"), rate("5%"))
		if err != nil {
			t.Fatal(err)
		}
		low, _ := binomial.ClopperPearson(n+1-at.Order, n, metric.DefaultConfidence)
		if e := at.Expected; !(e.Low < low) || e.High-e.Low > 1.1*(e.High-low) {
			t.Errorf("of %d scores: %+v, and %v for the order statistic", n, e, low)
		}
	}
}

// elsewhere returns scores that are not in memory.
func elsewhere(s *Sorted) *Sorted { return Ordered(s.n, s.population, s.orders, s.count) }

// Nearest is the cut between groups of equal scores whose fraction above is closest.
func TestNearest(t *testing.T) {
	s, err := Sort([]float64{1, 1, 1, 2, 2, 2, 3, 3, 3, 3}, nil, method.Negatives)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rate  float64
		above int
	}{{0, 0}, {0.19, 0}, {0.21, 4}, {0.4, 4}, {0.54, 4}, {0.56, 7}, {0.8, 7}, {1, 10}} {
		if got := s.Above(s.Nearest(c.rate)); got != c.above {
			t.Errorf("%v: %d above, want %d", c.rate, got, c.above)
		}
	}
}
