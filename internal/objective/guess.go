package objective

import (
	"math"
	"slices"

	"toptau/internal/matrix"
	"toptau/threshold"
)

// A sample says, before the population is read, from where up its rows may matter. It costs a small part of a reading.
// Of the kappa rows that a rule takes from the top some are expected in the sample, give or take the root of their number:
// the guess is the score that four roots more, and another four, lie above. It costs time when it is too high and never
// changes what is found.
const (
	sampleStep = 64   // a row of so many, at equal distances
	sampleRows = 4096 // and not many more in all
	sampleFew  = 256  // rows below which there is no guess
)

// sample returns some rows of a matrix, packed once.
func (l *Lockstep) sample(x *matrix.Matrix) *matrix.Matrix {
	if s := l.samples[x]; s != nil {
		return s
	}
	step := max(sampleStep, x.Negatives.Rows()/sampleRows)
	s := &matrix.Matrix{Positives: x.Positives.Every(step/2, step), Negatives: x.Negatives.Every(step/2, step)}
	l.samples[x] = s
	return s
}

// guess gives the trails of the points their floors from the sample.
func (l *Lockstep) guess(points []Point) {
	l.guessed = l.guessed[:0]
	for i := range points {
		p := &points[i]
		l.trails[p.Run].guess = float32(math.Inf(-1))
		if o := p.Objective; o.guesses() && o.guessRule(l.sample(o.x)) != nil {
			l.guessed = append(l.guessed, p)
		}
	}
	if len(l.guessed) == 0 {
		return
	}
	s := l.sample(points[0].Objective.x)
	l.lanesFor(len(l.guessed))
	for i, p := range l.guessed {
		l.readSample(p, l.lanes[i], s)
	}
	s.Positives.FastScores(l.readings)
	for i := range l.guessed {
		n, r := l.lanes[i], &l.readings[i]
		if n.known {
			r.Found = &n.hits.found
		} else {
			r.Keep = n.hits.scores
		}
	}
	s.Negatives.FastScores(l.readings)
	l.readings = l.readings[:0]
	l.each(len(l.guessed), s.Rows(), func(i int, space *space) {
		p := l.guessed[i]
		l.trails[p.Run].guess = space.guess(p.Objective, l.lanes[i])
	})
}

// readSample adds the reading of a point on the positives of the sample. Scores below the floor of the trail tell nothing
// new.
func (l *Lockstep) readSample(p *Point, n *lane, sample *matrix.Matrix) {
	p.Objective.visits += int64(sample.Rows())
	n.floor = l.trails[p.Run].floor()
	n.known = !math.IsInf(float64(n.floor), -1)
	n.misses.scores = resize(n.misses.scores, sample.Positives.Rows())
	n.hits.scores = resize(n.hits.scores, sample.Negatives.Rows())
	r := matrix.Reading{W: p.W, Floor: n.floor}
	if n.known {
		r.Found = &n.misses.found
	} else {
		r.Keep = n.misses.scores
	}
	l.readings = append(l.readings, r)
}

// guess returns the score of the sample that the rule of the guess finds; -Inf where that is no help.
func (s *space) guess(o *Objective, n *lane) float32 {
	none := float32(math.Inf(-1))
	rows := len(n.hits.scores)
	s.z, s.rows = s.z[:0], s.rows[:0]
	if o.overAll() {
		rows += len(n.misses.scores)
		s.sampleScores(n, &n.misses)
	}
	s.sampleScores(n, &n.hits)
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
	if 2*above > rows { // too many have the same score, as all do at w = 0
		return none
	}
	return math.Nextafter32(float32(s.support.Edge), none) // equal scores stay above it
}

// sampleScores appends the scores of one class of the sample: all, or those above the floor.
func (s *space) sampleScores(n *lane, class *side) {
	if n.known {
		s.candidates(&class.found, 0)
		return
	}
	first := len(s.z)
	s.z = slices.Grow(s.z, len(class.scores))[:first+len(class.scores)]
	widen(class.scores, s.z[first:])
}

// guesses reports whether a sample may help: the rule counts rows from the top.
func (o *Objective) guesses() bool {
	return !o.surrogateQuantile() && o.weights == nil && !o.needsAll()
}

// guessRule is the rule whose edge on the sample is the guess; nil where there is none.
func (o *Objective) guessRule(sample *matrix.Matrix) threshold.Threshold {
	if o.sampled != nil {
		return o.sampled
	}
	rows := sample.Negatives.Rows()
	if o.overAll() {
		rows = sample.Rows()
	}
	expected := float64(o.rule.Kappa()*float64(rows)) / float64(o.population.Rows)
	rank := expected + float64(4*math.Sqrt(expected)) + 4
	if rows < sampleFew || !(rank < float64(rows)/2) {
		return nil
	}
	bound, err := threshold.TopCount{K: int(math.Ceil(rank))}.Bind(threshold.NewPopulation(rows, nil))
	if err != nil {
		return nil
	}
	o.sampled = bound
	return bound
}
