package toptau_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"toptau"
	"toptau/internal/tests/trial"
	"toptau/method"
	"toptau/schema"
)

// weighted returns rows whose weights are multiplied by a factor.
func weighted(factor float64) string {
	random := rand.New(rand.NewPCG(4, 4))
	var b strings.Builder
	b.WriteString("a,b,c,w,y\n")
	for i := range 600 {
		label, shift := 0, 0.0
		if i%10 == 0 {
			label, shift = 1, 1.5
		}
		fmt.Fprintf(&b, "%.3f,%.3f,%c,%v,%d\n", random.NormFloat64()+shift, random.NormFloat64(), 'p'+rune(random.IntN(3)), factor*float64(1+random.IntN(4)), label)
	}
	return b.String()
}

// A choice depends on the ratios of weights alone: a file whose weights sum to less than one row once had other budgets, another lambda
// and another kind of probability.
func TestOnlyRatiosOfWeightsCount(t *testing.T) {
	for name, o := range map[string]toptau.TrainOptions{
		"logistic":  {Method: []method.Name{"logistic"}, Encoding: []schema.Encoding{"raw", "scorecard"}},
		"boosted":   {Encoding: []schema.Encoding{"boosted"}},
		"certified": {Method: []method.Name{"patmat-np", "topmean-np"}, Encoding: []schema.Encoding{"raw"}},
	} {
		var want *toptau.Trained
		for _, factor := range []float64{1, 1.0 / 2048, 4096, 3e-7} {
			if name != "logistic" && factor > 1 || testing.Short() && factor == 3e-7 {
				continue
			}
			d := trial.ReadFile(t, trial.WriteFile(t, "w.csv", weighted(factor)), schema.Format{Label: "y", Weight: "w"})
			got, err := toptau.Train(t.Context(), d, toptau.MaxFPR("5%"), o)
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got
				continue
			}
			if got.Result.Criterion != want.Result.Criterion {
				t.Errorf("%s times %v: %s, want %s", name, factor, got.Result.Criterion, want.Result.Criterion)
			}
			near := func(what string, a, b float64) {
				if math.Abs(a-b) > 1e-6*max(1, math.Abs(b)) || name != "certified" && math.Exp2(math.Round(math.Log2(factor))) == factor && a != b {
					t.Errorf("%s times %v: %s %v, want %v", name, factor, what, a, b)
				}
			}
			near("lambda", got.Model.Members()[0].Lambda, want.Model.Members()[0].Lambda)
			near("threshold", got.Model.Points()[0].Threshold, want.Model.Points()[0].Threshold)
			for i, w := range want.Model.Vector() {
				near("weight", got.Model.Vector()[i], w)
			}
			p, q := got.Model.Probability(), want.Model.Probability()
			if p.Method != q.Method {
				t.Errorf("%s times %v: probability %s, want %s", name, factor, p.Method, q.Method)
			}
			for _, z := range []float64{-4, -1, 0, 2} {
				near("probability", p.At(z), q.At(z))
			}
		}
	}
}

// A plain threshold says why rows were held out for it. Without the weights all rows give it.
func TestThresholdSaysWhyRowsAreHeldOut(t *testing.T) {
	for weight, want := range map[string]string{"w": " negatives that were held out, because rows have weights; ", "": "estimated from all rows, not guaranteed: "} {
		d := trial.ReadFile(t, trial.WriteFile(t, "w.csv", weighted(1)), schema.Format{Label: "y", Weight: weight})
		trained, err := toptau.Train(t.Context(), d, toptau.MaxFPR("5%"), toptau.TrainOptions{Method: []method.Name{"logistic"}, Encoding: []schema.Encoding{"raw"}})
		if err != nil {
			t.Fatal(err)
		}
		if note := trained.Result.ThresholdNote; !strings.Contains(note, want) || weight == "" && strings.Contains(note, "held out") {
			t.Errorf("weight %q: %s", weight, note)
		}
	}
}
