package certified

import (
	"context"
	"errors"
	"math"
	"slices"
)

// Options steer a solve. The zero value asks for the defaults.
type Options struct {
	Gap       float64        // gap of the decrease at which to stop; 0: 1e-6
	MaxPasses int            // readings of the population after which to stop; 0: no limit
	Progress  func(Progress) // called after every round; nil: not
}

// Progress is how far a solve is.
type Progress struct {
	Round, Passes int
	Systems       int // Newton systems so far
	Upper, Lower  float64
	AtZero        float64
	WorkingSet    int
}

func (o Options) gap() float64 {
	if o.Gap > 0 {
		return o.Gap
	}
	return 1e-6
}

// session is one solve under way.
type session struct {
	ctx    context.Context
	source Source
	f      form
	opt    Options
	shape  Shape

	pos, pop *workingSet
	atZero   float64
	w        []float64 // the best point
	t        float64   // its threshold
	upper    float64
	lower    float64
	p, a     Sparse
	theta    float64
	rounds   int
	systems  int
	radius   float64
	visits   float64 // to rows held, by the inner solver
	log      func(format string, args ...any)
}

// evaluation is F at a point, and rows of the population that the solver may want.
type evaluation struct {
	w       []float64
	f, t    float64
	edge    float64
	rows    []Row
	allHeld bool
}

// evaluate asks for F(w) and for the best rows that are not held yet.
func (s *session) evaluate(w []float64, limit int) (e evaluation, err error) {
	query := Query{W: w, Population: &PopulationQuery{Above: s.safeEdge(w), Limit: limit, Known: s.pop.known}}
	answers, err := s.source.Scan(s.ctx, []Query{query})
	if err != nil {
		return e, err
	}
	found := answers[0].Population
	weights := found.Weights
	if weights == nil {
		weights = make([]float64, len(found.Scores))
		for i := range weights {
			weights[i] = 1
		}
	}
	e.w, e.rows, e.allHeld = w, found.Rows, len(found.Rows) == 0 && !found.Cut
	e.t, e.edge, _ = s.f.threshold(found.Scores, weights, nil)
	answers, err = s.source.Scan(s.ctx, []Query{{W: w, Positives: &PositivesQuery{T: e.t}}})
	if err != nil {
		return e, err
	}
	e.f = answers[0].Positives.Loss/s.shape.Positives.Mass + s.f.lambda/2*dot(w, w)
	return e, nil
}

// safeEdge is a score below which no row can change t(w): the band's edge on the rows held, which never lies above the
// band's edge on all rows.
func (s *session) safeEdge(w []float64) float64 {
	if s.pop.n == 0 || sum(s.pop.weight) < s.f.kappa {
		return math.Inf(-1)
	}
	z := make([]float64, s.pop.n)
	s.pop.times(w, z)
	_, edge, _ := s.f.threshold(z, s.pop.weight, nil)
	offset := dot(s.pop.shift, w)
	var scale float64
	for _, v := range z {
		scale = math.Max(scale, math.Abs(v))
	}
	return edge + offset - 1e-9*(scale+math.Abs(offset))
}

// accept keeps a point if it is the best so far.
func (s *session) accept(e evaluation) {
	if e.f < s.upper {
		s.upper, s.t = e.f, e.t
		s.w = slices.Clone(e.w)
	}
}

// target is the largest difference of the bounds at which the solve is done.
func (s *session) target() float64 {
	return math.Max(s.opt.gap()*(s.atZero-math.Max(s.lower, 0)), 1e-3*s.opt.gap()*s.atZero)
}

func (s *session) done() bool { return s.upper-s.lower <= s.target() }

// solve runs the outer loop. An error of the context ends it early; what was reached stands in the session.
func (s *session) solve() error {
	s.shape = s.source.Shape()
	d := s.shape.Cols
	meanPos, meanPop, err := s.source.Means(s.ctx)
	if err != nil {
		return err
	}
	s.w = make([]float64, d)
	s.t, _, _ = s.f.threshold([]float64{0}, []float64{s.shape.Population.Mass}, nil)
	s.atZero = s.f.loss(1 + s.t)
	s.upper, s.lower = s.atZero, 0
	s.pop = newWorkingSet(s.shape.Population.Rows, d, false, meanPos)
	s.pos = newWorkingSet(s.shape.Positives.Rows, d, false, meanPos)

	// The difference of the means is the first direction; its scores give it a scale.
	direction := make([]float64, d)
	for j := range direction {
		direction[j] = meanPos[j] - meanPop[j]
	}
	if err := s.takePositives(direction); err != nil {
		return err
	}
	first := max(400, int(math.Min(3*math.Ceil(s.f.kappa), float64(s.shape.Population.Rows))))
	next, err := s.ray(direction, first)
	if err != nil {
		return err
	}
	s.accept(next)
	for _, r := range next.rows {
		s.pop.take(r)
	}
	tighter := 1.0
	for !s.done() {
		s.rounds++
		tolerance := math.Max(.1*(s.upper-s.lower), .2*s.target()) * tighter
		w := s.inner(tolerance)
		if s.opt.Progress != nil {
			passes, _ := s.source.Readings()
			s.opt.Progress(Progress{Round: s.rounds, Passes: passes, Systems: s.systems, Upper: s.upper, Lower: s.lower,
				AtZero: s.atZero, WorkingSet: s.pop.n})
		}
		if s.done() {
			break
		}
		if err := s.ctx.Err(); err != nil {
			return err
		}
		grown, err := s.scan(w)
		if err != nil {
			return err
		}
		if s.log != nil {
			s.log("round %d: upper %.10g lower %.10g rows %d (+%d) systems %d", s.rounds, s.upper, s.lower, s.pop.n, grown, s.systems)
		}
		if passes, _ := s.source.Readings(); s.opt.MaxPasses > 0 && passes >= s.opt.MaxPasses {
			return nil
		}
		if grown == 0 {
			if tighter /= 100; tighter < 1e-7 {
				return nil
			}
		}
	}
	return nil
}

func (s *session) takePositives(w []float64) error {
	answers, err := s.source.Scan(s.ctx, []Query{{W: w, Positives: &PositivesQuery{Limit: s.shape.Positives.Rows, Known: s.pos.known}}})
	if err != nil {
		return err
	}
	for _, r := range answers[0].Positives.Rows {
		s.pos.take(r)
	}
	return nil
}

// ray returns the best point found on the ray from 0 through w.
func (s *session) ray(w []float64, limit int) (evaluation, error) {
	zero := make([]float64, len(w))
	if searcher, ok := s.source.(LineSearcher); ok {
		found, err := searcher.Search(s.ctx, zero, w, 1e-3*s.atZero)
		if err != nil {
			return evaluation{}, err
		}
		if !slices.Equal(found, zero) {
			w = found
		}
	}
	return s.evaluate(w, limit)
}

// scan evaluates F at the inner solver's point and between it and the best one, and takes rows at both. It returns the
// number of rows taken.
func (s *session) scan(w []float64) (int, error) {
	before := len(s.pop.ids)
	limit := s.rowsWanted()
	e, err := s.evaluate(w, limit)
	if err != nil {
		return 0, err
	}
	from := s.w
	s.take(e)
	if searcher, ok := s.source.(LineSearcher); ok {
		between, err := searcher.Search(s.ctx, from, w, 1e-2*(math.Min(s.upper, e.f)-s.lower))
		if err != nil {
			return 0, err
		}
		s.accept(e)
		if !slices.Equal(between, w) && !slices.Equal(between, from) {
			b, err := s.evaluate(between, limit)
			if err != nil {
				return 0, err
			}
			s.accept(b)
			s.take(b)
		}
	}
	s.accept(e)
	return len(s.pop.ids) - before, nil
}

// rowsWanted is how many rows a scan asks for.
func (s *session) rowsWanted() int {
	most := math.Max(8*s.f.kappa, 2*float64(s.pop.n))
	return int(math.Min(math.Max(most, 1000), float64(s.shape.Population.Rows)))
}

// take adds the rows that violate the current model, and some below them.
func (s *session) take(e evaluation) {
	violators := 0
	for violators < len(e.rows) && e.rows[violators].Score >= e.edge {
		violators++
	}
	near := max(400, violators*3/10)
	for _, r := range e.rows[:min(len(e.rows), violators+near)] {
		s.pop.take(r)
	}
}

// inner solves the problem on the rows held and returns the point to look at next.
func (s *session) inner(tolerance float64) []float64 {
	stop := func() bool { return s.ctx.Err() != nil }
	if s.f.kind == squaredQuantile {
		v := newNewton(s.f, s.pos.rows, s.pop.rows)
		v.run(s.w, tolerance, 100, stop)
		s.keep(&v.restricted)
		return v.best.w
	}
	f, population := s.f, s.pop.rows
	if s.wholeMean() {
		f.kappa, population = .5, s.pop.mean()
	}
	v := newInterior(f, s.pos.rows, population)
	warm := s.lower >= .3*s.upper && s.theta > 0
	if warm {
		gap := math.Min(5*s.upper, 1000*math.Max(s.upper-s.lower, 1e-6*s.upper))
		v.warmStart(s.w, s.theta, gap)
		v.run(tolerance, 40, stop)
		s.keep(&v.restricted)
	}
	if !warm || !v.best.closed && !stop() {
		best := v.best
		v = newInterior(f, s.pos.rows, population)
		v.pos.times(s.w, v.zp)
		v.row.times(s.w, v.zs)
		v.coldStart(v.zp, v.zs, s.upper)
		v.run(tolerance, 80, stop)
		s.keep(&v.restricted)
		if best.value < v.best.value {
			return best.w
		}
	}
	return v.best.w
}

// wholeMean reports whether the threshold is the mean of the whole population. Then a is m/M and nothing is left to
// choose, so there is no interior for the inner solver: it gets the mean as the only row, under a cap that is never reached.
func (s *session) wholeMean() bool {
	return s.f.kind == topMean && s.shape.Population.Mass <= s.f.kappa*(1+1e-12)
}

// keep takes over the bound of an inner solve.
func (s *session) keep(v *restricted) {
	s.systems += v.best.systems
	if v.best.theta > 0 {
		s.theta = v.best.theta
	}
	if v.best.bound > s.lower {
		s.lower = v.best.bound
		if s.wholeMean() {
			v.best.a = append(v.best.a[:0], s.pop.weight...)
			s.f.repair(v.best.a, s.pop.weight)
		}
		s.p, s.a = s.pos.lift(v.best.p), s.pop.lift(v.best.a)
		s.radius = v.radius()
	}
}

var errNotConvex = errors.New("certified: the method is not convex")
