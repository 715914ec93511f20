package ranking

import (
	"fmt"
	"math"

	"toptau/diag"
)

// Group is rows of equal score, or rows that are counted as if their scores were equal.
type Group struct {
	Score                float64
	Positives, Negatives int
}

// RankGroups returns the ranking of rows that were counted in intervals of scores. Groups are in ascending order of
// their scores. Thresholds between two groups, and everything that is computed from them, are exact. Within a group the
// rows count as tied, so an area lies between the one with ties against the ranking and the one with ties for it.
func RankGroups(groups []Group) (*Ranking, error) {
	r := &Ranking{tieGroups: tieGroups{whole: [2]bool{true, true}, positives: []float64{0}, negatives: []float64{0}}}
	last := math.Inf(1)
	for i := len(groups) - 1; i >= 0; i-- {
		g := &groups[i]
		if !(g.Score < last) || g.Positives < 0 || g.Negatives < 0 {
			found := fmt.Sprintf("a group of %d positives and %d negatives at score %v", g.Positives, g.Negatives, g.Score)
			return nil, &diag.Error{Kind: diag.Data, Found: found, Expected: "counts of at least 0, at ascending scores"}
		}
		if g.Positives+g.Negatives == 0 {
			continue
		}
		last = g.Score
		r.counts[0] += g.Positives
		r.counts[1] += g.Negatives
		r.scores = append(r.scores, g.Score+0) // -0 becomes 0
		r.positives = append(r.positives, float64(r.counts[0]))
		r.negatives = append(r.negatives, float64(r.counts[1]))
	}
	return r, nil
}
