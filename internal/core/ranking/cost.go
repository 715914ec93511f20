package ranking

import (
	"cmp"
	"math"
	"slices"

	"toptau/diag"
	"toptau/metric"
)

// Cheapest returns the threshold with the smallest cost, the highest one of several. It is the best of all
// thresholds on the same rows, so new rows cost more than it promises. It takes O(n).
func (r *Ranking) Cheapest(c metric.Costs) (metric.Cheapest, error) {
	return r.cheapest(c, r.positives)
}

// cheapest is Cheapest for positives that are worth what found adds up: of those in the first g groups. The last one is of all.
func (r *tieGroups) cheapest(c metric.Costs, found []float64) (metric.Cheapest, error) {
	if err := c.Check(); err != nil {
		return metric.Cheapest{}, err
	}
	if len(r.scores) == 0 {
		return metric.Cheapest{}, &diag.Error{Kind: diag.Data, Found: "no rows", Expected: "rows with scores"}
	}
	best := metric.Cheapest{Cost: math.Inf(1)}
	for g := range len(r.scores) + 1 { // the alerts are the groups before g
		alerts := r.positives[g] + r.negatives[g]
		cost := float64(c.Missed*(found[len(r.scores)]-found[g])) + float64(c.Alert*alerts)
		if cost >= best.Cost {
			continue
		}
		best = metric.Cheapest{Threshold: math.Inf(-1), Alerts: alerts, Cost: cost}
		if g < len(r.scores) {
			best.Threshold = r.scores[g]
		}
	}
	return best, nil
}

// MaxProfit returns the threshold at which the amounts of the positives found less the price of all alerts are highest, with the amounts
// that are missed and the price of the alerts as its cost. scores and amounts are of all positives. It is the best of all thresholds on the
// same rows, as Cheapest.
func (r *Ranking) MaxProfit(price float64, scores, amounts []float64) (metric.Cheapest, error) {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b)) })
	found := make([]float64, len(r.scores)+1)
	for g := range r.scores {
		found[g+1] = found[g]
		for ; len(order) > 0 && scores[order[0]] >= r.scores[g]; order = order[1:] {
			found[g+1] += amounts[order[0]]
		}
	}
	return r.cheapest(metric.Costs{Missed: 1, Alert: price}, found)
}

// ProfitAt returns the profit of score > at. scores and amounts are of all positives. In the bootstrap every alert draws an exponential
// mass, so its number varies, too, as among new rows, and there is one more alert: false for the lower end, with a typical amount for the
// upper end. The interval knows no larger amounts than those of these rows.
func (r *Ranking) ProfitAt(price, at float64, scores, amounts []float64, b Bootstrap) (metric.Profit, error) {
	b, err := b.check()
	if err != nil {
		return metric.Profit{}, err
	}
	c, err := r.At(at, 0)
	if err != nil {
		return metric.Profit{}, err
	}
	p := metric.Profit{Price: price, Alerts: c.TruePositives + c.FalsePositives}
	var net, found []float64 // of each alert; amounts of the positives among them
	for i, z := range scores {
		p.Possible += amounts[i]
		if z > at {
			p.Found += amounts[i]
			net, found = append(net, amounts[i]-price), append(found, amounts[i])
		}
	}
	for range int(c.FalsePositives) {
		net = append(net, -price)
	}
	p.Profit = p.Found - float64(price*p.Alerts)
	if len(net) == 0 {
		return p, nil
	}
	gap := typicalWeight(found)
	lows, highs := make([]float64, b.Replicates), make([]float64, b.Replicates)
	for i := range lows {
		random := stream(b.Seed, i)
		total := 0.0
		for _, x := range net {
			total += float64(x * drawExponential(random))
		}
		extra := drawExponential(random)
		lows[i], highs[i] = total-float64(price*extra), total+float64(gap*extra)
	}
	p.Interval = newInterval(metric.ProfitInterval, b, p.Profit, lows, highs)
	return p, nil
}
