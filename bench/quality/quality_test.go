package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toptau/internal/data/table"
)

// simulated writes a small set in the place of pima: 300 negatives, 100 positives, some of them easy to tell.
func simulated(t *testing.T) *harness { return simulatedSize(t, 400) }

// simulatedSize is the same with the given number of rows, a quarter of them positive.
func simulatedSize(t *testing.T, rows int) *harness {
	t.Helper()
	h := &harness{data: t.TempDir(), cache: t.TempDir(), dir: t.TempDir()}
	h.kept = &ledger[Result]{path: filepath.Join(h.dir, "kept.csv"), columns: resultColumns}
	r := rand.New(rand.NewPCG(1, 2))
	var lines []string
	for i := range rows {
		label := 0
		if i < rows/4 {
			label = 1
		}
		lines = append(lines, fmt.Sprintf("%.3f,%.3f,%d", r.Float64()+float64(label), r.Float64(), label))
	}
	if err := writeLines(filepath.Join(h.data, setOf("pima").train), lines); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestMeasureCountsTiesAgainstTheModel(t *testing.T) {
	// 1,000 negatives 0..999. At 0.1 % one of them may be on top: a positive counts above 998.
	var negatives []float64
	for i := range 1000 {
		negatives = append(negatives, float64(i))
	}
	c, err := measure([]float64{998, 998.5, 2000, -1}, negatives)
	if err != nil {
		t.Fatal(err)
	}
	if c.TPRTenth != 0.5 || c.TPRPercent != 0.75 {
		t.Errorf("TPR at 0.1 %% %v, at 1 %% %v, expected 0.5 and 0.75", c.TPRTenth, c.TPRPercent)
	}
	// 998 counts from the second rate on: 0.001545 of 1,000 is still one negative, 0.002385 are two.
	if want := (2*0.5 + 8*0.75) / 10; math.Abs(c.LogPAUC-want) > 1e-12 {
		t.Errorf("log-pAUC %v, expected %v", c.LogPAUC, want)
	}
	if c, err := measure([]float64{0, 0}, make([]float64, 50)); err != nil || c != (Criteria{}) {
		t.Errorf("a constant score is worth %+v (%v), expected nothing", c, err)
	}
}

func TestRatesAreEvenlySpacedOnALogarithmicScale(t *testing.T) {
	for i, rate := range fprs {
		want := 0.001 * math.Pow(50, float64(i)/9)
		if math.Abs(rate.Float64()/want-1) > 1e-3 {
			t.Errorf("rate %d is %v, expected about %v", i, rate, want)
		}
	}
}

func TestBestRowsPreferTheEarlierOfEquals(t *testing.T) {
	if got := bestRows([]float64{1, 3, 2, 3, 1}, 4); !slices.Equal(got, []int{1, 3, 2, 0}) {
		t.Errorf("best rows %v", got)
	}
}

func TestEstimates(t *testing.T) {
	e := estimated([]float64{1, 2, 3}) // s = 1, t = 4.303
	if e.mean != 2 || math.Abs(e.half-4.303/math.Sqrt(3)) > 1e-12 {
		t.Errorf("%+v", e)
	}
	for _, c := range []struct {
		values []float64
		want   string
	}{{nil, "–"}, {[]float64{3.25}, "3.2"}, {[]float64{1, 1}, "1.0 ± 0.0"}} {
		if got := estimated(c.values).text(); got != c.want {
			t.Errorf("%v is written %q, expected %q", c.values, got, c.want)
		}
	}
}

func TestVerdicts(t *testing.T) {
	for want, value := range map[string]float64{"met, by 0.0": 28, "**missed by 0.5**": 27.5, "met, by 2.0": 30} {
		if got := verdict(value, 28); got != want {
			t.Errorf("verdict of %v is %q, expected %q", value, got, want)
		}
	}
}

func TestDivideKeepsEveryLineOnceAndTheClassesInProportion(t *testing.T) {
	h := simulated(t)
	all, err := readLines(filepath.Join(h.data, setOf("pima").train))
	if err != nil {
		t.Fatal(err)
	}
	var first files
	for seed := 1; seed <= 2; seed++ {
		f, err := h.divide(setOf("pima"), seed)
		if err != nil {
			t.Fatal(err)
		}
		train, test := content(t, f.train), content(t, f.test)
		if len(train) != 300 || len(test) != 100 {
			t.Errorf("%d and %d rows, expected 300 and 100", len(train), len(test))
		}
		if n := positives(test); n != 25 {
			t.Errorf("%d positives in the test part, expected 25", n)
		}
		together := append(train, test...)
		slices.Sort(together)
		slices.Sort(all)
		if !slices.Equal(together, all) {
			t.Error("the parts are not the lines of the file")
		}
		if seed == 1 {
			first = f
		} else if slices.Equal(content(t, first.test), test) {
			t.Error("another seed gives the same parts")
		}
	}
}

func content(t *testing.T, path string) []string {
	t.Helper()
	lines, err := readLines(path)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func positives(lines []string) int {
	n := 0
	for _, line := range lines {
		if strings.HasSuffix(line, ",1") {
			n++
		}
	}
	return n
}

func TestAnInterruptedRunGoesOnAndTheTestPartDecidesNothing(t *testing.T) {
	h := simulated(t)
	list := jobs([]string{"pima"}, []string{"lr"}, [2]int{1, 2})
	if err := h.compute(context.Background(), list); err != nil {
		t.Fatal(err)
	}
	fresh := h.results
	if len(fresh) != 2 || fresh[0].Criteria.LogPAUC < 0.2 {
		t.Fatalf("results %+v", fresh)
	}
	h.results = nil
	if err := os.RemoveAll(h.data); err != nil { // nothing but the kept results is left
		t.Fatal(err)
	}
	if err := h.compute(context.Background(), list); err != nil {
		t.Fatal(err)
	}
	if len(h.results) != 2 || h.others != 0 {
		t.Fatalf("results %+v, %d of another probe", h.results, h.others)
	}
	read, err := openLedger(h.kept.path, resultColumns)
	if err != nil || len(read.list) != 2 {
		t.Fatalf("%+v, %v", read, err)
	}
	for i, r := range read.list {
		rounded := *fresh[i]
		for _, x := range []*float64{&rounded.Criteria.LogPAUC, &rounded.Criteria.TPRTenth, &rounded.Criteria.TPRPercent, &rounded.Criteria.TPRFive,
			&rounded.Criteria.PrecisionTop, &rounded.Seconds} {
			if err := setValue(x, valueText(x)); err != nil {
				t.Fatal(err)
			}
		}
		if *r != rounded {
			t.Errorf("kept %+v, computed %+v", r, fresh[i])
		}
	}
	h.kept.list[0].Probe, h.idle, h.results = "another", true, nil
	if err := h.compute(context.Background(), list); err != nil || len(h.results) != 1 || h.missing != 1 {
		t.Errorf("%d results, %d missing (%v): one has another probe", len(h.results), h.missing, err)
	}
	h.keep, h.results = true, nil
	if err := h.compute(context.Background(), list); err != nil || len(h.results) != 2 || h.others != 1 {
		t.Errorf("-keep: %d results, %d of another probe (%v)", len(h.results), h.others, err)
	}
}

func TestSourceCountsResultsByCommit(t *testing.T) {
	commit, note, err := sourceOf([]string{"b", "a", "b"}, 1)
	if want := "* 3 results: 2 at commit b, 1 at commit a. **1 of them may have changed since**: their probe is not that of the code.\n"; err != nil ||
		commit != "b" || note != want {
		t.Errorf("%s, %q, %v", commit, note, err)
	}
}

// The labels of the test rows are turned round: the scores must not notice.
func TestScoresDoNotDependOnTestLabels(t *testing.T) {
	h := simulated(t)
	p, err := h.read(setOf("pima"), 1)
	if err != nil {
		t.Fatal(err)
	}
	j := jobs([]string{"pima"}, []string{"lr"}, [2]int{1, 1})[0]
	before, err := j.entry.score(context.Background(), h, j, p)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.test.Label {
		p.test.Label[i] = table.Positive - p.test.Label[i]
	}
	after, err := j.entry.score(context.Background(), h, j, p)
	if err != nil || !slices.Equal(before.scores, after.scores) {
		t.Errorf("scores change with the labels of the test part (%v)", err)
	}
}

func TestStoredScoresAreWhole(t *testing.T) {
	for _, s := range sets {
		head, ranks, err := readBoosted("gbdt", s.name)
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		want := s.seeds
		if s.test != "" {
			want = 1
		}
		if head.Set != s.name || len(head.Parts) != want {
			t.Errorf("%s: scores of %s for %d test parts, expected %d", s.name, head.Set, len(head.Parts), want)
		}
		for i := range head.Parts {
			part := ranks[i*head.Rows:][:head.Rows]
			if slices.Min(part) != 0 || slices.Max(part) == 0 {
				t.Errorf("%s seed %d: ranks from %d to %d", s.name, head.Parts[i].Seed, slices.Min(part), slices.Max(part))
			}
		}
	}
}

func TestStoredScoresBelongToTheParts(t *testing.T) {
	h := &harness{data: os.Getenv("TOPTAU_DATA"), cache: t.TempDir()}
	if h.data == "" {
		t.Skip("TOPTAU_DATA is not set")
	}
	for _, name := range []string{"ionosphere", "mammography", "coil2000"} {
		p, err := h.read(setOf(name), 1)
		if err != nil {
			t.Fatal(err)
		}
		j := jobs([]string{name}, []string{"gbdt"}, [2]int{1, 1})[0]
		s, err := stored("gbdt")(context.Background(), h, j, p)
		if err != nil {
			t.Fatal(err)
		}
		c, err := measured(s.scores, positive(p.test))
		if err != nil || c.LogPAUC < 0.05 {
			t.Errorf("%s: log-pAUC %v (%v): chance is 0.013", name, c.LogPAUC, err)
		}
	}
}

func TestPageSaysWhatIsMet(t *testing.T) {
	h := &harness{}
	for seed := 1; seed <= 2; seed++ {
		for _, r := range []Result{
			{Set: "magic04", Entry: "lr", Criteria: Criteria{LogPAUC: 0.10, TPRPercent: 0.06, TPRFive: 0.3}},
			{Set: "magic04", Entry: "toptau", Goal: percent, Criteria: Criteria{LogPAUC: 0.16, TPRPercent: 0.29}},
			{Set: "magic04", Entry: "toptau", Goal: five, Criteria: Criteria{TPRFive: 0.50}},
			{Set: "pima", Entry: "lr", Criteria: Criteria{LogPAUC: 0.10}},
			{Set: "pima", Entry: "toptau", Goal: percent, Criteria: Criteria{LogPAUC: 0.08}},
		} {
			r.Seed = seed
			h.results = append(h.results, &r)
		}
	}
	text := h.page("")
	for _, want := range []string{
		"| magic04 | TPR at 1 % | `--max-fpr 0.01` | 2 | 6.0 ± 0.0 | – | 29.0 ± 0.0 | 28 | met, by 1.0 |",
		"| magic04 | TPR at 5 % | `--max-fpr 0.05` | 2 | 30.0 ± 0.0 | – | 50.0 ± 0.0 | 56 | **missed by 6.0** |",
		"**+2.0** (goal at least +7: **missed by 5.0**)",
		"More than 1.5 below LR: pima (-2.0)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
}

// Every goal of a set is one that trainings take.
func TestGoalsAreRead(t *testing.T) {
	for i := range sets {
		for _, name := range sets[i].goals {
			if goal, err := goalOf(name); err != nil || goal.Tau().IsZero() {
				t.Errorf("%s: %s: %v, %v", sets[i].name, name, goal, err)
			}
		}
	}
}
