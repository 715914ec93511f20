package tune

import (
	"context"
	"flag"
	"math"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"toptau/internal/core/heldout"
	"toptau/internal/core/learn"
	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/method"
	"toptau/schema"
	"toptau/threshold"
)

// By hand: one fit to all rows, and the scores that the fits of the folds give to their own negatives and to the rows that they left out,
// on its scale. The threshold is between two of the left-out negatives.
func TestAllRowsByHand(t *testing.T) {
	data := simulated(100, 400, 1)
	f := find(t, data, linear(t, "--max-fpr 5%", method.Logistic))
	if f.Scheme != SchemeAllRows || f.Training != (Counts{100, 400}) || f.Calibration.Rows() != 0 || f.CrossFolds != 5 || f.Threshold.Refitted || !f.Threshold.Approximate {
		t.Fatalf("%s, %s train, %s set aside, %d folds, %+v", f.Scheme, f.Training, f.Calibration, f.CrossFolds, f.Threshold)
	}
	fit := func(rows []int) []float64 {
		m, _, err := feature.Fit(data, schema.Schema{}, rows, feature.Options{})
		if err != nil {
			t.Fatal(err)
		}
		x, err := m.Matrix(data, rows, matrix.Float32)
		if err != nil {
			t.Fatal(err)
		}
		fit, err := learn.Fit(context.Background(), x, learn.Options{Lambda: f.Members[0].Lambda, Tolerance: 1e-9})
		if err != nil {
			t.Fatal(err)
		}
		return scoresOf(t, m, fit.W, fit.Intercept, data)
	}
	pick := func(z []float64, rows []int, class table.Class) (list []float64) {
		for _, row := range rows {
			if data.Label[row] == class {
				list = append(list, z[row])
			}
		}
		return list
	}
	list, err := Cut{Seed: 3}.Folds(data.Label, 5)
	if err != nil {
		t.Fatal(err)
	}
	var folds []heldout.FoldScores
	for _, fold := range list {
		z := fit(fold.Train)
		folds = append(folds, heldout.FoldScores{Fitted: pick(z, fold.Train, table.Negative), Negatives: pick(z, fold.Validation, table.Negative),
			Positives: pick(z, fold.Validation, table.Positive)})
	}
	var negatives []float64
	found := 0
	for _, fold := range heldout.Transfer(pick(fit(nil), data.Labelled(), table.Negative), folds) {
		negatives = append(negatives, fold.Negatives...)
		for _, z := range fold.Positives {
			if z > f.Threshold.Value {
				found++
			}
		}
	}
	slices.Sort(negatives)
	want := negatives[400-20] + float64(0.05*(negatives[400-21]-negatives[400-20])) // 0.05 x 401 = 20.05
	if math.Abs(f.Threshold.Value-want) > 0.01 {                                    // the folds are fitted to 1e-3 only
		t.Errorf("threshold %v, want %v", f.Threshold.Value, want)
	}
	if at := f.OutOfFold.AtThreshold; math.Abs(at.TruePositives-float64(found)) > 1 || at.FalsePositives != 20 {
		t.Errorf("%v positives and %v negatives above the threshold, want %d and 20", at.TruePositives, at.FalsePositives, found)
	}
}

// groupsOf numbers rows by a remainder.
func groupsOf(data *table.Table, groups int) *table.Text {
	g := &table.Text{Name: "g", Values: make([]string, data.Rows())}
	for row := range g.Values {
		g.Values[row] = strconv.Itoa(row % groups)
	}
	return g
}

// What rules out that all rows train and give the threshold.
func TestAgainstAllRows(t *testing.T) {
	for _, c := range []struct {
		goal, because string
		change        func(data *table.Table, o *SearchOptions)
	}{
		{"--max-fpr 5%", "", func(*table.Table, *SearchOptions) {}},
		{"--top 5%", "", func(*table.Table, *SearchOptions) {}},
		{"--max-fpr 5%", "a part of the rows was requested", func(_ *table.Table, o *SearchOptions) { o.CalibrationFraction = threshold.MustRate("20%") }},
		{"--max-fpr 5%", "rows have weights", func(data *table.Table, _ *SearchOptions) { data.Weight = slices.Repeat([]float64{2}, data.Rows()) }},
		{"--max-fpr 50%", "a part of the rows is enough", func(data *table.Table, _ *SearchOptions) {}},
		{"--min-recall 80%", "", func(data *table.Table, _ *SearchOptions) {}},
		{"--max-fpr 5%", "the folds fit samples of the rows", func(_ *table.Table, o *SearchOptions) { o.FoldRows = 500 }},
		{"--max-fpr 5%", "", func(data *table.Table, _ *SearchOptions) { data.Group = groupsOf(data, 21) }},
		{"--max-fpr 5%", "patmat-np on leaves fits its rows too closely", func(_ *table.Table, o *SearchOptions) {
			o.Method, o.Encoding = []method.Name{method.Logistic, "patmat-np"}, []feature.Encode{feature.EncodeRaw, feature.EncodeLeaves}
		}},
		{"--max-fpr 5%", "toppush on boosted fits its rows too closely", func(_ *table.Table, o *SearchOptions) {
			o.Method, o.Encoding = []method.Name{"toppush"}, []feature.Encode{feature.EncodeBoosted}
		}},
		{"--max-fpr 5%", "", func(_ *table.Table, o *SearchOptions) {
			o.Method, o.Encoding = []method.Name{method.Logistic, method.Ramp}, []feature.Encode{feature.EncodeLeaves}
		}},
		{"--max-fpr 5%", "", func(_ *table.Table, o *SearchOptions) {
			o.Method, o.Encoding = []method.Name{"patmat-np"}, []feature.Encode{feature.EncodeRaw, feature.EncodeScorecard}
		}},
		{"--max-fpr 5%", "entities are counted", func(data *table.Table, o *SearchOptions) {
			data.Kept = append(data.Kept, *groupsOf(data, 2900))
			o.Entity = "g"
		}},
	} {
		data, o := simulated(300, 2700, 1), linear(t, c.goal, method.Logistic)
		c.change(data, &o)
		s, _ := partsOf(t, data, o)
		want := SchemeAllRows
		if c.because != "" {
			want = SchemeHeldOut
		}
		if s.scheme != want || s.heldBecause != c.because || (len(s.calibration) > 0) != (c.because != "") {
			t.Errorf("%s: %s because %q with %d rows held out, want %s because %q", c.goal, s.scheme, s.heldBecause, len(s.calibration), want, c.because)
		}
	}
}

// Where cross-fits are biased, up to a quarter of the rows is held out: 2.3 within the budget.
func TestHeldOutRowsOfCloseFits(t *testing.T) {
	leaves, raw := []feature.Encode{feature.EncodeLeaves}, []feature.Encode{feature.EncodeRaw}
	for _, c := range []struct {
		goal      string
		method    method.Name
		encoding  []feature.Encode
		negatives int
		scheme    Scheme
		held      int
	}{
		{"--max-fpr 1%", "patmat-np", leaves, 1500, SchemeHeldOut, 230},
		{"--max-fpr 1%", method.Logistic, leaves, 1500, SchemeCrossFitted, 0},
		{"--max-fpr 1%", "patmat-np", raw, 1500, SchemeCrossFitted, 0},
		{"--max-fpr 1%", "patmat-np", leaves, 900, SchemeCrossFitted, 0}, // a quarter is too few
		{"--max-fpr 1%", "patmat-np", leaves, 4000, SchemeHeldOut, 600},
	} {
		o := linear(t, c.goal, c.method)
		o.Encoding = c.encoding
		s, _ := partsOf(t, simulated(100, c.negatives, 1), o)
		if s.scheme != c.scheme || len(s.calibration) != c.held {
			t.Errorf("%s, %s on %s, %d negatives: %s with %d rows, want %s with %d", c.goal, c.method, c.encoding, c.negatives, s.scheme, len(s.calibration), c.scheme, c.held)
		}
	}
}

// Where folds lack a class, rows have no score of a fold that left them out, and other folds give the threshold.
func TestIncompleteFoldsAreNotAllRows(t *testing.T) {
	data := simulated(300, 2700, 1)
	data.Group = groupsOf(data, 20) // positives are in two groups
	if f := find(t, data, linear(t, "--max-fpr 5%", method.Logistic)); f.Scheme != SchemeCrossFitted || f.Folds != 2 || f.Calibration.Rows() != 0 {
		t.Errorf("%s in %d folds, %s held out", f.Scheme, f.Folds, f.Calibration)
	}
}

var allRowsDraws = flag.Int("allrows", 0, "TestAllRowsKeepTheBudget: draws for each learner, instead of a few of the quickest")

// The rate on fresh negatives is the budget on average, and within the interval. With -allrows it logs the figures of decision 7:
//
//	go test ./internal/training/tune -run TestAllRowsKeepTheBudget -allrows 40 -v -timeout 0
func TestAllRowsKeepTheBudget(t *testing.T) {
	boosters := SearchOptions{Method: []method.Name{method.Boosting}, Feature: feature.Options{Rounds: 60}}
	cases := []struct {
		name string
		o    SearchOptions
	}{{"logistic regression", SearchOptions{Method: []method.Name{method.Logistic}, Encoding: []feature.Encode{feature.EncodeRaw}}},
		{"boosters", boosters}, {"the ramp", SearchOptions{Method: []method.Name{method.Ramp}, Encoding: []feature.Encode{feature.EncodeScorecard}}},
		{"logistic regression on leaves", SearchOptions{Method: []method.Name{method.Logistic}, Encoding: []feature.Encode{feature.EncodeLeaves}, Feature: feature.Options{Trees: 20, Leaves: 40}}}}
	goals := []string{"--max-fpr 1%", "--max-fpr 5%", "--top 2%"}
	draws := *allRowsDraws
	if draws == 0 {
		cases, goals, draws = cases[:1], goals[1:2], 12
	}
	for _, c := range cases {
		for _, goal := range goals {
			inside, sum, squares := 0, 0.0, 0.0
			for seed := range draws {
				o := c.o
				o.Goal, o.Seed = goalOf(t, goal), uint64(seed+1)
				f := find(t, simulated(200, 1800, uint64(seed)), o)
				fresh := simulated(1000, 9000, uint64(seed)+1e6)
				above, rows := 0.0, 0.0
				for row, z := range scoresOf(t, f.Map, f.W, f.Offset, fresh) {
					if fresh.Label[row] == table.Negative || o.Goal.Population() == method.AllRows {
						if rows++; z > f.Threshold.Value {
							above++
						}
					}
				}
				e := &f.Threshold.Expected
				if f.Scheme != SchemeAllRows || f.Threshold.Refitted {
					t.Fatalf("%s: %+v", f.Scheme, f.Threshold)
				}
				if rate := above / rows; e.Low <= rate && rate <= e.High {
					inside++
				}
				r := above / rows / o.Goal.Tau().Float64()
				sum, squares = sum+r, squares+r*r
			}
			n := float64(draws)
			mean := sum / n
			deviation := math.Sqrt(max(0, squares-n*mean*mean) / (n - 1))
			t.Logf("%s, %s: %.2f +- %.2f times the budget (s.d. %.2f), %d of %d in the interval", c.name, goal, mean, deviation/math.Sqrt(n), deviation, inside, draws)
			if math.Abs(mean-1) > 0.07+3*deviation/math.Sqrt(n) || float64(inside) < n*(0.93-3*math.Sqrt(0.93*0.07/n)) {
				t.Errorf("%s, %s: mean ratio %.2f, %d of %d in the interval", c.name, goal, mean, inside, draws)
			}
		}
	}
}

// The threshold has the same bits on any number of threads.
func TestAllRowsDoNotDependOnThreads(t *testing.T) {
	o := SearchOptions{Goal: goalOf(t, "--max-fpr 5%"), Seed: 3, Feature: feature.Options{Rounds: 20}}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var want *Found
	for _, threads := range []int{1, 3} {
		runtime.GOMAXPROCS(threads)
		f := find(t, simulated(100, 400, 2), o)
		if want == nil {
			want = f
		}
		if f.Scheme != SchemeAllRows || f.Threshold.Value != want.Threshold.Value || f.Threshold.Expected.Low != want.Threshold.Expected.Low ||
			!slices.Equal(f.HeldOut.Positives, want.HeldOut.Positives) {
			t.Errorf("%d threads: %+v, want %+v", threads, f.Threshold, want.Threshold)
		}
	}
}
