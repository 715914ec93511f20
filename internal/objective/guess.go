package objective

import (
	"math"

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
	every := func(p *matrix.Part) *matrix.Part {
		var rows []int
		for i := step / 2; i < p.Rows(); i += step {
			rows = append(rows, i)
		}
		return p.Take(rows)
	}
	s := &matrix.Matrix{Positives: every(x.Positives), Negatives: every(x.Negatives)}
	l.samples[x] = s
	return s
}

// guess gives the trails of the points their floors from the sample.
func (l *Lockstep) guess(points []Point) {
	l.guessed = l.guessed[:0]
	for i := range points {
		p := &points[i]
		l.trails[p.Run].guess = float32(math.Inf(-1))
		if o := p.Objective; !o.needsAll() && o.guessRule(l.sample(o.x)) != nil {
			l.guessed = append(l.guessed, p)
		}
	}
	if len(l.guessed) == 0 {
		return
	}
	s := l.sample(points[0].Objective.x)
	l.lanesFor(len(l.guessed))
	for i, p := range l.guessed {
		n := l.lanes[i]
		n.positives = resize(n.positives, s.Rows())
		l.readings = append(l.readings, matrix.Reading{W: p.W, Keep: n.positives[:s.Positives.Rows()]})
	}
	s.Positives.FastScores(l.readings)
	for i := range l.guessed {
		l.readings[i].Keep = l.lanes[i].positives[s.Positives.Rows():]
	}
	s.Negatives.FastScores(l.readings)
	l.readings = l.readings[:0]
	l.each(len(l.guessed), s.Rows(), func(i int, space *space) {
		p, z := l.guessed[i], l.lanes[i].positives
		if !p.Objective.overAll() {
			z = z[s.Positives.Rows():]
		}
		space.z = resize(space.z, len(z))
		widen(z, space.z)
		p.Objective.sampled.At(space.z, nil, &space.support)
		edge, above := float32(space.support.Edge), 0
		for _, x := range z {
			if x >= edge {
				above++
			}
		}
		if 2*above < len(z) { // or too many have the same score, as all do at w = 0
			l.trails[p.Run].guess = math.Nextafter32(edge, float32(math.Inf(-1)))
		}
	})
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
	_, other := o.problem.Rule.(threshold.SurrogateQuantile)
	if other || o.weights != nil || rows < sampleFew {
		return nil
	}
	expected := float64(o.rule.Kappa()*float64(rows)) / float64(o.population.Rows)
	rank := expected + float64(4*math.Sqrt(expected)) + 4
	if !(rank < float64(rows)/2) {
		return nil
	}
	bound, err := threshold.TopCount{K: int(math.Ceil(rank))}.Bind(threshold.NewPopulation(rows, nil))
	if err != nil {
		return nil
	}
	o.sampled = bound
	return bound
}
