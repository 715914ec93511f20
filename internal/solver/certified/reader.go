package certified

import "toptau/internal/matrix"

// reader reads all rows of a matrix. Each call is one full reading, unless a reader shares it among several callers.
type reader interface {
	// scores fills z of every point with the scores of all rows at w, positives first.
	scores(points []scored)
	// sums returns the weighted sums of the rows of each class. They must not be changed.
	sums() (positives, negatives []float64)
}

// scored is a point with the scores of all rows, positives first.
type scored struct {
	w, z []float64
}

// direct is the reader of a matrix for one caller.
type direct struct{ x *matrix.Matrix }

func (d direct) scores(points []scored) {
	positives := d.x.Positives.Rows()
	var w, first, second [][]float64
	for _, p := range points {
		w, first, second = append(w, p.w), append(first, p.z[:positives]), append(second, p.z[positives:])
	}
	d.x.Positives.ScoresOf(w, first)
	d.x.Negatives.ScoresOf(w, second)
}

func (d direct) sums() (positives, negatives []float64) {
	zero := make([]float64, d.x.Cols())
	addAll := func(p *matrix.Part) []float64 {
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
