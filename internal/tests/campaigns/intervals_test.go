package campaigns_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"toptau"
	"toptau/dataset"
	"toptau/internal/tests/modeltest"
	"toptau/measure"
	"toptau/method"
	"toptau/metric"
	"toptau/schema"
	"toptau/threshold"
)

var intervalSeeds = flag.Int("intervals", 0, "TestIntervalsCover: number of seeds for each learner and set, instead of 20 of the quickest")

// weakSets write rows with a weak signal, a fifth of them positive.
var weakSets = []struct {
	name  string
	write func(r *rand.Rand, rows int) string
}{
	{"shift", func(r *rand.Rand, rows int) string { // each column differs by a tenth of a standard deviation between the classes
		return weakTable(r, rows, func(x []float64, positive bool) {
			for j := range x {
				if positive {
					x[j] += .1
				}
			}
		})
	}},
	{"product", func(r *rand.Rand, rows int) string { // no linear signal: the product of the first two is 0.3 higher for positives
		return weakTable(r, rows, func(x []float64, positive bool) {
			if positive {
				x[1] += .3 * x[0]
			}
		})
	}},
	{"tail", func(r *rand.Rand, rows int) string { // only the few rows with a large first column differ
		return weakTable(r, rows, func(x []float64, positive bool) {
			if positive && x[0] > 1.5 {
				x[1] += 1
			}
		})
	}},
}

// weakTable writes rows of ten normal columns that change adjusts.
func weakTable(r *rand.Rand, rows int, change func(x []float64, positive bool)) string {
	var b strings.Builder
	b.WriteString("a,b,c,d,e,f,g,h,i,j,y\n")
	for range rows {
		y := 0
		if r.Float64() < .2 {
			y = 1
		}
		x := make([]float64, 10)
		for j := range x {
			x[j] = r.NormFloat64()
		}
		change(x, y == 1)
		for _, v := range x {
			fmt.Fprintf(&b, "%.6g,", v)
		}
		fmt.Fprintf(&b, "%d\n", y)
	}
	return b.String()
}

// The rates of plain thresholds at 1 % on 50,000 new negatives are in the printed 95 % interval, for all kinds of learners, where
// the signal is weak. With -intervals it logs the figures of docs/guide/guarantees.md:
//
//	go test ./internal/tests/campaigns -run TestIntervalsCover -intervals 50 -v -timeout 0
func TestIntervalsCover(t *testing.T) {
	kinds := []struct {
		name string
		o    toptau.TrainOptions
	}{
		{"logistic regression on raw columns", toptau.TrainOptions{Method: []method.Name{method.Logistic}, Encoding: []schema.Encoding{schema.Raw}}},
		{"the top loss on a scorecard", toptau.TrainOptions{Method: []method.Name{method.Ramp}, Encoding: []schema.Encoding{schema.Scorecard}}},
		{"logistic regression on leaves", toptau.TrainOptions{Method: []method.Name{method.Logistic}, Encoding: []schema.Encoding{schema.Leaves}}},
		{"boosting on pairs", toptau.TrainOptions{Method: []method.Name{method.Boosting}, Encoding: []schema.Encoding{schema.Pairs}}},
		{"the default", toptau.TrainOptions{}},
	}
	sets, seeds := weakSets, *intervalSeeds
	if seeds == 0 {
		if testing.Short() {
			t.Skip("-short: 20 trainings")
		}
		kinds, sets, seeds = kinds[:1], sets[1:2], modeltest.IfLong(8, 20)
	}
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			for _, set := range sets {
				intervalsCover(t, kind.o, set.name, set.write, seeds)
			}
		})
	}
}

// intervalsCover trains with each seed on other rows of a set, and counts the rates within the interval.
func intervalsCover(t *testing.T, o toptau.TrainOptions, set string, write func(r *rand.Rand, rows int) string, seeds int) {
	inside, ratios := 0, []float64(nil)
	for seed := range seeds {
		read := func(rows int, stream uint64) *dataset.Data {
			d, err := dataset.ReadFrom(t.Context(), strings.NewReader(write(rand.New(rand.NewPCG(uint64(seed), stream)), rows)),
				schema.Format{Label: "y", Positive: []string{"1"}})
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		o.Seed, o.Test = uint64(seed+1), read(62_500, 2)
		trained, err := toptau.Train(t.Context(), read(3000, 1), toptau.MaxFPR("1%"), o)
		if err != nil {
			t.Fatal(err)
		}
		rate, e := trained.Result.TestDecisions.FalsePositiveRate.Rate, trained.Result.Expected
		ratios = append(ratios, rate/.01)
		if e.Low != nil && *e.Low <= rate && rate <= *e.High {
			inside++
		}
	}
	slices.Sort(ratios)
	mean := 0.0
	for _, x := range ratios {
		mean += x / float64(seeds)
	}
	t.Logf("%s: %d of %d in the interval; %.2f to %.2f times the budget, mean %.2f", set, inside, seeds, ratios[0], ratios[seeds-1], mean)
	if allowed := .95 - 3*math.Sqrt(.95*.05/float64(seeds)); float64(inside) < allowed*float64(seeds) {
		t.Errorf("%s: %d of %d rates in the interval", set, inside, seeds)
	}
}

// The rates that a certified threshold has out of fold are in their printed 95 % intervals on new rows: the false positive rate for a recall, and
// the recall for a false positive rate. The place of the threshold among the scores out of fold has an error of its own. With 240 draws at most 38 of 480
// rates may be outside, three standard errors above 5 %.
func TestIntervalsOfCertifiedThresholdsCover(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: trainings")
	}
	draws := modeltest.IfLong(12, 240)
	read := func(seed, stream uint64, rows int) *dataset.Data {
		text := weakTable(rand.New(rand.NewPCG(seed, stream)), rows, func(x []float64, positive bool) {
			for j := range x {
				if positive {
					x[j] += .5
				}
			}
		})
		d, err := dataset.ReadFrom(t.Context(), strings.NewReader(text), schema.Format{Label: "y", Positive: []string{"1"}})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	fresh, outside := read(9999, 2, 40_000), 0
	for _, goal := range []metric.Goal{toptau.MinRecall("80%"), toptau.MaxFPR("5%")} {
		for seed := range uint64(draws) {
			trained, err := toptau.Train(t.Context(), read(seed, 1, 1000), goal, toptau.TrainOptions{Method: []method.Name{method.Logistic},
				Encoding: []schema.Encoding{schema.Raw}, Seed: seed + 1, Delta: threshold.MustRate("10%")})
			if err != nil {
				t.Fatal(err)
			}
			e, err := measure.Evaluate(t.Context(), fresh, []dataset.Entry{{Model: trained.Model}}, measure.Options{})
			if err != nil {
				t.Fatal(err)
			}
			of := func(c *metric.Confusion) metric.Proportion {
				if goal.Kind == metric.GoalMinRecall {
					return c.FalsePositiveRate
				}
				return c.TruePositiveRate
			}
			if rate, i := of(&e.Points[0].Decisions).Rate, of(&trained.Result.OutOfFoldDecisions).Interval; rate < i.Low || rate > i.High {
				outside++
			}
		}
	}
	rates := float64(2 * draws)
	if t.Logf("%d of %v rates outside", outside, rates); float64(outside) > .05*rates+3*math.Sqrt(.05*.95*rates) {
		t.Errorf("%d of %v rates outside of their intervals", outside, rates)
	}
}
