package paper

import (
	"context"
	"math"
	"strings"
	"testing"

	"toptau/internal/core/certified"
	"toptau/method"
)

// The paper's conclusions must follow from its printed ranks.
func TestThePaperAgreesWithItself(t *testing.T) {
	for _, c := range conclusions() {
		if d := c.printedContrast(); !(d < 0) {
			t.Errorf("%s: %+.2f by the paper's ranks", c.text, d)
		}
	}
}

func TestContrastUsesTheCriteriaThatThereAre(t *testing.T) {
	c := conclusion{methods: []string{"toppush"}, rivals: []string{"toppushk"}, criteria: everyCriterion}
	ranks := make([]float64, 14)
	ranks[0], ranks[1] = 3, 5
	without1 := func(k int) []float64 {
		if k == 1 {
			return nil
		}
		return ranks
	}
	if d, ok := c.contrast(without1); !ok || d != -2 {
		t.Errorf("contrast = %v, %v", d, ok)
	}
	c.worse = true
	if d, _ := c.contrast(without1); d != 2 {
		t.Errorf("the opposite conclusion has %v", d)
	}
	if _, ok := c.contrast(func(int) []float64 { return nil }); ok {
		t.Error("a contrast exists without ranks")
	}
}

// A comparison of a method with itself on other criteria does not depend on the other methods.
func TestContrastAgainstOtherCriteria(t *testing.T) {
	c := conclusion{methods: []string{"toppush", "toppushk"}, criteria: atTop, against: belowTop}
	d, ok := c.contrast(func(k int) []float64 {
		ranks := make([]float64, 14)
		for i := range ranks {
			ranks[i] = 100
		}
		ranks[0], ranks[1] = float64(1+k), float64(2+k)
		return ranks
	})
	if !ok || d != -2.5 { // 1.5 on @Top, 2.5, 3.5, 4.5, 5.5 on the others
		t.Errorf("contrast = %v, %v, want -2.5", d, ok)
	}
}

// Entries that are left out change neither side, and the others are ranked among themselves.
func TestRanksAmongTheMethodsThatAreLeft(t *testing.T) {
	values := []float64{0.9, 0.1, 0.5, 0.5}
	got := ranksAmong(values, []bool{true, false, false, false})
	if !math.IsNaN(got[0]) || got[1] != 3 || got[2] != 1.5 || got[3] != 1.5 {
		t.Errorf("%v", got)
	}
	if all := ranksAmong(values, nil); all[0] != 1 || all[1] != 4 {
		t.Errorf("%v", all)
	}
	ranks := make([]float64, 14)
	for i := range ranks {
		ranks[i] = math.NaN()
	}
	ranks[0] = 1
	c := conclusion{methods: []string{"toppush"}, criteria: atTop}
	if _, ok := c.contrast(func(int) []float64 { return ranks }); ok {
		t.Error("a contrast exists without rivals")
	}
}

// A part keeps the rivals of its conclusion: a method is not compared with the other methods of the same conclusion.
func TestPartsKeepTheRivals(t *testing.T) {
	c := conclusion{methods: []string{"patmat-np", "topmean-np"}, criteria: belowTop}
	if n := len(c.parts()); n != 8 {
		t.Fatalf("%d parts", n)
	}
	ranks := make([]float64, 14)
	for i, e := range entries() {
		switch e.Method.Name {
		case "patmat-np":
			ranks[i] = 1
		case "topmean-np":
			ranks[i] = 1000
		default:
			ranks[i] = 5
		}
	}
	one := c.only(part{"patmat-np", 3})
	if d, ok := one.contrast(func(int) []float64 { return ranks }); !ok || d != -4 {
		t.Errorf("the part is %v, %v, want -4", d, ok)
	}
}

// No verdict says more than its intervals show.
func TestVerdictsFollowTheIntervals(t *testing.T) {
	below, across, above := Interval{-2, -3, -1, 10}, Interval{-1, -3, 1, 10}, Interval{2, 1, 3, 10}
	for _, c := range []struct {
		average Interval
		parts   []Interval
		want    string
		shown   string
	}{
		{below, []Interval{below, below}, confirmed, "2 of 2"},
		{below, []Interval{below, across}, onAverage, "1 of 2"},
		{below, []Interval{below, above}, onAverage, "1 of 2, 1 against"},
		{across, []Interval{below, below}, undecided, "2 of 2"},
		{across, []Interval{across, above}, undecided, "0 of 2, 1 against"},
		{above, []Interval{above, across}, averageNot, "0 of 2, 1 against"},
		{above, []Interval{above, above}, contradicted, "0 of 2, 2 against"},
		{Interval{-2, math.NaN(), math.NaN(), 1}, []Interval{{-2, math.NaN(), math.NaN(), 1}}, "-", "-"},
	} {
		a := assessment{without: c.average, partsWithout: c.parts, all: below, partsAll: []Interval{below}}
		if got := a.verdict(); got != c.want || a.partsShown() != c.shown {
			t.Errorf("%+v, %+v: %s, %s; want %s, %s", c.average, c.parts, got, a.partsShown(), c.want, c.shown)
		}
	}
	// A conclusion about collapsed methods alone is judged with all methods.
	a := assessment{all: below, partsAll: []Interval{below}}
	if got := a.verdict(); got != confirmed {
		t.Errorf("%s", got)
	}
}

func TestShortfallTellsItsCases(t *testing.T) {
	lower := func(f float64) *float64 { return &f }
	optimum := &Cell{Points: []Point{
		{F: 0.5, AtZero: 1, Lower: lower(0.5), Converged: true},
		{F: 0.5, AtZero: 1, Lower: lower(0.5), Converged: true},
		{F: 1, AtZero: 1, Lower: lower(1), Converged: true, Zero: true},
		{F: 0.7, AtZero: 1, Lower: lower(0.2)},
		{Failed: "x"},
		{F: 0.5, AtZero: 1, Lower: lower(0.5), Converged: true},
	}}
	adam := &Cell{Points: []Point{{F: 0.6, AtZero: 1}, {F: 1.5, AtZero: 1}, {F: 1.2, AtZero: 1}, {F: 0.8, AtZero: 1}, {F: 1, AtZero: 1}, {F: 0.4, AtZero: 1}}}
	var f shortfall
	f.addCells(adam, optimum)
	if f.compared != 5 || f.atZero != 1 || f.unproven != 1 || f.wasted != 1 || f.undercuts != 1 || len(f.missing) != 3 {
		t.Errorf("%+v", f)
	}
	if m := f.missing[0]; m < 0.2-1e-9 || m > 0.2+1e-9 {
		t.Errorf("a tenth of a half is missing, not %v", m)
	}
}

// collapsedStudy has two real sets on which every method has the same criteria, except for TopMean, which has none and
// for which w = 0 is optimal.
func collapsedStudy(t *testing.T) *study {
	t.Helper()
	st := &study{o: Options{Seeds: 3, Adam: true, Zero: true}, absent: map[string]string{}, cells: map[string]*Cell{},
		zeros: map[string]*ZeroAnswer{}, shapes: map[string]*Shape{},
		sets: []Set{{Key: "ionosphere", Name: "Ionosphere", PaperSet: "Ionosphere", Kind: Real, Seeds: true},
			{Key: "spambase", Name: "Spambase", PaperSet: "Spambase", Kind: Real, Seeds: true}}}
	for i := range st.sets {
		s := &st.sets[i]
		for _, e := range entries() {
			value, verdict := 1.0, certified.ZeroIsNotOptimal
			if e.Method.Name == "topmean" {
				value, verdict = 0, certified.ZeroIsOptimal
			}
			c := &Cell{}
			for k := range criterionCount {
				c.Test[paperCount].Values[paperCount][k] = &value
			}
			for _, seed := range st.seeds(s) {
				st.cells[cellName(s, variant{Seed: seed, Solver: solverAdam}, e)] = c
			}
			problems, err := e.problems()
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range problems {
				st.zeros[zeroName(s, p)] = &ZeroAnswer{Verdict: verdict.String()}
			}
		}
	}
	return st
}

// "The best" against others that include a collapsed method is no conclusion: without it nothing is left.
func TestNoConclusionLeansOnCollapsedMethods(t *testing.T) {
	for _, a := range collapsedStudy(t).assess() {
		switch {
		case len(a.methods) == 1 && a.methods[0] == "topmean":
			if a.all.Mean != -7 || a.without.N != 0 || a.verdict() != confirmed {
				t.Errorf("%s: %s, %s, %s", a.text, a.all.text(), a.without.text(), a.verdict())
			}
		case a.rivals == nil && a.against == nil && !a.worse:
			if !(a.all.High < 0) || a.without.Mean != 0 || a.verdict() != undecided {
				t.Errorf("%s: %s with all methods, %s without, %s", a.text, a.all.text(), a.without.text(), a.verdict())
			}
		}
		if a.sources != 2 {
			t.Errorf("%s: %d sources", a.text, a.sources)
		}
	}
}

// A reader who looks for a part that is shown looks at all of them, so all are corrected together.
func TestAllPartsAreCorrectedTogether(t *testing.T) {
	st := collapsedStudy(t)
	if n := st.partIntervals(); n != 138 {
		t.Errorf("%d intervals of one run, want 138", n)
	}
	st.o.Certified = true
	if n := st.partIntervals(); n != 276 {
		t.Errorf("%d intervals of two runs, want 276", n)
	}
}

// A difference of mean ranks that is only rounding is 0, and shows nothing.
func TestRoundingIsNoDifference(t *testing.T) {
	values := []float64{0.1, 0.2, -0.3}
	if d := together(values, 1); d.Mean != 0 || !strings.HasPrefix(d.text(), "+0.0 [") {
		t.Errorf("%v: %s", values, d.text())
	}
	if cells := marked([]float64{0.1 + 0.2, 0.3, 1.3 + 1e-16, 2}); cells[0] != "0.3 ●" || cells[1] != "0.3 ●" || cells[2] != "1.3 ○" {
		t.Errorf("%q", cells)
	}
}

// Means of the same number of positives are equal, whatever the order of the splits.
func TestEqualMeansAreEqual(t *testing.T) {
	st := collapsedStudy(t)
	s, e := &st.sets[0], entries()[0]
	st.shapes[s.Key] = &Shape{Parts: [3]Counted{{}, {}, {Rows: 88, Share: 31.0 / 88}}}
	for i, found := range [][2]float64{{1, 7}, {2, 2}, {7, 1}} { // the sums of these fractions differ in floating point
		for j, scaled := range []bool{false, true} {
			x := found[j] / 31
			c := &Cell{}
			for k := range criterionCount {
				c.Test[paperCount].Values[paperCount][k] = &x
			}
			st.cells[cellName(s, variant{Seed: uint64(i + 1), Solver: solverAdam, Scaled: scaled}, e)] = c
		}
	}
	if _, tally := st.scalingRow(s, e, solverAdam, paperCount); tally != [3]int{0, criterionCount, 0} {
		t.Errorf("better, equal, worse: %v", tally)
	}
}

// A smaller gap selects the same setting on the split on which a gap of 1e-4 selects another one.
func TestTheGapIsSmallEnough(t *testing.T) {
	s := fullStudy(t).sets[0]
	parts, err := s.load(division{seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	w := workshop{parts: parts, zero: func(p method.Problem) (*ZeroAnswer, error) {
		return isZeroOptimal(context.Background(), parts.Training, p)
	}}
	for _, change := range []change{"", "gap1"} {
		cells, err := w.makeCells(context.Background(), variant{Seed: 3, Solver: solverCertified, Change: change}, entries()[:1])
		if err != nil {
			t.Fatal(err)
		}
		if top := *cells[0].value(strictCount, 0); math.Abs(top-21.0/31) > 1e-9 {
			t.Errorf("%s: @Top %.3f, want 0.677", change.words(), top)
		}
		if p := cells[0].Points[0]; p.Lambda != 0 || p.Length > provenLength*p.LengthBound {
			t.Errorf("%s: with lambda = 0 |w| is %g, and the bound %g", change.words(), p.Length, p.LengthBound)
		}
	}
}

// An end of an interval never loses its side of zero.
func TestSignedKeepsTheSide(t *testing.T) {
	for x, want := range map[float64]string{-0.4: "-0.4", 0.04: "+0.04", -0.031: "-0.03", 0: "+0.0", math.Copysign(0, -1): "+0.0",
		-7.04: "-7.0", 0.05: "+0.1"} {
		if got := signed(x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
}
