package ranking

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"toptau/diag"
	"toptau/method"
	"toptau/threshold"
)

func newStream(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func TestHandWorkedCriteria(t *testing.T) {
	// Descending: 9+ 8- 7+ 7- 6+ 5- 4- 3- 2- 1-: three positives, seven negatives.
	r, err := Rank(Scores{Positives: []float64{7, 9, 6}, Negatives: []float64{1, 2, 3, 4, 5, 7, 8}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		criterion           Criterion
		numerator, at, held float64
	}{
		{Top(), 1, 8, 0},
		{NP(threshold.MustRate("15%")), 1, 7, 1},       // floor(1.05) = 1 negative: above the second, 7; the tied 7+ does not count
		{NP(threshold.MustRate("2/7")), 3, 5, 2},       // exactly 2 of 7
		{Quantile(threshold.MustRate("20%")), 1, 7, 2}, // 2 of 10: above the third, 7
		{Quantile(threshold.MustRate("40%")), 2, 6, 4}, // 4 of 10: above the fifth, 6
		{Top().AsInPaper(), 1, 8, 0},
		{NP(threshold.MustRate("15%")).AsInPaper(), 2, 7, 2}, // K = ceil(1.05) = 2: at or above 7
		{Quantile(threshold.MustRate("30%")).AsInPaper(), 2, 7, 3},
	} {
		got, err := r.Positives(c.criterion)
		if err != nil {
			t.Fatal(err)
		}
		if got.Numerator != c.numerator || got.Threshold != c.at || got.Budget != c.held || got.Denominator != 3 {
			t.Errorf("%v: %+v", c.criterion, got)
		}
	}
}

func TestConstantScoreIsWorthNothing(t *testing.T) {
	s := Scores{Positives: make([]float64, 30), Negatives: make([]float64, 70)}
	r, err := Rank(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range criteria(threshold.MustRate("10%")) {
		got, _ := r.Positives(c)
		want := 0.0
		if c.Paper {
			want = 1
		}
		if got.Rate != want {
			t.Errorf("%v: %v, want %v", c, got.Rate, want)
		}
	}
	if top, _ := r.TopCount(20); top.TruePositives != 0 {
		t.Errorf("top count: %+v", top)
	}
	if auc := r.AUC(); auc != (AUC{Half: 0.5}) {
		t.Errorf("%+v", auc)
	}
}

func TestUndefinedSaysWhy(t *testing.T) {
	tau := threshold.MustRate("1%")
	for _, c := range []struct {
		scores    Scores
		criterion Criterion
		reason    string
	}{
		{Scores{Negatives: []float64{1}}, Top(), "no positives"},
		{Scores{Positives: []float64{1}}, Top(), "no negatives"},
		{Scores{Positives: []float64{1}}, NP(tau), "no negatives"},
		{Scores{Positives: []float64{1}, Negatives: []float64{0}}, Quantile(tau), "floor(2 x 0.01) = 0"},
		{Scores{}, Quantile(tau), "no positives"},
	} {
		r, err := Rank(c.scores)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Bootstrap(c.criterion, Bootstrap{Replicates: 10})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got.Undefined, c.reason) || got.Interval != nil || got.NoInterval == "" {
			t.Errorf("%v: %+v", c.criterion, got)
		}
		text, err := json.Marshal(got)
		if err != nil || !strings.Contains(string(text), `"rate":null`) || !strings.Contains(string(text), `"threshold":null`) {
			t.Errorf("%s %v", text, err)
		}
	}
	r, _ := Rank(Scores{Positives: []float64{1}, Negatives: []float64{0}}) // with B = 0 negatives this one is defined
	if got, _ := r.Positives(NP(tau)); !got.Defined() || got.Rate != 1 || got.Threshold != 0 {
		t.Errorf("%+v", got)
	}
}

func TestBadInputNamesTheRow(t *testing.T) {
	for _, c := range []struct {
		scores Scores
		text   string
	}{
		{Scores{Positives: []float64{1, math.NaN()}}, "positive row 2 is NaN"},
		{Scores{Negatives: []float64{math.NaN()}}, "negative row 1 is NaN"},
		{Scores{Negatives: []float64{1}, NegativeWeights: []float64{-1}}, "weight of negative row 1 is -1"},
		{Scores{Negatives: []float64{1}, NegativeWeights: []float64{math.NaN()}}, "weight of negative row 1 is NaN"},
		{Scores{Positives: []float64{1}, PositiveWeights: []float64{1, 2}}, "2 weights for 1 positive"},
	} {
		_, err := Rank(c.scores)
		if e := diag.Of(err); e == nil || e.Kind != diag.Data || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v, want %q", err, c.text)
		}
	}
	r, _ := Rank(Scores{Positives: []float64{1}, Negatives: []float64{0}})
	for _, wrong := range []func() error{
		func() error { _, err := r.Positives(Criterion{Name: method.AtNP}); return err },
		func() error { _, err := r.Positives(Criterion{Name: 9}); return err },
		func() error { _, err := r.TopCount(3); return err },
		func() error { _, err := r.TopCount(0); return err },
		func() error { _, err := r.TopCount(1.5); return err },
		func() error { _, err := r.TopCount(math.NaN()); return err },
		func() error { _, err := r.At(0, 1.5); return err },
		func() error { _, err := r.Bootstrap(Top(), Bootstrap{Replicates: -1}); return err },
		func() error { _, err := r.Bootstrap(Top(), Bootstrap{Confidence: 2}); return err },
	} {
		if e := diag.Of(wrong()); e == nil || e.Kind != diag.Usage {
			t.Errorf("%v is not a usage error", e)
		}
	}
}

func TestInfiniteScoresAreOrdered(t *testing.T) {
	r, err := Rank(Scores{Positives: []float64{math.Inf(1), 1}, Negatives: []float64{math.Inf(-1), 2}})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := r.Positives(Top()); got.Numerator != 1 || got.Threshold != 2 {
		t.Errorf("%+v", got)
	}
	c, err := r.At(math.Inf(-1), 0)
	if err != nil || c.FalsePositives != 1 {
		t.Errorf("%+v %v", c, err)
	}
	if _, err := json.Marshal(c); err != nil {
		t.Error(err)
	}
}

// Rank leaves its input as it was.
func TestRankKeepsInput(t *testing.T) {
	s := Scores{Positives: []float64{1, 3, 2}, Negatives: []float64{5, 4, 6}, NegativeWeights: []float64{1, 2, 3}}
	before := []([]float64){slices.Clone(s.Positives), slices.Clone(s.Negatives), slices.Clone(s.NegativeWeights)}
	if _, err := Rank(s); err != nil {
		t.Fatal(err)
	}
	for i, v := range [][]float64{s.Positives, s.Negatives, s.NegativeWeights} {
		if !slices.Equal(v, before[i]) {
			t.Errorf("slice %d changed to %v", i, v)
		}
	}
}

// Ten weights of 0.1 behave like ten counts: 0.1+0.1+0.1 is above 0.3 in float64 and must not be cut off for
// it.
func TestTenthsBehaveLikeCounts(t *testing.T) {
	var s Scores
	for i := range 10 {
		s.Negatives = append(s.Negatives, float64(i))
		s.NegativeWeights = append(s.NegativeWeights, 0.1)
	}
	s.Positives = []float64{6.5, 7.5}
	r, err := Rank(s)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := r.Positives(NP(threshold.MustRate("30%"))); got.Threshold != 6 || got.Numerator != 2 {
		t.Errorf("%+v", got)
	}
}

// By hand: precisions 1 of 1 and 2 of 3 at the two positives; equal scores count together.
func TestAveragePrecision(t *testing.T) {
	for _, c := range []struct {
		s    Scores
		want float64
	}{
		{Scores{Positives: []float64{3, 1}, Negatives: []float64{2}}, (1 + 2./3) / 2},
		{Scores{Positives: []float64{2, 2}, Negatives: []float64{2, 0}}, 2. / 3},
		{Scores{Positives: []float64{5}, Negatives: []float64{1, 2}}, 1},
		{Scores{Positives: []float64{3, 1}, Negatives: []float64{2}, PositiveWeights: []float64{3, 1}, NegativeWeights: []float64{4}}, (3 + 4./8) / 4},
		{Scores{Negatives: []float64{1}}, 0},
	} {
		if got := mustRank(t, c.s).AveragePrecision(); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%+v: %v, want %v", c.s, got, c.want)
		}
	}
}
