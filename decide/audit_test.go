package decide_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"toptau"
	"toptau/dataset"
	"toptau/decide"
	"toptau/diag"
	"toptau/internal/core/binomial"
	"toptau/internal/core/text"
	"toptau/metric"
	"toptau/schema"
	"toptau/threshold"
)

// labelledRows returns data of a column of zeros with this many negatives and 20 positives after them.
func labelledRows(t *testing.T, negatives int) *dataset.Data {
	t.Helper()
	d, err := dataset.ReadFrom(t.Context(), strings.NewReader("x,y\n"+strings.Repeat("0,0\n", negatives)+strings.Repeat("0,1\n", 20)),
		schema.Format{Label: "y", Positive: []string{"1"}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// auditedThreshold reviews the n best negatives, of which the first hidden rows are positive, and computes the threshold without them.
func auditedThreshold(t *testing.T, d *dataset.Data, scores []float64, hidden, n int) *decide.Calibrated {
	t.Helper()
	goal, e, o := toptau.MaxFPR("1%"), dataset.Entry{Scores: scores}, decide.Options{Delta: threshold.MustRate("5%"), Audit: n}
	before, err := decide.Threshold(t.Context(), d, e, goal, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Audit = 0
	if n > 0 {
		if o.Reviewed = map[int]bool{}; len(before.Result.Audit.Rows) != n {
			t.Fatalf("%d rows to review, want %d", len(before.Result.Audit.Rows), n)
		}
		for _, row := range before.Result.Audit.Rows {
			o.Reviewed[row.Row] = row.Row <= hidden
		}
	}
	c, err := decide.Threshold(t.Context(), d, e, goal, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Positives among the calibration negatives hide alerts. After a review of the best-scoring ones the guarantee fails in no more than the
// printed part of the draws, which is close to delta, and nearly all of the alerts are back.
func TestAuditBySimulation(t *testing.T) {
	const negatives, hidden = 980, 20
	draws := 2000
	if testing.Short() {
		draws = 200
	}
	d := labelledRows(t, negatives+hidden)
	scores := make([]float64, negatives+hidden+20)
	recallOf := map[int]float64{}
	for _, n := range []int{0, 60} {
		r := rand.New(rand.NewPCG(4, 7))
		broken, recall, tail := 0, 0.0, 0.0
		for range draws {
			for i := range scores {
				scores[i] = r.NormFloat64()
				if i < hidden || i >= negatives+hidden {
					scores[i] += 2.5
				}
			}
			c := auditedThreshold(t, d, scores, hidden, n)
			above := func(shift float64) float64 { return .5 * math.Erfc((c.Point.Threshold-shift)/math.Sqrt2) }
			if above(0) > .01 {
				broken++
			}
			recall += above(2.5) / float64(draws)
			if a := c.Result.Audit; a != nil {
				if !a.Reaches || a.Removed > hidden || a.Reviewed != n || a.Unreviewed != negatives+hidden-n {
					t.Fatalf("%+v", a)
				}
				tail += a.MaxTail / float64(draws)
			}
		}
		recallOf[n] = recall
		claim := max(tail, .05)
		allowed := int(claim*float64(draws) + 3*math.Sqrt(claim*(1-claim)*float64(draws)))
		t.Logf("%d reviewed: %d of %d draws break the budget, at most %d allowed (claimed %s); recall %s", n, broken, draws, allowed,
			text.Percent(claim), text.Percent(recall))
		if broken > allowed {
			t.Errorf("%d reviewed: %d of %d draws break the budget, at most %d allowed", n, broken, draws, allowed)
		}
	}
	c := auditedThreshold(t, labelledRows(t, negatives), scores[hidden:], 0, 0)
	order := float64(negatives - c.Point.Guarantee.Order + 1)
	if known := .5 * math.Erfc((normalQuantile(order/(negatives+1))-2.5)/math.Sqrt2); recallOf[60] < .95*known || recallOf[0] > .75*known {
		t.Errorf("recall %v without and %v with a review, about %v if all labels are right", recallOf[0], recallOf[60], known)
	}
}

// normalQuantile returns the value above which a normal variable lies with probability p.
func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfcinv(2*p) }

// A review in which no row is positive changes nothing but what is said. One that ends above the threshold is too short, and says how
// many rows it needs. The probability that the guarantee fails is that of the rows that may be hidden.
func TestAuditSaysWhatItAssumes(t *testing.T) {
	d := labelledRows(t, 1000)
	scores := make([]float64, 1020)
	for i := range scores {
		scores[i] = float64((i * 7919) % 1000)
	}
	plain := auditedThreshold(t, d, scores, 0, 0)
	none := auditedThreshold(t, d, scores, 0, 30)
	if none.Point.Threshold != plain.Point.Threshold || none.Result.Audit.Removed != 0 || !none.Result.Audit.Reaches {
		t.Errorf("%v without positives in the review, %v without a review; %+v", none.Point.Threshold, plain.Point.Threshold, none.Result.Audit)
	}
	if short := auditedThreshold(t, d, scores, 0, 3); short.Result.Audit.Reaches || !strings.Contains(short.Result.Warnings[0].Text, "review at least") {
		t.Errorf("three reviewed rows: %+v, %v", short.Result.Audit, short.Result.Warnings)
	}
	half := map[int]bool{}
	for row := 1; row <= 100; row++ {
		half[row] = row <= 50
	}
	c, err := decide.Threshold(t.Context(), d, dataset.Entry{Scores: scores}, toptau.MaxFPR("1%"), decide.Options{Delta: threshold.MustRate("5%"), Reviewed: half})
	if err != nil {
		t.Fatal(err)
	}
	// 900 of the 950 rows were not reviewed, and half of them may be positive
	if want := binomial.AtMost(500, 950-c.Point.Guarantee.Order, .01); c.Result.Audit.MaxTail != want {
		t.Errorf("fails with %v, want %v", c.Result.Audit.MaxTail, want)
	}
	for name, o := range map[string]decide.Options{
		"a row that is not there": {Reviewed: map[int]bool{1021: true}},
		"a positive row":          {Reviewed: map[int]bool{1001: true}},
		"fewer than no rows":      {Audit: -1},
	} {
		if _, err := decide.Threshold(t.Context(), d, dataset.Entry{Scores: scores}, toptau.MaxFPR("1%"), o); diag.Of(err) == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := decide.Threshold(t.Context(), d, dataset.Entry{Scores: scores}, toptau.MinRecall("50%"), decide.Options{Audit: 5}); diag.Of(err) == nil ||
		diag.Of(err).Param != "audit" {
		t.Errorf("a goal for %s: %v", metric.GoalMinRecall, err)
	}
}
