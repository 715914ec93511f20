package certified

import (
	"slices"

	"toptau/internal/core/certified/linalg"
)

// start is where a solve starts.
type start struct {
	at    *Point
	width float64 // of the smoothed hinges; 0: at is only a direction
	shift *linalg.Shift
	// solved is set if at is the solution of a sample, not only a direction.
	solved bool
}

// starter finds the point where a solve starts, and the first rows.
type starter struct {
	*state
	eval    *evaluator
	line    lineSearch
	descent *descent

	from *start // where to start; nil: along the difference of the means
	// sample replaces the source where a question would cost a pass and the answer only chooses where to start; nil: there is none.
	sample *Memory
}

// chooseStart finds a first point and adds the first rows there: the point where a descent on the smoothed
// problem ends, or the best one on a ray.
func (st *starter) chooseStart() error {
	st.startAtZero()
	if st.from != nil && st.from.width > 0 {
		return st.startSmoothed(*st.from)
	}
	e, err := st.startOnRay()
	if err != nil {
		return err
	}
	if st.setLimits(&st.problem); st.useGroups {
		return st.eval.addNearRows(e)
	}
	// The ray search returned some rows with the point; a large kappa needs more.
	first := st.firstRows()
	if first > len(e.rows) {
		again, err := st.eval.evaluate(first, e.at)
		if err != nil {
			return err
		}
		e = again[0]
	}
	st.addPopulation(e.rows[:min(first, len(e.rows))])
	return st.eval.addNearRows(e)
}

// startSmoothed descends on the smoothed problem as far as that goes. The working set then has the rows near
// the corners that were found, and the sums of the others.
func (st *starter) startSmoothed(first start) (err error) {
	st.empty(&st.shape, first.shift)
	st.limits, st.useGroups = limitsFor(st.pop.Work), true
	if st.descent.last, err = st.descent.descend(first); err != nil || st.done() {
		return err
	}
	if isZero(st.best.at.W) && st.descent.end.at != nil {
		return st.eval.addNearRows(st.descent.end)
	}
	return st.eval.addNearRows(st.best)
}

// evaluateStart evaluates F at the best point on the ray through another one. Where each point costs a pass, the solution of a sample
// is a point to start from as it is, and the rows for the first restricted problem come with it.
func (st *starter) evaluateStart(through *Point) (evaluation, error) {
	limit := 2 * minNear
	if st.shape.KeepsScores {
		return st.line.evaluateRay(through, limit)
	}
	if first := st.firstRows(); first <= max(minHeld, heldInstead(&st.form, st.shape)) {
		limit = first
	}
	if st.from == nil || !st.from.solved {
		return st.line.evaluateRay(through, limit)
	}
	points, err := st.eval.evaluate(limit, through)
	if err != nil {
		return evaluation{}, err
	}
	return points[0], nil
}

// startOnRay finds the best point on the ray through a start, or through the difference of the means. The
// scale of the weights is not known yet, and scores at 0 are all equal, so rows are chosen on the ray.
func (st *starter) startOnRay() (evaluation, error) {
	source := st.source
	if st.sample != nil {
		source = st.sample
	}
	positives, population, err := source.Means(st.ctx)
	if err != nil {
		return evaluation{}, err
	}
	for _, v := range slices.Concat(positives, population) {
		if !isFinite(v) {
			return evaluation{}, nonFinite("a mean that is not finite")
		}
	}
	through := newPoint(make([]float64, st.shape.Cols))
	for j := range through.W {
		through.W[j] = positives[j] - population[j]
	}
	if st.from != nil {
		through = st.from.at
	}
	e, err := st.evaluateStart(through)
	if err != nil {
		return e, err
	}
	st.accept(e)
	if st.sample != nil {
		rows := st.sample.x.Positives
		st.empty(&st.shape, linalg.ChooseShift(positives, rows.Rows(), func(i int, dst []float64) { rows.Row(i, dst) }))
		return e, nil
	}
	// The best rows and the positives near the corner show whether rows are sparse.
	answers, err := st.eval.ask(Query{At: e.at, Positives: Request{Want: nearest(1+e.t, minNear, nil)}})
	if err != nil {
		return e, err
	}
	sample := slices.Concat(answers[0].Positives.Rows[0], e.rows)
	features := func(i int, dst []float64) { sample[i].Features(dst) }
	st.empty(&st.shape, linalg.ChooseShift(positives, len(sample), features))
	return e, nil
}

// startWide makes a descent on the smoothed problem the start: from the best point on the ray through the difference
// of the means, or from w = 0, with wide hinges.
func (st *starter) startWide() error {
	st.startAtZero()
	e, err := st.startOnRay()
	if err != nil {
		return err
	}
	st.from = &start{at: e.at, width: firstWidth * st.atZero, shift: st.pos.Shift}
	if e.f >= st.atZero {
		st.from.at = st.zero
	}
	return nil
}
