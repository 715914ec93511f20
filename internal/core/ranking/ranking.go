package ranking

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"toptau/diag"
)

// Scores are the scores of a labelled sample, by class.
type Scores struct {
	Positives, Negatives []float64
	// Weights of the rows, in the same order, finite and not negative. nil: 1 each.
	PositiveWeights, NegativeWeights []float64
}

// Ranking is a labelled sample sorted once by score. It is immutable and safe for concurrent use.
type Ranking struct {
	tieGroups
	counts   [2]int // rows: positives, negatives
	weighted bool   // some weight is not 1
	rows     rows   // the sorted rows themselves; only when weighted (the bootstrap draws a mass for each)

	measured   *Ranking // of a ranking that Mixed returned: the one it is made of; otherwise nil
	prevalence float64  // likewise
}

// tieGroups are the masses of both classes by score. Rows of equal score form one group, and groups are in descending order of
// score. positives[g] and negatives[g] are the mass of the class in groups 0..g-1, so index len(scores) means all rows.
type tieGroups struct {
	scores    []float64 // distinct, descending
	positives []float64 // cumulated mass, len(scores)+1, starts with 0
	negatives []float64
	whole     [2]bool // all masses of the class are whole numbers: positives, negatives
}

// rows contains the group and the weight of each row of a weighted sample, by class.
type rows struct {
	groups  [2][]int32
	weights [2][]float64
}

// Rank sorts the scores. It does not keep or change its input. NaN scores, weights that are negative or not
// finite, and slices of different lengths are errors that name the row. Infinite scores are ordered like any
// other. A class may be empty; results that need it are then undefined.
func Rank(s Scores) (*Ranking, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	r := &Ranking{counts: [2]int{len(s.Positives), len(s.Negatives)}}
	r.weighted = !allOnes(s.PositiveWeights) || !allOnes(s.NegativeWeights)
	if r.weighted {
		r.tieGroups, r.rows = mergeClasses(sortWeighted(s.Positives, s.PositiveWeights), sortWeighted(s.Negatives, s.NegativeWeights))
	} else {
		r.tieGroups, _ = mergeClasses(sorted{scores: sortPlain(s.Positives)}, sorted{scores: sortPlain(s.Negatives)})
	}
	r.whole = [2]bool{allWhole(s.PositiveWeights), allWhole(s.NegativeWeights)}
	return r, nil
}

// sorted are rows in descending order of score; weights nil: 1 each.
type sorted struct{ scores, weights []float64 }

func (s sorted) weight(i int) float64 {
	if s.weights == nil {
		return 1
	}
	return s.weights[i]
}

func sortPlain(scores []float64) []float64 {
	z := slices.Clone(scores)
	slices.Sort(z)
	slices.Reverse(z)
	return z
}

// sortWeighted sorts stably, so sums of weights always have one order.
func sortWeighted(scores, weights []float64) sorted {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return 0
	})
	s := sorted{make([]float64, len(scores)), make([]float64, len(scores))}
	for i, row := range order {
		s.scores[i] = scores[row]
		s.weights[i] = 1
		if weights != nil {
			s.weights[i] = weights[row]
		}
	}
	return s
}

// mergeClasses builds the groups of both classes, and lists the rows if they have weights.
func mergeClasses(p, n sorted) (r tieGroups, list rows) {
	r.positives, r.negatives = append(r.positives, 0), append(r.negatives, 0)
	classes := [2]sorted{p, n}
	var at [2]int
	var mass [2]float64
	for at[0] < len(p.scores) || at[1] < len(n.scores) {
		score := nextScore(p, n, at)
		group := int32(len(r.scores))
		for class, rows := range classes {
			for ; at[class] < len(rows.scores) && rows.scores[at[class]] == score; at[class]++ {
				m := rows.weight(at[class])
				mass[class] += m
				if rows.weights != nil {
					list.groups[class] = append(list.groups[class], group)
					list.weights[class] = append(list.weights[class], m)
				}
			}
		}
		r.scores = append(r.scores, score+0) // -0 becomes 0
		r.positives = append(r.positives, mass[0])
		r.negatives = append(r.negatives, mass[1])
	}
	return r, list
}

// nextScore returns the largest score that is not merged yet.
func nextScore(p, n sorted, at [2]int) float64 {
	switch {
	case at[0] == len(p.scores):
		return n.scores[at[1]]
	case at[1] == len(n.scores):
		return p.scores[at[0]]
	}
	return max(p.scores[at[0]], n.scores[at[1]])
}

// PositiveMass returns the number (or mass) of positives, n+.
func (r *Ranking) PositiveMass() float64 { return r.positives[len(r.scores)] }

// NegativeMass returns the number (or mass) of negatives, n-.
func (r *Ranking) NegativeMass() float64 { return r.negatives[len(r.scores)] }

// Mass returns the number (or mass) of all rows.
func (r *tieGroups) Mass() float64 {
	positives, negatives := r.totals()
	return positives + negatives
}

// Rows returns the numbers of positive and negative rows, without weights.
func (r *Ranking) Rows() (positives, negatives int) { return r.counts[0], r.counts[1] }

// Weighted reports whether some row has a weight other than 1.
func (r *Ranking) Weighted() bool { return r.weighted }

// Lowest returns the lowest score of a ranking with rows.
func (r *Ranking) Lowest() float64 { return r.scores[len(r.scores)-1] }

// Groups returns the number of distinct scores.
func (r *Ranking) Groups() int { return len(r.scores) }

// totals returns the masses of all positives and negatives.
func (r *tieGroups) totals() (positives, negatives float64) {
	return r.positives[len(r.scores)], r.negatives[len(r.scores)]
}

// above returns the number of groups with score > t.
func (r *tieGroups) above(t float64) int {
	return sort.Search(len(r.scores), func(g int) bool { return r.scores[g] <= t })
}

func (s Scores) check() error {
	if err := checkClass("positive", s.Positives, s.PositiveWeights); err != nil {
		return err
	}
	return checkClass("negative", s.Negatives, s.NegativeWeights)
}

func checkClass(class string, scores, weights []float64) error {
	if weights != nil && len(weights) != len(scores) {
		return &diag.Error{Kind: diag.Data,
			Found:    fmt.Sprintf("%d weights for %d %s scores", len(weights), len(scores), class),
			Expected: "one weight for each score"}
	}
	for i, z := range scores {
		if math.IsNaN(z) {
			return &diag.Error{Kind: diag.Data, Found: fmt.Sprintf("the score of %s row %d is NaN", class, i+1),
				Expected: "a number"}
		}
	}
	for i, m := range weights {
		if !(m >= 0) || math.IsInf(m, 0) {
			return &diag.Error{Kind: diag.Data,
				Found:    fmt.Sprintf("the weight of %s row %d is %v", class, i+1, m),
				Expected: "a finite number, not negative"}
		}
	}
	return nil
}

func allOnes(weights []float64) bool {
	for _, m := range weights {
		if m != 1 {
			return false
		}
	}
	return true
}

func allWhole(weights []float64) bool {
	for _, m := range weights {
		if m != math.Floor(m) {
			return false
		}
	}
	return true
}

// tolerance is the relative difference up to which masses that are not whole count as equal. Chosen by hand.
const tolerance = 1e-12

// raised returns a budget of drawn masses, raised by the tolerance: positives that fill it with their gap are within it.
func raised(budget float64) float64 { return budget + float64(tolerance*budget) }
