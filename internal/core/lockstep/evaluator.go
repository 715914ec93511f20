package lockstep

import (
	"runtime"

	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/internal/core/parallel"
	"toptau/method"
	"toptau/surrogate"
	"toptau/threshold"
)

// Evaluator evaluates objectives on the same data, each at its own point, in shared passes. It has scratch space for one
// goroutine at a time.
type Evaluator struct {
	edges    []edgePredictor // by run
	subjects map[*objective.Objective]*subject
	passes   map[*matrix.ClassRows]*Passes
	samples  map[*matrix.Matrix]*matrix.Matrix

	states  []*pointState // by point of a call
	scratch []*scratch    // by goroutine

	evaluations  []evaluation // those of a call
	requests     []Request
	coefficients []Coefficients
	targets      []target // of requests or coefficients
	g            []float64
}

// Point is one evaluation.
type Point struct {
	Objective *objective.Objective
	Run       int             // whose last thresholds help to find this one
	W         []float64       // Dim weights
	Grad      []float64       // unless nil: receives the gradient, Dim elements
	Value     objective.Value // the result
}

// New returns an evaluator for runs that are numbered from 0.
func New(runs int) *Evaluator {
	return &Evaluator{
		edges:    make([]edgePredictor, runs),
		subjects: map[*objective.Objective]*subject{},
		passes:   map[*matrix.ClassRows]*Passes{},
		samples:  map[*matrix.Matrix]*matrix.Matrix{},
	}
}

// Evaluate sets Value, and the elements of Grad, of all points. Their objectives must have the same matrix.
func (e *Evaluator) Evaluate(points []Point) {
	e.evaluations = e.evaluations[:0]
	for i := range points {
		e.evaluations = append(e.evaluations, evaluation{&points[i], e.subjectOf(points[i].Objective)})
	}
	e.sampleFloors(e.evaluations)
	var filtered, whole []evaluation
	for _, p := range e.evaluations {
		if p.needsAllScores() || e.edges[p.Run].keepsAll() {
			whole = append(whole, p)
		} else {
			filtered = append(filtered, p)
		}
	}
	if len(filtered) > 0 {
		whole = append(whole, e.evaluate(filtered, false)...)
	}
	for len(whole) > 0 {
		n := min(maxCached(whole[0].Matrix), len(whole))
		e.evaluate(whole[:n], true)
		whole = whole[n:]
	}
}

// Release gives the scratch space back, which exact evaluations can then use.
func (e *Evaluator) Release() {
	for _, s := range e.scratch {
		objective.ReturnScores(s.z)
	}
	e.states, e.scratch = nil, nil
	clear(e.passes)
}

// evaluation is a point with its objective's properties.
type evaluation struct {
	*Point
	*subject
}

// subject holds the properties of an objective.
type subject struct {
	objective.Terms
	countsPositives   bool                // the threshold's population includes the positives
	falsePositives    bool                // negatives have losses
	surrogateQuantile bool                // most rows may have a part in the threshold
	hingeQuantile     bool                // and the surrogate of the quantile is the hinge
	sampled           threshold.Threshold // see sampleRule
}

func (e *Evaluator) subjectOf(o *objective.Objective) *subject {
	if s := e.subjects[o]; s != nil {
		return s
	}
	s := &subject{Terms: o.Terms()}
	definition := s.Problem.Definition()
	s.countsPositives = definition.Population != method.Negatives
	s.falsePositives = definition.FalsePositives
	if rule, is := s.Problem.Rule().(threshold.SurrogateQuantile); is {
		s.surrogateQuantile = true
		s.hingeQuantile = rule.Surrogate == surrogate.Hinge
	}
	e.subjects[o] = s
	return s
}

// The two classes.
const (
	positives = iota
	negatives
)

// hasLosses reports whether the rows of a class have losses.
func (s *subject) hasLosses(class int) bool { return class == positives || s.falsePositives }

// pointState is the space of one point.
type pointState struct {
	keepsAll bool // all scores of the population are stored
	hasFloor bool
	floor    float32
	short    bool // the floor was too high, and the population must be scored again

	t       float64
	classes [2]classState
	slope   float64 // of the losses: the mean for positives minus the mean for negatives
	uniform uniformSupport
}

// classState is one class at a point.
type classState struct {
	candidates Candidates // its rows above the floor, where they belong to the population
	scores     []float32  // of all rows of the population or of a sample; then coefficients of all rows
	cached     bool       // scores holds the scores of all rows, to be used again
	dense      bool       // and now the coefficients of all rows

	losses classLoss
	rows   []int32   // of the threshold's gradient
	a      []float64 // their weights
	v      []float32 // their coefficients
	active int       // the number of rows to be added for losses and threshold
}

// scratch is the space of a goroutine.
type scratch struct {
	z, m    []float64 // scores and weights that a threshold is computed from
	rows    []int32   // their places in the population, unless all are there
	all     bool
	support threshold.Support
	v       [2][]float32 // by class: coefficients of the losses of all rows
}

// maxCached returns the number of points that keep all scores at the same time: their scores take no more memory than the
// matrix, unless it has few columns.
func maxCached(x *matrix.Matrix) int {
	const fewest = 8
	return int(max(fewest, x.Bytes()/(4*int64(max(1, x.Rows())))))
}

// fewRows is the number of negatives up to which all scores are kept, because selecting candidates does not pay. It is a
// variable so that tests can select in small data.
var fewRows = 4096

// needsAllScores reports whether a floor does not pay: the negatives are few, or the rows are long.
func (s *subject) needsAllScores() bool {
	return s.Matrix.Negatives.Rows() <= fewRows || hasLongRows(s.Matrix)
}

// evaluate evaluates points that all keep their scores, or all do not. It returns those whose floor was too high, not
// evaluated.
func (e *Evaluator) evaluate(points []evaluation, all bool) (short []evaluation) {
	x := points[0].Matrix
	e.scorePopulation(x, points, all)
	e.forEach(len(points), x.Rows(), func(i int, s *scratch) { e.findThreshold(points[i], e.states[i], s) })
	n := 0
	for i, p := range points {
		if e.states[i].short {
			short = append(short, p)
			continue
		}
		points[n] = p
		e.states[n], e.states[i] = e.states[i], e.states[n]
		n++
	}
	e.finish(x, points[:n])
	return short
}

func (e *Evaluator) growStates(points int) {
	for len(e.states) < points {
		e.states = append(e.states, &pointState{})
	}
}

func (e *Evaluator) passesOf(rows *matrix.ClassRows) *Passes {
	p := e.passes[rows]
	if p == nil {
		p = NewPasses(rows)
		e.passes[rows] = p
	}
	return p
}

// scorePopulation scores the rows that the thresholds depend on.
func (e *Evaluator) scorePopulation(x *matrix.Matrix, points []evaluation, all bool) {
	e.growStates(len(points))
	for i, p := range points {
		n := e.states[i]
		n.keepsAll, n.floor = all, e.edges[p.Run].floor()
		n.hasFloor = !e.edges[p.Run].keepsAll()
		n.classes[positives].cached = false
		if p.countsPositives {
			e.requestScores(p, n, x.Positives, &n.classes[positives])
		}
	}
	e.passesOf(x.Positives).Scores(e.requests)
	e.requests = e.requests[:0]
	for i, p := range points {
		e.requestScores(p, e.states[i], x.Negatives, &e.states[i].classes[negatives])
	}
	e.passesOf(x.Negatives).Scores(e.requests)
	e.requests = e.requests[:0]
}

func (e *Evaluator) requestScores(p evaluation, n *pointState, class *matrix.ClassRows, c *classState) {
	r := Request{W: p.W, Floor: n.floor}
	if n.hasFloor {
		r.Candidates = &c.candidates
	}
	if c.cached = n.keepsAll && p.cachesScores(); n.keepsAll {
		c.scores = resizeDropping(c.scores, class.Rows())
		r.Keep = c.scores
	}
	e.requests = append(e.requests, r)
	p.Objective.CountVisits(int64(class.Rows()), 0)
}

// resizeDropping is resize for contents that are not needed.
func resizeDropping[T any](s []T, n int) []T {
	if n > cap(s) {
		return make([]T, n)
	}
	return s[:n]
}

// manyRows is the work, in rows times points, from which forEach uses several goroutines. Chosen by hand: selecting takes
// about 1 ns a row, and starting a goroutine 25 microseconds or more.
const manyRows = 1 << 16

// forEach calls f for every point, on several goroutines where that pays.
func (e *Evaluator) forEach(points, rows int, f func(i int, s *scratch)) {
	workers := min(points, runtime.GOMAXPROCS(0))
	if points*rows < manyRows {
		workers = 1
	}
	for len(e.scratch) < workers {
		e.scratch = append(e.scratch, &scratch{})
	}
	if workers == 1 {
		for i := range points {
			f(i, e.scratch[0])
		}
		return
	}
	free := make(chan *scratch, workers)
	for _, s := range e.scratch[:workers] {
		free <- s
	}
	parallel.For(points, func(i int) {
		s := <-free
		f(i, s)
		free <- s
	})
}
