package lockstep

import "toptau/internal/core/matrix"

// longRow is the number of bytes of a row from which scores are always stored: they take little memory next to the rows,
// and reading the rows again costs more than storing scores. It is a variable so that tests can use short rows.
var longRow = 2 << 10

func hasLongRows(x *matrix.Matrix) bool { return x.Bytes() >= int64(longRow)*int64(x.Rows()) }

// cachesScores reports whether stored scores are used again for losses, so that the rows are read a second time for the
// gradient alone. It depends on the problem alone: for other problems the rounding of sums does not depend on floors.
func (s *subject) cachesScores() bool { return hasLongRows(s.Matrix) || s.surrogateQuantile }

// useCachedScores computes the losses of the classes with cached scores and writes the coefficients of the losses to v.
func (s *scratch) useCachedScores(o *subject, n *pointState) {
	for class := range n.classes {
		c := &n.classes[class]
		if !c.cached {
			continue
		}
		s.v[class] = resizeDropping(s.v[class], len(c.scores))
		if o.hasLosses(class) {
			copy(s.v[class], c.scores)
			c.losses.set(o, n.t, class)
			c.losses.computeCoefficients(s.v[class])
		} else {
			clear(s.v[class])
			c.losses.Active = 0
		}
	}
}

// fewActive is the largest fraction of rows with a coefficient, one of 64, for which they are listed and read one by one: a
// panel then has one on average.
const fewActive = 64

// join replaces the cached scores by the coefficients v of the losses plus those of the threshold.
func (c *classState) join(v []float32, n *pointState) {
	c.active = c.losses.Active
	if n.uniform.is {
		c.active += n.uniform.coefficients(c.scores, float32(n.slope*n.uniform.a))
		for i, x := range v {
			c.scores[i] += x
		}
	} else {
		c.active += len(c.rows)
		copy(c.scores, v)
		for k, row := range c.rows {
			c.scores[row] += float32(n.slope * c.a[k])
		}
	}
	if c.dense = c.active > len(v)/fewActive; c.dense {
		return
	}
	c.rows, c.v = c.rows[:0], c.v[:0]
	for i, x := range c.scores {
		if x != 0 {
			c.rows, c.v = append(c.rows, int32(i)), append(c.v, x)
		}
	}
}
