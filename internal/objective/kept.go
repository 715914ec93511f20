package objective

import (
	"toptau/internal/kernel"
	"toptau/internal/matrix"
	"toptau/threshold"
)

// Where rows are long, and where most of them have a part in the threshold, all scores of the population are kept, and it is
// not scored again: losses and coefficients are formed from the scores, and the data is read a second time for the gradient
// alone.

// longRow is the number of bytes of a row from which its scores are always kept: they take next to nothing. A variable for
// tests.
var longRow = 2 << 10

func longRows(x *matrix.Matrix) bool { return x.Bytes() >= int64(longRow)*int64(x.Rows()) }

// keeps reports whether scores are used again where all are kept. It depends on the problem alone: in other methods the
// rounding of sums does not depend on floors.
func (o *Objective) keeps() bool { return longRows(o.x) || o.surrogateQuantile() }

// surrogateQuantile reports whether most rows may have a part in the threshold.
func (o *Objective) surrogateQuantile() bool {
	_, is := o.problem.Rule().(threshold.SurrogateQuantile)
	return is
}

// many reports whether so many rows have a part in a threshold that a floor does not pay in the next step.
func (o *Objective) many(rows int) bool {
	if o.surrogateQuantile() {
		rows *= 2
	}
	return 2*rows > o.population.Rows
}

// fewActive is the share of rows with a coefficient, one in so many, up to which they are listed and read one by one.
const fewActive = 64

// sweep forms the losses of the classes whose scores are kept, and writes the coefficients of the losses to v.
func (s *space) sweep(o *Objective, n *lane) {
	for class, side := range n.sides() {
		if !side.kept {
			continue
		}
		s.v[class] = resize(s.v[class], len(side.scores))
		if o.hasLosses(class) {
			copy(s.v[class], side.scores)
			side.losses.set(o, n.t, class)
			side.losses.sweep(s.v[class])
		} else {
			clear(s.v[class])
			side.losses.Active = 0
		}
	}
}

// sweep replaces the scores of all rows of a class by coefficients and forms the sums of a Response.
func (l *losses) sweep(z []float32) {
	l.Loss, l.Slope, l.Active = 0, 0, 0
	if l.Other == nil {
		l.Loss, l.Active = sweepHinge(l.Hinge, z)
		l.Slope = float64(l.Active)
		return
	}
	for first := 0; first < len(z); first += sumBlock {
		v := z[first:min(first+sumBlock, len(z))]
		loss, slope := l.Other.Respond(first, v)
		l.Loss += loss
		l.Slope += slope
		for _, x := range v {
			if x != 0 {
				l.Active++
			}
		}
	}
}

// sweepHinge replaces scores by coefficients and returns the sum of u and the number of rows with one.
func sweepHinge(h kernel.Hinge, z []float32) (sum float64, active int) {
	var lanes [kernel.TileLanes]float64
	whole := len(z) / kernel.PanelRows
	active = h.Panels(z, kernel.PanelRows, whole, &lanes)
	active += h.Rows(z[whole*kernel.PanelRows:], &lanes)
	return kernel.SumLanes(&lanes), active
}

// join replaces the scores by the coefficients v of the losses and those of the threshold.
func (s *side) join(v []float32, n *lane) {
	s.active = s.losses.Active
	if n.bulk.is {
		s.active += n.bulk.coefficients(s.scores, float32(n.rest*n.bulk.a))
		for i, x := range v {
			s.scores[i] += x
		}
	} else {
		s.active += len(s.rows)
		copy(s.scores, v)
		for k, row := range s.rows {
			s.scores[row] += float32(n.rest * s.a[k])
		}
	}
	if s.dense = s.active > len(v)/fewActive; s.dense {
		return
	}
	s.rows, s.v = s.rows[:0], s.v[:0]
	for i, x := range s.scores {
		if x != 0 {
			s.rows, s.v = append(s.rows, int32(i)), append(s.v, x)
		}
	}
}
