package certified

import "toptau/internal/matrix"

// reader reads all rows of a matrix. Each call is one full reading, unless a reader shares it among several callers.
type reader interface {
	// scores fills z of every point with the scores of all rows at w, positives first.
	scores(points []scored)
	// sums returns the weighted sums of the rows of each class. They must not be changed.
	sums() (positives, negatives []float64)
	// add adds value(i, z[i]) times row i of a part to g, for the scores z of its rows at w. It returns the number of rows whose
	// value is not 0; no other counts as visited.
	add(part *matrix.Part, w, z []float64, value func(i int, z float64) float64, g []float64) int
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

// manyRows is the part of the rows from which reading all is cheaper than listing some.
const manyRows = 8

// add makes one pass that scores the rows again where many of the values are not zero, else it goes row by row. Either way has
// the same bits.
func (d direct) add(part *matrix.Part, w, z []float64, value func(i int, z float64) float64, g []float64) int {
	count := nonZero(z, value)
	if count > len(z)/manyRows {
		part.Pass(w, func(first int, z, v []float64) bool {
			some := false
			for k, score := range z {
				v[k] = value(first+k, score)
				some = some || v[k] != 0
			}
			return some
		}, g)
		return count
	}
	values := sparseOf(z, value, count)
	part.AddGradient(values.Rows, values.Values, g)
	return count
}
