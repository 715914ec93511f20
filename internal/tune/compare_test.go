package tune

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toptau/internal/fault"
	"toptau/internal/matrix"
	"toptau/internal/table"
	"toptau/method"
	"toptau/metric"
)

func compare(t testing.TB, d Data, o CompareOptions) *Comparison {
	t.Helper()
	c, err := Compare(context.Background(), d, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *Comparison) entry(t testing.TB, name string) *Entry {
	t.Helper()
	i := slices.IndexFunc(c.Entries, func(e Entry) bool { return e.Name == name })
	if i < 0 {
		t.Fatalf("no entry %s in %+v", name, c.Entries)
	}
	return &c.Entries[i]
}

func quickCompare(t testing.TB, goal string, methods ...string) CompareOptions {
	o := CompareOptions{Options: Options{Goal: goalOf(t, goal), Seed: 3, Fitter: quick(60)}}
	if len(methods) > 0 {
		o.Methods = methodsOf(t, methods...)
	}
	return o
}

// Compare measures on the split of Train, with the settings that Train would choose for one method by the goal.
func TestCompareIsTrainOnTheSameSplit(t *testing.T) {
	data := simulated(120, 500, 4)
	o := quickCompare(t, "--max-fpr 10%")
	c := compare(t, Data{Table: data}, o)
	if len(c.Entries) != 5 {
		t.Fatalf("%d entries", len(c.Entries))
	}
	for _, name := range []string{"grill-np", "patmat-np", "topmean-np"} {
		alone := o.Options
		alone.Methods, alone.Select = methodsOf(t, name), ByGoal
		r := train(t, data, alone)
		e := c.entry(t, name)
		if name+" with "+e.Setting != Describe(r.Best().Problem) || e.Validation != r.Best().Goal {
			t.Errorf("%s: %s %+v, alone %s %+v", name, e.Setting, e.Validation, Describe(r.Best().Problem), r.Best().Goal)
		}
		measured := e.Test
		measured.Interval = nil
		if measured != r.Test.Goal {
			t.Errorf("%s: %+v on the test part, alone %+v", name, measured, r.Test.Goal)
		}
		if diff := cmp.Diff(*e.AtThreshold, r.Test.AtThreshold); diff != "" {
			t.Errorf("%s at its threshold: %s", name, diff)
		}
	}
	if !slices.IsSortedFunc(c.Entries, func(a, b Entry) int { return -int(1e6 * (a.Test.Rate - b.Test.Rate)) }) {
		t.Error("not sorted by the criterion")
	}
}

// The baselines' setting is the best of their grid on the validation part.
func TestCompareChoosesTheBaselinesSetting(t *testing.T) {
	data := simulated(120, 500, 4)
	random := rand.New(rand.NewPCG(2, 2))
	for j := range 40 { // columns of noise, so that lambda matters
		noise := table.Column{Name: fmt.Sprint("noise", j), Number: 5 + j}
		for range data.Label {
			noise.Values = append(noise.Values, bell(random))
		}
		data.Columns = append(data.Columns, noise)
	}
	o := quickCompare(t, "--max-fpr 10%", "topmean-np")
	c := &comparison{against: "logistic"}
	c.options, c.result = o.Options, &Result{Goal: o.Goal}
	c.options.Select = ByGoal
	d := Data{Table: data}
	for _, step := range []func() error{c.plan, func() error { return c.divide(d) },
		func() error { return c.encode(context.Background(), d) }, func() error { return c.fit(context.Background()) }} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	whole := compare(t, d, o)
	for i, name := range Baselines() {
		best := 0.0
		lambdas := map[float64]bool{}
		for _, p := range c.grids[i] {
			best = max(best, p.Goal.Rate)
			lambdas[p.Goal.Rate] = true
		}
		if e := whole.entry(t, name); e.Validation.Rate != best || e.Tried != len(baselineLambdas) || e.Fitted != e.Tried {
			t.Errorf("%s: %+v, best %v", name, e, best)
		}
		if len(lambdas) < 2 {
			t.Errorf("%s: all settings alike, nothing is chosen", name)
		}
	}
}

// The scores of an entry, given from outside for the rows of the test file, are worth the same.
func TestCompareExternalScores(t *testing.T) {
	data, test := simulated(100, 400, 1), simulated(60, 300, 2)
	shuffleRows(test, 5)
	o := quickCompare(t, "--top 10%", "topmean")
	d := Data{Table: data, Test: test}
	first := compare(t, d, o)
	e := first.entry(t, "svm")
	scores := make([]float64, test.Rows())
	var at [2]int
	for row, class := range test.Label {
		k := 0
		if class == table.Negative {
			k = 1
		}
		scores[row] = e.scores[k][at[k]]
		at[k]++
	}
	o.External = []External{{"theirs", scores}}
	o.Against = "svm"
	again := compare(t, d, o)
	theirs := again.entry(t, "theirs")
	if diff := cmp.Diff(e.Test, theirs.Test); diff != "" {
		t.Error(diff)
	}
	if i := theirs.Difference.Interval; theirs.Difference.Rate != 0 || i.Low != 0 || i.High != 0 || theirs.AtThreshold != nil {
		t.Errorf("%+v", theirs.Difference)
	}
	if l := again.entry(t, "logistic").Difference; l.Rate != -first.entry(t, "svm").Difference.Rate {
		t.Errorf("against svm %+v", l)
	}
	o.External[0].Scores = scores[1:]
	if _, err := Compare(context.Background(), d, o); err == nil || !strings.Contains(err.Error(), "one for each row of rows.csv") {
		t.Error(err)
	}
}

// shuffleRows mixes the classes of a table of numbers.
func shuffleRows(t *table.Table, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 0))
	random.Shuffle(t.Rows(), func(i, j int) {
		t.Label[i], t.Label[j] = t.Label[j], t.Label[i]
		for k := range t.Columns {
			v := t.Columns[k].Values
			v[i], v[j] = v[j], v[i]
		}
	})
}

// The verdict is sure against scores that know nothing and against scores that know everything, and not with ten positives.
func TestCompareVerdict(t *testing.T) {
	test := simulated(150, 1500, 3)
	random := rand.New(rand.NewPCG(1, 1))
	nothing, everything := make([]float64, test.Rows()), make([]float64, test.Rows())
	for row, class := range test.Label {
		nothing[row], everything[row] = bell(random), float64(class)
	}
	for _, c := range []struct {
		name    string
		scores  []float64
		verdict string
		begins  string
	}{
		{"nothing", nothing, metric.Better, "top-focused training helps here: topmean-np"},
		{"everything", everything, metric.Worse, "top-focused training does not help here, it costs: topmean-np"},
	} {
		o := quickCompare(t, "--max-fpr 5%", "topmean-np")
		o.External, o.Against = []External{{c.name, c.scores}}, c.name
		r := compare(t, Data{Table: simulated(100, 900, 1), Test: test}, o)
		if r.Verdict != c.verdict || r.Focused != "topmean-np" || !strings.HasPrefix(r.Words, c.begins) {
			t.Errorf("%s: %s", r.Verdict, r.Words)
		}
	}
	few := compare(t, Data{Table: simulated(40, 200, 9)}, quickCompare(t, "--max-fpr 5%", "topmean-np"))
	if few.Verdict != metric.Undecided || !strings.Contains(few.Words, "it cannot be told with 10 test positives") {
		t.Errorf("%s: %s", few.Verdict, few.Words)
	}
	o := quickCompare(t, "--max-fpr 5%", "topmean-np")
	o.Against = "topmean-np"
	if self := compare(t, Data{Table: simulated(40, 200, 9)}, o); self.Verdict != metric.Undecided ||
		!strings.Contains(self.Words, "the reference itself") {
		t.Errorf("%s: %s", self.Verdict, self.Words)
	}
	tiny := compare(t, Data{Table: simulated(40, 200, 9)}, quickCompare(t, "--top 1%", "topmean"))
	if tiny.Verdict != metric.Undecided || !strings.Contains(tiny.Words, "the budget is 0") {
		t.Errorf("%s: %s", tiny.Verdict, tiny.Words)
	}
}

// Groups are kept together by the split and drawn together by the bootstrap.
func TestCompareDrawsEntities(t *testing.T) {
	data := simulated(120, 480, 6)
	data.Group = &table.Text{Name: "host"}
	for row := range data.Label {
		data.Group.Values = append(data.Group.Values, fmt.Sprint("host", row/3))
	}
	c := compare(t, Data{Table: data}, quickCompare(t, "--max-fpr 10%", "topmean-np"))
	if c.Entities == 0 || c.Entities > c.Test.Rows()/2 {
		t.Errorf("%d entities in %v", c.Entities, c.Test)
	}
	if kind := c.entry(t, "svm").Difference.Interval.Kind; kind != metric.GroupInterval {
		t.Error(kind)
	}
}

func TestCompareIsDeterministic(t *testing.T) {
	data := simulated(120, 480, 6)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first *Comparison
	for _, processors := range []int{1, 3} {
		runtime.GOMAXPROCS(processors)
		c := compare(t, Data{Table: data}, quickCompare(t, "--max-fpr 10%"))
		c.Seconds, c.SecondsEncode, c.SecondsFit = 0, 0, 0
		for i := range c.Entries {
			e := &c.Entries[i]
			e.SecondsFit, e.SecondsGrid, e.point = 0, 0, nil
		}
		if first == nil {
			first = c
		}
		if !reflect.DeepEqual(first, c) {
			t.Errorf("%d processors: %+v, 1: %+v", processors, c, first)
		}
	}
}

// Interrupted, a comparison keeps what is finished: the baselines come first. Without them there is nothing to compare.
func TestCompareInterrupted(t *testing.T) {
	data := simulated(120, 480, 6)
	ctx, cancel := context.WithCancel(context.Background())
	o := quickCompare(t, "--max-fpr 10%", "topmean-np", "patmat-np")
	o.Fitter = func(ctx context.Context, x *matrix.Matrix, problems []method.Problem, w Watch) error {
		err := quick(60)(ctx, x, problems[:6], w)
		cancel()
		return err
	}
	c, err := Compare(ctx, Data{Table: data}, o)
	if err != nil {
		t.Fatal(err)
	}
	if !c.Cancelled || c.entry(t, "topmean-np").Status != Fitted || c.Focused != "topmean-np" {
		t.Errorf("%+v", c)
	}
	if last := c.Entries[len(c.Entries)-1]; last.Name != "patmat-np" || last.Status != Unfinished {
		t.Errorf("%+v", last)
	}

	ctx, cancel = context.WithCancel(context.Background())
	o.Fitter = func(context.Context, *matrix.Matrix, []method.Problem, Watch) error { cancel(); return nil }
	c, err = Compare(ctx, Data{Table: data}, o)
	if err != nil || c.Focused != "" || !strings.Contains(c.Words, "no top-focused method") {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err = Compare(ctx, Data{Table: data}, o); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// The share of the work only grows and ends at 1, baselines included.
func TestCompareProgress(t *testing.T) {
	o := quickCompare(t, "--max-fpr 10%", "topmean-np")
	last := Progress{}
	o.Progress = func(p Progress) {
		if p.Share < last.Share || p.Of != 18 {
			t.Errorf("%+v after %+v", p, last)
		}
		last = p
	}
	compare(t, Data{Table: simulated(60, 240, 6)}, o)
	if last.Done != 18 || last.Share < 1-1e-9 {
		t.Errorf("ends at %+v", last)
	}
}

func TestCompareRefuses(t *testing.T) {
	data := simulated(60, 240, 6)
	test := simulated(0, 20, 6)
	scores := make([]float64, 20)
	for name, c := range map[string]struct {
		change func(*Data, *CompareOptions)
		kind   fault.Kind
		want   string
	}{
		"name of a baseline": {func(d *Data, o *CompareOptions) { d.Test, o.External = test, []External{{"svm", scores}} },
			fault.Usage, `scores named "svm"`},
		"name twice": {func(d *Data, o *CompareOptions) { d.Test, o.External = test, []External{{"a", scores}, {"a", scores}} },
			fault.Usage, `scores named "a"`},
		"no test file": {func(d *Data, o *CompareOptions) { o.External = []External{{"a", scores}} }, fault.Usage, "not told"},
		"reference":    {func(d *Data, o *CompareOptions) { o.Against = "gbdt" }, fault.Usage, `--against "gbdt"`},
		"no test part": {func(d *Data, o *CompareOptions) { o.Shares = [3]float64{2, 1, 0} }, fault.Usage, "no test part"},
		"no positives": {func(d *Data, o *CompareOptions) { d.Test = test }, fault.Data, "the test part has no positive"},
		"bootstrap":    {func(d *Data, o *CompareOptions) { o.Bootstrap.Replicates = -1 }, fault.Usage, "-1 bootstrap replicates"},
		"no goal":      {func(d *Data, o *CompareOptions) { o.Goal = metric.Goal{} }, fault.Usage, "no goal"},
		"NaN from outside": {func(d *Data, o *CompareOptions) {
			d.Test = simulated(5, 15, 1)
			o.External = []External{{"a", append([]float64{0, 0, nan()}, scores[3:]...)}}
		}, fault.Data, "NaN"},
	} {
		d, o := Data{Table: data}, quickCompare(t, "--max-fpr 10%", "topmean-np")
		c.change(&d, &o)
		_, err := Compare(context.Background(), d, o)
		if e := fault.Of(err); e == nil || e.Kind != c.kind || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func nan() float64 { zero := 0.0; return zero / zero }
