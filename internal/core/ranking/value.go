package ranking

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"toptau/diag"
	"toptau/metric"
)

// Amounts. With PairedScores.PositiveValues a criterion is the fraction of an amount that is found, such as
// money. The threshold and the budget are those of the criterion without amounts.

// Valued returns a result with the amounts of the same positives instead of their counts. scores and amounts are
// those of all positives that the result was computed from.
func Valued(r metric.Result, scores, amounts []float64) metric.Result {
	r.Criterion = strings.Replace(r.Criterion, "positives@", "value@", 1)
	if !r.Defined() {
		return r
	}
	found, total := 0.0, 0.0
	for i, v := range amounts {
		total += v
		if admits(&r, scores[i]) {
			found += v
		}
	}
	r.Proportion = proportion(found, total, "the amounts of the positives are 0")
	return r
}

// FoundValue returns the fraction of the sum of amounts that belongs to the positives found. Its interval is
// that of the bootstrap of a criterion at a fixed threshold: every positive draws an exponential mass, and so
// does a gap with a typical amount. The gap counts as missed for the lower end and as found for the upper end.
func FoundValue(values []float64, found []bool, b Bootstrap) (metric.Proportion, error) {
	b, err := b.check()
	if err != nil {
		return metric.Proportion{}, err
	}
	if len(values) != len(found) {
		return metric.Proportion{}, &diag.Error{Kind: diag.Data, Found: "amounts and decisions of different rows",
			Expected: "one of each for a row"}
	}
	hit, total := 0.0, 0.0
	for i, v := range values {
		total += v
		if found[i] {
			hit += v
		}
	}
	p := proportion(hit, total, "the amounts of the positives are 0")
	if !p.Defined() {
		p.NoInterval = p.Undefined
		return p, nil
	}
	gap := typicalWeight(values)
	lows, highs := make([]float64, b.Replicates), make([]float64, b.Replicates)
	for i := range lows {
		random := stream(b.Seed, i)
		hit, total := 0.0, 0.0
		for j, v := range values {
			x := float64(v * drawExponential(random))
			total += x
			if found[j] {
				hit += x
			}
		}
		extra := float64(gap * drawExponential(random))
		lows[i], highs[i] = hit/(total+extra), (hit+extra)/(total+extra)
	}
	p.Interval = newInterval(metric.ValueInterval, b, p.Rate, lows, highs)
	return p, nil
}

// flipDraws is the number of random signs with which signFlips estimates a p-value. Its standard error is then
// 0.001 at 5 %. Up to flipExact units it lists all signs.
const (
	flipDraws = 50000
	flipExact = 12
)

// signFlips returns the two-sided p-value of the hypothesis that each unit's net amount has either sign with
// probability one half (a randomisation test). With equal amounts it is the sign test.
func signFlips(units map[int]float64) float64 {
	var net []float64
	sum := 0.0
	for _, unit := range slices.SortedFunc(maps.Keys(units), cmp.Compare) {
		if x := units[unit]; x != 0 {
			net = append(net, math.Abs(x))
			sum += x
		}
	}
	limit := math.Abs(sum) - float64(tolerance*math.Abs(sum))
	extreme := func(sign func(i int) bool) bool {
		total := 0.0
		for i, x := range net {
			if sign(i) {
				total += x
			} else {
				total -= x
			}
		}
		return math.Abs(total) >= limit
	}
	count := 0
	if len(net) <= flipExact {
		for bits := range 1 << len(net) {
			if extreme(func(i int) bool { return bits>>i&1 == 1 }) {
				count++
			}
		}
		return float64(count) / float64(int(1)<<len(net))
	}
	random := rand.New(rand.NewPCG(0, uint64(len(net))))
	for range flipDraws {
		if extreme(func(int) bool { return random.Uint64()>>63 == 1 }) {
			count++
		}
	}
	return float64(count+1) / float64(flipDraws+1)
}
