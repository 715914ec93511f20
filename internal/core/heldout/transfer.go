package heldout

import (
	"math"
	"slices"
	"sort"

	"toptau/internal/core/detmath"
)

// FoldScores are scores of a fit that left a fold of the rows out.
type FoldScores struct {
	Fitted               []float64 // of the negatives that it was fitted to
	Negatives, Positives []float64 // of the rows that it left out
}

// transferRows is the number of negatives of the model with a higher score from which on levels are compared; above, distances are.
// Chosen with the other constants on 300 simulated trainings of linear models and boosters, whose rates on 30,000 fresh negatives are
// known (a change moves results; decision 7 has the measurements). From 20 to 50 nothing changed.
const transferRows = 30

// Transfer returns the scores of left-out rows on the scale of a model of the same learner that is fitted to all rows, in the place of
// their own. fitted are the model's scores of its own negatives. Then all rows can train, and all give the threshold.
//
// The scores of two fits are never compared, because refitted trees shift them and folds spread them. Levels are: the level p of a score is
// the fraction of the fit's own negatives above it. New negatives score higher than a fit's own ones, by about as much in every fit. So a
// left-out row is placed where the model's own negatives have nearly the same level,
//
//	q = p + (r - p) / 2K,
//
// where r is the fraction of all left-out negatives with a smaller level. r - p is how far the fits of the K folds overfit, and the model
// has 1/(K-1) more rows.
//
// Above the score that 30 of the model's own negatives exceed, levels are too coarse, and those of trees that fit their rows closely end
// there. The distance of a score from that of this level in its own fit is then kept. It is not, if most of these negatives are tied.
//
// Tied scores stay tied: a score that is that of several own negatives has the level of their middle, and where the model's negatives are
// tied it becomes one of their scores.
func Transfer(fitted []float64, folds []FoldScores) []FoldScores {
	model := slices.Sorted(slices.Values(fitted))
	own := make([][]float64, len(folds))
	levels := make([]FoldScores, len(folds))
	var all []float64 // levels of the left-out negatives, ascending
	for k, f := range folds {
		own[k] = slices.Sorted(slices.Values(f.Fitted))
		levels[k] = FoldScores{Negatives: levelsOf(own[k], f.Negatives), Positives: levelsOf(own[k], f.Positives)}
		all = append(all, levels[k].Negatives...)
	}
	slices.Sort(all)
	part := 1 / float64(2*len(folds))
	place := func(p float64) float64 {
		below, atMost := sort.SearchFloat64s(all, p), sort.Search(len(all), func(i int) bool { return all[i] > p })
		r := float64(below+atMost) / float64(2*len(all))
		return scoreAt(model, p+float64((r-p)*part))
	}
	anchor := anchorLevel(model)
	out := make([]FoldScores, len(folds))
	for k, f := range folds {
		here, there := math.Inf(1), 0.0
		if anchor > 0 {
			here, there = scoreAt(own[k], anchor), place(anchor)
		}
		move := func(scores, levels []float64) []float64 {
			moved := make([]float64, len(scores))
			for i, z := range scores {
				if moved[i] = place(levels[i]); z > here {
					moved[i] = there + (z - here)
				}
			}
			return moved
		}
		out[k] = FoldScores{Negatives: move(f.Negatives, levels[k].Negatives), Positives: move(f.Positives, levels[k].Positives)}
	}
	return out
}

// anchorLevel returns the level of transferRows of the model's own negatives, ascending; 0 if most of these are tied.
func anchorLevel(model []float64) float64 {
	n := len(model)
	if n <= transferRows {
		return 0
	}
	distinct := 1
	for i := n - transferRows + 1; i < n; i++ {
		if model[i] > model[i-1] {
			distinct++
		}
	}
	if 2*distinct < transferRows {
		return 0
	}
	return float64(transferRows) / float64(n)
}

// levelsOf returns the levels of scores among ascending ones, of which the i-th highest has the level (i - 1/2) / n. A score in between is
// interpolated, one that several have is in their middle, and one beyond the ends has the level of the end.
func levelsOf(own, scores []float64) []float64 {
	n := len(own)
	levels := make([]float64, len(scores))
	for i, z := range scores {
		low := sort.SearchFloat64s(own, z)
		high := low + sort.Search(n-low, func(j int) bool { return own[low+j] > z })
		above := float64(n-high) + float64(float64(high-low)/2)
		switch {
		case high > low:
		case low == 0:
			above = float64(n) - 0.5
		case low == n:
			above = 0.5
		default:
			if gap := own[low] - own[low-1]; !math.IsInf(gap, 0) {
				above += (own[low]-z)/gap - 0.5
			}
		}
		levels[i] = above / float64(n)
	}
	return levels
}

// scoreAt is the inverse of levelsOf: the score with a level among ascending ones. Next to tied scores it is one of these.
func scoreAt(own []float64, level float64) float64 {
	n := len(own)
	x := min(max(float64(level*float64(n))-0.5, 0), float64(n-1))
	j := int(x)
	f := x - float64(j)
	high, low := own[n-1-j], own[max(0, n-2-j)]
	tied := j > 0 && own[n-j] == high || n-3-j >= 0 && own[n-3-j] == low
	if tied {
		f = math.Round(f)
	}
	if f == 1 {
		return low
	}
	return between(high, low, f)
}

// priorSpread is the standard deviation between fits that Widen expects, as a fraction of the rate. Five folds say little about it, so
// half of the variance is what they show and half is this. Chosen on real sets, and kept by the simulations of decision 7.
const priorSpread = 0.08

// Widen widens the interval of a threshold on transferred scores, for the difference between the folds' fits and the model: its variance is
// a (1-a)/n + 1.2 s^2 for a rate a of n scores, where s^2 is the variance between fits. folds are the scores by fold.
func (t *Threshold) Widen(folds [][]float64) {
	e := &t.Expected
	n, mean, k := 0, 0.0, float64(len(folds))
	rates := make([]float64, len(folds))
	for i, scores := range folds {
		for _, z := range scores {
			if z > t.Value {
				rates[i] += 1 / float64(len(scores))
			}
		}
		n += len(scores)
		mean += rates[i] / k
	}
	if !(e.Rate > 0 && e.Rate < 1) || len(folds) < 2 {
		return
	}
	excess, chance := 0.0, float64(e.Rate*(1-e.Rate))
	for _, rate := range rates {
		excess += float64((rate-mean)*(rate-mean)) / (k - 1)
	}
	excess = max(0, excess-float64(chance*k)/float64(n))
	spread := (excess + float64((priorSpread*e.Rate)*(priorSpread*e.Rate))) / 2
	factor := math.Sqrt(1 + float64(1.2*spread)*float64(n)/chance)
	if e.Low > 0 {
		e.Low = float64(e.Rate * detmath.Exp(float64(factor*detmath.Log(e.Low/e.Rate))))
	}
	e.High = min(1, float64(e.Rate*detmath.Exp(float64(factor*detmath.Log(e.High/e.Rate)))))
}
