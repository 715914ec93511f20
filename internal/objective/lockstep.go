package objective

import (
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
// fast arithmetic: scores and gradients are those of matrix.Part.FastScores and FastPass; thresholds and losses are formed
// from them in float64, and coefficients rounded to float32.
//
// First the threshold's population is read. Only the rows that the threshold may need are kept: those above a floor that
// each run carries over from its last points or gets from a sample. If the threshold's edge turns out to lie at or below
// the floor, the population is read again and all scores are kept. So the selection is exact, and the number of readings is
// one nearly always. Then the classes that have losses are read, and coefficients and gradients are formed while the data
// is in cache; no score is stored. At last the rows of the thresholds, mostly few, are added to the gradients. Where rows are
// long, and where most rows have a part in a threshold, the scores of the population are all kept instead and used again.
//
// What a run gets depends on its own points alone, not on the runs beside it, nor on the number of threads.
type Lockstep struct {
	trails []trail // by run
	lanes  []*lane // by point of a call
	spaces []*space

	samples map[*matrix.Matrix]*matrix.Matrix
	guessed []*Point

	readings     []matrix.Reading
	coefficients []matrix.Coefficients
	asks         []ask // beside readings or coefficients
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
func NewLockstep(runs int) *Lockstep {
	return &Lockstep{trails: make([]trail, runs), samples: map[*matrix.Matrix]*matrix.Matrix{}}
}

// lane is the space of one point.
type lane struct {
	all   bool // all scores of the population are kept
	known bool // there is a floor
	floor float32
	short bool // the floor was too high, and the population must be read again

	t            float64
	misses, hits side // positives, negatives
	rest         float64
	bulk         bulk
}

// side is one class at a point.
type side struct {
	found  matrix.Found // its rows above the floor, where they belong to the population
	scores []float32    // where all of the population are kept, or those of a sample; then coefficients of all rows
	kept   bool         // scores holds those of all rows
	dense  bool         // and now the coefficients of all

	losses losses
	rows   []int32   // of the threshold's gradient
	a      []float64 // their weights
	v      []float32 // their coefficients
	active int       // the number of rows of the losses and of the threshold that are to be added
}

// space is what a goroutine needs to find a threshold.
type space struct {
	z, m    []float64 // scores and weights that the threshold is computed from
	rows    []int32   // their places in the population, unless all are there
	all     bool
	support threshold.Support
	v       [2][]float32 // by class: coefficients of the losses of all rows
}

// keepers is the number of points that keep all scores at the same time: these take no more memory than the matrix, unless
// that has few columns.
func keepers(x *matrix.Matrix) int {
	const least = 8
	return int(max(least, x.Bytes()/(4*int64(max(1, x.Rows())))))
}

// At evaluates the points, which lie on one matrix, and fills Value and Grad.
func (l *Lockstep) At(points []Point) {
	l.guess(points)
	var found, kept []*Point
	for i := range points {
		p := &points[i]
		if p.Objective.needsAll() || l.trails[p.Run].keepsAll() {
			kept = append(kept, p)
		} else {
			found = append(found, p)
		}
	}
	if len(found) > 0 {
		kept = append(kept, l.evaluate(found, false)...)
	}
	for len(kept) > 0 {
		n := min(keepers(kept[0].Objective.x), len(kept))
		l.evaluate(kept[:n], true)
		kept = kept[n:]
	}
}

// fewRows is the number of rows up to which all scores are kept; a variable for tests.
var fewRows = 4096

// needsAll reports whether a floor does not pay: the negatives are few, or the rows are long.
func (o *Objective) needsAll() bool { return o.x.Negatives.Rows() <= fewRows || longRows(o.x) }

// overAll reports whether the threshold looks at the positives, too.
func (o *Objective) overAll() bool { return o.problem.Definition().Population != method.Negatives }

// evaluate does At for points that all keep their scores, or all do not. It returns those whose floor was too high, not
// evaluated.
func (l *Lockstep) evaluate(points []*Point, all bool) (short []*Point) {
	x := points[0].Objective.x
	l.score(x, points, all)
	l.each(len(points), x.Rows(), func(i int, s *space) { l.settle(points[i], l.lanes[i], s) })
	n := 0
	for i, p := range points {
		if l.lanes[i].short {
			short = append(short, p)
			continue
		}
		points[n] = p
		l.lanes[n], l.lanes[i] = l.lanes[i], l.lanes[n]
		n++
	}
	l.finish(x, points[:n])
	return short
}

func (l *Lockstep) lanesFor(points int) {
	for len(l.lanes) < points {
		l.lanes = append(l.lanes, &lane{})
	}
}

// score reads the population.
func (l *Lockstep) score(x *matrix.Matrix, points []*Point, all bool) {
	l.lanesFor(len(points))
	for i, p := range points {
		n := l.lanes[i]
		n.all, n.floor = all, l.trails[p.Run].floor()
		n.known = !l.trails[p.Run].keepsAll()
		n.misses.kept = false
		if p.Objective.overAll() {
			l.read(p, n, x.Positives, &n.misses)
		}
	}
	x.Positives.FastScores(l.readings)
	l.readings = l.readings[:0]
	for i, p := range points {
		l.read(p, l.lanes[i], x.Negatives, &l.lanes[i].hits)
	}
	x.Negatives.FastScores(l.readings)
	l.readings = l.readings[:0]
}

// read adds a reading of one class of the population.
func (l *Lockstep) read(p *Point, n *lane, class *matrix.Part, s *side) {
	r := matrix.Reading{W: p.W, Floor: n.floor}
	if n.known {
		r.Found = &s.found
	}
	if s.kept = n.all && p.Objective.keeps(); n.all {
		s.scores = resize(s.scores, class.Rows())
		r.Keep = s.scores
	}
	l.readings = append(l.readings, r)
	p.Objective.visits += int64(class.Rows())
}

func resize[T any](s []T, n int) []T {
	if n > cap(s) {
		return make([]T, n)
	}
	return s[:n]
}

// Release gives the scratch space back: exact evaluations use it.
func (l *Lockstep) Release() {
	for _, s := range l.spaces {
		leaveSpace(s.z)
	}
	l.lanes, l.spaces = nil, nil
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

// settle finds the threshold of a point and the weights of its gradient.
func (l *Lockstep) settle(p *Point, n *lane, s *space) {
	o := p.Objective
	if n.short = !s.threshold(o, n); n.short {
		return
	}
	l.trails[p.Run].add(s.support.Edge, o.many(len(s.support.Rows)))
	n.t = s.support.T
	first := 0 // the population's place of the first negative
	if o.overAll() {
		first = o.x.Positives.Rows()
	}
	n.misses.rows, n.hits.rows = n.misses.rows[:0], n.hits.rows[:0]
	n.misses.a, n.hits.a = n.misses.a[:0], n.hits.a[:0]
	if n.bulk.gather(o, s) {
		return
	}
	for k, at := range s.support.Rows {
		side, row := &n.hits, int(s.place(at))-first
		if row < 0 {
			side, row = &n.misses, row+first
		}
		side.rows, side.a = append(side.rows, int32(row)), append(side.a, s.support.A[k])
	}
}

// threshold computes t and its weights, from the rows above the floor where they are enough, or else from all. It reports
// false when these are not at hand.
func (s *space) threshold(o *Objective, n *lane) bool {
	positives := 0 // in the population
	if o.overAll() {
		positives = o.x.Positives.Rows()
	}
	switch {
	case n.known && s.fromCandidates(o, n, positives):
		return true
	case !n.all:
		return false
	}
	s.all = true
	if s.z == nil {
		s.z = spareSpace()
	}
	s.z = resize(s.z, positives+len(n.hits.scores))
	widen(n.misses.scores[:positives], s.z)
	widen(n.hits.scores, s.z[positives:])
	o.rule.At(s.z, o.weights, &s.support)
	return true
}

func (s *space) fromCandidates(o *Objective, n *lane, positives int) bool {
	s.z, s.rows, s.all = s.z[:0], s.rows[:0], false
	if positives > 0 {
		s.candidates(&n.misses.found, 0)
	}
	s.candidates(&n.hits.found, int32(positives))
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
	for rows, z := range f.All() {
		n := len(s.z)
		s.z = slices.Grow(s.z, len(z))[:n+len(z)]
		widen(z, s.z[n:])
		s.rows = append(s.rows, rows...)
		for i := n; first > 0 && i < len(s.rows); i++ {
			s.rows[i] += first
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
	if o.surrogateQuantile() {
		return true
	}
	kappa := o.rule.Kappa()
	if !o.population.Whole {
		kappa += float64(kappa * 1e-9)
	}
	return mass >= kappa
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
