package certified

import (
	"math"
	"slices"

	"toptau/internal/certified/linalg"
	"toptau/internal/certified/smoothed"
)

// Where each question costs a pass, one question asks for all that an evaluation of the smoothed problem needs. The level of the
// threshold and the corner of the loss are not known yet, only about where they are. So the sums are asked for between knots there,
// and the hinges become those whose slope is linear between the knots (smoothed.Hinge.Between). Their slopes are feasible
// multipliers, so the bound holds. If a corner is not between the knots, its pieces are asked for as of any source.

// zone is where the corner of a hinge is expected among the scores of a class.
type zone struct {
	centre, reach, width float64   // of the smoothed hinge: it is at most reach from the centre
	noise                float64   // how far the true one may be from the centre
	cuts                 []float64 // for the true one, and over all scores
}

const (
	// knotsOfWidth is the number of knots in the width of a hinge, and mostKnots that in a zone. With leastKnots in a width, hinges
	// between knots cost the bound about an eighth more than smooth ones: the part is 2/leastKnots^2.
	knotsOfWidth = 32
	leastKnots   = 4
	mostKnots    = 256
)

// knots returns scores between which the corner is expected.
func (z zone) knots() []float64 {
	reach := z.reach + float64(z.width/2)
	count := math.Ceil(2 * reach / z.width * knotsOfWidth)
	near := Bin{Low: z.centre - reach, High: z.centre + reach}
	return near.cutsInside(int(math.Min(mostKnots, count)))
}

// request asks for the sums over the intervals between ends, which are knots and an infinite one.
func (z zone) request(ends []float64) Request {
	finite := slices.DeleteFunc(slices.Clone(ends), func(x float64) bool { return math.IsInf(x, 0) })
	return Request{Groups: ends, Moments: true, Origin: z.centre, Cuts: ascending(append(finite, z.cuts...))}
}

// around asks for rows of the zone, for the second derivative.
func (z zone) around(h smoothed.Hinge, sign float64) Want {
	w := Want{Low: z.centre - z.width, High: z.centre + z.width, Order: Spread, Limit: curvatureRows}
	switch {
	case h.Square && sign > 0: // it is not smoothed
		w.Low, w.High = z.centre-z.noise, math.Inf(1)
	case h.Square:
		w.Low, w.High = math.Inf(-1), z.centre+z.noise
	}
	return w
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
	return corner-half >= knots[0] && corner+half <= last && knots[1]-knots[0] <= h.Width/leastKnots
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

// evaluateAtOnce is evaluateSmoothed for a source that is asked as little as possible. It returns nil if the sample does not tell where
// the corners are.
func (s *solver) evaluateAtOnce(at *Point, width float64) (*smoothedPoint, error) {
	e := &smoothedPoint{Evaluation: smoothed.New(s.form, at.W, width, s.shape.Positives.Mass)}
	positives, population, useful := s.expected.zones(at.W, width)
	if !useful {
		return nil, nil
	}
	q := Query{At: at, Positives: positives.request(append([]float64{math.Inf(-1)}, positives.knots()...)),
		Population: population.request(append(population.knots(), math.Inf(1)))}
	answers, err := s.ask(q, Query{At: at, Positives: Request{Want: []Want{positives.around(e.Loss, -1)}},
		Population: Request{Want: []Want{population.around(e.Hinge, 1)}}})
	if err != nil {
		return nil, err
	}
	found := []evaluation{s.evaluationFrom(at, &q, &answers[0])}
	if err := s.narrowBounds(found); err != nil {
		return nil, err
	}
	e.evaluation = found[0]
	sums := newSumsBetween(&q.Population, &answers[0].Population, 1)
	rows := [2][]smoothed.Row{sampleOf(&answers[1].Positives), sampleOf(&answers[1].Population)}
	if level := sums.level(e); sums.fits(e.Hinge, level) {
		pieces, sums := sums.pieces(e.Hinge, level)
		e.setLevel(sums.origin+level, pieces, &sums)
	} else if rows[1], err = s.askLevel(e); err != nil {
		return nil, err
	}
	sums = newSumsBetween(&q.Positives, &answers[0].Positives, -1)
	if corner := sums.origin - (1 + e.Top); sums.fits(e.Loss, corner) {
		pieces, sums := sums.pieces(e.Loss, corner)
		e.setLoss(pieces, &sums)
	} else if rows[0], err = s.askLoss(e); err != nil {
		return nil, err
	}
	e.SetSamples(rows[0], rows[1])
	return e, nil
}
