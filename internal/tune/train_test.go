package tune

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toptau/internal/fault"
	"toptau/internal/feature"
	"toptau/internal/matrix"
	"toptau/internal/objective"
	"toptau/internal/solver"
	"toptau/internal/table"
	"toptau/method"
	"toptau/metric"
)

// tableOf makes a table of numeric columns.
func tableOf(label []table.Class, columns ...[]float64) *table.Table {
	t := &table.Table{File: "rows.csv", Label: label}
	for j, values := range columns {
		t.Columns = append(t.Columns, table.Column{Name: fmt.Sprintf("x%d", j+1), Number: j + 1, Values: values})
	}
	for i := range label {
		t.Line = append(t.Line, i+2)
	}
	return t
}

// bell is a sum of four uniforms, centred: bell-shaped on [-2, 2].
func bell(random *rand.Rand) float64 {
	x := -2.0
	for range 4 {
		x += float64(random.Uint64()>>11) / (1 << 53)
	}
	return x
}

// simulated makes overlapping classes: four columns, of which the first two carry the class.
func simulated(positives, negatives int, seed uint64) *table.Table {
	random := rand.New(rand.NewPCG(seed, 0))
	label := labels(positives, negatives)
	columns := make([][]float64, 4)
	for _, class := range label {
		for j := range columns {
			x := bell(random)
			if class == table.Positive && j < 2 {
				x += 0.9
			}
			columns[j] = append(columns[j], x*float64(j+1))
		}
	}
	return tableOf(label, columns...)
}

func goalOf(t testing.TB, text string) metric.Goal {
	t.Helper()
	g, err := metric.ParseGoal(text)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func methodsOf(t testing.TB, names ...string) []method.Method {
	t.Helper()
	var list []method.Method
	for _, name := range names {
		m, err := method.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
	return list
}

// quick is the paper's scheme with fewer iterations.
func quick(iterations int) Fitter {
	return Paper{Options: solver.Options{Iterations: iterations, Step: 0.05}}.Fit
}

func train(t testing.TB, data *table.Table, o Options) *Result {
	t.Helper()
	r, err := Train(context.Background(), Data{Table: data}, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func codes(r *Result) string {
	var list []string
	for _, w := range r.Warnings {
		list = append(list, w.Code)
	}
	return strings.Join(list, " ")
}

// scores of some rows by the model's own scorer, by class.
func scoresOf(t testing.TB, r *Result, data *table.Table, rows []int) (positives, negatives []float64) {
	t.Helper()
	s, err := feature.NewScorer(r.Map, r.Best().W, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		z, err := s.Score(data, row)
		if err != nil {
			t.Fatal(err)
		}
		if data.Label[row] == table.Positive {
			positives = append(positives, z)
		} else {
			negatives = append(negatives, z)
		}
	}
	return positives, negatives
}

func above(z []float64, t float64) (n int) {
	for _, x := range z {
		if x > t {
			n++
		}
	}
	return n
}

// The whole protocol, recomputed from its parts by counting.
func TestTrainIsTheProtocol(t *testing.T) {
	data := simulated(160, 400, 1)
	o := Options{Goal: goalOf(t, "--max-fpr 5%"), Seed: 3, Fitter: quick(60)}
	r := train(t, data, o)
	if r.Training.Rows() != 280 || r.Validation.Rows() != 140 || r.TestCounts.Rows() != 140 || r.Validation.Positives != 40 {
		t.Fatalf("parts: %v, %v, %v", r.Training, r.Validation, r.TestCounts)
	}
	if len(r.Points) != 18 || r.Cancelled || r.Threshold.Certified {
		t.Fatalf("%d points, cancelled %v, certified %v", len(r.Points), r.Cancelled, r.Threshold.Certified)
	}
	parts := divide(t, Cut{Shares: []float64{2, 1, 1}, Seed: 3}, data.Label)

	// The validation part: the chosen point has the best criterion, and its threshold is the 6th largest negative.
	best := r.Best()
	p, n := scoresOf(t, r, data, parts[1])
	slices.Sort(n)
	at := n[len(n)-1-5] // floor(100 x 5 %) = 5 negatives may be above it
	if r.Threshold.Value != at || best.Goal.Numerator != float64(above(p, at)) || best.Goal.Denominator != 40 {
		t.Errorf("threshold %v, %v positives; want %v, %d", r.Threshold.Value, best.Goal.Numerator, at, above(p, at))
	}
	if best.Goal.Numerator < 20 {
		t.Errorf("only %v of 40 positives found", best.Goal.Numerator)
	}
	for _, point := range r.Points {
		if point.Status != Fitted || point.Goal.Rate > best.Goal.Rate {
			t.Errorf("%s: %s, %v, better than the chosen %v", Describe(point.Problem), point.Status, point.Goal.Rate,
				best.Goal.Rate)
		}
		if point.NoBetterThanZero != (point.At.F >= point.AtZero.F) || point.Own.Criterion != "positives@np(0.05)" {
			t.Errorf("%s: %+v", Describe(point.Problem), point)
		}
	}

	// The test part: counts at the threshold, and the criterion at its own threshold.
	p, n = scoresOf(t, r, data, parts[2])
	c := r.Test.AtThreshold
	if c.TruePositives != float64(above(p, at)) || c.FalsePositives != float64(above(n, at)) ||
		c.TruePositiveRate.Interval == nil {
		t.Errorf("test part: %+v", c)
	}
	slices.Sort(n)
	if want := above(p, n[len(n)-1-5]); r.Test.Goal.Numerator != float64(want) {
		t.Errorf("test criterion: %+v, want %d", r.Test.Goal, want)
	}

	// The objective is that of the training rows under the map of the training rows.
	m, _, err := feature.Fit(data, table.Schema{}, parts[0], feature.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := m.Matrix(data, parts[0], matrix.Float32)
	if err != nil {
		t.Fatal(err)
	}
	obj, err := objective.New(best.Problem, x)
	if err != nil {
		t.Fatal(err)
	}
	if v := obj.At(best.W, nil); v != best.At {
		t.Errorf("objective %+v, want %+v", best.At, v)
	}
	if best.Problem.Method.Name != "patmat-np" && best.Kappa != 10 { // ceil(200 x 5 %)
		t.Errorf("kappa %v", best.Kappa)
	}
	if codes(r) != "" || !strings.Contains(r.Why, "of 40 positives") {
		t.Errorf("warnings %q, why %q", codes(r), r.Why)
	}
}

// What is learned does not see the other parts: rows of the test part may say anything.
func TestNothingLeaks(t *testing.T) {
	o := Options{Goal: goalOf(t, "--max-fpr 5%"), Seed: 3, Fitter: quick(20)}
	data := simulated(100, 200, 1)
	before := train(t, data, o)
	parts := divide(t, Cut{Shares: []float64{2, 1, 1}, Seed: 3}, data.Label)
	for _, row := range parts[2] {
		for j := range data.Columns {
			data.Columns[j].Values[row] = 1000 * float64(row)
		}
	}
	after := train(t, data, o)
	if after.Chosen != before.Chosen || after.Threshold != before.Threshold || !slices.Equal(after.Best().W,
		before.Best().W) {
		t.Error("the test part changed the model")
	}
	if after.Test.AtThreshold.TruePositives == before.Test.AtThreshold.TruePositives &&
		after.Test.AtThreshold.FalsePositives == before.Test.AtThreshold.FalsePositives {
		t.Error("the test part does not reach the result")
	}
	for _, row := range parts[1] {
		for j := range data.Columns {
			data.Columns[j].Values[row] *= -1
		}
	}
	after = train(t, data, o)
	for i := range after.Points {
		if !slices.Equal(after.Points[i].W, before.Points[i].W) {
			t.Fatalf("the validation part changed point %d", i)
		}
	}
}

// The same bytes on any number of processors.
func TestTrainIsDeterministic(t *testing.T) {
	data := simulated(60, 150, 2)
	fitter := Paper{Options: solver.Options{Iterations: 30, Start: solver.Random, Seed: 5}, Minibatches: 3,
		Stratified: true}.Fit
	var want string
	for _, processors := range []int{1, 2, 8} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		r := train(t, data, Options{Goal: goalOf(t, "--top 10%"), Seed: 9, Fitter: fitter})
		var text strings.Builder
		for _, p := range r.Points {
			fmt.Fprintln(&text, Describe(p.Problem), p.W, p.At, p.Own, p.Goal, p.Wider, p.Passes, p.RowReads)
		}
		test, err := json.Marshal(r.Test.AtThreshold)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&text, r.Chosen, r.Why, r.Threshold, string(test), r.Warnings)
		if want == "" {
			want = text.String()
		}
		if text.String() != want {
			t.Fatalf("%d processors: %s", processors, cmp.Diff(want, text.String()))
		}
	}
}

// Validation and test rows of their own: the table's rows are divided among the other parts.
func TestPartsOfTheirOwn(t *testing.T) {
	data, validation, test := simulated(60, 120, 1), simulated(30, 60, 2), simulated(15, 30, 3)
	for _, c := range []struct {
		d    Data
		o    [3]float64
		want string
	}{
		{Data{Table: data}, [3]float64{}, "30+60 15+30 15+30"},
		{Data{Table: data, Validation: validation}, [3]float64{}, "40+80 30+60 20+40"},
		{Data{Table: data, Test: test}, [3]float64{}, "40+80 20+40 15+30"},
		{Data{Table: data, Validation: validation, Test: test}, [3]float64{}, "60+120 30+60 15+30"},
		{Data{Table: data}, [3]float64{3, 1, 0}, "45+90 15+30 0+0"},
		{Data{Table: data, Validation: validation}, [3]float64{1, 1, 0}, "60+120 30+60 0+0"},
	} {
		o := Options{Goal: goalOf(t, "--max-fpr 5%"), Methods: methodsOf(t, "topmean-np"), Shares: c.o, Fitter: quick(5)}
		r, err := Train(context.Background(), c.d, o)
		if err != nil {
			t.Fatal(err)
		}
		text := func(c Counts) string { return fmt.Sprintf("%d+%d", c.Positives, c.Negatives) }
		if got := text(r.Training) + " " + text(r.Validation) + " " + text(r.TestCounts); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
		if (r.Test == nil) != (r.TestCounts.Rows() == 0) || (r.Test == nil) != strings.Contains(codes(r), "no-test-part") {
			t.Errorf("test part %v, warnings %s", r.TestCounts, codes(r))
		}
	}
}

// Weights of 2 on every row are every row twice: the same problems, the same choice, masses doubled.
func TestWeightedRows(t *testing.T) {
	data := simulated(160, 400, 1)
	o := Options{Goal: goalOf(t, "--max-fpr 5%"), Seed: 3, Fitter: quick(60)}
	plain := train(t, data, o)
	data.Weight = slices.Repeat([]float64{2}, data.Rows())
	double := train(t, data, o)
	if double.Chosen != plain.Chosen || math.Abs(double.Threshold.Value-plain.Threshold.Value) > 1e-9 {
		t.Errorf("chosen %d at %v, unweighted %d at %v", double.Chosen, double.Threshold.Value, plain.Chosen,
			plain.Threshold.Value)
	}
	if a, b := double.Best().Goal, plain.Best().Goal; a.Numerator != 2*b.Numerator || a.Denominator != 2*b.Denominator {
		t.Errorf("%+v, unweighted %+v", a, b)
	}
	for i, p := range double.Points {
		if math.Abs(p.At.F-plain.Points[i].At.F) > 1e-9*plain.Points[i].At.F {
			t.Errorf("point %d: F %v, unweighted %v", i, p.At.F, plain.Points[i].At.F)
		}
	}
	for i := range data.Weight {
		data.Weight[i] = 1 + float64(i%3)
	}
	if other := train(t, data, o); slices.Equal(other.Best().W, plain.Best().W) {
		t.Error("weights do not reach the fit")
	}
}

func TestCommonGroupsAreReported(t *testing.T) {
	data, validation := simulated(60, 120, 1), simulated(30, 60, 2)
	for i, d := range []*table.Table{data, validation} {
		d.Group = &table.Text{Name: "host"}
		for row := range d.Rows() {
			d.Group.Values = append(d.Group.Values, fmt.Sprint(row%40+30*i))
		}
	}
	r, err := Train(context.Background(), Data{Table: data, Validation: validation},
		Options{Goal: goalOf(t, "--max-fpr 5%"), Methods: methodsOf(t, "topmean-np"), Fitter: quick(5)})
	if err != nil || !strings.Contains(fmt.Sprint(r.Warnings),
		"10 groups of the validation part also in the training file") {
		t.Errorf("%v, %v", r, err)
	}
}

func TestImpossiblePointsAreSkipped(t *testing.T) {
	data := simulated(40, 24, 1) // 12 training negatives: k = 15 and 20 are impossible
	r := train(t, data, Options{Goal: goalOf(t, "--absolute-top"), Fitter: quick(10)})
	var skipped []int
	for _, p := range r.Points {
		if p.Status == Skipped {
			skipped = append(skipped, p.Problem.Hyperparameters.K)
			if p.W != nil || p.Reason == "" {
				t.Errorf("%+v", p)
			}
		} else if p.Problem.Method.Name == "toppushk" && p.Kappa != float64(p.Problem.Hyperparameters.K) {
			t.Errorf("kappa %v for k %d", p.Kappa, p.Problem.Hyperparameters.K)
		}
	}
	if !slices.Equal(skipped, []int{15, 20}) || strings.Count(codes(r), "point-skipped") != 2 {
		t.Errorf("skipped %v, warnings %v", skipped, r.Warnings)
	}
	_, err := Train(context.Background(), Data{Table: data}, Options{Goal: goalOf(t, "--absolute-top"),
		Fitter: Paper{Options: solver.Options{Step: -1}}.Fit})
	if e := fault.Of(err); e == nil || !strings.Contains(err.Error(), "--step") {
		t.Errorf("no point can be fitted: %v", err)
	}
}

// Positives in the middle of the negatives: w = 0 is the optimum of TopPush and TopPushK.
func TestCollapseIsReported(t *testing.T) {
	var x []float64
	label := labels(40, 80)
	for i, class := range label {
		if class == table.Positive {
			x = append(x, 0)
		} else {
			x = append(x, float64(2*(i%2)-1))
		}
	}
	r := train(t, tableOf(label, x), Options{Goal: goalOf(t, "--absolute-top"), Fitter: quick(50)})
	for _, name := range []string{"toppush", "toppushk"} {
		if !slices.ContainsFunc(r.Warnings, func(w Warning) bool {
			return w.Code == "no-better-than-zero" && strings.Contains(w.Text, "w = 0 is no worse than every fit of "+name+":")
		}) {
			t.Errorf("no warning about %s: %v", name, r.Warnings)
		}
	}
	if r.Best().Goal.Numerator != 0 || !strings.Contains(codes(r), "constant-score") && !strings.Contains(codes(r),
		"nothing-found") {
		t.Errorf("a useless model: %+v, %v", r.Best().Goal, r.Warnings)
	}
}

// A constant score is worth 0 and loses against anything.
func TestConstantScoreLoses(t *testing.T) {
	data := simulated(40, 80, 1)
	fitter := func(_ context.Context, x *matrix.Matrix, problems []method.Problem, w Watch) error {
		for i := range problems {
			weights := make([]float64, x.Cols())
			if i == 7 {
				weights[0] = 1
			}
			w.Fitted(i, Fit{W: weights, NoBetterThanZero: i == 7}, nil)
		}
		return nil
	}
	r := train(t, data, Options{Goal: goalOf(t, "--max-fpr 10%"), Fitter: fitter})
	if r.Chosen != 7 || !r.Points[6].Constant || r.Points[6].Own.Rate != 0 || !strings.Contains(codes(r),
		"chosen-no-better-than-zero") {
		t.Errorf("chosen %d, %v", r.Chosen, codes(r))
	}
}

func TestTieBreaks(t *testing.T) {
	goal := goalOf(t, "--max-fpr 10%")
	problems, err := Problems(methodsOf(t, "patmat-np", "topmean-np", "toppushk"), goal, nil)
	if err != nil {
		t.Fatal(err)
	}
	// Values of the own criterion, of the goal's, and whether the fit is no better than zero, by point; others are 0.
	type value struct {
		own, goal float64
		zero      bool
		wider     float64
	}
	for _, test := range []struct {
		name   string
		by     Selection
		values map[int]value
		want   int
	}{
		{"the highest", ByMethod, map[int]value{2: {own: 0.5, goal: 0.5}, 9: {own: 0.7, goal: 0.7}}, 9},
		{"better than zero before smoother", ByMethod, map[int]value{8: {0.5, 0.5, false, 0}, 10: {0.5, 0.5, true, 1}}, 8},
		{"a higher criterion before better than zero", ByMethod, map[int]value{8: {0.5, 0.5, false, 0}, 10: {0.6, 0.6,
			true, 0}}, 10},
		{"a wider budget before smoother", ByMethod, map[int]value{8: {0.5, 0.5, false, 0.7}, 10: {0.5, 0.5, false, 0.6}}, 8},
		{"a wider budget between methods", ByMethod, map[int]value{3: {0.5, 0.5, false, 0.6}, 10: {0.5, 0.5, false, 0.7}}, 10},
		{"the smaller beta", ByMethod, map[int]value{3: {own: 0.5, goal: 0.5}, 1: {own: 0.5, goal: 0.5}}, 1},
		{"the larger lambda", ByMethod, map[int]value{7: {own: 0.5, goal: 0.5}, 9: {own: 0.5, goal: 0.5}}, 9},
		{"the larger k", ByMethod, map[int]value{13: {own: 0.5, goal: 0.5}, 15: {own: 0.5, goal: 0.5}}, 15},
		{"the earlier method", ByMethod, map[int]value{3: {own: 0.5, goal: 0.5}, 9: {own: 0.5, goal: 0.5}}, 3},
		{"a method that is better than zero", ByMethod, map[int]value{3: {0.5, 0.5, true, 1}, 9: {own: 0.5, goal: 0.5}}, 9},
		{"own within, goal's between", ByMethod, map[int]value{3: {own: 0.4, goal: 0.4}, 13: {own: 0.9, goal: 0.3},
			14: {own: 0.8, goal: 0.5}}, 3},
		{"the goal's within", ByGoal, map[int]value{3: {own: 0.4, goal: 0.4}, 13: {own: 0.9, goal: 0.3}, 14: {own: 0.8,
			goal: 0.5}}, 14},
	} {
		run := &training{options: Options{Select: test.by}, result: &Result{}}
		for i, p := range problems {
			v := test.values[i]
			point := Point{Problem: p, Status: Fitted}
			point.NoBetterThanZero, point.Own.Rate, point.Goal.Rate, point.Wider = v.zero, v.own, v.goal, v.wider
			run.result.Points = append(run.result.Points, point)
		}
		if err := run.choose(); err != nil || run.result.Chosen != test.want {
			t.Errorf("%s: point %d, want %d (%v)", test.name, run.result.Chosen, test.want, err)
		}
	}
}

func TestWiderBudgets(t *testing.T) {
	for text, want := range map[string]string{
		"--max-fpr 7%":          "[positives@np(0.14) positives@np(0.28) positives@np(0.56)]",
		"--top 30%":             "[positives@quantile(0.6)]",
		"--alerts 1 --of 3":     "[positives@quantile(0.6666666666666666)]",
		"--top-count 6 --of 10": "[]",
		"--absolute-top":        "[positives@np(0.01) positives@np(0.02) positives@np(0.04)]",
	} {
		if got := fmt.Sprint(widerCriteria(goalOf(t, text))); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// A budget below one row of the validation part: the goal's criterion is undefined, Positives@Top stands in.
func TestBudgetBelowOneRow(t *testing.T) {
	data := simulated(40, 80, 1)
	r := train(t, data, Options{Goal: goalOf(t, "--top 1%"), Fitter: quick(10)})
	p, n := scoresOf(t, r, data, divide(t, Cut{Shares: []float64{2, 1, 1}}, data.Label)[1])
	if r.Best().Goal.Criterion != "positives@top" || r.Threshold.Value != slices.Max(slices.Concat(p, n)) {
		t.Errorf("%+v, %v", r.Best().Goal, r.Threshold)
	}
	if !strings.Contains(codes(r), "budget-below-one-row") || !strings.Contains(fmt.Sprint(r.Warnings), "100 are needed") {
		t.Error(r.Warnings)
	}
	r = train(t, data, Options{Goal: goalOf(t, "--max-fpr 0.1%"), Fitter: quick(10)})
	p, n = scoresOf(t, r, data, divide(t, Cut{Shares: []float64{2, 1, 1}}, data.Label)[1])
	if r.Threshold.Value != slices.Max(n) || r.Best().Goal.Numerator != float64(above(p, slices.Max(n))) ||
		!strings.Contains(fmt.Sprint(r.Warnings), "1000 are needed") {
		t.Errorf("%v, %v", r.Threshold, r.Warnings)
	}
}

func TestCancelledTrainKeepsWhatIsFinished(t *testing.T) {
	data := simulated(60, 120, 1)
	for _, keep := range []int{0, 2} {
		ctx, cancel := context.WithCancel(context.Background())
		fitter := func(ctx context.Context, x *matrix.Matrix, problems []method.Problem, w Watch) error {
			if keep > 0 {
				if err := quick(10)(ctx, x, problems[:keep], w); err != nil {
					return err
				}
			}
			cancel()
			return quick(10)(ctx, x, problems, w)
		}
		r, err := Train(ctx, Data{Table: data}, Options{Goal: goalOf(t, "--max-fpr 5%"), Fitter: fitter})
		if keep == 0 {
			if r != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("nothing finished: %v, %v", r, err)
			}
			continue
		}
		if err != nil || !r.Cancelled || r.Chosen >= keep || r.Test == nil || !strings.Contains(codes(r), "stopped-early") {
			t.Errorf("%d finished: %+v, %v", keep, r, err)
		}
		for i, p := range r.Points {
			if (p.Status == Fitted) != (i < keep) {
				t.Errorf("point %d is %s", i, p.Status)
			}
		}
	}
}

// A run that is interrupted in the middle of its points does not report them.
func TestInterruptedPointsAreNotReported(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	o := Options{Goal: goalOf(t, "--max-fpr 5%"), Fitter: Paper{Options: solver.Options{Iterations: 1 << 40,
		TraceEvery: 1 << 30}}.Fit}
	o.Progress = func(p Progress) {
		if p.Stage == "fit" && p.Share > 0 {
			cancel()
		}
	}
	r, err := Train(ctx, Data{Table: simulated(60, 120, 1)}, o)
	if r != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", r, err)
	}
}

func TestProgress(t *testing.T) {
	var seen []Progress
	o := Options{Goal: goalOf(t, "--max-fpr 5%"), Fitter: quick(10), Progress: func(p Progress) { seen = append(seen, p) }}
	r := train(t, simulated(60, 120, 1), o)
	done, share := 0, 0.0
	for _, p := range seen {
		if p.Done < done || p.Share < share || p.Of != len(r.Points) {
			t.Errorf("%+v after %d, %v", p, done, share)
		}
		done, share = p.Done, p.Share
	}
	if done != len(r.Points) || math.Abs(share-1) > 1e-9 || seen[0].Stage != "encode" ||
		seen[len(seen)-1].Stage != "evaluate" {
		t.Errorf("%d of %d, %v, %+v", done, len(r.Points), share, seen[len(seen)-1])
	}
}

func TestTrainRefuses(t *testing.T) {
	ok := simulated(60, 120, 1)
	missing := simulated(60, 120, 1)
	missing.Columns[1].Values[5] = math.NaN()
	timed := simulated(60, 120, 1)
	timed.Time = &table.Text{Name: "day", Values: make([]string, timed.Rows())}
	for i := range timed.Time.Values {
		timed.Time.Values[i] = fmt.Sprint(i)
	}
	grouped := simulated(3, 120, 1)
	grouped.Group = &table.Text{Name: "host", Values: make([]string, grouped.Rows())}
	npGoal := goalOf(t, "--max-fpr 5%")
	for _, test := range []struct {
		d    Data
		o    Options
		kind fault.Kind
		want string
	}{
		{Data{Table: ok}, Options{}, fault.Usage, "no goal"},
		{Data{}, Options{Goal: npGoal}, fault.Usage, "no data"},
		{Data{Table: ok}, Options{Goal: goalOf(t, "--absolute-top"), Methods: methodsOf(t, "patmat-np")}, fault.Usage,
			"method patmat-np for the goal --absolute-top, expected a goal with a rate"},
		{Data{Table: ok}, Options{Goal: npGoal, Methods: methodsOf(t, "topmean", "topmean")}, fault.Usage,
			"method topmean twice"},
		{Data{Table: ok}, Options{Goal: npGoal, Methods: []method.Method{}}, fault.Usage, "no method"},
		{Data{Table: ok}, Options{Goal: npGoal, Shares: [3]float64{1, -1, 1}}, fault.Usage, "a share of -1"},
		{Data{Table: simulated(0, 10, 1)}, Options{Goal: npGoal}, fault.Data,
			"rows.csv: the training part has no positive, 5 negatives, expected rows of both classes (check the label column"},
		{Data{Table: simulated(1, 99, 1)}, Options{Goal: npGoal}, fault.Data,
			"the validation part has no positive, 25 negatives, expected rows of both classes (the file has 1 positive, 99 negatives, too few"},
		{Data{Table: ok, Validation: simulated(0, 9, 1)}, Options{Goal: npGoal}, fault.Data,
			"the validation part has no positive, 9 negatives"},
		{Data{Table: timed}, Options{Goal: npGoal}, fault.Data, "the parts are periods of --time"},
		{Data{Table: grouped}, Options{Goal: npGoal}, fault.Data, "too few groups"},
		{Data{Table: missing}, Options{Goal: npGoal}, fault.Data, `rows.csv:7: column "x2"`},
	} {
		test.o.Fitter = quick(1)
		r, err := Train(context.Background(), test.d, test.o)
		if e := fault.Of(err); r != nil || e == nil || e.Kind != test.kind || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v; want %q", err, test.want)
		}
	}
}

// Only the test part may lack a class; the result says so.
func TestTestPartWithoutPositives(t *testing.T) {
	r := train(t, simulated(2, 99, 1), Options{Goal: goalOf(t, "--max-fpr 10%"), Fitter: quick(5)})
	if r.Test != nil || !strings.Contains(codes(r), "test-part-lacks-a-class") || !strings.Contains(codes(r),
		"few-validation-positives") {
		t.Errorf("%+v, %v", r.Test, r.Warnings)
	}
}

// The grids of the paper: six points each, with the hyperparameters that the method uses and no other.
func TestGrids(t *testing.T) {
	goal := goalOf(t, "--top 3%")
	problems, err := Problems(method.All(), goal, nil)
	if err != nil || len(problems) != 6*8 {
		t.Fatalf("%d problems, %v", len(problems), err)
	}
	for i, want := range map[int]string{
		0: "toppush with lambda 0", 5: "toppush with lambda 0.1", 6: "toppushk with k 1, lambda 0.001",
		11: "toppushk with k 20, lambda 0.001",
		14: "grill with tau 0.03, lambda 0.0001", 18: "patmat with tau 0.03, beta 0.0001, lambda 0.001",
		23: "patmat with tau 0.03, beta 10, lambda 0.001", 47: "topmean-np with tau 0.03, lambda 0.1",
	} {
		if got := Describe(problems[i]); got != want {
			t.Errorf("point %d: %s, want %s", i, got, want)
		}
	}
}

// Minibatches that are too small for some points skip those points only.
func TestMinibatchesTooSmallForSomePoints(t *testing.T) {
	data := simulated(40, 80, 1) // 40 training negatives in 4 batches: k = 15 and 20 are impossible in a batch of 10
	fitter := Paper{Options: solver.Options{Iterations: 8}, Minibatches: 4, Stratified: true}.Fit
	r := train(t, data, Options{Goal: goalOf(t, "--absolute-top"), Methods: methodsOf(t, "toppushk"), Fitter: fitter})
	for _, p := range r.Points {
		if k := p.Problem.Hyperparameters.K; (p.Status == Skipped) != (k > 10) {
			t.Errorf("k %d: %s %s", k, p.Status, p.Reason)
		}
	}
}
