package certified

import (
	"math"

	"toptau/internal/core/certified/smoothed"
)

// Where each question costs a pass, one question asks for all that an evaluation of the smoothed problem needs. The level of the
// threshold and the corner of the loss are not known yet, only about where they are. So the sums are asked for between knots there,
// and the hinges become those whose slope is linear between the knots (smoothed.Hinge.Between). Their slopes are feasible
// multipliers, so the bound holds. If a corner is not between the knots, its pieces are asked for as of any source.

// evaluateAtOnce is evaluateSmoothed for a source that is asked as little as possible. It returns nil if the sample does not tell where
// the corners are.
func (d *descent) evaluateAtOnce(at *Point, width float64) (*smoothedPoint, error) {
	e := &smoothedPoint{Evaluation: smoothed.New(d.form, at.W, width, d.shape.Positives.Mass)}
	positives, population, useful := d.eval.expected.zones(at.W, width)
	if !useful {
		return nil, nil
	}
	q := Query{At: at, Positives: positives.request(append([]float64{math.Inf(-1)}, positives.knots()...)),
		Population: population.request(append(population.knots(), math.Inf(1)))}
	answers, err := d.eval.ask(q, Query{At: at, Positives: Request{Want: []Want{positives.rowsWanted(e.Loss, -1)}},
		Population: Request{Want: []Want{population.rowsWanted(e.Hinge, 1)}}})
	if err != nil {
		return nil, err
	}
	found := []evaluation{d.eval.evaluationFrom(at, &q, &answers[0])}
	if err := d.eval.narrowBounds(found); err != nil {
		return nil, err
	}
	e.evaluation = found[0]
	sums := newSumsBetween(&q.Population, &answers[0].Population, 1)
	rows := [2][]smoothed.Row{sampleOf(&answers[1].Positives), sampleOf(&answers[1].Population)}
	if level := sums.level(e); sums.fits(e.Hinge, level) {
		pieces, sums := sums.pieces(e.Hinge, level)
		e.setLevel(sums.origin+level, pieces, &sums)
	} else if rows[1], err = d.findLevel(e); err != nil {
		return nil, err
	}
	sums = newSumsBetween(&q.Positives, &answers[0].Positives, -1)
	if corner := sums.origin - (1 + e.Top); sums.fits(e.Loss, corner) {
		pieces, sums := sums.pieces(e.Loss, corner)
		e.setLoss(pieces, &sums)
	} else if rows[0], err = d.findLoss(e); err != nil {
		return nil, err
	}
	e.SetSamples(rows[0], rows[1])
	return e, nil
}
