package lockstep

import (
	"math"
	"slices"

	"toptau/internal/core/matrix"
	"toptau/threshold"
)

// A sample of the rows shows, before the population is scored, from which score up its rows may matter. Of the kappa rows
// that a rule takes from the top, kappa times the sample's fraction are expected in the sample, with a standard deviation of
// at most the root of that number. The floor is the score at that rank plus four standard deviations plus four.
//
// With a sample of a 64th TopPushK had 1,850 candidates instead of 32,000 in its first steps (bench/tried.md).
const (
	sampleStep = 64   // one row of 64, at equal distances: a sample costs 1.6 % of a pass
	sampleRows = 4096 // and not many more in all: four standard deviations are then 6 % of the rank or less
	sampleFew  = 256  // rows below which there is no estimate
)

// sampleOf returns a sample of the rows of a matrix, which is packed once.
func (e *Evaluator) sampleOf(x *matrix.Matrix) *matrix.Matrix {
	if s := e.samples[x]; s != nil {
		return s
	}
	step := max(sampleStep, x.Negatives.Rows()/sampleRows)
	s := &matrix.Matrix{Positives: x.Positives.Every(step/2, step), Negatives: x.Negatives.Every(step/2, step)}
	e.samples[x] = s
	return s
}

// sampleFloors sets the estimates of the points' runs.
func (e *Evaluator) sampleFloors(points []evaluation) {
	var sampled []evaluation
	for _, p := range points {
		e.edges[p.Run].sampleFloor = float32(math.Inf(-1))
		if p.canSample() && p.sampleRule(e.sampleOf(p.Matrix)) != nil {
			sampled = append(sampled, p)
		}
	}
	if len(sampled) == 0 {
		return
	}
	s := e.sampleOf(points[0].Matrix)
	e.growStates(len(sampled))
	for i, p := range sampled {
		e.requestSample(p, e.states[i], s)
	}
	e.passesOf(s.Positives).Scores(e.requests)
	for i := range sampled {
		n, r := e.states[i], &e.requests[i]
		if n.hasFloor {
			r.Candidates = &n.classes[negatives].candidates
		} else {
			r.Keep = n.classes[negatives].scores
		}
	}
	e.passesOf(s.Negatives).Scores(e.requests)
	e.requests = e.requests[:0]
	e.forEach(len(sampled), s.Rows(), func(i int, space *scratch) {
		p := sampled[i]
		e.edges[p.Run].sampleFloor = space.sampleFloor(p.subject, e.states[i])
	})
}

// requestSample adds the request of a point for the positives of the sample. Scores below the predicted floor are not needed.
func (e *Evaluator) requestSample(p evaluation, n *pointState, sample *matrix.Matrix) {
	p.Objective.CountVisits(int64(sample.Rows()), 0)
	n.floor = e.edges[p.Run].floor()
	n.hasFloor = !math.IsInf(float64(n.floor), -1)
	c := &n.classes[positives]
	c.scores = resizeDropping(c.scores, sample.Positives.Rows())
	n.classes[negatives].scores = resizeDropping(n.classes[negatives].scores, sample.Negatives.Rows())
	r := Request{W: p.W, Floor: n.floor}
	if n.hasFloor {
		r.Candidates = &c.candidates
	} else {
		r.Keep = c.scores
	}
	e.requests = append(e.requests, r)
}

// sampleFloor returns the floor that the sample's scores give, or -Inf where they do not help.
func (s *scratch) sampleFloor(o *subject, n *pointState) float32 {
	none := float32(math.Inf(-1))
	rows := len(n.classes[negatives].scores)
	s.z, s.rows = s.z[:0], s.rows[:0]
	if o.countsPositives {
		rows += len(n.classes[positives].scores)
		s.addSampleScores(n, &n.classes[positives])
	}
	s.addSampleScores(n, &n.classes[negatives])
	if float64(len(s.z)) < o.sampled.Kappa() {
		return none
	}
	o.sampled.At(s.z, nil, &s.support)
	above := 0
	for _, z := range s.z {
		if z >= s.support.Edge {
			above++
		}
	}
	if 2*above > rows { // too many have the same score, as all have at w = 0
		return none
	}
	return math.Nextafter32(float32(s.support.Edge), none) // equal scores stay above it
}

// addSampleScores appends the scores of one class of the sample: all, or those above the floor.
func (s *scratch) addSampleScores(n *pointState, class *classState) {
	if n.hasFloor {
		s.addCandidates(&class.candidates, 0)
		return
	}
	first := len(s.z)
	s.z = slices.Grow(s.z, len(class.scores))[:first+len(class.scores)]
	widen(class.scores, s.z[first:])
}

// canSample reports whether a sample may help: the rule counts rows from the top.
func (s *subject) canSample() bool {
	return !s.surrogateQuantile && s.Weights == nil && !s.needsAllScores()
}

// sampleRule returns the rule whose edge on the sample is the floor, or nil where there is none.
func (s *subject) sampleRule(sample *matrix.Matrix) threshold.Threshold {
	if s.sampled != nil {
		return s.sampled
	}
	rows := sample.Negatives.Rows()
	if s.countsPositives {
		rows = sample.Rows()
	}
	expected := float64(s.Rule.Kappa()*float64(rows)) / float64(s.Population.Rows)
	rank := expected + float64(4*math.Sqrt(expected)) + 4
	if rows < sampleFew || !(rank < float64(rows)/2) {
		return nil
	}
	bound, err := threshold.TopCount{K: int(math.Ceil(rank))}.Bind(threshold.NewPopulation(rows, nil))
	if err != nil {
		return nil
	}
	s.sampled = bound
	return bound
}
