package reports_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"toptau"
	"toptau/dataset"
	"toptau/internal/tests/trial"
	"toptau/measure"
	"toptau/reports"
	"toptau/result"
	"toptau/schema"
)

// A report has what people state, calls the rest "not stated", and shows what follows from the file and the rows.
func TestStatements(t *testing.T) {
	d := trial.ReadFile(t, trial.WriteFile(t, "rows.csv", trial.TwoColumns(1500, 1)), schema.Format{Label: "y", Kept: []string{"kind"}})
	trained, err := toptau.Train(t.Context(), d, toptau.MaxFPR("10%"),
		toptau.TrainOptions{Impute: schema.ImputeIndicator, Delta: toptau.MaxFPR("5%").Rate,
			Monotone: []schema.Sign{{Column: "noise", Falling: true}}})
	if err != nil {
		t.Fatal(err)
	}
	later := trial.ReadFile(t, trial.WriteFile(t, "later.csv", trial.TwoColumns(1000, 9)), schema.Format{Label: "y", Kept: []string{"kind"}})
	page := func(o measure.Options, statements ...result.Statement) string {
		e, err := measure.Evaluate(t.Context(), later, []dataset.Entry{{Model: trained.Model}}, o)
		if err != nil {
			t.Fatal(err)
		}
		if o.Simultaneous && e.By[0].Together != 5 {
			t.Errorf("%d intervals hold together, want those of two rates for two kinds and of one for blue, which is always positive", e.By[0].Together)
		}
		var page strings.Builder
		if err := reports.Write(&page, e, statements...); err != nil {
			t.Fatal(err)
		}
		return page.String()
	}
	digest, err := trained.Model.Digest()
	if err != nil {
		t.Fatal(err)
	}
	const evil = `<script>alert("1")</script> | **bold** [link](http://x)`
	stated := measure.Options{By: []string{"kind"}, Simultaneous: true, ReportDate: "2026-01-02"}
	statements := []result.Statement{{Title: "Not for", Text: "Loans."}, {Title: "Review " + evil, Text: evil}}
	html := page(stated, statements...)
	for _, want := range []string{"Purpose and use", "Not for", "Loans.", "not stated", "Known limits and risks", "2026-01-02",
		"What this model does not promise", "A guarantee is about all rows together",
		"intervals hold together with a confidence of 95 %", "interval excludes the rate of all rows",
		"the score never rises with", "kind (categories)", "later.csv", digest} {
		if !strings.Contains(html, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if strings.Contains(html, "<script>alert") {
		t.Error("the text of a statement became markup")
	}
	if page(stated, statements...) != html {
		t.Error("the same report has other bytes")
	}
	if plain := page(measure.Options{By: []string{"kind"}}); strings.Contains(plain, "not stated") || strings.Contains(plain, "excludes the rate of all rows") {
		t.Error("a report without statements has some, or compares intervals that do not hold together")
	}
}

// All intervals of all groups cover together in at least 95 % of 300 draws, up to three standard errors (91.2 %); with
// 40 intervals of their own confidence they would in about 30 %.
func TestIntervalsOfGroupsCoverTogether(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	const draws, groups = 300, 20
	random := rand.New(rand.NewPCG(6, 1))
	count := func(simultaneous bool) int {
		held := 0
		for range draws {
			var b strings.Builder
			b.WriteString("score,group,y\n")
			truth := map[string][2]float64{}
			for g := range groups {
				name := fmt.Sprintf("g%d", g)
				rates := [2]float64{0.05 + 0.02*float64(g), 0.3 + 0.02*float64(g)} // of negatives and positives above 0
				truth[name] = rates
				for i := range 120 {
					y := min(1, i%3)
					z := -1
					if random.Float64() < rates[y] {
						z = 1
					}
					fmt.Fprintf(&b, "%d,%s,%d\n", z, name, y)
				}
			}
			d, err := dataset.ReadFrom(t.Context(), strings.NewReader(b.String()), schema.Format{Label: "y"})
			if err != nil {
				t.Fatal(err)
			}
			e, err := measure.Evaluate(t.Context(), d, []dataset.Entry{{Column: "score"}},
				measure.Options{Goal: toptau.Top("99%"), By: []string{"group"},
					Simultaneous: simultaneous, Replicates: 2})
			if err != nil {
				t.Fatal(err)
			}
			if e.By[0].Threshold != -1 {
				t.Fatalf("threshold %v", e.By[0].Threshold)
			}
			all := true
			for _, v := range e.By[0].Values {
				want := truth[v.Value]
				all = all && v.FalseAlarms.Interval.Low <= want[0] && want[0] <= v.FalseAlarms.Interval.High &&
					v.Found.Interval.Low <= want[1] && want[1] <= v.Found.Interval.High
			}
			if all {
				held++
			}
		}
		return held
	}
	if n := count(true); n < 274 {
		t.Errorf("together: %d of %d draws", n, draws)
	}
	if n := count(false); n > 200 {
		t.Errorf("each on its own: %d of %d draws, so this test would notice nothing", n, draws)
	}
}
