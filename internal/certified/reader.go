package certified

import "toptau/internal/matrix"

// reader reads all rows of a matrix. Each call is one pass, unless a reader shares it among several callers.
type reader interface {
	// computeScores fills the scores of every point, positives first. Their space is allocated.
	computeScores(points []*Point)
	// sumClasses returns the weighted sums of the rows of each class. They must not be changed.
	sumClasses() (positives, negatives []float64)
	// addRows adds value(i, z[i]) times row i of a class to g, for the scores z of its rows at w. It returns
	// the number of rows whose value is not 0: those that were read.
	addRows(part *matrix.ClassRows, w, z []float64, value func(i int, z float64) float64, g []float64) int
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

// manyRows decides between the two ways of addRows: above one row in eight a pass over all rows is faster
// than a list of rows. Chosen by hand; both ways give the same bits.
const manyRows = 8

// addRows makes one pass that scores the rows again if many of the values are not zero. Else it reads them
// one by one.
func (d direct) addRows(part *matrix.ClassRows, w, z []float64, value func(i int, z float64) float64, g []float64) int {
	count := countNonZero(z, value)
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
	values := sparseOfCount(z, value, count)
	part.AddGradient(values.Rows, values.Values, g)
	return count
}
