package heldout

import (
	"cmp"
	"slices"
	"sort"
	"toptau/calibrate"
)

// Isotonic calibration (Zadrozny and Elkan 2002): the non-decreasing step function with the highest likelihood,
// by pooling adjacent violators. Steps become knots at their mean score, with straight lines between them and
// constants outside, so that equal probabilities of many rows do not hide their order more than necessary.

// Chosen by hand.
const (
	isotonicPositives = 100 // fewer positives make steps that are mostly chance
	isotonicBins      = 40  // bins from the quantiles of each class before pooling
)

// isotonicStep is a group of rows with adjacent scores.
type isotonicStep struct{ mass, positive, score float64 } // score: sum of scores times weights

func (s *isotonicStep) probability(prevalence float64) float64 {
	return (s.positive + prevalence) / (s.mass + 1) // one more row at the prevalence: never 0 or 1
}

// fitIsotonic returns the knots for some rows.
func fitIsotonic(rows []weightedRow, prevalence float64) []calibrate.Knot {
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b weightedRow) int { return cmp.Compare(a.score, b.score) })
	edges := isotonicEdges(sorted)
	var steps []isotonicStep
	for i := 0; i < len(sorted); {
		bin := sort.SearchFloat64s(edges, sorted[i].score)
		var s isotonicStep
		for ; i < len(sorted) && sort.SearchFloat64s(edges, sorted[i].score) == bin; i++ {
			w := sorted[i].weight
			s.mass += w
			s.score += float64(w * sorted[i].score)
			if sorted[i].positive {
				s.positive += w
			}
		}
		steps = append(steps, s)
		for n := len(steps); n > 1 && steps[n-2].probability(prevalence) >= steps[n-1].probability(prevalence); n-- {
			last := steps[n-1]
			steps = steps[:n-1]
			to := &steps[n-2]
			to.mass, to.positive, to.score = to.mass+last.mass, to.positive+last.positive, to.score+last.score
		}
	}
	knots := make([]calibrate.Knot, len(steps))
	for i := range steps {
		knots[i] = calibrate.Knot{Score: steps[i].score / steps[i].mass, Probability: steps[i].probability(prevalence)}
	}
	return knots
}

// isotonicEdges returns the quantiles of both classes.
func isotonicEdges(sorted []weightedRow) []float64 {
	var edges []float64
	for _, positive := range []bool{false, true} {
		var z []float64
		for _, r := range sorted {
			if r.positive == positive {
				z = append(z, r.score)
			}
		}
		for k := 1; k < isotonicBins; k++ {
			edges = append(edges, z[k*(len(z)-1)/isotonicBins])
		}
	}
	slices.Sort(edges)
	return slices.Compact(edges)
}
