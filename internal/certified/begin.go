package certified

import (
	"math"
	"slices"

	"toptau/internal/certified/linalg"
)

// start is where a solve starts.
type start struct {
	at    *Point
	width float64 // of the smoothed hinges; 0: at is only a direction
	shift *linalg.Shift
	// solved is set if at is the solution of a sample, not only a direction.
	solved bool
}

// chooseStart finds a first point and adds the first rows there: the point where a descent on the smoothed
// problem ends, or the best one on a ray.
func (s *solver) chooseStart() error {
	s.startAtZero()
	if s.start != nil && s.start.width > 0 {
		return s.startSmoothed(*s.start)
	}
	e, err := s.startOnRay()
	if err != nil {
		return err
	}
	if s.setLimits(); s.crowded {
		return s.addNearRows(e)
	}
	// The ray search returned some rows with the point; a large kappa needs more.
	first := s.firstRows()
	if first > len(e.rows) {
		again, err := s.evaluate(first, e.at)
		if err != nil {
			return err
		}
		e = again[0]
	}
	s.addPopulation(e.rows[:min(first, len(e.rows))])
	return s.addNearRows(e)
}

// startAtZero makes w = 0 the best point. F(0) must be a candidate: on w8a, TopPush, the upper bound stayed
// at 9.5 without it.
func (s *solver) startAtZero() {
	s.shape = s.source.Shape()
	s.zero = newPoint(make([]float64, s.shape.Cols))
	s.best.at = s.zero
	s.best.t, s.best.edge, _ = s.form.Threshold([]float64{0}, []float64{s.shape.Population.Mass}, nil)
	s.atZero = s.form.Loss(1 + s.best.t)
	s.upper, s.lower, s.lastGap = s.atZero, 0, math.Inf(1)
}

// startSmoothed descends on the smoothed problem as far as that goes. The working set then has the rows near
// the corners that were found, and the sums of the others.
func (s *solver) startSmoothed(first start) (err error) {
	s.holdNothing(first.shift)
	s.limits, s.crowded = limitsFor(s.pop.Work), true
	if s.last, err = s.descend(first); err != nil || s.done() {
		return err
	}
	return s.addNearRows(s.best)
}

// evaluateStart evaluates F at the best point on the ray through another one. Where each point costs a pass, the solution of a sample
// is a point to start from as it is, and the rows for the first restricted problem come with it.
func (s *solver) evaluateStart(through *Point) (evaluation, error) {
	limit := 2 * leastNear
	if s.shape.KeepsScores {
		return s.evaluateRay(through, limit)
	}
	if first := s.firstRows(); first <= leastHeld {
		limit = first
	}
	if s.start == nil || !s.start.solved {
		return s.evaluateRay(through, limit)
	}
	points, err := s.evaluate(limit, through)
	if err != nil {
		return evaluation{}, err
	}
	return points[0], nil
}

// startOnRay finds the best point on the ray through a start, or through the difference of the means. The
// scale of the weights is not known yet, and scores at 0 are all equal, so rows are chosen on the ray.
func (s *solver) startOnRay() (evaluation, error) {
	source := s.source
	if s.sample != nil {
		source = s.sample
	}
	positives, population, err := source.Means(s.ctx)
	if err != nil {
		return evaluation{}, err
	}
	for _, v := range slices.Concat(positives, population) {
		if !isFinite(v) {
			return evaluation{}, nonFinite("a mean that is not finite")
		}
	}
	through := newPoint(make([]float64, s.shape.Cols))
	for j := range through.W {
		through.W[j] = positives[j] - population[j]
	}
	if s.start != nil {
		through = s.start.at
	}
	e, err := s.evaluateStart(through)
	if err != nil {
		return e, err
	}
	s.accept(e)
	if s.sample != nil {
		rows := s.sample.x.Positives
		s.holdNothing(linalg.ChooseShift(positives, rows.Rows(), func(i int, dst []float64) { rows.Row(i, dst) }))
		return e, nil
	}
	// The best rows and the positives near the corner show whether rows are sparse.
	answers, err := s.ask(Query{At: e.at, Positives: Request{Want: nearest(1+e.t, leastNear, nil)}})
	if err != nil {
		return e, err
	}
	sample := slices.Concat(answers[0].Positives.Rows[0], e.rows)
	features := func(i int, dst []float64) { sample[i].Features(dst) }
	s.holdNothing(linalg.ChooseShift(positives, len(sample), features))
	return e, nil
}
