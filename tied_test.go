package toptau_test

import (
	"fmt"
	"strings"
	"testing"

	"toptau"
	"toptau/dataset"
	"toptau/method"
	"toptau/schema"
	"toptau/threshold"
)

// flagRows writes a 0/1 column, set in 6 % of 3,800 negatives and 70 % of 200 positives. With noise no two rows are equal.
func flagRows(noise bool) string {
	var b strings.Builder
	b.WriteString("flag,y\n")
	for i := range 4000 {
		label, flag := 0, 0.0
		if i%20 == 0 {
			label = 1
		}
		if place := i / 20 % 100; label == 1 && place < 70 || label == 0 && place < 6 {
			flag = 1
		}
		if noise {
			flag += float64(i*7919%4000) / 1e6
		}
		fmt.Fprintf(&b, "%.7g,%d\n", flag, label)
	}
	return b.String()
}

// Where scores are tied at the threshold, the expected rate is that of the rows above it, on new rows as well, and no sentence promises the
// budget on average. Nearly the same rows without ties are the counterexample.
func TestSummaryOfTiedScores(t *testing.T) {
	for _, c := range []struct {
		noise         bool
		budget, delta string
		has, lacks    []string
		rate          float64 // of new rows
	}{
		{false, "1%", "", []string{"Nothing scores above the threshold", "Expect 0 % of new negatives to raise a false alarm (0 of 3,800;", "about 0 alerts",
			"negatives score exactly the threshold, so expect less than the budget"}, []string{"on average", "about half the time"}, 0},
		{false, "1%", "5%", []string{"Expect 0 % of new negatives", "the threshold aims at 0 % instead of 0 %"}, nil, 0},
		{false, "9%", "", []string{"70 % of the positives are found (140 of 200;"}, []string{"on average", "about half the time"}, .06},
		{true, "1%", "", []string{"Expect 1 % of new negatives", "the budget is kept on average, so expect new data to exceed it about half the time"},
			[]string{"exactly the threshold"}, .01},
	} {
		d, err := dataset.ReadFrom(t.Context(), strings.NewReader(flagRows(c.noise)), schema.Format{Label: "y", Positive: []string{"1"}})
		if err != nil {
			t.Fatal(err)
		}
		o := toptau.TrainOptions{Method: []method.Name{method.Logistic}, Encoding: []schema.Encoding{schema.Raw}, Seed: 1}
		if c.delta != "" {
			o.Delta = threshold.MustRate(c.delta)
		}
		trained, err := toptau.Train(t.Context(), d, toptau.MaxFPR(c.budget), o)
		if err != nil {
			t.Fatal(err)
		}
		r := trained.Result
		lines := strings.Join(r.Summary, "\n") + "\n" + r.ThresholdNote
		for _, s := range c.has {
			if !strings.Contains(lines, s) {
				t.Errorf("%+v: no %q in\n%s", c, s, lines)
			}
		}
		for _, s := range c.lacks {
			if strings.Contains(lines, s) {
				t.Errorf("%+v: %q in\n%s", c, s, lines)
			}
		}
		if e := r.Expected; *e.Low > c.rate || *e.High < c.rate || (e.Tied == nil) != c.noise {
			t.Errorf("%+v: expected %+v", c, e)
		}
	}
}
