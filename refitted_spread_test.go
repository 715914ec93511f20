package toptau_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"toptau"
	"toptau/method"
	"toptau/schema"
)

var spreadSeeds = flag.Int("spread", 0, "TestSpreadOfRefittedThresholds: number of seeds")

// weakTable writes rows of ten normal columns, a fifth of them positive. By shift each column differs by a tenth of a standard
// deviation between the classes, otherwise the product of the first two is 0.3 higher for positives.
func weakTable(r *rand.Rand, rows int, shift bool) string {
	var b strings.Builder
	b.WriteString("a,b,c,d,e,f,g,h,i,j,y\n")
	for range rows {
		y := 0
		if r.Float64() < .2 {
			y = 1
		}
		var x [10]float64
		for j := range x {
			x[j] = r.NormFloat64()
			if shift {
				x[j] += .1 * float64(y)
			}
		}
		if !shift && y == 1 {
			x[1] += .3 * x[0]
		}
		for _, v := range x {
			fmt.Fprintf(&b, "%.6g,", v)
		}
		fmt.Fprintf(&b, "%d\n", y)
	}
	return b.String()
}

// TestSpreadOfRefittedThresholds measures the rates that plain thresholds at 1 % have on 50,000 new rows, where the signal is weak
// and the model is fitted again to all rows. It logs the figures of docs/guide/guarantees.md:
//
//	go test . -run TestSpreadOfRefittedThresholds -spread 20 -v
func TestSpreadOfRefittedThresholds(t *testing.T) {
	if *spreadSeeds == 0 {
		t.Skip("without -spread")
	}
	goal := toptau.MaxFPR("1%")
	kinds := []struct {
		name string
		o    toptau.TrainOptions
	}{
		{"logistic regression on raw columns", toptau.TrainOptions{Method: []method.Name{method.Logistic}, Encoding: []schema.Encoding{schema.Raw}}},
		{"logistic regression on leaves", toptau.TrainOptions{Method: []method.Name{method.Logistic}, Encoding: []schema.Encoding{schema.Leaves}}},
		{"boosting on pairs", toptau.TrainOptions{Method: []method.Name{method.Boosting}, Encoding: []schema.Encoding{schema.Pairs}}},
		{"default", toptau.TrainOptions{}},
	}
	for k := range 2 * len(kinds) {
		kind, shift := kinds[k/2], k%2 == 0
		var ratios []float64
		inside, refitted := 0, 0
		for seed := range *spreadSeeds {
			read := func(rows int, stream uint64) *toptau.Data {
				text := weakTable(rand.New(rand.NewPCG(uint64(seed), stream)), rows, shift)
				d, err := toptau.ReadFrom(t.Context(), strings.NewReader(text), toptau.Format{Label: "y", Positive: []string{"1"}})
				if err != nil {
					t.Fatal(err)
				}
				return d
			}
			o := kind.o
			o.Seed = uint64(seed + 1)
			o.Test = read(62500, 2)
			trained, err := toptau.Train(t.Context(), read(3000, 1), goal, o)
			if err != nil {
				t.Fatal(err)
			}
			rate := trained.Result.TestDecisions.FalsePositiveRate.Rate
			ratios = append(ratios, rate/.01)
			if e := trained.Result.Expected; e.Refitted {
				refitted++
			} else if *e.Low <= rate && rate <= *e.High {
				inside++
			}
		}
		slices.Sort(ratios)
		last := len(ratios) - 1
		mean := 0.0
		for _, x := range ratios {
			mean += x / float64(len(ratios))
		}
		t.Logf("%s, shift %v: mean %.2f, 10 %% to 90 %% %.2f to %.2f, extremes %.2f to %.2f times the budget; %d without an interval, %d inside it",
			kind.name, shift, mean, ratios[last/10], ratios[last-last/10], ratios[0], ratios[last], refitted, inside)
		if math.IsNaN(mean) {
			t.Error("no rate")
		}
	}
}
