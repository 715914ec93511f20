package summary

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"toptau/calibrate"
	"toptau/internal/core/ranking"
	"toptau/metric"
	"toptau/result"
	"toptau/threshold"
)

// decisionsOn returns the decisions of a threshold with the given numbers of positives and negatives above and below it.
func decisionsOn(t testing.TB, tp, fn, fp, tn int, weighted bool) metric.Confusion {
	t.Helper()
	var s ranking.Scores
	for i := range tp + fn {
		s.Positives = append(s.Positives, boolScore(i < tp))
	}
	for i := range fp + tn {
		s.Negatives = append(s.Negatives, boolScore(i < fp))
	}
	if weighted {
		s.PositiveWeights, s.NegativeWeights = make([]float64, tp+fn), make([]float64, fp+tn)
		for i := range s.PositiveWeights {
			s.PositiveWeights[i] = 2
		}
		for i := range s.NegativeWeights {
			s.NegativeWeights[i] = 2
		}
	}
	r, err := ranking.Rank(s)
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.At(0.5, 0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func boolScore(above bool) float64 {
	if above {
		return 1
	}
	return 0
}

func TestSummary(t *testing.T) {
	goal := metric.RateGoal(metric.GoalMaxFPR, "1%")
	f := Facts{Goal: goal, Decisions: decisionsOn(t, 150, 50, 72, 9728, false), Basis: "the test part",
		Delta: threshold.MustRate("5%"), Guarantee: &calibrate.Guarantee{Certified: true, Kind: "max-fpr", Rate: threshold.MustRate("1%"),
			Delta: threshold.MustRate("5%"), Negatives: 3000}, Prevalence: 0.02,
		Chosen: "logistic on leaves", Gain: &result.Estimate{Mean: 0.042, StandardError: 0.011}, Warnings: 2}
	want := `75 % of the positives are found (150 of 200; 95 % CI 68.4 % to 80.8 %).
Of 1,000 alerts, about 676 are real (95 % CI 610 to 737).
0.735 % of the negatives raise a false alarm (72 of 9,800; 95 % CI 0.575 % to 0.924 %). The budget is 1 %.
Guaranteed with 95 % confidence, for rows like the 3,000 negatives that set the threshold: at most 1 % of the negatives raise a false alarm.
Per 100,000 rows: about 2,220 alerts, 1,500 of them real; 500 positives missed.
Measured on the test part.
Assumes 2 % positives, as in training.
Goal: as many positives as possible with at most 1 % of the negatives as false alarms.
Chosen: logistic on leaves; +4.2 ± 1.1 points over logistic regression on raw columns, in cross-validation.
These numbers only apply to data like this; see the 2 notes below.`
	if got := strings.Join(Lines(f), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	f.Unit = &result.Unit{Entity: "host", Per: "day", Rows: 5000}
	if lines := Lines(f); lines[0] != "75 % of the positive host-days are found (150 of 200; 95 % CI 68.4 % to 80.8 %)." ||
		!strings.HasPrefix(lines[2], "0.735 % of the negative host-days raise") || lines[7] != "Assumes 2 % positive host-days, as in training." {
		t.Errorf("of entities:\n%s", strings.Join(lines, "\n"))
	}
	f.Unit = nil
	f.Prevalence, f.PrevalenceGiven, f.Warnings, f.Gain = 0.0001, true, 1, nil
	f.Decisions = ranking.Mix(f.Decisions, 0.0001, nil)
	f.Guarantee, f.NoGuarantee = nil, "a quarter of the 40 negatives is 10, and the guarantee needs 299"
	f.Goal = metric.Goal{Kind: metric.GoalAlerts, Count: 50, Of: 2000000}
	lines := Lines(f)
	for i, want := range map[int]string{
		1: "Of 1,000 alerts, about 10 are real (95 % CI 7 to 14).",
		4: "Per 2,000,000 rows: about 14,842 alerts, 150 of them real; 50 positives missed.",
		3: "No guarantee: a quarter of the 40 negatives is 10, and the guarantee needs 299.",
		6: "Assumes 0.01 % positives, as set.",
		8: "Chosen: logistic on leaves.",
		9: "These numbers only apply to data like this; see the note below.",
	} {
		if lines[i] != want {
			t.Errorf("%s\nwant %s", lines[i], want)
		}
	}
}

// The summary leaves out what is not known, and nothing divides by zero.
func TestSummaryOfFewFacts(t *testing.T) {
	for name, c := range map[string]struct {
		f     Facts
		lines int
		want  string
	}{
		"nothing":              {Facts{}, 2, "No guarantee was requested"},
		"no positives":         {Facts{Decisions: decisionsOn(t, 0, 0, 3, 100, false), Prevalence: 0.1}, 4, "2.91 % of the negatives"},
		"no alerts":            {Facts{Decisions: ranking.Mix(decisionsOn(t, 0, 5, 0, 100, false), 0.1, nil), Prevalence: 0.1}, 7, "there are no alerts"},
		"no false alarms":      {Facts{Decisions: ranking.Mix(decisionsOn(t, 5, 0, 0, 100, false), 0.1, nil), Prevalence: 0.1}, 7, "about 1,000 are real (95 % CI 519 to 1,000)"},
		"weights":              {Facts{Decisions: ranking.Mix(decisionsOn(t, 5, 5, 1, 99, true), 0.5, nil), Prevalence: 0.5}, 7, "about 980 are real."},
		"requested, no reason": {Facts{Delta: threshold.MustRate("5%")}, 2, "No guarantee."},
		"a negative gain":      {Facts{Chosen: "x", Gain: &result.Estimate{Mean: -0.01, StandardError: 0.02}}, 3, "-1.0 ± 2.0 points"},
		"top": {Facts{Guarantee: &calibrate.Guarantee{Certified: true, Kind: "top", Rate: threshold.MustRate("1/3"),
			Delta: threshold.MustRate("10%")}}, 2, "Guaranteed with 90 % confidence, for rows like those that set the threshold: at most 33.3 % of all rows become alerts."},
		"above all": {Facts{Guarantee: &calibrate.Guarantee{Certified: true, Kind: "absolute-top", Bound: 3e-8,
			Delta: threshold.MustRate("5%"), Negatives: 1}}, 2, "at most 3e-06 % of the negatives"},
	} {
		lines := Lines(c.f)
		if text := strings.Join(lines, "\n"); len(lines) != c.lines || !strings.Contains(text, c.want) || strings.Contains(text, "NaN") {
			t.Errorf("%s: %d lines\n%s", name, len(lines), text)
		}
	}
}

// The interval of the real alerts covers the truth in at least 95 % of the draws, at a prevalence other than the sample's.
func TestSummaryCoversThePrecision(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	const tpr, fpr, prevalence, draws = 0.6, 0.02, 0.001, 1000
	count := func(n int, p float64) (k int) {
		for range n {
			if float64(r.Uint64()>>11)/(1<<53) < p {
				k++
			}
		}
		return k
	}
	truth := 1000 * prevalence * tpr / (prevalence*tpr + (1-prevalence)*fpr)
	missed := 0
	for range draws {
		tp, fp := count(40, tpr), count(400, fpr)
		f := Facts{Decisions: ranking.Mix(decisionsOn(t, tp, 40-tp, fp, 400-fp, false), prevalence, nil), Prevalence: prevalence}
		_, text, found := strings.Cut(f.precisionLine(), "(95 % CI ")
		low, high, _ := strings.Cut(strings.TrimSuffix(text, ")."), " to ")
		a, err1 := strconv.ParseFloat(strings.ReplaceAll(low, ",", ""), 64)
		b, err2 := strconv.ParseFloat(strings.ReplaceAll(high, ",", ""), 64)
		if !found || err1 != nil || err2 != nil {
			t.Fatal(f.precisionLine())
		}
		if truth < a-0.5 || truth > b+0.5 {
			missed++
		}
	}
	if allowed := int(draws*0.05 + 3*math.Sqrt(draws*0.05*0.95)); missed > allowed {
		t.Errorf("%d of %d intervals miss %v, at most %d may", missed, draws, truth, allowed)
	} else {
		t.Logf("%d of %d intervals miss", missed, draws)
	}
}

// Without a test part the summary states the rate to expect on new rows. The rate on rows that chose the threshold may exceed the
// guaranteed one.
func TestSummaryStatesTheExpectedRate(t *testing.T) {
	goal := metric.RateGoal(metric.GoalMaxFPR, "1%")
	expectation := calibrate.Expectation{Rate: 0.007, Low: 0.0043, High: 0.0104, Confidence: 0.95}
	expected := NewExpected(expectation, false)
	expected.Scheme, expected.Population, expected.Rows = "certified", "negatives", 2990
	alarms := &metric.Proportion{Rate: expectation.Rate, Interval: &metric.Interval{Low: expectation.Low, High: expectation.High, Confidence: 0.95}}
	decisions := decisionsOn(t, 724, 297, 167, 15822, false)
	f := Facts{Goal: goal, Decisions: ranking.Mix(decisions, 0.05, alarms), Prevalence: 0.05,
		Delta: threshold.MustRate("5%"), Guarantee: &calibrate.Guarantee{Certified: true, Kind: "max-fpr", Rate: threshold.MustRate("1%"),
			Delta: threshold.MustRate("5%"), Negatives: 2990},
		Expected: &expected}
	text := strings.Join(Lines(f), "\n")
	if want := "Expect 0.7 % of new negatives to raise a false alarm (95 % CI 0.43 % to 1.04 %), from 2,990 negatives held out."; !strings.Contains(text, want) {
		t.Errorf("%s\nlacks %s", text, want)
	}
	if strings.Contains(text, "1.04 % of the negatives") || !strings.Contains(text, "about 842 are real") {
		t.Error(text)
	}
	f.Expected.Scheme, f.Expected.Approximate = "cross-fitted", true
	if text := strings.Join(Lines(f), "\n"); !strings.Contains(text, "(95 % CI about 0.43 % to 1.04 %), from 2,990 negatives each scored by fits that did not see it") {
		t.Error(text)
	}
	refitted := NewExpected(expectation, true)
	refitted.Scheme, refitted.Population, refitted.Rows = "cross-fitted", "negatives", 2990
	again := f
	again.Expected, again.Delta, again.Guarantee = &refitted, threshold.Rate{}, nil
	again.Decisions = ranking.Mix(decisions, 0.05, &metric.Proportion{Rate: expectation.Rate})
	text = strings.Join(Lines(again), "\n")
	if !strings.Contains(text, "Expect about 0.7 % of new negatives") || !strings.Contains(text, "That is not an interval") ||
		strings.Contains(text, "real (95") || strings.Contains(text, "kept on average") {
		t.Error(text)
	}
	f.Measured = true
	if text := strings.Join(Lines(f), "\n"); !strings.Contains(text, "1.04 % of the negatives raise a false alarm (167 of 15,989") {
		t.Error(text)
	}
}
