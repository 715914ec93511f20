package heldout

import (
	"sort"
	"toptau/calibrate"
)

// Arrivals compares scores after the calibration with a Sample, one at a time and in constant memory, to test
// whether they come from the same distribution.
//
// If m new scores are exchangeable with the n calibration scores, all orders have the same probability. So
// the number C of new scores above the calibration score of order k has the negative hypergeometric
// distribution
//
//	P(C = c) = C(c+n-k, c) C(m-c+k-1, m-c) / C(n+m, m),
//
// for every distribution of the scores. Ties count against a rejection: "too many above" counts scores
// strictly above, "too few" also the equal ones. There are two tests at each kept score, and P is corrected
// for their number (Bonferroni).
type Arrivals struct {
	sample *calibrate.Sample
	over   []int // scores between Scores[i-1] and Scores[i], without both; the last: above all
	equal  []int // scores equal to Scores[i]; only the first of equal ones counts
	m      int   // scores
}

// NewArrivals returns an empty comparison with a sample.
func NewArrivals(s *calibrate.Sample) *Arrivals {
	return &Arrivals{sample: s, over: make([]int, len(s.Scores)+1), equal: make([]int, len(s.Scores))}
}

// Add counts a score.
func (a *Arrivals) Add(z float64) {
	a.m++
	i := sort.SearchFloat64s(a.sample.Scores, z)
	if i < len(a.equal) && a.sample.Scores[i] == z {
		a.equal[i]++
		return
	}
	a.over[i]++
}

// Rows returns the number of added scores.
func (a *Arrivals) Rows() int { return a.m }

// Same reports whether the added scores have the order statistics of the calibration scores. Unless nearly
// all scores are equal, they then are the scores of the same rows.
func (a *Arrivals) Same() bool {
	s := a.sample
	if a.m != s.Rows || s.Scores[0] == s.Scores[len(s.Scores)-1] {
		return false
	}
	above := a.over[len(a.over)-1] // strictly above Scores[i]
	for i := len(s.Scores) - 1; i >= 0; i-- {
		first := i
		for first > 0 && s.Scores[first-1] == s.Scores[i] {
			first-- // which counts the equal ones
		}
		reached := above + a.equal[first]
		for ; i >= first; i-- {
			if s.Above[i] < above || s.Above[i] >= reached {
				return false
			}
		}
		i++
		above = reached + a.over[first]
	}
	return true
}

// Shift is the largest difference between arrivals and calibration scores.
type Shift struct {
	P        float64 // p-value of all comparisons together
	Score    float64 // the calibration score at which the difference is largest
	More     bool    // more arrivals are above Score than expected; otherwise fewer
	Expected float64 // the fraction of the calibration scores above Score
	Seen     float64 // the fraction of the arrivals above Score
}

// Shift compares the arrivals with the calibration scores. Up to foreign of them may have any other
// distribution: for example positives among rows without labels, if only negatives were used for calibration.
func (a *Arrivals) Shift(foreign int) Shift {
	n, m := a.sample.Rows, a.m
	most := Shift{P: 1}
	if m == 0 {
		return most
	}
	native := max(m-foreign, 0)
	tests := float64(2 * len(a.sample.Scores))
	above := a.over[len(a.over)-1] // strictly above Scores[i]
	for i := len(a.sample.Scores) - 1; i >= 0; i-- {
		z, e := a.sample.Scores[i], a.sample.Above[i]
		reached := above + a.equal[i]
		first := i == 0 || a.sample.Scores[i-1] != z // which counts the equal ones
		consider := func(p float64, more bool) {
			if p = min(1, float64(p*tests)); p < most.P {
				most = Shift{P: p, Score: z, More: more, Expected: float64(e) / float64(n), Seen: float64(above) / float64(m)}
			}
		}
		consider(atLeastAbove(n, n-e, m, above-foreign), true)
		if first {
			consider(atMostAbove(n, n-e, native, reached), false)
			above = reached + a.over[i]
		}
	}
	return most
}

// atLeastAbove returns P(C >= c), where C of m exchangeable scores are above that of order k among n.
func atLeastAbove(n, k, m, c int) float64 {
	if c <= 0 {
		return 1
	}
	return exceedance(n, k, m, c, m)
}

// atMostAbove returns P(C <= c).
func atMostAbove(n, k, m, c int) float64 {
	if c >= m {
		return 1
	}
	return exceedance(n, k, m, 0, c)
}

// exceedance returns P(first <= C <= last). It computes the masses, each from its neighbour by their ratio
//
//	P(C = c+1) / P(C = c) = (c+1+n-k)/(c+1) (m-c)/(m-c+k-1),
//
// outwards from near the mode until they are negligible, and divides those inside by the sum of all.
func exceedance(n, k, m, first, last int) float64 {
	const negligible = 1e-22 // far below the rounding error of the sum, 1e-16
	e := float64(n - k)
	up := func(c int) float64 {
		return (float64(c+1) + e) / float64(c+1) * (float64(m-c) / float64(m-c+k-1))
	}
	start := min(m, int(float64(m)*(e/float64(max(n-1, 1)))))
	inside, all := 0.0, 0.0
	count := func(c int, term float64) {
		all += term
		if first <= c && c <= last {
			inside += term
		}
	}
	// The terms fall on both sides of the largest. The rest of a side is left out if it is negligible
	// compared with the sum of all, and if none of it is inside or it is negligible compared with the sum
	// inside, which may be small itself.
	rest := func(term float64, beyond bool) bool {
		return term == 0 || term < all*negligible && (beyond || term < inside*negligible)
	}
	count(start, 1)
	term := 1.0
	for c := start; c < m; c++ {
		if term = float64(term * up(c)); rest(term, c+1 > last) {
			break
		}
		count(c+1, term)
	}
	term = 1
	for c := start - 1; c >= 0; c-- {
		if term = term / up(c); rest(term, c < first) {
			break
		}
		count(c, term)
	}
	return min(1, inside/all)
}
