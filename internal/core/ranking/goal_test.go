package ranking

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"toptau/method"
	"toptau/metric"
)

// parseGoal reads a goal in the words of the command line: "--max-fpr 1%".
func parseGoal(t *testing.T, text string) (g metric.Goal) {
	t.Helper()
	switch words := strings.Fields(text); len(words) {
	case 1:
		g.Kind = metric.GoalKind(words[0][2:])
	default:
		g = metric.RateGoal(metric.GoalKind(words[0][2:]), words[1])
		if words[0] == "--alerts" { // --alerts 50/2000
			g = metric.Goal{Kind: metric.GoalAlerts}
			if _, err := fmt.Sscanf(words[1], "%d/%d", &g.Count, &g.Of); err != nil {
				t.Fatal(err)
			}
		}
	}
	return g
}

// Five negatives and three positives; the top of the list is + - + + - ...
func TestGoalOnScores(t *testing.T) {
	r, err := Rank(Scores{Positives: []float64{9, 7, 6}, Negatives: []float64{8, 5, 4, 4, 1}})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		goal      string
		caught    float64
		threshold float64
		undefined bool
	}{
		{"--absolute-top", 1, 8, false},
		{"--max-fpr 0.1", 1, 8, false}, // floor(5 x 0.1) = 0 negatives
		{"--max-fpr 0.2", 3, 5, false}, // one negative
		{"--max-fpr 0.6", 3, 4, false}, // three negatives: the tie at 4 admits two
		{"--top 0.25", 1, 7, false},    // two rows
		{"--top 4/8", 3, 5, false},     // four rows
		{"--alerts 1/100", 0, 0, true}, // no row at all
	}
	for _, test := range tests {
		g := parseGoal(t, test.goal)
		res, err := r.Positives(CriterionOf(g))
		if err != nil || res.Defined() == test.undefined || res.Defined() && res.Numerator != test.caught {
			t.Errorf("%v: %+v, %v", g, res, err)
		}
		if res.Defined() && res.Threshold != test.threshold {
			t.Errorf("%v: threshold %v, want %v", g, res.Threshold, test.threshold)
		}
	}
}

// The criterion's threshold keeps the budget on its own sample, and no lower score of the sample does.
func TestGoalThresholdIsTheLowest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) []float64 {
			return rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 6), func(i int) float64 { return float64(i) }), 1, 12).Draw(t, name)
		}
		s := Scores{Positives: draw("positives"), Negatives: draw("negatives")}
		of := rapid.Int64Range(2, 12).Draw(t, "of")
		count := rapid.Int64Range(1, of-1).Draw(t, "count")
		g := metric.Goal{Kind: metric.GoalTop, Count: count, Of: of}
		population := append(append([]float64{}, s.Positives...), s.Negatives...)
		if rapid.Bool().Draw(t, "np") {
			g = metric.Goal{Kind: metric.GoalMaxFPR, Rate: g.Tau()}
			population = s.Negatives
		}
		r, err := Rank(s)
		if err != nil {
			t.Fatal(err)
		}
		res, err := r.Positives(CriterionOf(g))
		if err != nil {
			t.Fatal(err)
		}
		if !res.Defined() {
			return
		}
		at := res.Threshold
		admitted := func(at float64) (n int64) {
			for _, z := range population {
				if z > at {
					n++
				}
			}
			return n
		}
		budget := int64(len(population)) * count / of
		if admitted(at) > budget {
			t.Fatalf("%v admits %d of %d", at, admitted(at), budget)
		}
		for _, z := range population {
			if z < at && admitted(z) <= budget {
				t.Fatalf("%v is lower than %v and keeps the budget %d", z, at, budget)
			}
		}
	})
}

func TestGoalFitsMethods(t *testing.T) {
	fits := func(text string) string {
		g := parseGoal(t, text)
		var names []string
		for _, m := range method.All() {
			if Fits(g, m) {
				names = append(names, string(m.Name))
			}
		}
		return strings.Join(names, " ")
	}
	for text, want := range map[string]string{
		"--absolute-top":  "toppush toppushk",
		"--max-fpr 1%":    "grill-np patmat-np topmean-np",
		"--top 1%":        "grill patmat topmean",
		"--alerts 5/1000": "grill patmat topmean",
		"--top 5/100":     "grill patmat topmean",
	} {
		if got := fits(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
