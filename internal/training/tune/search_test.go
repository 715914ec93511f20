package tune

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"toptau/diag"
	"toptau/internal/core/learn"
	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/method"
	"toptau/metric"
	"toptau/result"
	"toptau/schema"
	"toptau/threshold"
)

// bell is a sum of four uniforms, centred: bell-shaped on [-2, 2].
func bell(random *rand.Rand) float64 {
	x := -2.0
	for range 4 {
		x += float64(random.Uint64()>>11) / (1 << 53)
	}
	return x
}

// simulated makes overlapping classes in four columns: the first carries the class in a straight line, the
// second in a curve that only an encoding can follow.
func simulated(positives, negatives int, seed uint64) *table.Table {
	random := rand.New(rand.NewPCG(seed, 0))
	t := &table.Table{File: "rows.csv"}
	columns := make([][]float64, 4)
	n := positives + negatives
	for i := range n {
		class := table.Negative
		if (i+1)*positives/n > i*positives/n {
			class = table.Positive
		}
		t.Label, t.Line = append(t.Label, class), append(t.Line, i+2)
		for j := range columns {
			x := bell(random)
			switch {
			case class == table.Positive && j == 0:
				x += 0.8
			case class == table.Positive && j == 1:
				x *= 0.3
			}
			columns[j] = append(columns[j], x*float64(j+1))
		}
	}
	for j, values := range columns {
		t.Columns = append(t.Columns, table.Column{Name: fmt.Sprintf("x%d", j+1), Number: j + 1, Values: values})
	}
	return t
}

// parseGoal reads a goal in the words of the command line: "--max-fpr 1%".
func parseGoal(text string) (g metric.Goal, err error) {
	words := strings.Fields(text)
	switch kind := metric.GoalKind(strings.TrimPrefix(words[0], "--")); len(words) {
	case 1:
		g = metric.Goal{Kind: kind}
	default:
		g = metric.RateGoal(kind, words[1])
	}
	return g, g.Check()
}

func goalOf(t testing.TB, text string) metric.Goal {
	t.Helper()
	g, err := parseGoal(text)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// quick are options that take little time: few small trees, two learners.
func quick(t testing.TB, goal string) SearchOptions {
	return SearchOptions{Goal: goalOf(t, goal), Seed: 3, Method: []method.Name{method.Logistic, method.Ramp}, Encoding: []feature.Encode{feature.EncodeRaw, feature.EncodeScorecard},
		Feature: feature.Options{Trees: 8, Leaves: 12}}
}

// linear are options for one learner on raw columns.
func linear(t testing.TB, goal string, learners ...method.Name) SearchOptions {
	o := quick(t, goal)
	o.Method, o.Encoding = learners, []feature.Encode{feature.EncodeRaw}
	return o
}

func find(t testing.TB, data *table.Table, o SearchOptions) *Found {
	t.Helper()
	f, err := Search(context.Background(), Data{Table: data}, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func warned(f *Found) string {
	var list []string
	for _, w := range f.Warnings {
		list = append(list, w.Code)
	}
	return strings.Join(list, " ")
}

// scoresOf are the model's scores of some rows.
func scoresOf(t testing.TB, m *feature.Map, w []float64, offset float64, data *table.Table) []float64 {
	t.Helper()
	s, err := feature.NewScorer(m, w, offset)
	if err != nil {
		t.Fatal(err)
	}
	z := make([]float64, data.Rows())
	if err := s.Scores(data, z); err != nil {
		t.Fatal(err)
	}
	return z
}

// The criterion of a candidate, recomputed: the same folds, one fit each, positives counted above the
// budgets' thresholds.
func TestCriterionByHand(t *testing.T) {
	data := simulated(90, 510, 1)
	f := find(t, data, linear(t, "--max-fpr 5%", method.Logistic))
	label := slices.Repeat([]table.Class{table.Unknown}, data.Rows()) // of the rows that give the threshold
	for _, row := range f.Rows {
		label[row] = data.Label[row]
	}
	folds, err := Cut{Seed: 3}.Folds(label, 5)
	if err != nil {
		t.Fatal(err)
	}
	// A fold has 86 or 87 negatives: the budgets 0.5 % and 0.75 % are less than one row and left out.
	budgets := []string{"1.25%", "2%", "3.25%", "5%", "7.5%", "11.5%", "17.5%", "25%"}
	if got := len(f.Criterion.Budgets); got != len(budgets) {
		t.Fatalf("budgets %v", f.Criterion.Budgets)
	}
	c := f.Candidates[3]
	if c.Status != Fitted || c.Lambda != 1e-4 {
		t.Fatalf("%+v", c)
	}
	total := 0.0
	for k, fold := range folds {
		m, _, err := feature.Fit(data, schema.Schema{}, fold.Train, feature.Options{})
		if err != nil {
			t.Fatal(err)
		}
		x, err := m.Matrix(data, fold.Train, matrix.Float32)
		if err != nil {
			t.Fatal(err)
		}
		fit, err := learn.Fit(context.Background(), x, learn.Options{Lambda: c.Lambda})
		if err != nil {
			t.Fatal(err)
		}
		z := scoresOf(t, m, fit.W, 0, data)
		var positives, negatives []float64
		for _, row := range fold.Validation {
			if data.Label[row] == table.Positive {
				positives = append(positives, z[row])
			} else {
				negatives = append(negatives, z[row])
			}
		}
		slices.Sort(negatives)
		slices.Reverse(negatives)
		value := 0.0
		for _, b := range budgets {
			for _, p := range positives {
				if p > negatives[threshold.MustRate(b).Floor(len(negatives))] {
					value += 1 / float64(len(positives)*len(budgets))
				}
			}
		}
		if math.Abs(value-c.Folds[k]) > 0.01 { // the fold's fit is converged to 1e-4 only: a row may change sides
			t.Errorf("fold %d: %v, want %v", k, c.Folds[k], value)
		}
		total += c.Folds[k] / 5
	}
	if math.Abs(total-c.Mean) > 1e-12 {
		t.Errorf("mean %v, want %v", c.Mean, total)
	}
}

// A curve that raw columns cannot follow is found by an encoding, and the gain passes the guard.
func TestEncodingIsChosen(t *testing.T) {
	f := find(t, simulated(200, 1000, 2), quick(t, "--max-fpr 5%"))
	if len(f.Members) == 0 || f.Candidates[f.Members[0].Candidate].Features == feature.EncodeRaw || f.Choice.Gain.Mean <= f.Choice.Gain.StandardError {
		t.Errorf("%+v", f.Choice)
	}
	if f.Choice.Reference < 0 || !strings.HasPrefix(f.Candidates[f.Choice.Reference].String(), "logistic on raw") {
		t.Errorf("reference %d", f.Choice.Reference)
	}
	if f.OutOfFold.AtThreshold.FalsePositiveRate.Rate > 0.05 {
		t.Errorf("out of fold the budget is broken: %+v", f.OutOfFold.AtThreshold.FalsePositiveRate)
	}
}

// Fitted once, the model's score is the sum over its members of share (z - middle) / spread.
func TestAverageIsTheSumOfItsMembers(t *testing.T) {
	data := simulated(200, 1000, 5)
	o := SearchOptions{Goal: goalOf(t, "--max-fpr 5%"), Seed: 3, Feature: feature.Options{Rounds: 30}}
	o.CalibrationFraction = threshold.MustRate("10%")
	f := find(t, data, o)
	if len(f.Members) != 2 || f.Members[0].Share != 0.5 || f.Choice.Of != 2 {
		t.Fatalf("not the mean of both boosters: %+v", f.Choice)
	}
	want := make([]float64, data.Rows())
	shares := 0.0
	for _, m := range f.Members {
		w := make([]float64, f.Map.Cols())
		at := 0
		for _, b := range m.Blocks {
			first, end := f.Map.Columns(b)
			at += copy(w[first:end], m.W[at:at+end-first])
		}
		if at != len(m.W) {
			t.Fatalf("%d of %d weights placed", at, len(m.W))
		}
		for i, z := range scoresOf(t, f.Map, w, 0, data) {
			want[i] += m.Share * (z - m.Middle) / m.Spread
		}
		shares += m.Share
	}
	if math.Abs(shares-1) > 1e-12 {
		t.Errorf("shares sum to %v", shares)
	}
	for i, z := range scoresOf(t, f.Map, f.W, f.Offset, data) {
		if math.Abs(z-want[i]) > 1e-6*(1+math.Abs(want[i])) {
			t.Fatalf("row %d: %v, want %v", i, z, want[i])
		}
	}
}

// Rows of the test part and calibration rows reach nothing but their own measurement: with other values in
// them, the model is the same.
func TestNothingLeaks(t *testing.T) {
	o := quick(t, "--max-fpr 10%")
	o.TestFraction, o.Delta = threshold.MustRate("25%"), threshold.MustRate("10%")
	run := func(spoil []int) (*Found, *parts) {
		data := simulated(120, 480, 4)
		for _, row := range spoil {
			for j := range data.Columns {
				data.Columns[j].Values[row] = 1000 + float64(row*j)
			}
		}
		p, err := newPlan(Data{Table: data}, o)
		if err != nil {
			t.Fatal(err)
		}
		s, err := p.divide()
		if err != nil {
			t.Fatal(err)
		}
		return find(t, data, o), s
	}
	clean, s := run(nil)
	if len(s.test) != 150 || len(s.calibration) == 0 {
		t.Fatalf("%d test rows, %d calibration rows", len(s.test), len(s.calibration))
	}
	seen := map[int]bool{}
	for _, list := range [][]int{s.training, s.test, s.calibration} {
		for _, row := range list {
			if seen[row] {
				t.Fatalf("row %d is in two parts", row)
			}
			seen[row] = true
		}
	}
	folds, err := newFolds(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range folds.list {
		for _, row := range slices.Concat(r.train, r.validation) {
			if !slices.Contains(s.training, row) {
				t.Fatalf("row %d is in a fold", row)
			}
		}
	}
	dirty, _ := run(slices.Concat(s.test, s.calibration))
	a, b := modelBytes(t, clean), modelBytes(t, dirty)
	if !bytes.Equal(a, b) {
		t.Error("rows that were set aside change the model")
	}
	if clean.Threshold.Value == dirty.Threshold.Value || clean.Test.Goal.Rate == dirty.Test.Goal.Rate {
		t.Error("the spoilt rows measure nothing: the test tests nothing")
	}
}

func modelBytes(t testing.TB, f *Found) []byte {
	t.Helper()
	content, err := json.Marshal(struct {
		Map    *feature.Map
		W      []float64
		Offset float64
	}{f.Map, f.W, f.Offset})
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestSearchDoesNotDependOnThreads(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: three searches")
	}
	data := simulated(60, 400, 6)
	o := quick(t, "--top 5%")
	o.Method = []method.Name{method.Logistic, method.Ramp, "patmat"}
	o.TestFraction = threshold.MustRate("1/4")
	var want []byte
	for _, threads := range []int{1, 2, 7} {
		before := runtime.GOMAXPROCS(threads)
		f := find(t, data, o)
		runtime.GOMAXPROCS(before)
		f.SecondsSearch, f.SecondsRefit = 0, 0
		for i := range f.Candidates {
			f.Candidates[i].Seconds = 0
		}
		got := append(modelBytes(t, f), fmt.Sprintf("%+v %+v %+v %v %+v", f.Choice, f.Candidates, f.Threshold, f.Choice.Score,
			f.Test.AtThreshold)...)
		got = pointers.ReplaceAll(got, nil)
		if want == nil {
			want = got
		} else if !bytes.Equal(got, want) {
			t.Errorf("%d threads give another result", threads)
		}
	}
}

// Every learner and encoding can be asked for alone; the ramp then starts from a logistic regression that is
// no candidate.
func TestRestrictions(t *testing.T) {
	data := simulated(60, 240, 7)
	for _, name := range []method.Name{method.Logistic, method.SVM, method.Ramp, "patmat-np", "grill-np"} {
		for _, e := range []feature.Encode{feature.EncodeRaw, feature.EncodeScorecard, feature.EncodeLeaves, feature.EncodeBoth} {
			if name != method.Ramp && e != feature.EncodeRaw {
				continue
			}
			o := linear(t, "--max-fpr 10%", name)
			o.Encoding, o.Folds = []feature.Encode{e}, 2
			f := find(t, data, o)
			for _, c := range f.Candidates {
				if c.Learner != name || c.Features != e {
					t.Errorf("%s on %s: candidate %s", name, e, c.String())
				}
			}
			if len(f.Members) != 1 || (f.Choice.Reference >= 0) != (name == method.Logistic && e == feature.EncodeRaw) {
				t.Errorf("%s on %s: %d members, reference %d", name, e, len(f.Members), f.Choice.Reference)
			}
		}
	}
}

func TestCancelledSearchKeepsWhatIsFinished(t *testing.T) {
	data := simulated(60, 240, 1)
	ctx, cancel := context.WithCancel(context.Background())
	o := quick(t, "--max-fpr 5%")
	o.Progress = func(p result.Progress) {
		if p.Stage == "fit" && p.Done >= 2 {
			cancel()
		}
	}
	f, err := Search(ctx, Data{Table: data}, o)
	if err != nil {
		t.Fatal(err)
	}
	if !f.Cancelled || f.TimeUp || len(f.NotTried) != 2 || f.NotTried[0].String() != "ramp on raw" ||
		!strings.Contains(warned(f), "stopped-early") {
		t.Errorf("cancelled %v, not tried %v, %s", f.Cancelled, f.NotTried, warned(f))
	}
	if f, err = Search(ctx, Data{Table: data}, o); f != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("nothing finished: %v, %v", f, err)
	}
}

// However little time there is, the first task is finished.
func TestTimeIsUp(t *testing.T) {
	o := quick(t, "--max-fpr 5%")
	o.MaxTime = time.Nanosecond
	f := find(t, simulated(60, 240, 1), o)
	if !f.TimeUp || f.Cancelled || len(f.NotTried) != 3 || len(f.Members) != 1 || !strings.Contains(warned(f), "time-is-up") {
		t.Errorf("time up %v, not tried %v, %s", f.TimeUp, f.NotTried, warned(f))
	}
}

// A validation table is the one fold and gives the threshold; all rows of the training table fit.
func TestValidationTable(t *testing.T) {
	data, validation, test := simulated(60, 240, 1), simulated(50, 200, 2), simulated(40, 160, 3)
	o := linear(t, "--max-fpr 5%", method.Logistic)
	f, err := Search(context.Background(), Data{Table: data, Validation: validation, Test: test}, o)
	if err != nil {
		t.Fatal(err)
	}
	if f.Training != (Counts{60, 240}) || f.Validation != (Counts{50, 200}) || f.TestCounts != (Counts{40, 160}) || f.Folds != 1 {
		t.Errorf("%v, %v, %v, %d folds", f.Training, f.Validation, f.TestCounts, f.Folds)
	}
	z := scoresOf(t, f.Map, f.W, f.Offset, validation)
	above := 0
	for row, class := range validation.Label {
		if class == table.Negative && z[row] > f.Threshold.Value {
			above++
		}
	}
	if above != 10 || f.Scheme != SchemeValidation { // 201 x 5 % is 10.05: the threshold is just below the tenth of them
		t.Errorf("%s: %d of 200 negatives of the validation table above the threshold, want 10", f.Scheme, above)
	}
}

// The threshold uses its budget out of fold; on new rows of the same kind nearly.
func TestPlainThreshold(t *testing.T) {
	f := find(t, simulated(300, 2000, 8), linear(t, "--max-fpr 5%", method.Logistic))
	at := f.OutOfFold.AtThreshold
	if at.FalsePositives != 100 { // all 2,000 negatives give the threshold, and 2,001 x 5 % is 100.05
		t.Errorf("out of fold %v false positives", at.FalsePositives)
	}
	fresh := simulated(10, 20000, 99)
	above := 0
	for row, z := range scoresOf(t, f.Map, f.W, f.Offset, fresh) {
		if fresh.Label[row] == table.Negative && z > f.Threshold.Value {
			above++
		}
	}
	if above < 800 || above > 1200 {
		t.Errorf("%d of 20,000 fresh negatives above the threshold, want about 1,000", above)
	}
}

// Where w = 0 is optimal, the methods that collapse are named and never chosen.
func TestCollapsedMethodsAreNamed(t *testing.T) {
	data := &table.Table{File: "rows.csv", Columns: []table.Column{{Name: "x", Number: 1}, {Name: "y", Number: 2}}}
	random := rand.New(rand.NewPCG(1, 1))
	for i := range 400 { // positives inside the hull of the negatives
		class, scale := table.Negative, 4.0
		if i%4 == 0 {
			class, scale = table.Positive, 1
		}
		data.Label, data.Line = append(data.Label, class), append(data.Line, i+2)
		data.Columns[0].Values = append(data.Columns[0].Values, scale*bell(random)+0.1)
		data.Columns[1].Values = append(data.Columns[1].Values, scale*bell(random))
	}
	f := find(t, data, linear(t, "--max-fpr 1%", method.Logistic, "topmean-np"))
	if !slices.Equal(f.Choice.Collapsed, []string{"topmean-np on raw"}) {
		t.Error(f.Choice)
	}
	for _, c := range f.Candidates {
		if c.Learner == "topmean-np" && (!c.Constant || !c.ZeroOptimal) {
			t.Errorf("%s: constant %v, zero optimal %v", c.String(), c.Constant, c.ZeroOptimal)
		}
	}
	_, err := Search(context.Background(), Data{Table: data}, linear(t, "--max-fpr 1%", "topmean-np"))
	if e := diag.Of(err); e == nil || e.Kind != diag.Data || !strings.Contains(err.Error(), "w = 0 is the certified optimum of topmean-np on raw") {
		t.Errorf("%v", err)
	}
}

func TestSearchRefuses(t *testing.T) {
	ok := simulated(60, 120, 1)
	missing := simulated(60, 120, 1)
	missing.Columns[1].Values[5] = math.NaN()
	timed := simulated(60, 120, 1)
	timed.Time = &table.Text{Name: "day", Values: slices.Repeat([]string{"1"}, 180)}
	timed.Time.Values[7] = "soon"
	grouped := simulated(3, 120, 1)
	grouped.Group = &table.Text{Name: "host", Values: slices.Repeat([]string{"a"}, 123)}
	np := goalOf(t, "--max-fpr 5%")
	for _, test := range []struct {
		d    Data
		o    SearchOptions
		kind diag.Kind
		want string
	}{
		{Data{Table: ok}, SearchOptions{}, diag.Usage, "no goal"},
		{Data{}, SearchOptions{Goal: np}, diag.Usage, "no data"},
		{Data{Table: ok}, SearchOptions{Goal: goalOf(t, "--absolute-top"), Method: []method.Name{"patmat-np"}}, diag.Usage,
			"method patmat-np, expected a goal with a rate"},
		{Data{Table: ok}, SearchOptions{Goal: np, Method: []method.Name{"topmean", "topmean"}}, diag.Usage, "method topmean twice"},
		{Data{Table: ok}, SearchOptions{Goal: np, Method: []method.Name{}}, diag.Usage, "missing method"},
		{Data{Table: ok}, SearchOptions{Goal: np, Method: []method.Name{"best"}}, diag.Usage, "expected one of logistic, svm, ramp, boosting, toppush"},
		{Data{Table: ok}, SearchOptions{Goal: np, Encoding: []feature.Encode{"best"}}, diag.Usage, `encoding "best"`},
		{Data{Table: ok}, SearchOptions{Goal: np, Folds: 1}, diag.Usage, "folds 1"},
		{Data{Table: ok}, SearchOptions{Goal: np, OutOfFold: true}, diag.Usage, "missing delta"},
		{Data{Table: simulated(0, 10, 1)}, SearchOptions{Goal: np}, diag.Data, "there are no positives, 10 negatives"},
		{Data{Table: simulated(1, 99, 1)}, SearchOptions{Goal: np}, diag.Data, "at least two rows of each class"},
		{Data{Table: ok, Validation: simulated(0, 9, 1)}, SearchOptions{Goal: np}, diag.Data,
			"the validation part has no positives, 9 negatives"},
		{Data{Table: timed}, SearchOptions{Goal: np}, diag.Data, `rows.csv:9: column "day": "soon"`},
		{Data{Table: grouped}, SearchOptions{Goal: np}, diag.Data, "no fold with rows of both classes"},
		{Data{Table: missing}, SearchOptions{Goal: np}, diag.Data, `rows.csv:7: column "x2"`},
	} {
		f, err := Search(context.Background(), test.d, test.o)
		if e := diag.Of(err); f != nil || e == nil || e.Kind != test.kind || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v; want %q", err, test.want)
		}
	}
}

func TestSearchProgress(t *testing.T) {
	var seen []result.Progress
	o := quick(t, "--max-fpr 5%")
	o.TestFraction = threshold.MustRate("1/4")
	o.Progress = func(p result.Progress) { seen = append(seen, p) }
	find(t, simulated(60, 240, 1), o)
	done, share := 0, 0.0
	for _, p := range seen {
		if p.Done < done || p.Fraction < share || p.Of != 5 {
			t.Errorf("%+v after %d, %v", p, done, share)
		}
		done, share = p.Done, p.Fraction
	}
	if done != 5 || math.Abs(share-1) > 1e-9 || seen[0].Stage != "fit" || seen[len(seen)-1].Stage != "evaluate" {
		t.Errorf("%d of 5, %v, %+v", done, share, seen[len(seen)-1])
	}
}

// A fold fits a sample of very many rows. The selected model is fitted to all rows, with the penalty scaled
// to their number.
func TestFoldsOfSamples(t *testing.T) {
	o := linear(t, "--max-fpr 5%", method.Logistic)
	o.FoldRows = 300
	f := find(t, simulated(100, 1100, 1), o)
	if f.FoldRows != 300 || !strings.Contains(warned(f), "folds-are-samples") {
		t.Errorf("%d rows, %s", f.FoldRows, warned(f))
	}
	m := f.Members[0]
	if want := f.Candidates[m.Candidate].Lambda * 300 / 1035; math.Abs(m.Lambda-want) > 1e-15 {
		t.Errorf("lambda %v, want %v", m.Lambda, want)
	}
	label := simulated(100, 1100, 1).Label
	for most, want := range map[int]Counts{300: {100, 200}, 150: {75, 75}, 2000: {100, 1100}} {
		rows := samplePositivesFirst(label, simulated(100, 1100, 1).Labelled(), most, rand.New(rand.NewPCG(1, 1)))
		if got := CountRows(label, rows); got != want || !slices.IsSorted(rows) {
			t.Errorf("a sample of %d: %v, want %v", most, got, want)
		}
	}
	alike := sampleProportionally(label, simulated(100, 1100, 1).Labelled(), 300, rand.New(rand.NewPCG(1, 1)))
	if got := CountRows(label, alike); got != (Counts{25, 275}) {
		t.Errorf("both classes alike: %v", got)
	}
}

// pointers are addresses in printed values.
var pointers = regexp.MustCompile("0x[0-9a-f]+")

// Folds that are too large to be in memory together are fitted one after the other, with the same model.
func TestFoldsApart(t *testing.T) {
	data := simulated(60, 240, 1)
	together := find(t, data, quick(t, "--max-fpr 5%"))
	defer func(before int64) { togetherBytes = before }(togetherBytes)
	togetherBytes = 0
	apart := find(t, data, quick(t, "--max-fpr 5%"))
	if a, b := modelBytes(t, together), modelBytes(t, apart); !bytes.Equal(a, b) {
		t.Errorf("%+v, and %+v apart", together.Choice, apart.Choice)
	}
}
