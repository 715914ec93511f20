package heldout

import (
	"cmp"
	"slices"
	"strconv"

	"toptau/internal/core/binomial"
	"toptau/internal/core/detmath"
	"toptau/threshold"
)

// Jointly returns the delta of each of several disjoint sets of calibration scores, so that all their guarantees for alpha hold
// together with confidence 1 - delta. The sets are independent, so together they hold with the product of 1 - delta_s
// (Sidak 1967), which is at least 1 - delta.
//
// An order statistic has jumps: m of n scores may lie above the threshold, with the tail P(Bin(n, alpha) <= m). Jointly starts
// with m = 0 everywhere. It then raises m where the expected rate is lowest, as long as the product allows it, and returns the tails.
// They depend on the sizes only. A set that is too small for its guarantee next to the larger ones has the zero Rate. Without alpha (a
// threshold above every negative) all sets have the same delta.
func Jointly(sizes []int, alpha, delta threshold.Rate) ([]threshold.Rate, error) {
	deltas := make([]threshold.Rate, len(sizes))
	limit := detmath.Log1p(-delta.Float64())
	if alpha.IsZero() {
		each, err := roundUp((1 - detmath.Exp(limit/float64(max(1, len(sizes))))) * (1 - 2e-5))
		for i := range deltas {
			deltas[i] = each
		}
		return deltas, err
	}
	type set struct {
		index, n, above int
		delta           threshold.Rate // of above
	}
	tail := func(n, above int) (threshold.Rate, error) { return roundUp(binomial.AtMost(n, above, alpha.Float64())) }
	cost := func(r threshold.Rate) float64 { return detmath.Log1p(-r.Float64()) }
	var list []*set
	for i, n := range sizes {
		list = append(list, &set{index: i, n: n})
	}
	slices.SortStableFunc(list, func(a, b *set) int { return cmp.Compare(b.n, a.n) })
	spent := 0.0
	for k, s := range list {
		d, err := tail(s.n, 0)
		if err != nil {
			return nil, err
		}
		if d.Float64() >= 1 || spent+cost(d) < limit {
			list = list[:k]
			break
		}
		s.delta = d
		spent += cost(d)
	}
	for open := slices.Clone(list); len(open) > 0; {
		s := slices.MinFunc(open, func(a, b *set) int {
			return cmp.Or(cmp.Compare(float64(a.above+1)/float64(a.n+1), float64(b.above+1)/float64(b.n+1)), a.index-b.index)
		})
		d, err := tail(s.n, s.above+1)
		if err != nil {
			return nil, err
		}
		if more := spent - cost(s.delta) + cost(d); more >= limit {
			spent, s.delta = more, d
			s.above++
			continue
		}
		open = slices.DeleteFunc(open, func(other *set) bool { return other == s })
	}
	for _, s := range list {
		deltas[s.index] = s.delta
	}
	return deltas, nil
}

// HoldTogether reports whether guarantees with these deltas hold together with confidence 1 - delta, if their rows are disjoint.
func HoldTogether(deltas []threshold.Rate, delta threshold.Rate) bool {
	sum := 0.0
	for _, d := range deltas {
		sum += detmath.Log1p(-d.Float64())
	}
	return sum >= detmath.Log1p(-delta.Float64())*(1+doubtful)
}

// roundUp returns a number of six digits that is a little larger than x, at most 0.999.
func roundUp(x float64) (threshold.Rate, error) {
	return threshold.ParseRate(strconv.FormatFloat(min(max(float64(x*(1+1e-5)), 1e-300), 0.999), 'g', 6, 64))
}
