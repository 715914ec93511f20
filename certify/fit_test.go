package certify_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toptau"
	"toptau/certify"
	"toptau/dataset"
	"toptau/diag"
	"toptau/internal/tests/trial"
	"toptau/measure"
	"toptau/method"
	"toptau/metric"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
	"toptau/solve"
	"toptau/threshold"
)

// eightProblems are the eight methods with hyperparameters that suit small data.
var eightProblems = []method.Problem{
	{Method: method.TopPush, Lambda: 0.001},
	{Method: method.TopPushK, Lambda: 0.001, K: 5},
	{Method: method.Grill, Lambda: 0.001, Tau: threshold.MustRate("0.01")},
	{Method: method.PatMat, Lambda: 0.001, Tau: threshold.MustRate("0.01"), Beta: 1},
	{Method: method.TopMean, Lambda: 0.001, Tau: threshold.MustRate("0.01")},
	{Method: method.GrillNP, Lambda: 0.001, Tau: threshold.MustRate("0.01")},
	{Method: method.PatMatNP, Lambda: 0.001, Tau: threshold.MustRate("0.01"), Beta: 1},
	{Method: method.TopMeanNP, Lambda: 0.001, Tau: threshold.MustRate("0.01")},
}

// Fit and package solve have the same defaults and the same solver: on the same numbers they have the same bits.
func TestFitIsSolve(t *testing.T) {
	var csv strings.Builder
	csv.WriteString("a,b,y\n")
	random := rand.New(rand.NewPCG(44, 1))
	p := solve.Problem{Method: method.PatMatNP, Tau: 0.1, Beta: 0.1, Lambda: 0.01}
	var x solve.Dense
	for i := range 200 {
		p.Positive = append(p.Positive, i%4 == 0)
		x = append(x, []float64{random.NormFloat64() + float64(max(0, 1-i%4)), random.NormFloat64()})
		fmt.Fprintf(&csv, "%v,%v,%d\n", x[i][0], x[i][1], max(0, 1-i%4))
	}
	p.X = x
	d := trial.ReadFile(t, trial.WriteFile(t, "rows.csv", csv.String()), schema.Format{Label: "y"})
	for _, name := range []method.Solver{method.AutoSolver, method.Adam, method.SGD} {
		p.Settings = method.Settings{Solver: name}
		of := method.Problem{Method: p.Method, Tau: threshold.MustRate("10%"), Beta: p.Beta, Lambda: p.Lambda}
		fitted := trial.FitData(t, d, trial.FitCase{Problem: of, FitOptions: certify.FitOptions{Scale: schema.ScaleNone, Settings: p.Settings}})
		solved, err := solve.Solve(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(fitted.Model.Parts().Weights, solved.W) || fitted.Result.Settings != solved.Settings || fitted.Result.Threshold != solved.Threshold {
			t.Errorf("solver %q: weights %v, %+v; solve has %v, %+v", name, fitted.Model.Parts().Weights, fitted.Result.Settings, solved.W, solved.Settings)
		}
		if c := solved.Certificate; c != nil && (c.Objective != fitted.Certificate.Objective || c.LowerBound != fitted.Certificate.LowerBound) {
			t.Errorf("certificates: %+v and %+v", c, fitted.Certificate)
		}
	}
}

// repeated writes a table twice: with a column of weights, and with rows of weight 2 written twice.
func repeated() (weighted, twice string) {
	r := rand.New(rand.NewPCG(3, 4))
	var a, b strings.Builder
	for _, w := range []*strings.Builder{&a, &b} {
		w.WriteString("x1,x2,x3,color,m,y\n")
	}
	for i := range 120 {
		positive := i%4 == 0
		var shift float64
		if positive {
			shift = 1
		}
		row := fmt.Sprintf("%.3f,%.3f,%.3f,%s", r.Float64()+shift, 2*r.Float64()-shift, r.Float64(),
			[]string{"red", "blue"}[r.IntN(2)])
		weight := 1 + r.IntN(2)
		fmt.Fprintf(&a, "%s,%d,%t\n", row, weight, positive)
		for range weight {
			fmt.Fprintf(&b, "%s,1,%t\n", row, positive)
		}
	}
	return a.String(), b.String()
}

func TestARowOfWeightTwoIsTwoRows(t *testing.T) {
	a, b := repeated()
	weighted := trial.ReadFile(t, trial.WriteFile(t, "weighted.csv", a), schema.Format{Label: "y", Weight: "m"})
	twice := trial.ReadFile(t, trial.WriteFile(t, "twice.csv", b), schema.Format{Label: "y", Drop: []string{"m"}})
	unweighted := trial.ReadFile(t, trial.WriteFile(t, "unweighted.csv", a), schema.Format{Label: "y", Drop: []string{"m"}})
	near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-9*(1+math.Abs(y)) }
	for _, p := range eightProblems {
		if !p.Tau.IsZero() {
			p.Tau = threshold.MustRate("0.1")
		}
		p.Lambda = 0.01
		c := trial.ShortAdam(p, 60)
		c.Storage = method.Float64
		one, two, none := trial.FitData(t, weighted, c), trial.FitData(t, twice, c), trial.FitData(t, unweighted, c)
		if !near(*one.Result.LastObjective, *two.Result.LastObjective) || !near(one.Result.Threshold, two.Result.Threshold) ||
			!near(one.Result.Objective, two.Result.Objective) || one.Result.MassOnTop != two.Result.MassOnTop {
			t.Errorf("%s: weighted F %v, t %v, K %v; repeated %v, %v, %v", p.Method, one.Result.Objective, one.Result.Threshold,
				one.Result.MassOnTop, two.Result.Objective, two.Result.Threshold, two.Result.MassOnTop)
		}
		for j := range trial.Weights(one.Model) {
			if !near(trial.Weights(one.Model)[j], trial.Weights(two.Model)[j]) {
				t.Errorf("%s: weights %v, repeated %v", p.Method, trial.Weights(one.Model), trial.Weights(two.Model))
				break
			}
		}
		if near(*one.Result.LastObjective, *none.Result.LastObjective) {
			t.Errorf("%s: F is %v with and without weights", p.Method, *one.Result.LastObjective)
		}
		if tr := one.Model.Training(); tr.Mass != float64(twice.Len()) || tr.PositiveMass != float64(twice.Positives()) ||
			tr.Rows != weighted.Len() {
			t.Errorf("%s: the model counts %+v, the repeated file has %d rows, %d positive", p.Method, tr, twice.Len(),
				twice.Positives())
		}
	}
	// Evaluate counts weights too.
	m := trial.FitData(t, twice, trial.ShortAdam(trial.TopPush(0.01), 60)).Model
	one := trial.Evaluate(t, weighted, m, measure.Options{Replicates: 10})
	two := trial.Evaluate(t, twice, m, measure.Options{Replicates: 10})
	if !one.Weighted || two.Weighted || !near(one.AUC, two.AUC) || one.Prevalence != two.Prevalence {
		t.Errorf("weighted %v AUC %v prevalence %v; repeated %v %v %v", one.Weighted, one.AUC, one.Prevalence,
			two.Weighted, two.AUC, two.Prevalence)
	}
	for i := range one.Criteria {
		if x, y := one.Criteria[i], two.Criteria[i]; x.Rate != y.Rate || x.Numerator != y.Numerator || x.Budget != y.Budget {
			t.Errorf("%s: weighted %v, repeated %v", x.Criterion, x.Proportion, y.Proportion)
		}
	}
}

func TestConstantColumnCannotBeFitted(t *testing.T) {
	d := trial.RowsData(t, dataset.Rows{Columns: []string{"x"}, Numbers: [][]float64{{1}, {1}}, Positive: []bool{true, false}})
	_, err := certify.Fit(t.Context(), d, trial.TopPush(0), certify.FitOptions{})
	trial.WantError(t, err, diag.Data)
	_, err = toptau.Train(t.Context(), d, (metric.Goal{Kind: metric.GoalAbsoluteTop}), toptau.TrainOptions{})
	trial.WantError(t, err, diag.Data)
}

func TestOptionsAreChecked(t *testing.T) {
	d := trial.SeparableData(t, 40)
	settings := func(s method.Settings) trial.FitCase {
		return trial.FitCase{Problem: trial.TopPush(0), FitOptions: certify.FitOptions{Settings: s}}
	}
	for found, c := range map[string]trial.FitCase{
		`method "best"`:   {Problem: method.Problem{Method: "best"}},
		"missing tau":     {Problem: method.Problem{Method: method.PatMat, Beta: 1}},
		"beta":            {Problem: method.Problem{Method: method.PatMat, Tau: threshold.MustRate("1%")}},
		"k":               {Problem: method.Problem{Method: method.TopPushK}},
		"lambda":          {Problem: trial.TopPush(-1)},
		"surrogate":       {Problem: method.Problem{Method: method.TopPush, Surrogate: "square"}},
		"scale":           {Problem: trial.TopPush(0), FitOptions: certify.FitOptions{Scale: "max"}},
		"impute":          {Problem: trial.TopPush(0), FitOptions: certify.FitOptions{Impute: "mean"}},
		"encoding":        {Problem: trial.TopPush(0), FitOptions: certify.FitOptions{Encoding: "trees"}},
		"solver":          settings(method.Settings{Solver: "newton"}),
		"start":           settings(method.Settings{Solver: method.Adam, Start: "one"}),
		"storage":         settings(method.Settings{Storage: "float16"}),
		"step":            settings(method.Settings{Solver: method.Adam, Step: -1}),
		"iterations":      settings(method.Settings{Solver: method.Adam, Iterations: -1}),
		"minibatches -1":  settings(method.Settings{Solver: method.Adam, Minibatches: -1}),
		"minibatches 100": settings(method.Settings{Solver: method.Adam, Minibatches: 100}),
	} {
		t.Run(found, func(t *testing.T) {
			_, err := certify.Fit(t.Context(), d, c.Problem, c.FitOptions)
			trial.WantError(t, err, diag.Usage, found)
		})
	}
}

func TestCancelledFitKeepsItsSteps(t *testing.T) {
	d := trial.ReadFile(t, trial.WriteFile(t, "small.csv", trial.SmallTable), trial.SmallFormat)
	for _, stop := range []int{0, 7} {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if stop == 0 {
			cancel()
		}
		c := trial.ShortAdam(trial.TopPush(0.01), 1000)
		steps := 0
		c.Progress = func(p result.Progress) {
			if steps++; steps == stop {
				cancel()
			}
			if p.Fraction <= 0 || p.Fraction > 1 || p.Stage == "" {
				t.Errorf("progress %+v", p)
			}
		}
		fitted, err := certify.Fit(ctx, d, c.Problem, c.FitOptions)
		if stop == 0 { // there is no result yet
			if !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled before the first step: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		r := fitted.Result
		if r.Stopped != result.Cancelled || r.Iterations != stop {
			t.Errorf("stopped %q after %d steps, want %d", r.Stopped, r.Iterations, stop)
		}
		if !slices.ContainsFunc(r.Warnings, func(w diag.Warning) bool { return w.Code == "cancelled" }) {
			t.Errorf("no warning of it: %v", r.Warnings)
		}
		whole := trial.FitData(t, d, trial.ShortAdam(trial.TopPush(0.01), stop))
		if !slices.Equal(trial.Weights(fitted.Model), trial.Weights(whole.Model)) {
			t.Errorf("cancelled after %d steps: weights %v, that many steps give %v", stop, trial.Weights(fitted.Model),
				trial.Weights(whole.Model))
		}
		path := filepath.Join(t.TempDir(), "m.json")
		if err := fitted.Model.Save(path); err != nil {
			t.Fatal(err)
		}
		if _, err := model.Load(path); err != nil {
			t.Error(err)
		}
	}
}

func TestStepsReturnTheirBestPointOrZero(t *testing.T) {
	d := trial.SeparableData(t, 200)
	for name, c := range map[string]struct {
		step   float64
		better bool
	}{"steps of 1000": {1000, false}, "steps of 0.01": {.01, true}} {
		o := trial.ShortAdam(method.Problem{Method: method.TopMeanNP, Tau: threshold.MustRate("5%"), Lambda: 0.01}, 60)
		o.Step = c.step
		fitted := trial.FitData(t, d, o)
		r := &fitted.Result
		last := fitted.Trace[len(fitted.Trace)-1].Objective
		if r.NoBetterThanZero == c.better || (r.BestIteration != nil) != c.better || (r.NormW > 0) != c.better || r.ZeroIsOptimal != nil ||
			r.Objective > r.AtZero || *r.LastObjective != last {
			t.Errorf("%s: %+v, last point %v", name, r, last)
		}
		if text := fmt.Sprint(r.Warnings); strings.Contains(text, "returns w = 0") == c.better || !strings.Contains(text, "no certificate") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// fitFields are the fields of `fit --json` with ADAM and patmat-np, in order. Fields that do not apply are absent.
const fitFields = `schema_version, warnings, method, surrogate, lambda, tau, beta, solver, k_used, population, encoding, scale,
n, n_pos, d, objective, objective_at_zero, lower_bound, relative_gap, gap_of_decrease, threshold, norm_w, zero_is_optimal,
no_better_than_zero, passes, row_reads, iterations, best_iteration, last_objective, stopped, seconds_read, seconds_fit`

func TestFieldsOfAFitResult(t *testing.T) {
	d := trial.SeparableData(t, 200)
	c := trial.ShortAdam(method.Problem{Method: method.PatMatNP, Tau: threshold.MustRate("5%"), Beta: 1, Lambda: 0.1}, 10)
	text := trial.Marshal(t, trial.FitData(t, d, c).Result)
	values := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	var got []string
	decoder := json.NewDecoder(bytes.NewReader(text))
	if _, err := decoder.Token(); err != nil {
		t.Fatal(err)
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, name.(string))
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			t.Fatal(err)
		}
	}
	if want := strings.Fields(strings.ReplaceAll(fitFields, ",", " ")); !slices.Equal(got, want) {
		t.Errorf("fields %q\nwant   %q", got, want)
	}
	// Unknown values are null: ADAM has no bound.
	for _, name := range []string{"lower_bound", "relative_gap", "gap_of_decrease", "zero_is_optimal"} {
		if string(values[name]) != "null" {
			t.Errorf("%s is %s, want null", name, values[name])
		}
	}
	for name, want := range map[string]string{"schema_version": "2", "method": `"patmat-np"`, "surrogate": `"hinge"`, "lambda": "0.1",
		"tau": `"0.05"`, "beta": "1", "k_used": "9", "population": `"negatives"`, "scale": `"standard"`, "encoding": `"raw"`, "n": "200",
		"n_pos": "20", "d": "3", "iterations": "10", "stopped": `""`,
		"solver": `{"name":"adam","iterations":10,"step":0.01,"start":"zero","minibatches":1,"seed":1}`} {
		if string(values[name]) != want {
			t.Errorf("%s is %s, want %s", name, values[name], want)
		}
	}
}
