package explorer_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"toptau"
	"toptau/certify"
	"toptau/dataset"
	"toptau/decide"
	"toptau/diag"
	"toptau/explorer"
	"toptau/internal/core/binomial"
	"toptau/internal/tests/trial"
	"toptau/measure"
	"toptau/method"
	"toptau/metric"
	"toptau/monitoring"
	"toptau/result"
	"toptau/schema"
	"toptau/threshold"
)

// normalScores returns scores of normal distributions, with means 2 and 0.
func normalScores(r *rand.Rand, positives, negatives int, rounded bool) dataset.Rows {
	rows := dataset.Rows{Columns: []string{"score"}}
	for i := range positives + negatives {
		z := r.NormFloat64()
		if i < positives {
			z += 2
		}
		if rounded {
			z = math.Round(10 * z) // many ties
		}
		rows.Numbers, rows.Positive = append(rows.Numbers, []float64{z}), append(rows.Positive, i < positives)
	}
	return rows
}

func explore(t *testing.T, d *dataset.Data, e dataset.Entry) *explorer.Explorer {
	t.Helper()
	return exploreWith(t, d, e, measure.Options{Replicates: 50})
}

func exploreWith(t testing.TB, d *dataset.Data, e dataset.Entry, o measure.Options) *explorer.Explorer {
	t.Helper()
	measured, err := measure.Evaluate(t.Context(), d, []dataset.Entry{e}, o)
	if err != nil {
		t.Fatal(err)
	}
	x, err := explorer.New(measured)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Both thresholds of a budget are those of Threshold, and the counts are those of a loop over the rows.
func TestBudgetsAreThoseOfThreshold(t *testing.T) {
	five := threshold.MustRate("5%")
	for _, c := range []struct {
		name             string
		rounded, weights bool
	}{{name: "scores"}, {name: "ties", rounded: true}, {name: "weights", weights: true}} {
		rows := normalScores(rand.New(rand.NewPCG(1, 2)), 60, 900, c.rounded)
		if c.weights {
			for i := range rows.Positive {
				rows.Weight = append(rows.Weight, 1+float64(i%3)/2)
			}
		}
		d := trial.RowsData(t, rows)
		entry := dataset.Entry{Column: "score"}
		x := explore(t, d, entry)
		for _, g := range []metric.Goal{toptau.Top("1%"), toptau.Top("0.2%"), toptau.MaxFPR("1%"),
			toptau.MaxFPR("0.05%"), metric.Goal{Kind: metric.GoalTop, Count: 30, Of: 960},
			toptau.Alerts(50, 7000), (metric.Goal{Kind: metric.GoalAbsoluteTop})} {
			b, err := x.Budget(g, five, 1000, &metric.Costs{Missed: 10, Alert: 1})
			if err != nil {
				t.Fatal(c.name, g, err)
			}
			plain, err := decide.Threshold(t.Context(), d, entry, g, decide.Options{})
			if err != nil || plain.Result.Threshold != b.Plain.Threshold ||
				plain.Result.Expected.Rate != b.Plain.Expected.Rate {
				t.Errorf("%s, %s: plain threshold %v, want %v; %v", c.name, g, b.Plain.Threshold, plain.Result.Threshold,
					err)
			}
			certified, err := decide.Threshold(t.Context(), d, entry, g, decide.Options{Delta: five})
			if (err == nil) != (b.Certified != nil) {
				t.Errorf("%s, %s: certified %v, but Threshold returns %v", c.name, g, b.Certified, err)
			} else if err == nil && certified.Result.Threshold != b.Certified.Threshold {
				t.Errorf("%s, %s: certified threshold %v, want %v", c.name, g, b.Certified.Threshold,
					certified.Result.Threshold)
			}
			if certified != nil && !c.weights && certified.Result.Needed != b.Needed &&
				g.Kind != metric.GoalAbsoluteTop {
				t.Errorf("%s, %s: %d rows are needed, want %d", c.name, g, b.Needed, certified.Result.Needed)
			}
			found, alerts, above := 0.0, 0.0, 0
			for i, row := range rows.Numbers {
				if weight := 1.0; row[0] > b.Plain.Threshold {
					if c.weights {
						weight = rows.Weight[i]
					}
					alerts += weight
					above++
					if rows.Positive[i] {
						found += weight
					}
				}
			}
			if b.Plain.Alerts != alerts || b.Plain.Found.Numerator != found {
				t.Errorf("%s, %s: %v alerts and %v found, counted %v and %v", c.name, g, b.Plain.Alerts,
					b.Plain.Found.Numerator, alerts, found)
			}
			if !c.weights && alerts > 0 && (b.Plain.Found.Interval == nil || b.Plain.Precision.Interval == nil) {
				t.Errorf("%s, %s: no interval", c.name, g)
			}
			if p := b.Plain.Period; math.Abs(p.Cost.Mean-(10*(p.Real.Mean*b.Plain.Found.Denominator/max(found,
				1e-9)-p.Real.Mean)+p.Alerts.Mean)) > 1e-6 && found > 0 {
				t.Errorf("%s, %s: cost %v", c.name, g, p.Cost.Mean)
			}
			if x.AboveThreshold(b.Plain.Threshold) != above {
				t.Errorf("%s, %s: %d rows above the threshold", c.name, g, x.AboveThreshold(b.Plain.Threshold))
			}
		}
	}
}

// Intervals cover the rates of new rows: 300 draws, 95 %, so at least 91.2 % (three standard errors).
func TestIntervalsOfBudgetsCover(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation")
	}
	const draws, positives, negatives = 300, 80, 1500
	above := func(t, mean float64) float64 { return 0.5 * math.Erfc((t-mean)/math.Sqrt2) }
	random := rand.New(rand.NewPCG(7, 9))
	covered := map[string]int{}
	for range draws {
		x := explore(t, trial.RowsData(t, normalScores(random, positives, negatives, false)),
			dataset.Entry{Column: "score"})
		for name, g := range map[string]metric.Goal{"top": toptau.Top("3%"), "false alarms": toptau.MaxFPR("1%")} {
			b, err := x.Budget(g, threshold.MustRate("5%"), 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			at := b.Plain.Threshold
			tpr, fpr := above(at, 2), above(at, 0)
			prevalence := float64(positives) / (positives + negatives)
			precision := prevalence * tpr / (prevalence*tpr + (1-prevalence)*fpr)
			for what, r := range map[string]struct {
				rate metric.Proportion
				true float64
			}{"found": {b.Plain.Found, tpr}, "precision": {b.Plain.Precision, precision},
				"false alarms": {b.Plain.FalseAlarms, fpr}} {
				if i := r.rate.Interval; i != nil && i.Low <= r.true && r.true <= i.High {
					covered[name+", "+what]++
				}
			}
		}
	}
	if len(covered) != 6 {
		t.Errorf("intervals of %d rates", len(covered))
	}
	for what, n := range covered {
		if n < 274 {
			t.Errorf("%s: %d of %d intervals cover", what, n, draws)
		}
	}
	t.Log(covered)
}

// The list has all rows in the order of their scores, and rows of a class in between.
func TestRankedRows(t *testing.T) {
	x := explore(t, trial.RowsData(t, normalScores(rand.New(rand.NewPCG(3, 2)), 20, 100, true)),
		dataset.Entry{Column: "score"})
	last, seen := math.Inf(1), map[int]bool{}
	positives := 0
	for from := 1; ; {
		rows, more, err := x.Ranked(result.AllRows, from, 7)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if r.Score > last || r.Place != from || seen[r.Row] {
				t.Fatalf("%+v comes after the score %v at place %d", r, last, from)
			}
			last, seen[r.Row], from = r.Score, true, from+1
			if r.Positive {
				positives++
			}
		}
		if !more {
			break
		}
	}
	if len(seen) != 120 || positives != 20 {
		t.Errorf("%d rows, %d positive", len(seen), positives)
	}
	rows, more, err := x.Ranked(result.NegativeRows, 5, 200)
	if err != nil || more || len(rows) < 90 {
		t.Errorf("%d negatives, more %v, %v", len(rows), more, err)
	}
	for _, r := range rows {
		if r.Positive || r.Place < 5 {
			t.Errorf("%+v among the negatives from place 5", r)
		}
	}
	for _, wrong := range []func() error{
		func() error { _, _, err := x.Ranked("other", 1, 5); return err },
		func() error { _, _, err := x.Ranked(result.AllRows, 0, 5); return err },
		func() error { _, err := x.WhatIf(1, nil); return err },
		func() error { _, err := x.Budget(metric.Goal{}, threshold.MustRate("5%"), 0, nil); return err },
		func() error { _, err := x.Budget(toptau.Top("1%"), threshold.MustRate("5%"), -1, nil); return err },
		func() error {
			_, err := x.Budget(toptau.Top("1%"), threshold.MustRate("5%"), 1, &metric.Costs{Missed: math.NaN()})
			return err
		},
	} {
		if e := diag.Of(wrong()); e == nil || e.Kind != diag.Usage {
			t.Errorf("accepted, or not an error of use: %v", e)
		}
	}
}

// A row scores the same bits in the form as in a file, also with other values, and its curve goes through the score.
func TestWhatIfScoresLikeAFile(t *testing.T) {
	d := trial.ReadFile(t, trial.WriteFile(t, "rows.csv", trial.TwoColumns(600, 4)), schema.Format{Label: "y"})
	for _, encoding := range []schema.Encoding{schema.Raw, schema.Scorecard, schema.Leaves} {
		fitted := trial.FitData(t, d, trial.FitCase{Problem: trial.TopPush(0.01), FitOptions: certify.FitOptions{Encoding: encoding,
			Impute: schema.ImputeIndicator}})
		m := fitted.Model
		x := explore(t, d, dataset.Entry{Model: m})
		for _, c := range []struct {
			row     int
			changes map[string]string
		}{{1, nil}, {8, nil}, {8, map[string]string{"x": "0.25"}}, {3, map[string]string{"x": "", "kind": "blue"}},
			{4, map[string]string{"kind": "violet", "noise": "1e-3"}},
			{5, map[string]string{"kind": ""}}} {
			w, err := x.WhatIf(c.row, c.changes)
			if err != nil {
				t.Fatal(err)
			}
			fields := make([]string, len(w.Inputs))
			sum := 0.0
			for i, cell := range w.Inputs {
				fields[i] = cell.Value
				if value, changed := c.changes[cell.Column]; changed && cell.Value != value || !changed &&
					cell.Value != cell.Former {
					t.Errorf("%s, row %d: %+v after %v", encoding, c.row, cell, c.changes)
				}
			}
			want, err := m.ScoreFields(fields)
			if err != nil || want != w.Score || c.changes == nil && w.Score != w.Former {
				t.Errorf("%s, row %d with %v: score %v, in a file %v, before %v; %v", encoding, c.row, c.changes, w.Score,
					want, w.Former, err)
			}
			for _, r := range w.Reasons {
				sum += r.AboveAverage
			}
			if w.AverageScore == nil || math.Abs(*w.AverageScore+sum-w.Score) > 1e-9 {
				t.Errorf("%s, row %d: the average and the reasons add up to %v, the score is %v", encoding, c.row,
					*w.AverageScore+sum, w.Score)
			}
			for _, column := range []string{"x", "kind"} {
				curve, err := x.Curve(c.row, c.changes, column)
				if err != nil || curve.Score != w.Score {
					t.Fatalf("%s, row %d, %s: %+v, %v", encoding, c.row, column, curve, err)
				}
				through := curve.Value == "" || column == "kind"
				for i, p := range curve.Points {
					if i > 0 && p[0] <= curve.Points[i-1][0] {
						t.Errorf("%s: the curve is not ascending", column)
					}
					through = through || fmt.Sprint(p[0]) == curve.Value && p[1] == curve.Score
				}
				if !through {
					t.Errorf("%s, row %d: the curve of %s misses the score at %s", encoding, c.row, column, curve.Value)
				}
			}
		}
		for _, wrong := range []struct {
			row     int
			changes map[string]string
			words   string
		}{{0, nil, "a row from 1"}, {601, nil, "a row from 1"}, {1, map[string]string{"x": "much"},
			`"much", expected a number`},
			{1, map[string]string{"z": "1"}, "no such column"}} {
			_, err := x.WhatIf(wrong.row, wrong.changes)
			if err == nil || !strings.Contains(err.Error(), wrong.words) {
				t.Errorf("row %d with %v: %v, want %q", wrong.row, wrong.changes, err, wrong.words)
			}
		}
		if _, err := x.Curve(1, nil, "z"); err == nil {
			t.Error("a curve of no column")
		}
	}
}

// The drift of explored rows is what a monitor says that sees the same rows arrive; with times, in their order.
func TestExploredDriftIsThatOfMonitor(t *testing.T) {
	if testing.Short() {
		t.Skip("trains a model on many rows")
	}
	train := trial.ReadFile(t, trial.WriteFile(t, "train.csv", trial.TwoColumns(3000, 4)), schema.Format{Label: "y"})
	m := trial.FitData(t, train, trial.FitCase{Problem: trial.TopPush(0.01), FitOptions: certify.FitOptions{Impute: schema.ImputeIndicator}}).Model
	for _, reversed := range []bool{false, true} {
		lines := strings.Split(strings.TrimSpace(trial.TwoColumns(2500, 5)), "\n")
		later, arrived := lines[0]+",when\n", lines[0]+",when\n"
		for i := range lines[1:] {
			row := lines[1+i]
			if i > 1500 { // a change
				row = strings.ReplaceAll(row, "green", "red")
			}
			line := fmt.Sprintf("%s,%d\n", row, 100000+i)
			arrived += line
			if reversed {
				later = later[:len(lines[0])+6] + line + later[len(lines[0])+6:]
			} else {
				later += line
			}
		}
		d, err := trial.ReadLike(t, m, trial.WriteFile(t, "later.csv", later), schema.Format{Time: "when"})
		if err != nil {
			t.Fatal(err)
		}
		got, err := explore(t, d, dataset.Entry{Model: m}).Monitor(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want, err := monitoring.Run(t.Context(), m, strings.NewReader(arrived),
			monitoring.Options{Format: schema.Format{Time: "when"}})
		if err != nil {
			t.Fatal(err)
		}
		want.Result.NewRows = got.NewRows
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(want.Result)
		if string(a) != string(b) || len(got.Alarms) == 0 {
			t.Errorf("reversed %v: %d alarms\n%.600s\n%.600s", reversed, len(got.Alarms), a, b)
		}
	}
}

// An entity is listed once, by its best row, and budgets count entities.
func TestExploringEntities(t *testing.T) {
	d := trial.ReadFile(t, trial.WriteFile(t, "rows.csv", trial.DayRows()), schema.Format{Label: "y", Kept: []string{"host"}})
	x := exploreWith(t, d, dataset.Entry{Column: "score"}, measure.Options{Entity: "host", Replicates: 50})
	rows, more, err := x.Ranked(result.AllRows, 1, 10)
	if err != nil || more || len(rows) != 5 || rows[0].Score != 59 || rows[4].Score != 55 {
		t.Errorf("%+v, %v, %v", rows, more, err)
	}
	b, err := x.Budget(toptau.Top("40%"), threshold.MustRate("5%"), 0, nil)
	if err != nil || b.Rows != 5 || b.Plain.Alerts != 2 { // 6 x 40 % = 2.4
		t.Errorf("%+v, %v", b, err)
	}
}

// The model's own threshold does not come from these rows: its rates are those of a fixed threshold, whatever the goal counts.
func TestBudgetsHaveTheModelsOwnThreshold(t *testing.T) {
	d := trial.RowsData(t, normalScores(rand.New(rand.NewPCG(1, 2)), 60, 900, false))
	trained, err := toptau.Train(t.Context(), d, toptau.MaxFPR("5%"),
		toptau.TrainOptions{Method: []method.Name{method.Logistic}, Encoding: []schema.Encoding{schema.Raw}})
	if err != nil {
		t.Fatal(err)
	}
	x := explore(t, d, dataset.Entry{Model: trained.Model})
	c := &x.Points[0].Decisions
	for _, goal := range []metric.Goal{toptau.MaxFPR("1%"), toptau.Top("1%")} {
		b, err := x.Budget(goal, threshold.MustRate("5%"), 1000, &metric.Costs{Missed: 10, Alert: 1})
		if err != nil {
			t.Fatal(err)
		}
		above, rows := c.FalsePositives, 900
		if goal.Kind == metric.GoalTop {
			above, rows = c.FalsePositives+c.TruePositives, 960
		}
		low, high := binomial.ClopperPearson(int(above), rows, 0.95)
		if e := b.Own.Expected; e.Rate != above/float64(rows) || e.Low != low || e.High != high || b.Own.Threshold != c.Threshold || b.Own.Found.Numerator != c.TruePositives {
			t.Errorf("%s: %+v, expected %v of %d", goal, b.Own, above, rows)
		}
		if p := b.Own.Period; p == nil || p.Cost == nil || math.Abs(p.Alerts.Mean-(c.TruePositives+c.FalsePositives)/0.96) > 1e-9 {
			t.Errorf("%s: %+v", goal, p)
		}
	}
	scores := explore(t, d, dataset.Entry{Column: "score"})
	if b, err := scores.Budget(toptau.Top("1%"), threshold.MustRate("5%"), 0, nil); err != nil || b.Own != nil {
		t.Errorf("without a model: %+v, %v", b, err)
	}
}

func BenchmarkBudget(b *testing.B) {
	rows := normalScores(rand.New(rand.NewPCG(1, 2)), 20000, 980000, false)
	d, err := rows.Data()
	if err != nil {
		b.Fatal(err)
	}
	x := exploreWith(b, d, dataset.Entry{Column: "score"}, measure.Options{Replicates: 50})
	for _, g := range []metric.Goal{toptau.Top("0.01%"), toptau.Top("1%"), toptau.Top("50%"),
		toptau.MaxFPR("0.1%")} {
		b.Run(g.String(), func(b *testing.B) {
			for b.Loop() {
				if _, err := x.Budget(g, threshold.MustRate("5%"), 1000, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
