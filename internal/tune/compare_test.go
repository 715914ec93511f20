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

	"toptau/diag"
	"toptau/internal/feature"
	"toptau/internal/learn"
	"toptau/internal/matrix"
	"toptau/internal/solver"
	"toptau/internal/table"
	"toptau/method"
	"toptau/metric"
	"toptau/schema"
	"toptau/threshold"
)

func compare(t testing.TB, d Data, o CompareOptions) *Comparison {
	t.Helper()
	c, err := Compare(context.Background(), d, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func quickCompare(t testing.TB, goal string, methods ...string) CompareOptions {
	o := CompareOptions{Seed: 3, Fitter: trialFitter(60), Encodings: []feature.Encode{feature.EncodeRaw}, NoRamp: true}
	var err error
	if o.Goal, err = parseGoal(goal); err != nil {
		t.Fatal(err)
	}
	for _, name := range methods {
		m, err := method.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		o.Methods = append(o.Methods, m)
	}
	return o
}

// trialFitter is the paper's scheme with fewer iterations.
func trialFitter(iterations int) Fitter {
	return Paper{Options: solver.Options{Iterations: iterations, Step: 0.05}}.Fit
}

// trialRows makes overlapping classes: four columns, of which the first two carry the class.
func trialRows(positives, negatives int, seed uint64) *table.Table {
	random := rand.New(rand.NewPCG(seed, 0))
	t := &table.Table{File: "rows.csv"}
	for j := range 4 {
		t.Columns = append(t.Columns, table.Column{Name: fmt.Sprint("x", j+1), Number: j + 1})
	}
	for i := range positives + negatives {
		class := table.Negative
		if i < positives {
			class = table.Positive
		}
		t.Label, t.Line = append(t.Label, class), append(t.Line, i+2)
		for j := range t.Columns {
			x := trialNoise(random)
			if class == table.Positive && j < 2 {
				x += 0.9
			}
			t.Columns[j].Values = append(t.Columns[j].Values, x*float64(j+1))
		}
	}
	return t
}

// trialNoise is a sum of four uniforms, centred: bell-shaped on [-2, 2].
func trialNoise(random *rand.Rand) float64 {
	x := -2.0
	for range 4 {
		x += float64(random.Uint64()>>11) / (1 << 53)
	}
	return x
}

// want returns an entry that must be there.
func (c *Comparison) want(t testing.TB, name string) *Entry {
	t.Helper()
	e := c.entry(name)
	if e == nil {
		t.Fatalf("no entry %s in %+v", name, c.Entries)
	}
	return e
}

// One learner after the other, by hand: the parts of Cut, a feature map of the training part, the grid, the choice on the
// validation part with its threshold, the criterion on the test part.
func TestCompareByHand(t *testing.T) {
	data := trialRows(120, 500, 4)
	random := rand.New(rand.NewPCG(2, 2))
	for j := range 40 { // columns of noise, so that lambda matters
		noise := table.Column{Name: fmt.Sprint("noise", j), Number: 5 + j}
		for range data.Label {
			noise.Values = append(noise.Values, trialNoise(random))
		}
		data.Columns = append(data.Columns, noise)
	}
	o := quickCompare(t, "--max-fpr 10%", "topmean-np")
	o.NoRamp, o.Encodings = false, []feature.Encode{feature.EncodeRaw, feature.EncodeScorecard}
	c := compare(t, Data{Table: data}, o)
	if len(c.Entries) != 6 {
		t.Fatalf("%d entries", len(c.Entries))
	}
	rows, err := Cut{Shares: []float64{2, 1, 1}, Seed: o.Seed}.Divide(data.Label)
	if err != nil {
		t.Fatal(err)
	}
	for i, encode := range o.Encodings {
		m, _, err := feature.Fit(data, schema.Schema{}, rows[0], feature.Options{Encode: encode})
		if err != nil {
			t.Fatal(err)
		}
		var parts [3]*matrix.Matrix
		for k := range parts {
			if parts[k], err = m.Matrix(data, rows[k], matrix.Float32); err != nil {
				t.Fatal(err)
			}
		}
		suffix := ""
		if i > 0 {
			suffix = "/scorecard"
		}
		path, err := learn.Path(context.Background(), parts[0], learn.Options{Tolerance: foldTolerance}, lambdas(encode))
		if err != nil {
			t.Fatal(err)
		}
		var grid [][]float64
		for _, r := range path {
			grid = append(grid, r.W)
		}
		anchor := byHand(t, c.want(t, "logistic"+suffix), parts, o.Goal, grid)
		grid = nil
		for _, lambda := range rampLambdas {
			r, err := learn.Ramp(context.Background(), parts[0], learn.RampOptions{Anchor: anchor, Lambda: lambda,
				Taus: rampRates(o.Goal, parts[0].Negatives.Rows()), Population: method.Negatives, Tolerance: foldTolerance})
			if err != nil {
				t.Fatal(err)
			}
			grid = append(grid, r.W)
		}
		byHand(t, c.want(t, "ramp"+suffix), parts, o.Goal, grid)
		if i > 0 {
			continue
		}
		problems, err := Problems(o.Methods, o.Goal, "")
		if err != nil {
			t.Fatal(err)
		}
		grid = make([][]float64, len(problems))
		if err := trialFitter(60)(context.Background(), parts[0], problems, Watch{
			Fitted: func(i int, f Fit, err error) { grid[i] = f.W }, Progress: func(int, float64) {}}); err != nil {
			t.Fatal(err)
		}
		slices.Reverse(grid) // the largest lambda first
		byHand(t, c.want(t, "topmean-np"), parts, o.Goal, grid)
	}
	if !slices.IsSortedFunc(c.Entries, func(a, b Entry) int { return -int(1e6 * (a.Test.Rate - b.Test.Rate)) }) {
		t.Error("not sorted by the criterion")
	}
}

// byHand checks an entry against the weights of its grid, and returns those that are best on the validation part: by the mean
// share of positives found at ten rates around the goal of 10 %.
func byHand(t *testing.T, e *Entry, parts [3]*matrix.Matrix, goal metric.Goal, grid [][]float64) []float64 {
	t.Helper()
	var best []float64
	var value metric.Result
	around := -1.0
	different := false
	for _, w := range grid {
		r, err := (&trialPart{matrix: parts[1]}).ranking(w)
		if err != nil {
			t.Fatal(err)
		}
		mean := 0.0
		for _, tau := range []string{"1%", "1.5%", "2.5%", "4%", "6.5%", "10%", "15%", "23%", "35%", "50%"} {
			at, err := r.Positives(metric.NP(threshold.MustRate(tau)))
			if err != nil {
				t.Fatal(err)
			}
			mean += at.Rate / 10
		}
		different = different || best != nil && mean != around
		if best == nil || mean > around+1e-12 {
			if value, err = r.Positives(goal.Criterion()); err != nil {
				t.Fatal(err)
			}
			best, around = w, mean
		}
	}
	if e.Validation != value || e.Fitted != len(grid) || e.Tried != len(grid) || e.Features != len(best) {
		t.Errorf("%s: %+v, by hand %+v", e.Name, e, value)
	}
	if e.learner == "logistic" && !different {
		t.Errorf("%s: all settings are alike, nothing is chosen", e.Name)
	}
	validation, err := (&trialPart{matrix: parts[1]}).ranking(best)
	if err != nil {
		t.Fatal(err)
	}
	at, err := goal.Threshold(validation)
	if err != nil {
		t.Fatal(err)
	}
	test, err := (&trialPart{matrix: parts[2]}).ranking(best)
	if err != nil {
		t.Fatal(err)
	}
	decisions, err := test.At(at, 0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*e.AtThreshold, decisions); diff != "" {
		t.Errorf("%s at its threshold: %s", e.Name, diff)
	}
	measured, err := goal.Evaluate(test)
	if got := e.Test; err != nil || got.Rate != measured.Rate || got.Numerator != measured.Numerator {
		t.Errorf("%s: %+v on the test part, by hand %+v, %v", e.Name, got, measured, err)
	}
	return best
}

// A method's settings are tried from the smoothest on, so that among equal ones the smoothest is kept.
func TestCompareKeepsTheSmootherSetting(t *testing.T) {
	points := []trialPoint{{status: Fitted}, {status: Skipped}, {status: Fitted, around: 0.1}, {status: Fitted, around: 0.1},
		{status: Fitted, around: 0.1, noBetterThanZero: true}}
	if best := bestPoint(points); best != 2 {
		t.Errorf("point %d", best)
	}
	points[3].value.Rate = 0.1
	if best := bestPoint(points); best != 3 {
		t.Errorf("point %d", best)
	}
	points[4].around = 0.2
	if best := bestPoint(points); best != 4 {
		t.Errorf("point %d", best)
	}
	o := quickCompare(t, "--max-fpr 10%", "patmat-np", "topmean-np")
	tr := &trial{options: o, out: &Comparison{}}
	if err := tr.plan(Data{Table: trialRows(20, 40, 1)}); err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, p := range tr.problems {
		order = append(order, string(p.Method)+" "+number(p.Beta)+" "+number(p.Lambda))
	}
	if order[0] != "patmat-np 0.0001 0.001" || order[5] != "patmat-np 10 0.001" || order[6] != "topmean-np 0 0.1" ||
		order[11] != "topmean-np 0 0" {
		t.Errorf("%q", order)
	}
}

// Where the classes overlap in a way that no line follows, the encodings gain and the reference of the verdict is logistic
// regression on the encoding of the top-focused entry.
func TestCompareTellsEncodingFromLoss(t *testing.T) {
	ring := func(seed uint64) *table.Table {
		data := trialRows(200, 800, seed)
		for row, class := range data.Label {
			if class == table.Positive { // both tails of the first column
				for j := range 2 {
					data.Columns[j].Values[row] -= 0.9 * float64(j+1)
				}
				if x := &data.Columns[0].Values[row]; *x > 0 {
					*x += 1
				} else {
					*x--
				}
			}
		}
		return data
	}
	o := quickCompare(t, "--max-fpr 10%", "topmean-np")
	o.NoRamp, o.Encodings, o.Feature = false, nil, feature.Options{Trees: 10, Leaves: 16}
	c := compare(t, Data{Table: ring(1), Test: ring(2)}, o)
	if len(c.Entries) != 8 {
		t.Fatalf("%d entries", len(c.Entries))
	}
	raw, encoded := c.want(t, "logistic"), c.want(t, "logistic/scorecard")
	if encoded.Difference.Verdict() != metric.Better || encoded.Features <= raw.Features {
		t.Errorf("%+v against %+v", encoded, raw)
	}
	loss, encoding, against := c.about(t, AboutLoss), c.about(t, AboutEncoding), c.about(t, AboutEntry)
	focused := c.want(t, loss.Entry)
	if focused.Encoding == feature.EncodeRaw || loss.Against != "logistic/"+string(focused.Encoding) {
		t.Errorf("%s against %s", loss.Entry, loss.Against)
	}
	if d := loss.Difference; d.Rate != focused.Test.Rate-c.want(t, loss.Against).Test.Rate || loss.Verdict != d.Verdict() {
		t.Errorf("%+v, %s", d, loss.Verdict)
	}
	other, first := c.want(t, encoding.Entry), c.want(t, encoding.Against)
	if other.learner != first.learner || first.Encoding != feature.EncodeRaw || encoding.Verdict != metric.Better ||
		encoding.Says != fmt.Sprintf("the encoding %s helps %s here", other.Encoding, other.learner) {
		t.Errorf("%+v", encoding)
	}
	if against.Entry != c.Preferred || against.Against != "logistic" || against.Says != c.Preferred+" finds more than logistic" {
		t.Errorf("%+v", against)
	}
	o.Against = "svm" // what the loss brings does not depend on the reference
	again := compare(t, Data{Table: ring(1), Test: ring(2)}, o)
	if diff := cmp.Diff(again.about(t, AboutLoss), loss, cmp.AllowUnexported(metric.Difference{})); diff != "" {
		t.Error(diff)
	}
	if against = again.about(t, AboutEntry); against.Against != "svm" ||
		!strings.Contains(against.Evidence, fmt.Sprintf("%s on %s finds", again.want(t, against.Entry).learner, again.want(t, against.Entry).Encoding)) ||
		!strings.Contains(against.Evidence, ", svm on raw columns ") {
		t.Errorf("%+v", against)
	}
}

// about returns the only verdict of its kind.
func (c *Comparison) about(t testing.TB, what string) Verdict {
	t.Helper()
	var found []Verdict
	for _, v := range c.Verdicts {
		if v.About == what {
			found = append(found, v)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d verdicts about %s: %+v", len(found), what, c.Verdicts)
	}
	return found[0]
}

// The scores of an entry, given from outside for the rows of the test file, are worth the same.
func TestCompareExternalScores(t *testing.T) {
	data, test := trialRows(100, 400, 1), trialRows(60, 300, 2)
	shuffleRows(test, 5)
	o := quickCompare(t, "--top 10%", "topmean")
	d := Data{Table: data, Test: test}
	first := compare(t, d, o)
	e := first.want(t, "svm")
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
	o.External = []External{{Name: "theirs", Scores: scores}}
	o.Against = "svm"
	again := compare(t, d, o)
	theirs := again.want(t, "theirs")
	if diff := cmp.Diff(e.Test, theirs.Test); diff != "" {
		t.Error(diff)
	}
	if i := theirs.Difference.Interval; theirs.Difference.Rate != 0 || i.Low != 0 || i.High != 0 || theirs.AtThreshold != nil {
		t.Errorf("%+v", theirs.Difference)
	}
	if l := again.want(t, "logistic").Difference; l.Rate != -first.want(t, "svm").Difference.Rate {
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

// Against scores that know nothing and scores that know everything the conclusion is sure, and says nothing about the loss.
func TestCompareAgainstScores(t *testing.T) {
	test := trialRows(150, 1500, 3)
	random := rand.New(rand.NewPCG(1, 1))
	nothing, everything := make([]float64, test.Rows()), make([]float64, test.Rows())
	for row, class := range test.Label {
		nothing[row], everything[row] = trialNoise(random), float64(class)
	}
	o := quickCompare(t, "--max-fpr 5%", "topmean-np")
	o.External, o.Against = []External{{Name: "nothing", Scores: nothing}, {Name: "everything", Scores: everything}}, "everything"
	r := compare(t, Data{Table: trialRows(100, 900, 1), Test: test}, o)
	if loss := r.about(t, AboutLoss); loss.Entry != "topmean-np" || loss.Against != "logistic" ||
		!strings.Contains(loss.Evidence, "topmean-np on raw columns finds ") || !strings.Contains(loss.Evidence, ", logistic on raw columns ") {
		t.Errorf("%+v", loss)
	}
	says := map[string]string{}
	for _, v := range r.Verdicts {
		if v.About == AboutEntry {
			says[v.Against] = v.Says
			if v.Entry != r.Preferred || v.Together != 2 || !strings.Contains(v.Evidence, v.Against+" (scores of another program) ") ||
				!strings.Contains(v.Evidence, "for all 2 comparisons together") {
				t.Errorf("%+v", v)
			}
		}
	}
	if says["nothing"] != r.Preferred+" finds more than nothing" || says["everything"] != r.Preferred+" finds fewer than everything" {
		t.Error(says)
	}
	best := r.about(t, AboutBest)
	if best.Entry != "everything" || !slices.Equal(best.Among, []string{"everything"}) || best.Verdict != metric.Better ||
		best.Says != "everything (scores of another program) is the best of all" ||
		best.Evidence != "it finds 150 of the 150 positives within the budget, the most of 5 entries on these rows; with 95 % confidence "+
			"no other entry is as good" {
		t.Errorf("%+v", best)
	}
}

// With ten positives nothing is decided, and the text says so; without a partner on the same encoding nothing is said about the loss.
func TestCompareUndecided(t *testing.T) {
	c := compare(t, Data{Table: trialRows(40, 200, 9)}, quickCompare(t, "--max-fpr 5%", "topmean-np"))
	if loss := c.about(t, AboutLoss); loss.Verdict != metric.Undecided ||
		loss.Says != "10 test positives do not show whether top-focused training helps here" {
		t.Errorf("%+v", loss)
	}
	if best := c.about(t, AboutBest); len(best.Among) < 2 || !strings.HasSuffix(best.Says, "finds the most, which 10 test positives do not prove") ||
		!strings.Contains(best.Evidence, "a choice that flatters it; with 95 % confidence the best is one of ") {
		t.Errorf("%+v", best)
	}
	tiny := compare(t, Data{Table: trialRows(40, 200, 9)}, quickCompare(t, "--top 1%", "topmean"))
	if loss := tiny.about(t, AboutLoss); loss.Verdict != metric.Undecided || !strings.Contains(loss.Words(), "the budget is 0") {
		t.Errorf("%+v", loss)
	}
}

// Each conclusion in words, from verdicts made by hand.
func TestVerdictWords(t *testing.T) {
	raw, leaves := feature.EncodeRaw, feature.EncodeLeaves
	entry := func(name, learner, kind string, e feature.Encode, around, found float64, place int) Entry {
		r := metric.Result{Proportion: metric.Proportion{Numerator: found, Denominator: 200, Rate: found / 200}}
		return Entry{Name: name, learner: learner, Kind: kind, Encoding: e, Status: Fitted, around: around, Test: r, place: place}
	}
	// Scores put the first found positives above all negatives, and the others below.
	scores := func(found int) []float64 {
		z := make([]float64, 200)
		for i := range found {
			z[i] = 10
		}
		return z
	}
	for _, c := range []struct {
		found [4]int // of logistic, ramp, logistic/leaves, ramp/leaves
		drop  string // what was not fitted
		words []string
	}{
		{[4]int{100, 110, 150, 170}, "", []string{
			"top-focused training helps here: ramp on leaves finds 170 of the 200 positives within the budget, logistic on leaves 150, +10.0 points",
			"the encoding leaves helps ramp here: ramp on leaves finds 170 of the 200 positives within the budget, ramp on raw columns 110, +30.0 points",
			"ramp/leaves finds more than logistic: ramp on leaves finds 170 of the 200 positives within the budget, logistic on raw columns 100, +35.0",
			"ramp on leaves is the best of all: it finds 170 of the 200 positives within the budget, the most of 4 entries on these rows"}},
		{[4]int{190, 170, 150, 120}, "", []string{
			"top-focused training costs here: ramp on leaves finds 120 of the 200 positives within the budget, logistic on leaves 150, -15.0 points",
			"the encoding leaves costs ramp here: ramp on leaves finds 120 of the 200 positives within the budget, ramp on raw columns 170, -25.0 points",
			"ramp/leaves finds fewer than logistic: ramp on leaves finds 120 of the 200 positives within the budget, logistic on raw columns 190, -35.0",
			"logistic on raw columns is the best of all: "}},
		{[4]int{150, 150, 150, 152}, "", []string{
			"200 test positives do not show whether top-focused training helps here: ramp on leaves finds 152",
			"200 test positives do not show whether the encoding leaves helps ramp here: ramp on leaves finds 152",
			"200 test positives do not show which of ramp/leaves and logistic finds more: ramp on leaves finds 152",
			"ramp on leaves finds the most, which 200 test positives do not prove: 152 of the 200 positives within the budget, the most of 4 entries " +
				"on these rows, a choice that flatters it; with 95 % confidence the best is one of logistic, ramp, logistic/leaves, ramp/leaves"}},
		{[4]int{150, 150, 150, 190}, "logistic/leaves", []string{
			"no statement on top-focused training: logistic regression was not fitted on leaves, the encoding of ramp/leaves",
			"the encoding leaves helps ramp here: ",
			"ramp/leaves finds more than logistic: ",
			"ramp on leaves is the best of all: "}},
	} {
		tr := &trial{options: CompareOptions{Seed: 1}, encodings: []feature.Encode{raw, leaves}, out: &Comparison{Against: "logistic", Preferred: "ramp/leaves"}}
		paired := metric.PairedScores{}
		for i, e := range []Entry{entry("logistic", Logistic, KindBaseline, raw, 0.1, float64(c.found[0]), 0),
			entry("ramp", Ramp, KindMethod, raw, 0.2, float64(c.found[1]), 1),
			entry("logistic/leaves", Logistic, KindBaseline, leaves, 0.3, float64(c.found[2]), 2),
			entry("ramp/leaves", Ramp, KindMethod, leaves, 0.4, float64(c.found[3]), 3)} {
			if e.Name == c.drop {
				continue
			}
			e.place = len(paired.Positives)
			negatives := make([]float64, 400)
			for k := range negatives {
				negatives[k] = 1 + float64(k)/1000
			}
			paired.Positives, paired.Negatives = append(paired.Positives, scores(c.found[i])), append(paired.Negatives, negatives)
			tr.out.Entries = append(tr.out.Entries, e)
		}
		var err error
		if tr.paired, err = metric.PairedBootstrap(paired, metric.NP(threshold.MustRate("5%")), 0, metric.Bootstrap{Seed: 1}); err != nil {
			t.Fatal(err)
		}
		if tr.verdicts(); len(tr.out.Verdicts) != len(c.words) {
			t.Fatalf("%+v", tr.out.Verdicts)
		}
		for i, want := range c.words {
			if got := tr.out.Verdicts[i].Words(); !strings.HasPrefix(got, want) {
				t.Errorf("%v: %s\nwant %s", c.found, got, want)
			}
		}
	}
}

// Groups are kept together by the split and drawn together by the bootstrap.
func TestCompareDrawsEntities(t *testing.T) {
	data := trialRows(120, 480, 6)
	data.Group = &table.Text{Name: "host"}
	for row := range data.Label {
		data.Group.Values = append(data.Group.Values, fmt.Sprint("host", row/3))
	}
	c := compare(t, Data{Table: data}, quickCompare(t, "--max-fpr 10%", "topmean-np"))
	if c.Entities == 0 || c.Entities > c.Test.Rows()/2 {
		t.Errorf("%d entities in %v", c.Entities, c.Test)
	}
	if kind := c.want(t, "svm").Difference.Interval.Kind; kind != metric.GroupInterval {
		t.Error(kind)
	}
}

func TestCompareIsDeterministic(t *testing.T) {
	data := trialRows(120, 480, 6)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first *Comparison
	for _, processors := range []int{1, 3} {
		runtime.GOMAXPROCS(processors)
		c := compare(t, Data{Table: data}, quickCompare(t, "--max-fpr 10%"))
		c.Seconds, c.SecondsEncode, c.SecondsFit = 0, 0, 0
		for i := range c.Entries {
			e := &c.Entries[i]
			e.SecondsFit, e.SecondsGrid = 0, 0
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
	data := trialRows(120, 480, 6)
	ctx, cancel := context.WithCancel(context.Background())
	o := quickCompare(t, "--max-fpr 10%", "topmean-np", "patmat-np")
	o.Fitter = func(ctx context.Context, x *matrix.Matrix, problems []method.Problem, w Watch) error {
		err := trialFitter(60)(ctx, x, problems[:6], w)
		cancel()
		return err
	}
	c, err := Compare(ctx, Data{Table: data}, o)
	if err != nil {
		t.Fatal(err)
	}
	if !c.Cancelled || c.want(t, "topmean-np").Status != Fitted || c.about(t, AboutLoss).Entry != "topmean-np" {
		t.Errorf("%+v", c)
	}
	if last := c.Entries[len(c.Entries)-1]; last.Name != "patmat-np" || last.Status != Unfinished {
		t.Errorf("%+v", last)
	}

	ctx, cancel = context.WithCancel(context.Background())
	o.Fitter = func(context.Context, *matrix.Matrix, []method.Problem, Watch) error { cancel(); return nil }
	c, err = Compare(ctx, Data{Table: data}, o)
	if err != nil || c.about(t, AboutLoss).Entry != "" || !strings.Contains(c.about(t, AboutLoss).Says, "no top-focused method") {
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
	compare(t, Data{Table: trialRows(60, 240, 6)}, o)
	if last.Done != 18 || last.Share < 1-1e-9 {
		t.Errorf("ends at %+v", last)
	}
}

func TestCompareRefuses(t *testing.T) {
	data := trialRows(60, 240, 6)
	test := trialRows(0, 20, 6)
	scores := make([]float64, 20)
	for name, c := range map[string]struct {
		change func(*Data, *CompareOptions)
		kind   diag.Kind
		want   string
	}{
		"name of a baseline": {func(d *Data, o *CompareOptions) { d.Test, o.External = test, []External{{Name: "svm", Scores: scores}} },
			diag.Usage, `scores named "svm"`},
		"name twice": {func(d *Data, o *CompareOptions) {
			d.Test, o.External = test, []External{{Name: "a", Scores: scores}, {Name: "a", Scores: scores}}
		},
			diag.Usage, `scores named "a"`},
		"other rows": {func(d *Data, o *CompareOptions) { o.External = []External{{Name: "a", Scores: scores}} }, diag.Data, "20 scores of"},
		"a row without a score": {func(d *Data, o *CompareOptions) {
			o.External = []External{{Name: "a", Scores: slices.Repeat([]float64{nan()}, 300)}}
		}, diag.Data, `no score of "a"`},
		"reference": {func(d *Data, o *CompareOptions) { o.Against = "gbdt" }, diag.Usage, `--against "gbdt"`},
		"encoding twice": {func(d *Data, o *CompareOptions) {
			o.Encodings = []feature.Encode{feature.EncodeRaw, feature.EncodeRaw}
		}, diag.Usage, "encoding raw twice"},
		"unknown encoding": {func(d *Data, o *CompareOptions) { o.Encodings = []feature.Encode{"pca"} }, diag.Usage, "pca"},
		"no data":          {func(d *Data, o *CompareOptions) { d.Table = nil }, diag.Usage, "no data"},
		"no positives":     {func(d *Data, o *CompareOptions) { d.Test = test }, diag.Data, "the test part has no positive"},
		"bootstrap":        {func(d *Data, o *CompareOptions) { o.Bootstrap.Replicates = -1 }, diag.Usage, "-1 bootstrap replicates"},
		"no goal":          {func(d *Data, o *CompareOptions) { o.Goal = metric.Goal{} }, diag.Usage, "no goal"},
		"NaN from outside": {func(d *Data, o *CompareOptions) {
			d.Test = trialRows(5, 15, 1)
			o.External = []External{{Name: "a", Scores: append([]float64{0, 0, nan()}, scores[3:]...)}}
		}, diag.Data, `no score of "a"`},
	} {
		d, o := Data{Table: data}, quickCompare(t, "--max-fpr 10%", "topmean-np")
		c.change(&d, &o)
		_, err := Compare(context.Background(), d, o)
		if e := diag.Of(err); e == nil || e.Kind != c.kind || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func nan() float64 { zero := 0.0; return zero / zero }
