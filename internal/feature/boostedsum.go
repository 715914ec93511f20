package feature

import (
	"toptau/internal/feature/trees"
)

// Boosting is what a fit keeps of the trees of a boosted encoding: the sum of trees that gradient boosting
// itself would predict with. As a weight vector it is a model, and where a linear fit may start.
type Boosting struct {
	Intercept float64
	Rounds    []trees.Round
	curves    bool // the rounds add to the curves of columns
}

// Weights returns the sum of the first rounds as a weight vector of a map with this many columns.
func (b *Boosting) Weights(rounds, cols int) []float64 {
	w := make([]float64, cols)
	for _, r := range b.Rounds[:min(rounds, len(b.Rounds))] {
		for i, v := range r.Values {
			w[r.First+i] += v
		}
	}
	return w
}
