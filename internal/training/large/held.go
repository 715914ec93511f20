package large

import (
	"context"
	"slices"

	"toptau/internal/core/ranking"
	"toptau/internal/data/table"
)

// HeldScores are the scores of all rows of a part in memory: one pass over the rows, and none for a question.
type HeldScores struct {
	z [2][]float64 // ascending, by class: negatives, positives
}

// HoldScores returns the scores of the negatives and the positives, which it sorts where they are. They are finite.
func HoldScores(z [2][]float64) *HeldScores {
	for _, list := range z {
		for i := range list {
			list[i] += 0 // -0 becomes 0
		}
		slices.Sort(list)
	}
	return &HeldScores{z}
}

// rankedScores is the number of scores that are ranked exactly, rather than by counts between cuts: a ranking takes some 100 bytes a row.
const rankedScores = 4 << 20

// ranking returns the exact ranking; nil: it would take too much memory.
func (h *HeldScores) ranking() (*ranking.Ranking, error) {
	if len(h.z[0])+len(h.z[1]) > rankedScores {
		return nil, nil
	}
	return ranking.Rank(ranking.Scores{Positives: h.z[table.Positive], Negatives: h.z[table.Negative]})
}

// quantiles returns about n scores that divide each class evenly.
func (h *HeldScores) quantiles(n int) (cuts []float64) {
	for _, z := range h.z {
		for k := range min(n/2, len(z)) {
			cuts = append(cuts, z[len(z)*k/min(n/2, len(z))])
		}
	}
	return cuts
}

// Tally counts the rows between cuts.
func (h *HeldScores) Tally(ctx context.Context, cuts []float64) ([]Cell, error) {
	cells := slices.Repeat([]Cell{emptyCell}, len(cuts)+1)
	for class, z := range h.z {
		for i := range cells {
			n := len(z)
			if i < len(cuts) {
				n, _ = slices.BinarySearch(z, cuts[i])
			}
			if n > 0 {
				cells[i].Rows[class], cells[i].Low[class], cells[i].High[class] = n, z[0], z[n-1]
			}
			z = z[n:]
		}
	}
	return cells, ctx.Err()
}

// Between returns the scores of a class in an interval.
func (h *HeldScores) Between(ctx context.Context, c table.Class, low, high float64, most int) (z []float64, all int, err error) {
	first, _ := slices.BinarySearch(h.z[c], low)
	last, found := slices.BinarySearch(h.z[c], high)
	for ; found && last < len(h.z[c]) && h.z[c][last] == high; last++ {
	}
	z = h.z[c][first:max(first, last)]
	return slices.Clone(z[:min(len(z), most)]), len(z), ctx.Err()
}
