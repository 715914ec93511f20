package calibrate

import (
	"cmp"
	"math"
	"slices"

	"toptau/method"
	"toptau/metric"
	"toptau/threshold"
)

// Plain returns the threshold whose expected rate on a new row is at most alpha: the j-th largest of n
// scores,
//
//	j = floor(alpha (n+1)), at least 1.
//
// A new score that is exchangeable with these is above the j-th largest with probability j/(n+1), less if
// scores are tied. For j = 1 that may exceed alpha: n scores cannot resolve a rate below 1/(n+1). The rate
// itself is random: Expected returns its interval. Plain certifies nothing, and Delta and Bound are unset.
func Plain(scores []float64, alpha threshold.Rate, p method.Population) (t float64, g Guarantee, err error) {
	if alpha.IsZero() {
		return 0, Guarantee{}, unset("alpha")
	}
	s, err := Sort(scores, p)
	if err != nil {
		return 0, Guarantee{}, err
	}
	return s.Plain(alpha)
}

// plainOrder returns the order of Plain's threshold among n scores.
func plainOrder(n int, alpha threshold.Rate) int { return n + 1 - max(1, alpha.Floor(n+1)) }

// PlainWeighted is Plain for rows with weights: the smallest score such that the mass of the scores at or
// above it is at most alpha (M + u), where M is the mass of all scores and u = sum of squared weights / M the
// expected weight of a new row that is drawn by mass. With equal weights it returns what Plain does. nil
// weights are all 1.
func PlainWeighted(scores, weights []float64, alpha threshold.Rate, p method.Population) (t float64, g Guarantee, err error) {
	if weights == nil {
		return Plain(scores, alpha, p)
	}
	if alpha.IsZero() {
		return 0, Guarantee{}, unset("alpha")
	}
	order := make([]int, 0, len(scores))
	var kept []float64
	var mass, squares float64
	for i, w := range weights {
		if w > 0 {
			order, kept = append(order, i), append(kept, scores[i])
			mass += w
			squares += float64(w * w)
		}
	}
	z, err := sorted(kept, p)
	if err != nil {
		return 0, Guarantee{}, err
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	allowed := float64(alpha.Float64() * (mass + squares/mass))
	above, j := 0.0, 0
	for j < len(order) && above+weights[order[j]] <= allowed {
		above += weights[order[j]]
		j++
	}
	t, g, err = inMemory(z, p).statistic(len(z)+1-max(1, j), kindOf(p))
	g.Rate = alpha
	g.effective = mass * (mass / squares)
	g.effectiveAbove = max(above, weights[order[0]]) * (mass / squares)
	return t, g, err
}

// Expectation is the distribution of the rate of score > threshold on new rows.
type Expectation struct {
	Rate       float64 `json:"rate"`       // its mean
	Low        float64 `json:"low"`        // ends of an interval that holds it with probability Confidence
	High       float64 `json:"high"`       // the upper end
	Confidence float64 `json:"confidence"` // of the interval
}

// Expected returns the mean j/(n+1) and the interval of the rate of score > threshold on new rows, which
// follows the distribution Beta(j, n+1-j) over the draw of the n scores if the threshold is the j-th largest
// of them. Ties make the rate smaller, so that the lower end does not hold then. For weighted scores n and j
// are effective numbers, rounded, and the interval is approximate. It applies to guarantees of this package's
// functions, not to those from files.
func (g *Guarantee) Expected(confidence float64) Expectation {
	n := g.N()
	j := n + 1 - g.Order
	rate := float64(j) / float64(n+1)
	if g.effective > 0 {
		rate = g.effectiveAbove / (g.effective + 1)
		n = max(1, int(math.Round(g.effective)))
		j = min(n, max(1, int(math.Round(g.effectiveAbove))))
	}
	low, _ := metric.ClopperPearson(j, n, confidence)
	_, high := metric.ClopperPearson(j-1, n, confidence)
	return Expectation{Rate: rate, Low: low, High: high, Confidence: confidence}
}
