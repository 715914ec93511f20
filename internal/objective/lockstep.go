package objective

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"toptau/internal/kernel"
	"toptau/internal/matrix"
	"toptau/method"
	"toptau/threshold"
)

// Lockstep evaluates objectives on the same data, each at a point of its own, in shared readings of the data and in the
// fast arithmetic: scores and gradients are those of matrix.Part.FastScores and AddFastGradients; thresholds, losses and
// coefficients are formed from them in float64, and coefficients rounded to float32.
//
// A reading of the negatives keeps only the rows that the threshold may need: those above a floor that each run carries
// over from its last points. If the threshold's edge turns out to lie at or below the floor, the negatives are read again
// and all scores are kept. So the selection is exact, and the number of readings is one nearly always. The gradient reads
// the rows with a coefficient.
//
// What a run gets depends on its own points alone, not on the runs beside it, nor on the number of threads.
type Lockstep struct {
	trails []trail // by run
	lanes  []*lane // by point of a call
	spaces []*space

	readings     []matrix.Reading
	coefficients []matrix.Coefficients
	g            []float64
}

// Point is one evaluation.
type Point struct {
	Objective *Objective
	Run       int       // whose trail this point continues
	W         []float64 // Dim weights
	Grad      []float64 // unless nil: gets the gradient, Dim elements
	Value     Value     // the result
}

// NewLockstep returns a Lockstep for a number of runs. It owns scratch space: one goroutine at a time.
func NewLockstep(runs int) *Lockstep { return &Lockstep{trails: make([]trail, runs)} }

// lane is the space of one point.
type lane struct {
	positives    []float32 // scores
	negatives    []float32 // scores, where all are kept
	all          bool      // all are kept
	floor        float32
	known        bool         // there is a floor
	above        matrix.Found // positives above the floor, where they belong to the population
	found        matrix.Found // negatives above the floor
	short        bool         // the floor was too high, and the negatives must be read again
	misses, hits matrix.Coefficients
}

// space is what a goroutine needs to settle a point.
type space struct {
	z, m    []float64 // scores and weights that the threshold is computed from
	rows    []int32   // their places in the population, unless all are there
	all     bool
	support threshold.Support
	active  active // one class
	other   active
}

// keepers is the number of points that keep all scores at the same time.
const keepers = 8

// At evaluates the points, which lie on one matrix, and fills Value and Grad.
func (l *Lockstep) At(points []Point) {
	var found, kept []*Point
	for i := range points {
		p := &points[i]
		if p.Objective.needsAll() || math.IsInf(float64(l.trails[p.Run].floor()), -1) {
			kept = append(kept, p)
		} else {
			found = append(found, p)
		}
	}
	if len(found) > 0 {
		kept = append(kept, l.evaluate(found, false)...)
	}
	for len(kept) > 0 {
		n := min(keepers, len(kept))
		l.evaluate(kept[:n], true)
		kept = kept[n:]
	}
}

// fewRows is the number of rows up to which all scores are kept; a variable for tests.
var fewRows = 4096

// needsAll reports whether the losses or the threshold look at every negative.
func (o *Objective) needsAll() bool {
	return o.problem.Method.FalsePositives || o.x.Negatives.Rows() <= fewRows
}

// evaluate does At for points that all keep their scores, or all do not. It returns those whose floor was too high, not
// evaluated.
func (l *Lockstep) evaluate(points []*Point, all bool) (short []*Point) {
	x := points[0].Objective.x
	l.score(x, points, all)
	l.each(len(points), x.Rows(), func(i int, s *space) { l.settle(points[i], l.lanes[i], s) })
	done := points[:0:0]
	lanes := make([]*lane, 0, len(points))
	for i, p := range points {
		if l.lanes[i].short {
			short = append(short, p)
		} else {
			done, lanes = append(done, p), append(lanes, l.lanes[i])
		}
	}
	l.gradients(x, done, lanes)
	return short
}

// score reads both classes once.
func (l *Lockstep) score(x *matrix.Matrix, points []*Point, all bool) {
	for len(l.lanes) < len(points) {
		l.lanes = append(l.lanes, &lane{})
	}
	l.readings = l.readings[:0]
	for i, p := range points {
		lane := l.lanes[i]
		lane.all, lane.floor = all, l.trails[p.Run].floor()
		lane.positives = resize(lane.positives, x.Positives.Rows())
		lane.known = !math.IsInf(float64(lane.floor), -1)
		r := matrix.Reading{W: p.W, Keep: lane.positives, Floor: lane.floor}
		if lane.known && p.Objective.problem.Method.Population != method.Negatives {
			r.Found = &lane.above
		}
		l.readings = append(l.readings, r)
		p.Objective.visits += int64(x.Rows())
	}
	x.Positives.FastScores(l.readings)
	for i := range points {
		lane, r := l.lanes[i], &l.readings[i]
		r.Keep, r.Found = nil, nil
		if lane.known {
			r.Found = &lane.found
		}
		if all {
			lane.negatives = resize(lane.negatives, x.Negatives.Rows())
			r.Keep = lane.negatives
		}
	}
	x.Negatives.FastScores(l.readings)
	clear(l.readings)
}

func resize[T any](s []T, n int) []T {
	if n > cap(s) {
		return make([]T, n)
	}
	return s[:n]
}

// manyRows is the work, in rows times points, from which it is shared among goroutines.
const manyRows = 1 << 16

// each calls f for every point, on several goroutines where that pays.
func (l *Lockstep) each(points, rows int, f func(i int, s *space)) {
	workers := min(points, runtime.GOMAXPROCS(0))
	if points*rows < manyRows {
		workers = 1
	}
	for len(l.spaces) < workers {
		l.spaces = append(l.spaces, &space{})
	}
	if workers == 1 {
		for i := range points {
			f(i, l.spaces[0])
		}
		return
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for _, s := range l.spaces[:workers] {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < points; i = int(next.Add(1)) - 1 {
				f(i, s)
			}
		})
	}
	group.Wait()
}

// settle finds the threshold of a point from its scores, then its losses and coefficients.
func (l *Lockstep) settle(p *Point, n *lane, s *space) {
	o := p.Objective
	if n.short = !s.threshold(o, n); n.short {
		return
	}
	l.trails[p.Run].add(s.support.Edge)
	t := s.support.T
	v := Value{T: t}
	s.active.find(o, o.positives, n.positives, -1, t)
	v.Loss = s.active.loss
	rest := s.active.sum
	s.other.reset()
	if o.problem.Method.FalsePositives {
		s.other.find(o, o.negatives, n.negatives, 1, t)
		v.Loss += s.other.loss
		rest -= s.other.sum
	}
	v.Loss += t - t // a threshold that is not finite shows
	v.F = v.Loss + float64(float64(o.problem.Hyperparameters.Lambda/2)*normSquared(p.W))
	p.Value = v
	if p.Grad == nil {
		return
	}
	rows, a := s.support.Rows, s.support.A
	first := 0 // the population's rows of negatives, counted from its first
	cut := 0   // support rows that are positives
	if o.problem.Method.Population != method.Negatives {
		first = o.x.Positives.Rows()
		for cut < len(rows) && int(s.place(rows[cut])) < first {
			cut++
		}
	}
	s.join(&n.misses, &s.active, rows[:cut], a[:cut], rest, 0)
	s.join(&n.hits, &s.other, rows[cut:], a[cut:], rest, first)
	o.visits += int64(len(n.misses.Rows) + len(n.hits.Rows))
}

// threshold computes t and its weights, from the rows above the floor where they are enough, or else from all. It reports
// false when these are not at hand.
func (s *space) threshold(o *Objective, n *lane) bool {
	positives := 0 // in the population
	if o.problem.Method.Population != method.Negatives {
		positives = o.x.Positives.Rows()
	}
	switch {
	case n.known && s.fromCandidates(o, n, positives):
		return true
	case !n.all:
		return false
	}
	s.all = true
	s.z = resize(s.z, positives+len(n.negatives))
	widen(n.positives[:positives], s.z)
	widen(n.negatives, s.z[positives:])
	o.rule.At(s.z, o.weights, &s.support)
	return true
}

func (s *space) fromCandidates(o *Objective, n *lane, positives int) bool {
	s.z, s.rows, s.all = s.z[:0], s.rows[:0], false
	if positives > 0 {
		s.candidates(&n.above, 0)
	}
	s.candidates(&n.found, int32(positives))
	var m []float64
	mass := float64(len(s.z))
	if o.weights != nil {
		s.m = resize(s.m, len(s.rows))
		for i, row := range s.rows {
			s.m[i] = o.weights[row]
		}
		m, mass = s.m, total(s.m)
	}
	if len(s.z) == 0 || !o.enough(mass) {
		return false
	}
	o.rule.At(s.z, m, &s.support)
	return s.support.Edge > float64(n.floor)
}

// candidates appends the rows of one class, which begins at first in the population.
func (s *space) candidates(f *matrix.Found, first int32) {
	n := len(s.z)
	s.z = slices.Grow(s.z, len(f.Z))[:n+len(f.Z)]
	widen(f.Z, s.z[n:])
	s.rows = append(s.rows, f.Rows...)
	if first > 0 {
		for i := range s.rows[n:] {
			s.rows[n+i] += first
		}
	}
}

// place is the place in the population of the row at s.z[at].
func (s *space) place(at int32) int32 {
	if s.all {
		return at
	}
	return s.rows[at]
}

// enough reports whether a rule that takes the rows of a given mass from the top has that much. Others see it by their
// edge. Sums of fractional weights may be off by rounding.
func (o *Objective) enough(mass float64) bool {
	if _, other := o.problem.Rule.(threshold.SurrogateQuantile); other {
		return true
	}
	kappa := o.rule.Kappa()
	if !o.population.Whole {
		kappa += float64(kappa * 1e-9)
	}
	return mass >= kappa
}

// join writes the coefficients of one class: those of its losses, which are given up, and rest times those of the
// threshold, whose rows are places in s.z; first is the place of the class in the population.
func (s *space) join(dst *matrix.Coefficients, losses *active, rows []int32, a []float64, rest float64, first int) {
	if len(rows) == 0 {
		dst.Rows, losses.rows = losses.rows, dst.Rows
		dst.V, losses.v = losses.v, dst.V
		return
	}
	dst.Rows, dst.V = dst.Rows[:0], dst.V[:0]
	i := 0
	for k, at := range rows {
		row := s.place(at) - int32(first)
		from := i
		for i < len(losses.rows) && losses.rows[i] < row {
			i++
		}
		dst.Rows, dst.V = append(dst.Rows, losses.rows[from:i]...), append(dst.V, losses.v[from:i]...)
		v := float32(rest * a[k])
		if i < len(losses.rows) && losses.rows[i] == row {
			v += losses.v[i]
			i++
		}
		dst.Rows, dst.V = append(dst.Rows, row), append(dst.V, v)
	}
	dst.Rows, dst.V = append(dst.Rows, losses.rows[i:]...), append(dst.V, losses.v[i:]...)
}

// gradients forms X'v for both classes and adds lambda w.
func (l *Lockstep) gradients(x *matrix.Matrix, points []*Point, lanes []*lane) {
	n := 0
	for i, p := range points {
		if p.Grad != nil {
			points[n], lanes[n] = p, lanes[i]
			n++
		}
	}
	points, lanes = points[:n], lanes[:n]
	if n == 0 {
		return
	}
	l.g = resize(l.g, n*x.Cols())
	clear(l.g)
	for _, class := range []*matrix.Part{x.Positives, x.Negatives} {
		l.coefficients = l.coefficients[:0]
		for _, lane := range lanes {
			c := lane.misses
			if class == x.Negatives {
				c = lane.hits
			}
			l.coefficients = append(l.coefficients, c)
		}
		class.AddFastGradients(l.coefficients, l.g)
	}
	for i, p := range points {
		lambda := p.Objective.problem.Hyperparameters.Lambda
		for j := range p.Grad {
			p.Grad[j] = l.g[j*n+i] + float64(lambda*p.W[j])
		}
	}
}

var one = []float64{1}

// widen converts scores to float64, z = 1 x: rows are panels of one feature.
func widen(x []float32, z []float64) {
	whole := len(x) / kernel.PanelRows * kernel.PanelRows
	kernel.ScorePanels(x[:whole], one, z[:whole], false)
	for i := whole; i < len(x); i++ {
		z[i] = float64(x[i])
	}
}
