package certified

import (
	"math"
	"slices"

	"toptau/internal/core/certified/linalg"
	"toptau/internal/core/certified/smoothed"
)

// smoothedPoint is the smoothed problem at a point, with the true one there.
type smoothedPoint struct {
	*smoothed.Evaluation
	evaluation
	positives, population []Group   // the pieces of the smoothed hinges, as groups with linear multipliers
	p, a                  []float64 // their sums
}

// setLevel sets the threshold from the sums on the pieces of its hinge, and its multipliers.
func (e *smoothedPoint) setLevel(level float64, pieces []smoothed.Piece, sums *sumsBetween) {
	e.SetLevel(level, sums.cells, pieces)
	e.population, e.a = e.linear(e.Hinge, pieces, sums, 1/e.U)
}

// setLoss does the same for the loss.
func (e *smoothedPoint) setLoss(pieces []smoothed.Piece, sums *sumsBetween) {
	e.SetLoss(sums.cells, pieces)
	e.positives, e.p = e.linear(e.Loss, pieces, sums, 1/e.Mass)
}

// squaredLevel returns the level of a squared hinge, which has no corner to smooth, as far as the bounds show it.
func (e *smoothedPoint) squaredLevel() float64 {
	e.Off = e.f - e.fLow
	return e.edge
}

// levelFrom guesses the level from bins.
func (e *smoothedPoint) levelFrom(bins histogram) float64 {
	var scores, weights []float64
	for _, b := range bins {
		scores, weights = append(scores, b.mean()), append(weights, b.Mass)
	}
	return e.GuessLevel(e.edge, scores, weights)
}

// pieces asks for sums over the pieces of a hinge at a level.
func (e *smoothedPoint) pieces(h smoothed.Hinge, level float64) Request {
	r := Request{Inside: true, Origin: level}
	for _, end := range h.Ends() {
		r.Cuts = append(r.Cuts, level+end)
	}
	r.Cuts = append(r.Cuts, math.Inf(1))
	r.Groups = r.Cuts
	return r
}

// sumsBetween is the sums over intervals of scores, in ascending order of z: the scores less the origin, or with sign -1 the origin less
// the scores.
type sumsBetween struct {
	origin, sign float64
	ends         []float64 // scores, in the order of z
	knots        []float64 // the same as values of z
	cells        []smoothed.Cell
}

// newSumsBetween returns the sums over the intervals that a request asked for.
func newSumsBetween(r *Request, a *ClassAnswer, sign float64) sumsBetween {
	i := sumsBetween{origin: r.Origin, sign: sign, ends: slices.Clone(r.Groups)}
	for k, sum := range a.Groups {
		c := smoothed.Cell{Features: sum.Features, Moment: sum.Moment}
		for j, b := range a.Bins {
			from := math.Inf(-1)
			if j > 0 {
				from = r.Cuts[j-1]
			}
			if from >= r.Groups[k] && from < r.Groups[k+1] {
				c.Mass, c.Score, c.Square = c.Mass+b.Mass, c.Score+float64(sign*b.Score), c.Square+b.Square
			}
		}
		if sign < 0 {
			c.Moment = make([]float64, len(sum.Moment))
			linalg.Axpy(-1, sum.Moment, c.Moment)
		}
		i.cells = append(i.cells, c)
	}
	if sign < 0 {
		slices.Reverse(i.cells)
		slices.Reverse(i.ends)
	}
	for _, x := range i.ends {
		i.knots = append(i.knots, sign*(x-r.Origin))
	}
	return i
}

// fits reports whether a corner lies between knots that are close enough.
func (i *sumsBetween) fits(h smoothed.Hinge, corner float64) bool {
	knots := i.knots
	last := knots[len(knots)-2] // the one after it is infinite
	if h.Square {
		return corner >= knots[0] && corner <= last
	}
	half := float64(h.Width / 2)
	return corner-half >= knots[0] && corner+half <= last && knots[1]-knots[0] <= h.Width/minKnots
}

// pieces returns the pieces of a hinge between the knots, and the sums on them. Equal neighbours are one.
func (i *sumsBetween) pieces(h smoothed.Hinge, corner float64) (pieces []smoothed.Piece, out sumsBetween) {
	out = sumsBetween{origin: i.origin, sign: i.sign, ends: i.ends[:1:1]}
	for k, p := range h.Between(i.knots, corner) {
		c := i.cells[k]
		if n := len(pieces); n > 0 && pieces[n-1] == p {
			to := &out.cells[n-1]
			to.Mass, to.Score, to.Square = to.Mass+c.Mass, to.Score+c.Score, to.Square+c.Square
			linalg.Axpy(1, c.Features, to.Features)
			linalg.Axpy(1, c.Moment, to.Moment)
			out.ends[n] = i.ends[k+1]
			continue
		}
		c.Features, c.Moment = slices.Clone(c.Features), slices.Clone(c.Moment)
		pieces, out.cells, out.ends = append(pieces, p), append(out.cells, c), append(out.ends, i.ends[k+1])
	}
	return pieces, out
}

// level returns the level from the sums about the population, less the origin. On a function that is linear between the knots, the
// rows of an interval act like two rows at its ends with the same mass and the same mean.
func (i *sumsBetween) level(e *smoothedPoint) float64 {
	if e.Hinge.Square {
		return e.squaredLevel() - i.origin
	}
	edge := e.edge - i.origin
	var scores, weights []float64
	for k, c := range i.cells {
		switch from, to := i.knots[k], i.knots[k+1]; {
		case !(c.Mass > 0):
		case math.IsInf(to, 1):
			scores, weights = append(scores, c.Score/c.Mass), append(weights, c.Mass)
		default:
			part := math.Max(0, math.Min(1, (c.Score/c.Mass-from)/(to-from)))
			scores, weights = append(scores, from, to), append(weights, c.Mass*(1-part), c.Mass*part)
		}
	}
	return e.GuessLevel(edge, scores, weights)
}

// cellsOf returns the cells of an answer about pieces, in ascending order of z: the scores less the origin, or
// with sign -1 the origin less the scores.
func cellsOf(a *ClassAnswer, sign float64) []smoothed.Cell {
	bins := a.Bins[1 : len(a.Bins)-1]
	if sign < 0 {
		bins = slices.Clone(bins)
		slices.Reverse(bins)
	}
	cells := make([]smoothed.Cell, len(bins))
	for k, b := range bins {
		cells[k] = smoothed.Cell{Mass: b.Mass, Score: sign * b.Score, Square: b.Square}
		if len(a.Groups) == 0 {
			continue
		}
		sum := a.Groups[k]
		if sign < 0 {
			sum = a.Groups[len(bins)-1-k]
		}
		cells[k].Features, cells[k].Moment = sum.Features, sum.Moment
		if sign < 0 {
			cells[k].Moment = make([]float64, len(sum.Moment))
			linalg.Axpy(-1, sum.Moment, cells[k].Moment)
		}
	}
	return cells
}

// linear returns the pieces of a hinge as groups with the linear multipliers m scale (rate + slope z), and their sums.
func (e *smoothedPoint) linear(h smoothed.Hinge, pieces []smoothed.Piece, on *sumsBetween, scale float64) (groups []Group, values []float64) {
	for k, p := range pieces {
		c := &on.cells[k]
		value := scale * c.Slopes(p)
		if !(value > 0) {
			continue
		}
		// As one row it has the multiplier value. So its features are those of the members in proportion to their
		// multipliers, and its mass is such that the largest rate, or the sum of squares, is that of the members.
		mean := make([]float64, len(c.Features))
		c.AddGradient(p, scale/value, mean)
		mass := value / scale
		if h.Square {
			mass *= mass / c.Squares(p)
		}
		low, high := on.ends[k], on.ends[k+1]
		if on.sign < 0 {
			low, high = high, low
		}
		groups = append(groups, Group{Mass: mass, Mean: mean, At: e.evaluation.at, Low: low, High: high,
			Rate: scale * p.Rate / value, Slope: on.sign * scale * p.Slope / value, Origin: on.origin})
		values = append(values, value)
	}
	return groups, values
}

// curvatureRows is the number of sampled rows of a class for the second derivative. The error of a
// sampled Hessian falls with its root.
const curvatureRows = 20_000

// sampleOf returns the rows of an answer to some Wants.
func sampleOf(a *ClassAnswer) (rows []smoothed.Row) {
	for k, list := range a.Rows {
		stands := float64(a.Count[k]) / math.Max(1, float64(len(list)))
		for _, r := range list {
			rows = append(rows, smoothed.Row{Score: r.Score, Weight: r.Weight, Stands: stands, Features: r.Features})
		}
	}
	return rows
}
