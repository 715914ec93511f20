package certified

import "toptau/internal/core/matrix"

// reader reads all rows of a matrix. Each call is one pass, unless a reader shares it among several callers.
type reader interface {
	// computeScores fills the scores of every point, positives first. Their space is allocated.
	computeScores(points []*Point)
	// sumClasses returns the weighted sums of the rows of each class. They must not be changed.
	sumClasses() (positives, negatives []float64)
}

// direct reads a matrix for one caller.
type direct struct{ x *matrix.Matrix }

func (d direct) computeScores(points []*Point) {
	positives := d.x.Positives.Rows()
	var w, first, second [][]float64
	for _, p := range points {
		w, first, second = append(w, p.W), append(first, p.scores[:positives]), append(second, p.scores[positives:])
	}
	d.x.Positives.ScoresOf(w, first)
	d.x.Negatives.ScoresOf(w, second)
}

func (d direct) sumClasses() (positives, negatives []float64) {
	zero := make([]float64, d.x.Cols())
	addAll := func(p *matrix.ClassRows) []float64 {
		g, weights := make([]float64, d.x.Cols()), p.Weights()
		p.Pass(zero, func(first int, _, v []float64) bool {
			for k := range v {
				if v[k] = 1; weights != nil {
					v[k] = weights[first+k]
				}
			}
			return true
		}, g)
		return g
	}
	return addAll(d.x.Positives), addAll(d.x.Negatives)
}
