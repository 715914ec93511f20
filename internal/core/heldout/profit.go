package heldout

import (
	"math"

	"toptau/calibrate"
	"toptau/diag"
	"toptau/internal/core/binomial"
	"toptau/internal/core/ranking"
	"toptau/metric"
)

// MaxProfit returns the threshold with the highest profit on a sample: the amounts of the positives above it less the goal's price of
// each alert. scores and amounts are of all positives. Every threshold was tried on the same rows, so new rows bring less than the profit
// there. It has no guarantee: without a bound of the amounts, one positive can be worth more than all others.
func MaxProfit(g metric.Goal, r *ranking.Ranking, scores, amounts []float64) (*Threshold, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	if r.Weighted() {
		return nil, &diag.Error{Kind: diag.Usage, Param: "weight", Found: "together with a price of alerts", Expected: "rows without weights"}
	}
	best, err := r.MaxProfit(g.Cost, scores, amounts)
	if err != nil {
		return nil, err
	}
	positives, negatives := r.Rows()
	rows, alerts := positives+negatives, int(best.Alerts)
	t := &Threshold{Value: best.Threshold, Goal: g, Population: g.Population(), Rows: rows, Order: rows - alerts}
	if math.IsInf(t.Value, -1) {
		t.Value, t.Order = justBelow(r.Lowest()), 1
	}
	t.Value += 0 // -0 becomes 0
	t.Expected = calibrate.Expectation{Rate: float64(alerts) / float64(rows), Confidence: metric.DefaultConfidence}
	t.Expected.Low, t.Expected.High = binomial.ClopperPearson(alerts, rows, metric.DefaultConfidence)
	return t, nil
}
