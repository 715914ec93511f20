package ranking

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"toptau/metric"
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
		got, err := r.Cheapest(metric.Costs{Missed: 10, Alert: c.alert})
		if err != nil || got.Threshold != c.threshold || got.Alerts != c.alerts || got.Cost != c.cost {
			t.Errorf("alert %v: %+v, want threshold %v, %v alerts, cost %v; %v", c.alert, got, c.threshold, c.alerts, c.cost, err)
		}
	}
	if _, err := r.Cheapest(metric.Costs{Missed: -1}); err == nil {
		t.Error("a negative price is accepted")
	}
	if _, err := r.Cheapest(metric.Costs{Alert: math.NaN()}); err == nil {
		t.Error("NaN is accepted as a price")
	}
	empty, _ := Rank(Scores{})
	if _, err := empty.Cheapest(metric.Costs{}); err == nil {
		t.Error("no rows have a cheapest threshold")
	}
}

// No threshold at a score costs less, and the cost is that of the decisions.
func TestNoThresholdIsCheaper(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		score := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(0, 9).Draw(t, "score")) })
		s := Scores{Positives: rapid.SliceOfN(score, 0, 12).Draw(t, "positives"), Negatives: rapid.SliceOfN(score, 1, 12).Draw(t, "negatives")}
		c := metric.Costs{Missed: float64(rapid.IntRange(0, 20).Draw(t, "missed")), Alert: float64(rapid.IntRange(0, 20).Draw(t, "alert"))}
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

// MaxProfit is the best of all thresholds, and ProfitAt is the sum of the amounts of its alerts less their price.
func TestMaxProfitIsTheBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		score := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(0, 9).Draw(t, "score")) })
		s := Scores{Positives: rapid.SliceOfN(score, 1, 12).Draw(t, "positives"), Negatives: rapid.SliceOfN(score, 1, 12).Draw(t, "negatives")}
		amounts := make([]float64, len(s.Positives))
		for i := range amounts {
			amounts[i] = float64(rapid.IntRange(0, 30).Draw(t, "amount"))
		}
		price := float64(rapid.IntRange(1, 20).Draw(t, "price"))
		r, err := Rank(s)
		if err != nil {
			t.Fatal(err)
		}
		best, err := r.MaxProfit(price, s.Positives, amounts)
		if err != nil {
			t.Fatal(err)
		}
		highest := math.Inf(-1)
		for at := -1.0; at <= 9; at++ {
			profit := 0.0
			for i, z := range s.Positives {
				if z > at {
					profit += amounts[i] - price
				}
			}
			for _, z := range s.Negatives {
				if z > at {
					profit -= price
				}
			}
			p, err := r.ProfitAt(price, at, s.Positives, amounts, Bootstrap{Replicates: 100})
			if err != nil || p.Profit != profit {
				t.Fatalf("profit %v at %v, want %v; %v", p.Profit, at, profit, err)
			}
			highest = max(highest, profit)
		}
		total := 0.0
		for _, a := range amounts {
			total += a
		}
		if total-best.Cost != highest {
			t.Fatalf("the best profit is %v, not %v", highest, total-best.Cost)
		}
	})
}

// The interval of a profit at a fixed threshold covers the expected profit of as many new rows.
func TestProfitIntervalCovers(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation")
	}
	const draws, rows, price, rate, real, mean = 1000, 2000, 5.0, 0.05, 0.4, 20.0
	r := rand.New(rand.NewPCG(1, 2))
	want := rows * rate * (real*mean - price)
	covered := 0
	for draw := range draws {
		var s Scores
		var amounts []float64
		for range rows {
			z := 0.0
			if r.Float64() < rate {
				z = 1
			}
			if z == 1 && r.Float64() < real || z == 0 && r.Float64() < 0.01 {
				s.Positives, amounts = append(s.Positives, z), append(amounts, mean*r.ExpFloat64())
			} else {
				s.Negatives = append(s.Negatives, z)
			}
		}
		ranking, err := Rank(s)
		if err != nil {
			t.Fatal(err)
		}
		p, err := ranking.ProfitAt(price, 0.5, s.Positives, amounts, Bootstrap{Replicates: 400, Seed: uint64(draw)})
		if err != nil {
			t.Fatal(err)
		}
		if p.Interval.Low <= want && want <= p.Interval.High {
			covered++
		}
	}
	t.Logf("%d of %d intervals cover", covered, draws)
	if covered < 925 { // 95 % less 3.5 standard errors
		t.Errorf("%d of %d intervals cover", covered, draws)
	}
}
