package tune

import (
	"context"
	"math"
	"os"
	"strings"
	"testing"

	"toptau/diag"
	"toptau/internal/data/table"
	"toptau/method"
	"toptau/metric"
	"toptau/result"
	"toptau/threshold"
)

// goalOptions are quick options with a goal.
func goalOptions(t testing.TB, g metric.Goal) SearchOptions {
	o := linear(t, "--max-fpr 5%", method.Logistic)
	o.Goal = g
	return o
}

// measuredRates returns the recall and the precision of a model on fresh rows.
func measuredRates(t *testing.T, f *Found, fresh *table.Table) (recall, precision float64) {
	t.Helper()
	var found, alerts, positives float64
	for row, z := range scoresOf(t, f.Map, f.W, f.Offset, fresh) {
		real := fresh.Label[row] == table.Positive
		if real {
			positives++
		}
		if z > f.Threshold.Value {
			alerts++
			if real {
				found++
			}
		}
	}
	return found / positives, found / max(1, alerts)
}

// Which rows give the threshold of a goal about precision or recall.
func TestSchemesOfGoals(t *testing.T) {
	precision, recall := metric.RateGoal(metric.GoalMinPrecision, "40%"), metric.RateGoal(metric.GoalMinRecall, "90%")
	both := precision
	both.Recall = threshold.MustRate("20%")
	for _, c := range []struct {
		goal              metric.Goal
		positives         int
		delta             string
		scheme            Scheme
		calibration       Counts // 0: not fixed
		calibrationAtMost int
	}{
		{precision, 200, "", SchemeCrossFitted, Counts{}, 0},
		{precision, 200, "10%", SchemeCertified, Counts{}, 600},
		{both, 200, "10%", SchemeCertified, Counts{}, 600},
		{recall, 100, "", SchemeCrossFitted, Counts{}, 0},
		{recall, 200, "", SchemeAllRows, Counts{}, 0},
		{recall, 200, "10%", SchemeCertified, Counts{Positives: 91}, 100}, // at 91 positives 5 may be missed
	} {
		o := goalOptions(t, c.goal)
		if c.delta != "" {
			o.Delta = threshold.MustRate(c.delta)
		}
		f := find(t, simulated(c.positives, 1000, 3), o)
		if f.Scheme != c.scheme || c.calibration != (Counts{}) && f.Calibration != c.calibration || f.Calibration.Rows() > c.calibrationAtMost {
			t.Errorf("%s, delta %q: %s with %s", c.goal, c.delta, f.Scheme, f.Calibration)
		}
		if certified := c.delta != ""; f.Threshold.Certified != certified || certified && f.Threshold.Guarantee == nil {
			t.Errorf("%s, delta %q: certified %v", c.goal, c.delta, f.Threshold.Certified)
		}
		if len(f.HeldOut.Positives) == 0 || len(f.HeldOut.Negatives) == 0 {
			t.Errorf("%s, delta %q: no scores for probabilities", c.goal, c.delta)
		}
		if at := f.OutOfFold.AtThreshold; !at.TruePositiveRate.Defined() || at.TruePositives == 0 {
			t.Errorf("%s, delta %q: %+v", c.goal, c.delta, at)
		}
	}
}

// How often the precision or the recall of a freshly trained model misses its goal on fresh rows: at most delta plus three standard
// errors of the draws.
func TestGoalsHoldForTheWholeOfSearch(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: 360 searches")
	}
	const delta = 0.1
	draws := 40
	if os.Getenv("TOPTAU_LONG") != "" {
		draws = 120
	}
	fresh := simulated(10_000, 50_000, 12345)
	both := metric.RateGoal(metric.GoalMinPrecision, "40%")
	both.Recall = threshold.MustRate("20%")
	for _, goal := range []metric.Goal{metric.RateGoal(metric.GoalMinPrecision, "40%"), metric.RateGoal(metric.GoalMinRecall, "90%"), both} {
		broken, none, plain := 0, 0, 0
		for draw := range draws {
			o := goalOptions(t, goal)
			o.Seed, o.Folds, o.Delta = uint64(draw), 2, threshold.MustRate("10%")
			data := simulated(120, 600, uint64(draw))
			f, err := Search(context.Background(), Data{Table: data}, o)
			if e := diag.Of(err); e != nil && e.Kind == diag.Guarantee {
				none++
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			missed := func(f *Found) bool {
				recall, precision := measuredRates(t, f, fresh)
				if goal.Kind == metric.GoalMinRecall {
					return recall < goal.Rate.Float64()
				}
				return precision < goal.Rate.Float64() || !goal.Recall.IsZero() && recall < goal.Recall.Float64()
			}
			if missed(f) {
				broken++
			}
			o.Delta = threshold.Rate{}
			if f, err = Search(context.Background(), Data{Table: data}, o); err == nil && missed(f) {
				plain++
			}
		}
		t.Logf("%s: %d of %d draws miss it, %d without a threshold; %d of the plain thresholds do", goal, broken, draws, none, plain)
		if n := float64(draws); float64(broken) > n*delta+3*math.Sqrt(n*delta*(1-delta)) || none > draws/2 {
			t.Errorf("%s: %d of %d draws miss it, %d without a threshold", goal, broken, draws, none)
		}
		if plain < draws/5 {
			t.Errorf("%s: only %d plain thresholds miss it: this test could not fail", goal, plain)
		}
	}
}

// What the rows cannot give is refused before anything is fitted.
func TestGoalsRefused(t *testing.T) {
	weighted := simulated(60, 400, 1)
	for i := range weighted.Rows() {
		weighted.Weight = append(weighted.Weight, float64(1+i%2))
	}
	precision, recall := metric.RateGoal(metric.GoalMinPrecision, "90%"), metric.RateGoal(metric.GoalMinRecall, "95%")
	wide := precision
	wide.Prevalence = threshold.MustRate("0.1%")
	for name, c := range map[string]struct {
		table *table.Table
		goal  metric.Goal
		fold  bool
		kind  diag.Kind
		says  string
	}{
		"few positives":      {simulated(30, 400, 1), precision, false, diag.Guarantee, "at least 22 positives"},
		"few for a recall":   {simulated(40, 400, 1), recall, false, diag.Guarantee, "it needs 45 positives"},
		"weights, precision": {weighted, precision, false, diag.Usage, "weights"},
		"weights, recall":    {weighted, recall, false, diag.Guarantee, "importance weights"},
		"out of fold":        {simulated(60, 400, 1), precision, true, diag.Usage, "out-of-fold"},
		"prevalence":         {simulated(60, 400, 1), wide, false, diag.Guarantee, "negatives"},
	} {
		o := goalOptions(t, c.goal)
		o.Delta, o.OutOfFold = threshold.MustRate("10%"), c.fold
		o.Progress = func(p result.Progress) { t.Errorf("%s: work began: %+v", name, p) }
		_, err := Search(context.Background(), Data{Table: c.table}, o)
		if e := diag.Of(err); e == nil || e.Kind != c.kind || !strings.Contains(e.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
