package toptau_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"toptau"
	"toptau/dataset"
	"toptau/diag"
	"toptau/internal/tests/trial"
	"toptau/measure"
	"toptau/method"
	"toptau/metric"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
	"toptau/threshold"
)

func TestCancelledTrainChoosesAmongTheFitted(t *testing.T) {
	d := trial.SeparableData(t, 400)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o := toptau.TrainOptions{Method: []method.Name{method.Logistic, method.TopPush}, Encoding: []schema.Encoding{schema.Raw}}
	o.Progress = func(p result.Progress) {
		if strings.HasPrefix(p.Stage, "fit") && p.Fraction > 0.1 { // the refit counts as two thirds of the work
			cancel()
		}
	}
	trained, err := toptau.Train(ctx, d, (metric.Goal{Kind: metric.GoalAbsoluteTop}), o)
	if err != nil {
		t.Fatal(err)
	}
	if r := trained.Result; r.Stopped != result.Cancelled || !slices.Equal(r.NotTried, []string{"toppush on raw"}) {
		t.Errorf("stopped %q, not tried %v", r.Stopped, r.NotTried)
	}
	for _, m := range trained.Result.Members {
		if c := trained.Result.Candidates[m.Candidate]; c.Status != "fitted" {
			t.Errorf("the chosen candidate is %s", c.Status)
		}
	}
	cancel()
	_, err = toptau.Train(ctx, d, (metric.Goal{Kind: metric.GoalAbsoluteTop}), toptau.TrainOptions{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Train with an ended context gives %v", err)
	}
}

// The result of Train counts its parts and describes the decisions of the model on the test part.
func TestTrainReportsItsParts(t *testing.T) {
	d := trial.SeparableData(t, 1000)
	o := toptau.TrainOptions{Method: []method.Name{method.PatMatNP}, Encoding: []schema.Encoding{schema.Raw},
		TestFraction: threshold.MustRate("25%"), Seed: 11}
	goal := toptau.MaxFPR("2%")
	trained, err := toptau.Train(t.Context(), d, goal, o)
	if err != nil {
		t.Fatal(err)
	}
	r := trained.Result
	rest, quarter := result.Counts{Rows: 750, Positives: 75}, result.Counts{Rows: 250, Positives: 25}
	if r.Training != rest || r.Validation != nil || *r.Test != quarter || r.Folds != 5 {
		t.Errorf("parts %+v, %+v, %+v, %d folds", r.Training, r.Validation, *r.Test, r.Folds)
	}
	if len(r.Candidates) != 6 || r.Certified || r.Features != 3 {
		t.Errorf("%d candidates, certified %v, %d features", len(r.Candidates), r.Certified, r.Features)
	}
	c := r.TestDecisions
	if c.Threshold != r.Threshold || trained.Model.Points()[0].Threshold != r.Threshold {
		t.Errorf("thresholds %v, %v, %v", r.Threshold, c.Threshold, trained.Model.Points()[0].Threshold)
	}
	if c.TruePositives+c.FalseNegatives != 25 || c.FalsePositives+c.TrueNegatives != 225 {
		t.Errorf("the test part counts %+v", *c)
	}
	if trained.Model.Points()[0].Goal != toptau.MaxFPR("2%") || trained.Model.Points()[0].Guarantee != nil {
		t.Errorf("the model's point is %+v", trained.Model.Points()[0])
	}
}

// Validation and test files are read as the training file was.
func TestTrainWithFilesForValidationAndTest(t *testing.T) {
	d := trial.ReadFile(t, trial.WriteFile(t, "train.csv", trial.SmallTable), trial.SmallFormat)
	part := func(name string) *dataset.Data {
		p, err := dataset.Read(t.Context(), trial.WriteFile(t, name, trial.SmallTable), d.Format())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	o := toptau.TrainOptions{Method: []method.Name{method.TopPush}, Encoding: []schema.Encoding{schema.Raw},
		Validation: part("validation.csv"), Test: part("test.csv")}
	trained, err := toptau.Train(t.Context(), d, (metric.Goal{Kind: metric.GoalAbsoluteTop}), o)
	if err != nil {
		t.Fatal(err)
	}
	whole := result.Counts{Rows: 8, Positives: 3}
	if r := trained.Result; r.Training != whole || *r.Validation != whole || *r.Test != whole {
		t.Errorf("parts %+v, %+v, %+v", r.Training, r.Validation, *r.Test)
	}
	_, err = dataset.Read(t.Context(), trial.WriteFile(t, "bad.csv", "size,attack\n1,yes\n2,no\n"), d.Format())
	trial.WantError(t, err, diag.Model, `missing columns: "speed", "kind"`)
}

// Undefined numbers are null, and lists are never null.
func TestResultsHaveNoNaNAndNoNullLists(t *testing.T) {
	d := trial.SeparableData(t, 40)
	m := trial.FitData(t, d, trial.ShortAdam(trial.TopPush(0), 10)).Model
	e := trial.Evaluate(t, d, m, measure.Options{Replicates: 5}) // the top 1 % is less than a row
	o := toptau.TrainOptions{Method: []method.Name{method.Logistic}, Encoding: []schema.Encoding{schema.Raw}}
	trained, err := toptau.Train(t.Context(), d, toptau.Top("1%"), o)
	if err != nil {
		t.Fatal(err)
	}
	for name, document := range map[string]any{"evaluate": e, "train": trained.Result} {
		var values map[string]json.RawMessage
		if err := json.Unmarshal(trial.Marshal(t, document), &values); err != nil {
			t.Fatal(err)
		}
		if string(values["schema_version"]) != "2" {
			t.Errorf("%s: schema_version %s", name, values["schema_version"])
		}
		for _, list := range []string{"warnings", "points", "criteria", "curves", "candidates", "members", "not_tried", "summary", "budgets"} {
			if string(values[list]) == "null" {
				t.Errorf("%s: %s is null", name, list)
			}
		}
	}
	if !slices.ContainsFunc(e.Criteria, func(r metric.Result) bool { return !r.Defined() }) {
		t.Error("no criterion is undefined, so this test checks nothing")
	}
}

// With a label delay, the rows of the delay before the test part are in no part of the training.
func TestLabelDelay(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	const days, perDay = 80, 20
	for _, layout := range []string{time.DateOnly, ""} {
		var text strings.Builder
		text.WriteString("at,x,y\n")
		for i := range days * perDay {
			day := time.Unix(1.7e9, 0).UTC().Truncate(24*time.Hour).AddDate(0, 0, i/perDay)
			at := day.Format(layout)
			if layout == "" {
				at = fmt.Sprint(day.Unix() * 1000)
			}
			y := 0
			if random.IntN(8) == 0 {
				y = 1
			}
			fmt.Fprintf(&text, "%s,%.3f,%d\n", at, random.NormFloat64()+2*float64(y), y)
		}
		d := trial.ReadFile(t, trial.WriteFile(t, "f.csv", text.String()), schema.Format{Label: "y", Time: "at"})
		o := toptau.TrainOptions{Method: []method.Name{method.Logistic}, Encoding: []schema.Encoding{schema.Raw}, TestFraction: threshold.MustRate("25%")}
		rows := func() int {
			trained, err := toptau.Train(t.Context(), d, toptau.MaxFPR("10%"), o)
			if err != nil {
				t.Fatal(err)
			}
			r := &trained.Result
			if r.Test.Rows != days*perDay/4 {
				t.Errorf("%d test rows", r.Test.Rows)
			}
			if left := slices.ContainsFunc(r.Warnings, func(w diag.Warning) bool {
				return w.Code == "label-delay" && strings.HasPrefix(w.Text, "200 rows of the label delay")
			}); left != (o.LabelDelay > 0) {
				t.Errorf("delay %v: warnings %v", o.LabelDelay, r.Warnings)
			}
			n := r.Training.Rows
			if r.Calibration != nil {
				n += r.Calibration.Rows
			}
			return n
		}
		if n := rows(); n != 60*perDay {
			t.Errorf("%d rows without a delay", n)
		}
		if err := o.LabelDelay.UnmarshalText([]byte("10.5d")); err != nil {
			t.Fatal(err)
		}
		// The test part begins with day 60, so labels of day 49 are known then, and those of day 50 are not.
		if n := rows(); n != 50*perDay {
			t.Errorf("%d rows with a delay", n)
		}
		o.LabelDelay = schema.Delay(70 * 24 * time.Hour)
		if _, err := toptau.Train(t.Context(), d, toptau.MaxFPR("10%"), o); err == nil {
			t.Error("no rows are left, and it trains")
		}
	}
	var delay schema.Delay
	for _, text := range []string{"", "d", "-3d", "30", "1e9w", "30 days"} {
		if delay.UnmarshalText([]byte(text)) == nil {
			t.Errorf("%q is a delay of %v", text, time.Duration(delay))
		}
	}
	d := trial.ReadFile(t, trial.WriteFile(t, "f.csv", "n,x,y\n1,1,0\n2,2,1\n3,1,0\n4,2,1\n5,1,0\n6,2,1\n"), schema.Format{Label: "y", Time: "n"})
	_, err := toptau.Train(t.Context(), d, toptau.MaxFPR("10%"), toptau.TrainOptions{LabelDelay: schema.Delay(time.Hour)})
	if e := diag.Of(err); e == nil || e.Expected != "a date, or seconds since 1970, for the label delay" || e.Line != 2 {
		t.Errorf("numbers that are no times: %v", err)
	}
	plain := trial.ReadFile(t, trial.WriteFile(t, "f.csv", "x,y\n1,0\n2,1\n"), schema.Format{Label: "y"})
	_, err = toptau.Train(t.Context(), plain, toptau.MaxFPR("10%"), toptau.TrainOptions{LabelDelay: schema.Delay(time.Hour)})
	if e := diag.Of(err); e == nil || e.Param != "label-delay" {
		t.Errorf("without a time column: %v", err)
	}
}

// Train finds a ratio, the model comes back from its file, explanations name the two columns alone, and every export takes it.
func TestTrainWithDerivedColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("trains a model")
	}
	r := rand.New(rand.NewPCG(5, 6))
	var file strings.Builder
	file.WriteString("debt,income,age,y\n")
	for range 2500 {
		debt, income, class := math.Exp(r.NormFloat64()), math.Exp(r.NormFloat64()), 0
		if ratio := debt / income; 1 < ratio && ratio < 1.5 && r.IntN(5) > 0 || r.IntN(50) == 0 {
			class = 1
		}
		fmt.Fprintf(&file, "%.4g,%.4g,%d,%d\n", debt, income, r.IntN(60), class)
	}
	d, err := dataset.ReadFrom(t.Context(), strings.NewReader(file.String()), schema.Format{Label: "y"})
	if err != nil {
		t.Fatal(err)
	}
	trained, err := toptau.Train(t.Context(), d, metric.RateGoal(metric.GoalMaxFPR, "5%"), toptau.TrainOptions{Derive: schema.DerivePairs})
	if err != nil {
		t.Fatal(err)
	}
	if why := trained.Result.Why; !trained.Result.Choice.Derived || !strings.Contains(why, "derived columns bring +") {
		t.Fatalf("derived columns are left out: %s", why)
	}
	var content bytes.Buffer
	if _, err := trained.Model.WriteTo(&content); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(content.String(), `"derived":[{"op":"-","a":0,"b":1}`) {
		t.Error("the model file has no derived columns")
	}
	m, err := model.Read(&content, "model")
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Explain(map[string]string{"debt": "1.2", "income": "1", "age": "30"})
	if err != nil {
		t.Fatal(err)
	}
	sum := e.Offset
	for _, reason := range e.Reasons {
		sum += reason.Adds
		if reason.Column != "debt" && reason.Column != "income" && reason.Column != "age" {
			t.Errorf("a reason of the column %q", reason.Column)
		}
	}
	if sum+e.Rounding != e.Score {
		t.Errorf("reasons add up to %v, and the score is %v", sum+e.Rounding, e.Score)
	}
	for _, target := range []string{"onnx", "sql", "c", "go"} {
		if _, err := toptau.Export(&bytes.Buffer{}, m, target, toptau.ExportOptions{}); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
}

// fewRows writes 50 rows with 5 positives, whose first column is higher by a number of standard deviations.
func fewRows(seed uint64, columns int, by float64) string {
	r := rand.New(rand.NewPCG(seed, 15))
	var b strings.Builder
	for j := range columns {
		fmt.Fprintf(&b, "x%d,", j)
	}
	b.WriteString("y\n")
	for i := range 50 {
		y := 0
		if i%10 == 0 {
			y = 1
		}
		for j := range columns {
			x := r.NormFloat64()
			if j == 0 {
				x += by * float64(y)
			}
			fmt.Fprintf(&b, "%.5g,", x)
		}
		fmt.Fprintf(&b, "%d\n", y)
	}
	return b.String()
}

// TestFewPositives trains on 5 positives. Noise has a warning, a strong signal has none, and either way the simplest model is kept.
func TestFewPositives(t *testing.T) {
	if testing.Short() {
		t.Skip("takes ten processor seconds")
	}
	for _, c := range []struct {
		name    string
		columns int
		by      float64
		warned  bool
	}{{"noise", 5, 0, true}, {"noise, more columns than rows", 300, 0, true}, {"a signal", 5, 6, false}} {
		warned, simple := 0, 0
		const trainings = 3
		for seed := range uint64(trainings) {
			d, err := dataset.ReadFrom(t.Context(), strings.NewReader(fewRows(seed, c.columns, c.by)), schema.Format{Label: "y", Positive: []string{"1"}})
			if err != nil {
				t.Fatal(err)
			}
			trained, err := toptau.Train(t.Context(), d, toptau.MaxFPR("5%"), toptau.TrainOptions{Seed: seed + 1})
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(trained.Result.Warnings, func(w diag.Warning) bool { return w.Code == "no-signal" }) {
				warned++
			}
			if m := trained.Result.Members; len(m) == 1 && trained.Result.Candidates[m[0].Candidate].Method == method.Logistic {
				simple++
			}
		}
		if c.warned && warned < trainings-1 || !c.warned && warned > 0 {
			t.Errorf("%s: warned in %d of %d trainings", c.name, warned, trainings)
		}
		if simple < trainings-1 {
			t.Errorf("%s: logistic regression on raw columns in %d of %d trainings", c.name, simple, trainings)
		}
	}
}

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
