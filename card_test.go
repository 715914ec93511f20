package toptau_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"toptau"
	"toptau/diag"
	"toptau/modelcard"
	"toptau/result"
	"toptau/schema"
)

func card(t *testing.T, m *toptau.Model, d *toptau.Data, o modelcard.Options) (c *modelcard.Card, html,
	markdown string) {
	t.Helper()
	c, err := modelcard.New(t.Context(), m, d, o)
	if err != nil {
		t.Fatal(err)
	}
	var page, text strings.Builder
	if err := c.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	if err := c.WriteMarkdown(&text); err != nil {
		t.Fatal(err)
	}
	return c, page.String(), text.String()
}

// A card keeps what people state, calls the rest "not stated", and shows what follows from the file and the rows.
func TestCard(t *testing.T) {
	d := readFile(t, writeFile(t, "rows.csv", twoColumns(1500, 1)), toptau.Format{Label: "y",
		Kept: []string{"kind"}})
	trained, err := toptau.Train(t.Context(), d, toptau.MaxFPR("10%"),
		toptau.TrainOptions{Impute: schema.ImputeIndicator, Delta: toptau.MaxFPR("5%").Rate,
			Monotone: []schema.Sign{{Column: "noise", Falling: true}}})
	if err != nil {
		t.Fatal(err)
	}
	later := readFile(t, writeFile(t, "later.csv", twoColumns(1000, 9)),
		toptau.Format{Label: "y", Kept: []string{"kind"}})
	const evil = `<script>alert("1")</script> | **bold** [link](http://x)`
	c, html, markdown := card(t, trained.Model, later, modelcard.Options{Name: "m.json", By: []string{"kind"},
		Statements: []result.Statement{{Title: "Not for", Text: "Loans."}, {Title: "Review " + evil, Text: evil}}})
	for _, want := range []string{"Model card: m.json", "Not for", "Loans.", "not stated",
		"Known limits and risks", "confidence of 95 %", "Error rates by group",
		"intervals hold together with a confidence of 95 %", "the score never rises with", "by beta calibration",
		"later.csv", c.Inspection.Digest,
		"A guarantee is about all rows together"} {
		for _, page := range []string{html, strings.NewReplacer(`\`, "").Replace(markdown)} {
			if !strings.Contains(page, want) {
				t.Errorf("the card lacks %q", want)
			}
		}
	}
	plain := regexp.MustCompile(`(?s)\\.`).ReplaceAllString(markdown, "") // without what is escaped
	if strings.Contains(html, "<script>alert") || strings.Contains(plain, "<") || strings.Contains(plain, "[") ||
		strings.Contains(plain, "**bold") {
		t.Error("the text of a statement became markup")
	}
	for i, line := range strings.Split(markdown, "\n") { // each table has one number of cells
		if cells := regexp.MustCompile(`(^|[^\\])\|`).FindAllString(line, -1); strings.HasPrefix(line, "|") &&
			len(cells) < 3 {
			t.Errorf("line %d: %q", i+1, line)
		}
	}
	if c.Columns[1] != (result.Moved{Column: "noise", Direction: "falls"}) ||
		c.Columns[2].Direction != "category" {
		t.Errorf("%+v", c.Columns)
	}
	by := c.Data.Evaluation.By[0]
	if by.Together != 5 {
		t.Errorf("%d intervals hold together, want those of two rates for two kinds and of one for blue, which is always positive", by.Together)
	}
	_, html, markdown = card(t, trained.Model, nil, modelcard.Options{})
	if !strings.Contains(html, "Nothing was measured for this card") ||
		!strings.Contains(markdown, "no labelled rows were given") {
		t.Error("a card without data does not say so")
	}
	if _, err := modelcard.New(t.Context(), trained.Model, nil,
		modelcard.Options{By: []string{"kind"}}); diag.Of(err) == nil || diag.Of(err).Param != "by" {
		t.Errorf("groups without data: %v", err)
	}
	_, again, _ := card(t, trained.Model, nil, modelcard.Options{})
	if again != html {
		t.Error("the same card has other bytes")
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
			d, err := toptau.ReadFrom(t.Context(), strings.NewReader(b.String()), toptau.Format{Label: "y"})
			if err != nil {
				t.Fatal(err)
			}
			e, err := toptau.Evaluate(t.Context(), d, []toptau.Entry{{Column: "score"}},
				toptau.EvaluateOptions{Goal: toptau.Top("99%"), By: []string{"group"},
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
