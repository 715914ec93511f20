package calibrate

import (
	"slices"

	"toptau/diag"
	"toptau/internal/binomial"
	"toptau/method"
	"toptau/metric"
	"toptau/threshold"
)

// Sorted are calibration scores in ascending order, for several thresholds from the same scores. It does not
// change and is safe for concurrent use.
//
// Each certified threshold holds with its own confidence, and only for a rate that was chosen without a look at
// these scores.
type Sorted struct {
	z          []float64 // nil: they are elsewhere
	n          int
	orders     func(orders []int) ([]float64, error)
	population method.Population
}

// Sort returns the scores of a population in ascending order, in new memory. No scores and a NaN are errors.
func Sort(scores []float64, p method.Population) (*Sorted, error) {
	z, err := sorted(scores, p)
	if err != nil {
		return nil, err
	}
	return inMemory(z, p), nil
}

// inMemory returns ascending scores as Sorted.
func inMemory(z []float64, p method.Population) *Sorted {
	return &Sorted{z: z, n: len(z), population: p, orders: func(orders []int) ([]float64, error) {
		list := make([]float64, len(orders))
		for i, k := range orders {
			list[i] = z[k-1]
		}
		return list, nil
	}}
}

// Ordered returns n scores of a population that are not in memory. orders returns the scores of some orders: for k the
// k-th smallest. Thresholds from them are those that Sort gives for the same scores.
func Ordered(n int, p method.Population, orders func(orders []int) ([]float64, error)) (*Sorted, error) {
	if n <= 0 {
		return nil, noScores(p)
	}
	return &Sorted{n: n, population: p, orders: orders}, nil
}

// Len returns the number of scores.
func (s *Sorted) Len() int { return s.n }

// Above returns the number of scores in memory above a threshold.
func (s *Sorted) Above(t float64) int {
	first, _ := slices.BinarySearchFunc(s.z, t, func(z, t float64) int {
		if z > t {
			return 1
		}
		return -1
	})
	return len(s.z) - first
}

// Plain returns what the function Plain does.
func (s *Sorted) Plain(alpha threshold.Rate) (t float64, g Guarantee, err error) {
	if alpha.IsZero() {
		return 0, Guarantee{}, unset("alpha")
	}
	t, g, err = s.statistic(plainOrder(s.n, alpha), kindOf(s.population))
	g.Rate = alpha
	return t, g, err
}

// Certified returns what NeymanPearson does for negatives, and TopFraction for all rows.
func (s *Sorted) Certified(alpha, delta threshold.Rate) (t float64, g Guarantee, err error) {
	needed, err := Needed(alpha, delta)
	if err != nil {
		return 0, Guarantee{}, err
	}
	order, enough := plainOrder(s.n, alpha), s.n >= needed
	if enough {
		order = s.n - mostAbove(s.n, alpha, delta) // of them at most the others may lie above the threshold
	}
	if t, g, err = s.statistic(order, kindOf(s.population)); err != nil {
		return 0, g, err
	}
	g.Certified = enough
	if !enough {
		err = tooFew(s.n, needed, alpha, delta, s.population)
	}
	g.Rate, g.Delta, g.Needed = alpha, delta, needed
	g.Bound = binomial.AtMost(s.n, s.n-order, alpha.Float64())
	return t, g, err
}

// AbsoluteTop returns what the function AbsoluteTop does.
func (s *Sorted) AbsoluteTop(delta threshold.Rate) (t float64, g Guarantee, err error) {
	if delta.IsZero() {
		return 0, Guarantee{}, unset("delta")
	}
	if t, g, err = s.statistic(s.n, metric.GoalAbsoluteTop); err != nil {
		return 0, g, err
	}
	g.Delta, g.Certified = delta, true
	g.Bound = absoluteBound(s.n, delta.Float64())
	return t, g, nil
}

// statistic returns the k-th smallest of the scores as a threshold, with its evidence.
func (s *Sorted) statistic(k int, kind metric.GoalKind) (t float64, g Guarantee, err error) {
	g = Guarantee{Kind: kind, Order: k, Calibration: &Sample{Rows: s.n, Above: sampledRanks(s.n, k)}}
	if g.Population() == method.Negatives {
		g.Negatives = s.n
	}
	orders := make([]int, 0, len(g.Calibration.Above))
	for _, above := range g.Calibration.Above {
		orders = append(orders, s.n-above)
	}
	if g.Calibration.Scores, err = s.orders(orders); err != nil {
		return 0, g, err
	}
	for i := range g.Calibration.Scores {
		g.Calibration.Scores[i] += 0 // -0 becomes 0
	}
	return g.Calibration.Scores[slices.Index(orders, k)], g, nil
}

func noScores(p method.Population) error {
	return &diag.Error{Kind: diag.Data, Found: "no calibration scores",
		Expected: "scores of " + rowsOf(p) + " that were used for nothing else"}
}
