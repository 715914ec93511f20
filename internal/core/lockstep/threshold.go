package lockstep

import (
	"math"
	"slices"

	"toptau/internal/core/kernel"
	"toptau/internal/core/objective"
)

// findThreshold finds the threshold of a point and the weights of its gradient.
func (e *Evaluator) findThreshold(p evaluation, n *pointState, s *scratch) {
	if n.short = !s.computeThreshold(p.subject, n); n.short {
		return
	}
	e.edges[p.Run].add(s.support.Edge, p.maxRows(len(s.support.Rows)))
	n.t = s.support.T
	first := 0 // the first negative's place in the population
	if p.countsPositives {
		first = p.Matrix.Positives.Rows()
	}
	for class := range n.classes {
		c := &n.classes[class]
		c.rows, c.a = c.rows[:0], c.a[:0]
	}
	if n.uniform.set(p.subject, s) {
		return
	}
	for k, at := range s.support.Rows {
		class, row := negatives, int(s.place(at))-first
		if row < 0 {
			class, row = positives, row+first
		}
		c := &n.classes[class]
		c.rows, c.a = append(c.rows, int32(row)), append(c.a, s.support.A[k])
	}
}

// computeThreshold computes t and its weights from the candidates where these are enough, or else from all scores. It
// returns false when all scores are needed and not stored.
func (s *scratch) computeThreshold(o *subject, n *pointState) bool {
	first := 0 // positives in the population
	if o.countsPositives {
		first = o.Matrix.Positives.Rows()
	}
	switch {
	case n.hasFloor && s.useCandidates(o, n, first):
		return true
	case !n.keepsAll:
		return false
	}
	s.all = true
	if s.z == nil {
		s.z = objective.BorrowScores()
	}
	s.z = resizeDropping(s.z, first+len(n.classes[negatives].scores))
	widen(n.classes[positives].scores[:first], s.z)
	widen(n.classes[negatives].scores, s.z[first:])
	o.Rule.At(s.z, o.Weights, &s.support)
	return true
}

// useCandidates computes the threshold from the candidates and reports whether it is that of the population.
func (s *scratch) useCandidates(o *subject, n *pointState, first int) bool {
	s.z, s.rows, s.all = s.z[:0], s.rows[:0], false
	if first > 0 {
		s.addCandidates(&n.classes[positives].candidates, 0)
	}
	s.addCandidates(&n.classes[negatives].candidates, int32(first))
	var m []float64
	mass := float64(len(s.z))
	if o.Weights != nil {
		s.m = resizeDropping(s.m, len(s.rows))
		for i, row := range s.rows {
			s.m[i] = o.Weights[row]
		}
		m, mass = s.m, sumHalves(s.m)
	}
	if len(s.z) == 0 || !o.suffices(mass) {
		return false
	}
	o.Rule.At(s.z, m, &s.support)
	return s.support.Edge > float64(n.floor)
}

// addCandidates appends the candidates of a class whose first row has place first in the population.
func (s *scratch) addCandidates(c *Candidates, first int32) {
	for rows, z := range c.All() {
		n := len(s.z)
		s.z = slices.Grow(s.z, len(z))[:n+len(z)]
		widen(z, s.z[n:])
		s.rows = append(s.rows, rows...)
		for i := n; first > 0 && i < len(s.rows); i++ {
			s.rows[i] += first
		}
	}
}

// place returns the place in the population of the row with the score s.z[at].
func (s *scratch) place(at int32) int32 {
	if s.all {
		return at
	}
	return s.rows[at]
}

// suffices reports whether candidates of some mass can determine a threshold that takes a given mass from the top. Surrogate
// quantiles show by their edge instead. Sums of fractional weights may be off by rounding.
func (s *subject) suffices(mass float64) bool {
	if s.surrogateQuantile {
		return true
	}
	kappa := s.Rule.Kappa()
	if !s.Population.Whole {
		kappa += float64(kappa * 1e-9) // far above the rounding error of the sum of 2^32 weights
	}
	return mass >= kappa
}

var one = []float64{1}

// widen converts scores to float64 with the kernel for panels of one column: z = 1 x.
func widen(x []float32, z []float64) {
	whole := len(x) / kernel.PanelRows * kernel.PanelRows
	kernel.ScorePanels(x[:whole], one, z[:whole], false)
	for i := whole; i < len(x); i++ {
		z[i] = float64(x[i])
	}
}

// sumHalves adds numbers pairwise, in an order that depends on their number alone.
func sumHalves(x []float64) float64 {
	if len(x) <= blockRows {
		var s [4]float64
		for ; len(x) >= 4; x = x[4:] {
			s[0] += x[0]
			s[1] += x[1]
			s[2] += x[2]
			s[3] += x[3]
		}
		for _, xi := range x {
			s[0] += xi
		}
		return (s[0] + s[1]) + (s[2] + s[3])
	}
	half := (len(x)/2 + blockRows - 1) / blockRows * blockRows
	return sumHalves(x[:half]) + sumHalves(x[half:])
}

// maxRows reports whether so large a part of the population determines a threshold that a floor does not pay in the next
// step. rows is the number of rows with a weight in the threshold's gradient.
func (s *subject) maxRows(rows int) bool {
	if s.surrogateQuantile {
		rows *= 2
	}
	return 2*rows > s.Population.Rows
}

// uniformSupport describes the rows of a threshold where they are many, are all rows from some score up, and have equal
// weights: those of the surrogate quantile of the hinge. No list of them is needed where all scores are stored.
type uniformSupport struct {
	is    bool
	least float64 // the lowest of their scores
	a     float64 // their weight
}

// set describes the rows of the support if they are uniform, and reports whether they are.
func (u *uniformSupport) set(o *subject, s *scratch) bool {
	u.is = o.hingeQuantile && s.all && o.Weights == nil && o.maxRows(len(s.support.Rows))
	if !u.is {
		return false
	}
	least := math.Inf(1)
	for _, at := range s.support.Rows {
		if z := s.z[at]; z < least {
			least = z
		}
	}
	u.a, u.least = s.support.A[0], least
	return true
}

// coefficients replaces scores by v for the rows of the support, whose number it returns, and by 0 for others.
func (u *uniformSupport) coefficients(z []float32, v float32) int {
	below := math.Nextafter32(float32(u.least), float32(math.Inf(-1)))
	_, rows := hingeCoefficients(kernel.Hinge{Sign: 1, Shift: -float64(below), V: v}, z)
	return rows
}
