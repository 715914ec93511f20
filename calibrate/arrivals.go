package calibrate

import (
	"sort"
)

// Arrivals counts scores that come after the calibration against a Sample, one at a time and in constant memory, to tell
// whether they can come from the same distribution.
//
// Exchangeable scores, m of them after n calibration scores, are in any order with equal probability. So the number C of
// them above the calibration score of order k follows the negative hypergeometric law
//
//	P(C = c) = C(c+n-k, c) C(m-c+k-1, m-c) / C(n+m, m),
//
// whatever the distribution. Ties are broken against a rejection: for "too many above" only scores strictly above count,
// for "too few" also the equal ones. The tests at all kept scores, two at each, share the level evenly (Bonferroni), so
// that a false alarm is at most as probable as the level.
type Arrivals struct {
	sample *Sample
	over   []int // scores in the gap above Scores[i-1], up to and without Scores[i]; the last: above all
	equal  []int // scores equal to Scores[i] (the first of equal ones)
	m      int
}

// Arrivals begins a comparison.
func (s *Sample) Arrivals() *Arrivals {
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

// Rows is the number of scores that were added.
func (a *Arrivals) Rows() int { return a.m }

// Same reports whether the scores that were added have the order statistics of the calibration scores: unless nearly all scores
// are equal, they are those of the same rows.
func (a *Arrivals) Same() bool {
	s := a.sample
	if a.m != s.Rows || s.Scores[0] == s.Scores[len(s.Scores)-1] {
		return false
	}
	above := a.over[len(a.over)-1] // strictly above Scores[i]
	for i := len(s.Scores) - 1; i >= 0; i-- {
		first := i
		for first > 0 && s.Scores[first-1] == s.Scores[i] {
			first-- // the equal ones are counted there
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

// Shift is where arrivals differ most from the calibration scores.
type Shift struct {
	P        float64 // at most this probable for exchangeable scores, all comparisons taken together
	Score    float64 // the calibration score at which the difference is largest
	More     bool    // more arrivals lie above Score than can be expected; otherwise fewer
	Expected float64 // the share of the calibration scores above Score
	Seen     float64 // the share of the arrivals above Score
}

// Shift compares the arrivals with the calibration scores. Up to foreign of them may come from elsewhere, such as
// positives among rows without labels, where only negatives calibrated; nothing is supposed about where these score.
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
		first := i == 0 || a.sample.Scores[i-1] != z // only there the equal ones are known
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

// atLeastAbove is P(C >= c), C of m exchangeable scores above that of order k among n.
func atLeastAbove(n, k, m, c int) float64 {
	if c <= 0 {
		return 1
	}
	return exceedance(n, k, m, c, m)
}

// atMostAbove is P(C <= c).
func atMostAbove(n, k, m, c int) float64 {
	if c >= m {
		return 1
	}
	return exceedance(n, k, m, 0, c)
}

// exceedance is P(first <= C <= last): the masses, each from its neighbour's by their ratio
//
//	P(C = c+1) / P(C = c) = (c+1+n-k)/(c+1) (m-c)/(m-c+k-1),
//
// outwards from near the mode until they no longer matter, divided by the sum of all.
func exceedance(n, k, m, first, last int) float64 {
	const negligible = 1e-22
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
	// The terms fall on both sides of their largest. The rest of a side does not matter when it is negligible beside all, and
	// holds nothing that counts or is negligible beside what has been counted, which may be far out itself.
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
