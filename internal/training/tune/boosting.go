package tune

import (
	"context"

	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/internal/models/feature"
	"toptau/method"
)

// treeCounts are the numbers of boosted trees that cross-validation compares, smallest first.
var treeCounts = []int{10, 20, 35, 50, 75, 100, 150, 200, 300}

// firstTrees of all folds are grown before numbers of trees are compared. Then the folds grow from number to number, until moreTrials numbers
// in a row are no better than a smaller one. Chosen by hand (a change moves results); decision 9 has the measurements.
const (
	firstTrees = 75
	moreTrials = 3
)

// maxRefitted is the number of trees whose leaves are fitted again, at most. The fit weighs the leaves itself, so
// later trees, which correct the values of the first ones, bring it little. Chosen by hand (a change moves results).
const maxRefitted = 150

// boostingLearner returns gradient boosting: the sum of the first trees of a boosted encoding with the values
// that their leaves had when they were grown.
func boostingLearner(rounds int) learner {
	return learner{
		name:   method.Boosting,
		summed: true,
		grid: func(e feature.Encode) []Setting {
			most := rounds
			if most == 0 {
				most = feature.DefaultRounds(e)
			}
			var grid []Setting
			for _, n := range treeCounts {
				if n < most {
					grid = append(grid, Setting{Trees: n})
				}
			}
			return append(grid, Setting{Trees: most})
		},
		start: func(_ *matrix.Matrix, o fitOptions) fitFunc {
			return func(_ context.Context, s Setting) (Fit, error) {
				b := o.features.Boosting()
				return Fit{W: b.Weights(s.Trees, o.features.Cols()), At: objective.Value{T: -b.Intercept}, Solver: "boosting",
					Iterations: min(s.Trees, len(b.Rounds))}, nil
			}
		},
	}
}

// suits reports whether a learner can be fitted on an encoding.
func (l *learner) suits(e feature.Encode) bool { return !l.summed || e.Boosted() }
