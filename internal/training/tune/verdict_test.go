package tune

import (
	"slices"
	"testing"

	"toptau/internal/core/ranking"
	"toptau/internal/models/feature"
	"toptau/method"
	"toptau/metric"
	"toptau/result"
	"toptau/threshold"
)

// foundScores puts the first positives above all negatives and the others below.
func foundScores(found, positives int) []float64 {
	z := make([]float64, positives)
	for i := range found {
		z[i] = 10
	}
	return z
}

// pairOf is the paired bootstrap of entries that find the given numbers of 200 positives.
func pairOf(t *testing.T, found ...int) *ranking.Paired {
	t.Helper()
	negatives := make([]float64, 400)
	for k := range negatives {
		negatives[k] = 1 + float64(k)/1000
	}
	var s ranking.PairedScores
	for _, n := range found {
		s.Positives, s.Negatives = append(s.Positives, foundScores(n, 200)), append(s.Negatives, negatives)
	}
	paired, err := ranking.PairedBootstrap(s, ranking.NP(threshold.MustRate("5%")), 0, ranking.Bootstrap{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return &paired
}

// Each conclusion, from entries whose scores are made by hand: the loss is judged on one encoding, the
// encoding with one learner, and the best entry is among those that no other one beats.
func TestVerdicts(t *testing.T) {
	raw, leaves := feature.EncodeRaw, feature.EncodeLeaves
	entries := []Ranked{
		{"logistic", result.BaselineEntry, Task{Learner: method.Logistic, Features: raw}, 0.1},
		{"ramp", result.MethodEntry, Task{Learner: method.Ramp, Features: raw}, 0.2},
		{"logistic/leaves", result.BaselineEntry, Task{Learner: method.Logistic, Features: leaves}, 0.3},
		{"ramp/leaves", result.MethodEntry, Task{Learner: method.Ramp, Features: leaves}, 0.4},
		{"chosen", result.ChosenEntry, Task{}, 0.4},
	}
	for _, c := range []struct {
		found [5]int
		drop  string // an entry that was not fitted
		want  []result.Verdict
	}{
		{[5]int{100, 110, 150, 170, 170}, "", []result.Verdict{
			{About: result.AboutLoss, Entry: "ramp/leaves", Against: "logistic/leaves", Verdict: metric.Better},
			{About: result.AboutEncoding, Entry: "ramp/leaves", Against: "ramp", Verdict: metric.Better},
			{About: result.AboutEntry, Entry: "chosen", Against: "logistic", Verdict: metric.Better},
			{About: result.AboutBest, Entry: "ramp/leaves", Among: []string{"ramp/leaves", "chosen"}, Verdict: metric.Undecided}}},
		{[5]int{190, 170, 150, 120, 120}, "", []result.Verdict{
			{About: result.AboutLoss, Entry: "ramp/leaves", Against: "logistic/leaves", Verdict: metric.Worse},
			{About: result.AboutEncoding, Entry: "ramp/leaves", Against: "ramp", Verdict: metric.Worse},
			{About: result.AboutEntry, Entry: "chosen", Against: "logistic", Verdict: metric.Worse},
			{About: result.AboutBest, Entry: "logistic", Among: []string{"logistic"}, Verdict: metric.Better}}},
		{[5]int{150, 150, 150, 152, 152}, "", []result.Verdict{
			{About: result.AboutLoss, Entry: "ramp/leaves", Against: "logistic/leaves", Verdict: metric.Undecided},
			{About: result.AboutEncoding, Entry: "ramp/leaves", Against: "ramp", Verdict: metric.Undecided},
			{About: result.AboutEntry, Entry: "chosen", Against: "logistic", Verdict: metric.Undecided},
			{About: result.AboutBest, Entry: "ramp/leaves", Verdict: metric.Undecided,
				Among: []string{"logistic", "ramp", "logistic/leaves", "ramp/leaves", "chosen"}}}},
		{[5]int{150, 150, 150, 190, 190}, "logistic/leaves", []result.Verdict{
			{About: result.AboutLoss, Entry: "ramp/leaves", Verdict: metric.Undecided},
			{About: result.AboutEncoding, Entry: "ramp/leaves", Against: "ramp", Verdict: metric.Better},
			{About: result.AboutEntry, Entry: "chosen", Against: "logistic", Verdict: metric.Better},
			{About: result.AboutBest, Entry: "ramp/leaves", Among: []string{"ramp/leaves", "chosen"}, Verdict: metric.Undecided}}},
	} {
		var ranked []Ranked
		var found []int
		for i, e := range entries {
			if e.Name != c.drop {
				ranked, found = append(ranked, e), append(found, c.found[i])
			}
		}
		got := Verdicts(ranked, pairOf(t, found...), 0)
		if len(got) != len(c.want) {
			t.Fatalf("%+v", got)
		}
		for i, want := range c.want {
			v := &got[i]
			if v.About != want.About || v.Entry != want.Entry || v.Against != want.Against || v.Verdict != want.Verdict ||
				!slices.Equal(v.Among, want.Among) || (v.Difference != nil) != (v.Against != "") {
				t.Errorf("%v: %+v\nwant %+v", c.found, v, want)
			}
		}
	}
}

// Saved models and scores are each compared with the reference, together; nothing is said about losses and
// encodings.
func TestVerdictsOnSavedModels(t *testing.T) {
	entries := []Ranked{{Name: "last", Kind: result.ModelEntry}, {Name: "next", Kind: result.ModelEntry}, {Name: "other", Kind: result.ScoresEntry}}
	got := Verdicts(entries, pairOf(t, 100, 150, 50), 0)
	if len(got) != 3 || got[0].Entry != "next" || got[0].Verdict != metric.Better || got[1].Entry != "other" ||
		got[1].Verdict != metric.Worse || got[0].Together != 2 || got[2].About != result.AboutBest || got[2].Verdict != metric.Better {
		t.Errorf("%+v", got)
	}
}

// Without positives within reach of a budget nothing is decided, and the reason is there.
func TestVerdictsOfUndefinedCriteria(t *testing.T) {
	s := ranking.PairedScores{Positives: [][]float64{{1}, {2}}, Negatives: [][]float64{{0}, {0}}}
	paired, err := ranking.PairedBootstrap(s, ranking.Quantile(threshold.MustRate("1%")), 0, ranking.Bootstrap{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	got := Verdicts([]Ranked{{Name: "a"}, {Name: "b"}}, &paired, 0)
	if len(got) != 1 || got[0].Verdict != metric.Undecided || got[0].Difference.Undefined == "" {
		t.Errorf("%+v", got)
	}
}
