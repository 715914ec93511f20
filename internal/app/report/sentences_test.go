package report_test

import (
	"strings"
	"testing"

	"toptau/internal/app/report"
	"toptau/metric"
	"toptau/result"
	"toptau/threshold"
)

// Each conclusion with the numbers of both sides.
func TestVerdictText(t *testing.T) {
	entry := func(name string, found float64) result.Entry {
		e := result.Entry{Name: name, Encoding: "scorecard"}
		e.Goal = &result.GoalValue{Value: metric.Result{Proportion: metric.Proportion{Numerator: found, Denominator: 41,
			Rate: found / 41, Interval: &metric.Interval{Confidence: 0.95}}}}
		return e
	}
	e := &result.Evaluation{Entries: []result.Entry{entry("topmean-np/scorecard", 24), entry("logistic", 23), entry("gbdt", 30)}}
	d := &metric.Difference{Rate: 1.0 / 41, Interval: &metric.Interval{Low: -0.122, High: 0.171}}
	for _, c := range []struct {
		verdict              result.Verdict
		conclusion, evidence string
	}{
		{result.Verdict{About: result.AboutLoss, Entry: "topmean-np/scorecard", Against: "logistic", Difference: d, Together: 1,
			Verdict: metric.Undecided}, "inconclusive with 41 positives",
			"topmean-np/scorecard finds 24 of 41 positives, logistic 23; +2.4 points, 95 % CI -12.2 to +17.1"},
		{result.Verdict{About: result.AboutLoss, Entry: "topmean-np/scorecard", Against: "logistic", Difference: d,
			Verdict: metric.Better}, "top-focused training helps",
			"topmean-np/scorecard finds 24 of 41 positives, logistic 23; +2.4 points, 95 % CI -12.2 to +17.1"},
		{result.Verdict{About: result.AboutEncoding, Entry: "topmean-np/scorecard", Against: "logistic", Difference: d,
			Verdict: metric.Worse}, "scorecard hurts topmean-np",
			"topmean-np/scorecard finds 24 of 41 positives, logistic 23; +2.4 points, 95 % CI -12.2 to +17.1"},
		{result.Verdict{About: result.AboutEntry, Entry: "gbdt", Against: "logistic", Difference: d, Together: 2, Verdict: metric.Better},
			"gbdt finds more positives than logistic",
			"gbdt finds 30 of 41 positives, logistic 23; +2.4 points, 95 % CI -12.2 to +17.1 (for all 2 comparisons together)"},
		{result.Verdict{About: result.AboutEntry, Entry: "gbdt", Against: "logistic", Verdict: metric.Undecided,
			Difference: &metric.Difference{Undefined: "the budget is 0"}}, "undefined", "the budget is 0"},
		{result.Verdict{About: result.AboutLoss}, "nothing to compare: no top-focused method was fitted", ""},
		{result.Verdict{About: result.AboutLoss, Entry: "ramp/leaves"},
			"nothing to compare: logistic regression was not fitted on the encoding of ramp/leaves", ""},
		{result.Verdict{About: result.AboutBest, Entry: "gbdt", Among: []string{"gbdt"}, Verdict: metric.Better}, "gbdt is the best",
			"30 of 41 positives, the most of 3 entries; no other entry is as good (95 % confidence)"},
		{result.Verdict{About: result.AboutBest, Entry: "gbdt", Among: []string{"gbdt", "logistic"}},
			"gbdt finds the most, but not significantly more than all others",
			"30 of 41 positives, the most of 3 entries; the best is one of gbdt or logistic (95 % confidence)"},
		{result.Verdict{About: result.AboutBest, Entry: "gbdt", Among: []string{"gbdt", "logistic", "topmean-np/scorecard"}},
			"gbdt finds the most, but not significantly more than all others",
			"30 of 41 positives, the most of 3 entries; none can be ruled out as the best (95 % confidence)"},
	} {
		if conclusion, evidence := report.VerdictText(&c.verdict, e); conclusion != c.conclusion || evidence != c.evidence {
			t.Errorf("%s\n%s\nwant\n%s\n%s", conclusion, evidence, c.conclusion, c.evidence)
		}
	}
}

// What a comparison with the training rows could and could not see.
func TestOverlapText(t *testing.T) {
	smallest := 1400.0
	for want, o := range map[string]*result.Overlap{
		"unknown: the model keeps no fingerprints of its training rows":         nil,
		"about 400 of these rows trained the model":                             {Excess: true, Estimate: 400},
		"unknown: all training rows are repeated, so fresh rows look like them": {},
		"none found (fewer than about 1,400 could go unnoticed)":                {Smallest: &smallest},
	} {
		if got := report.OverlapText(o); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// Sentences about a monitor name bounds as they count ("or more"), put an alarm after the start of its change, and have the condition
// of their probability.
func TestMonitoringSentences(t *testing.T) {
	alarm := result.MonitorAlarm{Stream: "scores", Row: 1000, Since: 400}
	r := &result.Monitoring{Rows: 30_000, FalseAlarm: threshold.MustRate("1%"), Alarms: []result.MonitorAlarm{alarm},
		Scores: &result.MonitorScores{Evidence: result.Evidence{Since: 20_000}, Levels: []result.ScoreLevel{{Score: 0.5, Seen: 1, Expected: 0.0075}}}}
	sentences := report.MonitoringSummary(r)
	for i, want := range []string{
		"Scores changed after row 400 (alarm at row 1,000) and most of all after row 20,000: 100 % of the rows score 0.5 or more, before 0.75 %.",
		"Independent rows that have not changed would ever raise any alarm with a probability of at most 1 %.",
	} {
		if i >= len(sentences) || !strings.HasPrefix(sentences[i], want) {
			t.Errorf("%q, want %q", sentences, want)
		}
	}
	r.Block = "7d"
	if got := report.MonitoringSummary(r)[1]; !strings.HasPrefix(got, "Blocks of 7d that have not changed") {
		t.Error(got)
	}
	three := 3.0
	r.Columns = &result.MonitorColumns{List: []result.MonitorColumn{{Column: "x", Evidence: result.Evidence{Alarm: true, Since: 90}, Kind: result.AtLeastValue,
		AtLeast: &three, Seen: 1, Expected: 0.0075}}}
	r.Alarms = []result.MonitorAlarm{{Stream: "columns", Row: 100, Column: "x"}}
	if got := report.MonitoringSummary(r)[0]; got != "Changed columns (first alarm at row 100): x (3 or more: 100 %, before 0.75 %, after row 90)." {
		t.Error(got)
	}
}
