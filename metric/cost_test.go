package metric

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestCheapestByHand(t *testing.T) {
	// From the top: +, -, +, -, -. A missed positive costs 10.
	r, err := Rank(Scores{Positives: []float64{5, 3}, Negatives: []float64{4, 2, 1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		alert, threshold, alerts, cost float64
	}{
		{alert: 1, threshold: 2, alerts: 3, cost: 3},      // all positives: 3 alerts
		{alert: 6, threshold: 4, alerts: 1, cost: 16},     // the second positive costs two alerts, 12
		{alert: 11, threshold: 5, alerts: 0, cost: 20},    // no alert is worth its price
		{alert: 0, threshold: 2, alerts: 3, cost: 0},      // free alerts: the highest threshold of several
		{alert: 10, threshold: 5, alerts: 0, cost: 20},    // equal costs of 0 and 1 alert: the highest threshold
		{alert: 5, threshold: 4, alerts: 1, cost: 5 + 10}, // equal costs of 1 and 3 alerts
	} {
		got, err := r.Cheapest(Costs{Missed: 10, Alert: c.alert})
		if err != nil || got.Threshold != c.threshold || got.Alerts != c.alerts || got.Cost != c.cost {
			t.Errorf("alert %v: %+v, want threshold %v, %v alerts, cost %v; %v", c.alert, got, c.threshold, c.alerts, c.cost, err)
		}
	}
	if _, err := r.Cheapest(Costs{Missed: -1}); err == nil {
		t.Error("a negative price is accepted")
	}
	if _, err := r.Cheapest(Costs{Alert: math.NaN()}); err == nil {
		t.Error("NaN is accepted as a price")
	}
	empty, _ := Rank(Scores{})
	if _, err := empty.Cheapest(Costs{}); err == nil {
		t.Error("no rows have a cheapest threshold")
	}
}

// No threshold at a score costs less, and the cost is that of the decisions.
func TestNoThresholdIsCheaper(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		score := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(0, 9).Draw(t, "score")) })
		s := Scores{Positives: rapid.SliceOfN(score, 0, 12).Draw(t, "positives"), Negatives: rapid.SliceOfN(score, 1, 12).Draw(t, "negatives")}
		c := Costs{Missed: float64(rapid.IntRange(0, 20).Draw(t, "missed")), Alert: float64(rapid.IntRange(0, 20).Draw(t, "alert"))}
		r, err := Rank(s)
		if err != nil {
			t.Fatal(err)
		}
		best, err := r.Cheapest(c)
		if err != nil {
			t.Fatal(err)
		}
		for at := -1.0; at <= 9; at++ {
			d, err := r.At(at, 0)
			if err != nil {
				t.Fatal(err)
			}
			if c.Of(d) < best.Cost {
				t.Fatalf("%v costs %v, less than %+v", at, c.Of(d), best)
			}
		}
		if d, _ := r.At(best.Threshold, 0); c.Of(d) != best.Cost {
			t.Fatalf("%+v costs %v", best, c.Of(d))
		}
	})
}
