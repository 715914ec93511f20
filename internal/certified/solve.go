package certified

import (
	"context"
	"math"
	"slices"

	"toptau/threshold"
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
	best     evaluation // the best point
	upper    float64
	lower    float64
	p, a     dualValues // of the lower bound
	rounded  *rounded   // whose multipliers give the lower bound, p times scale; nil: p and a do
	scale    float64
	theta    float64
	rounds   int
	systems  int
	radius   float64

	passesBefore int // readings of the source before this problem
	visitsBefore float64
	heldBefore   float64

	support threshold.Support
	from    *state      // what an earlier problem left; nil: nothing
	enough  func() bool // an earlier end; nil: none
	start   *start      // where to begin; nil: along the difference of the means
	last    start       // where Newton's method with rounded kinks ended; no width: it was not used
	limits  limits
	space   *rowSpace // of the rows held; nil: not in use
	lastGap float64
	crowded bool // more rows matter than can be held one by one: the rest stands in groups
}

// evaluation is F at a point, and rows of the population that the solver may want.
type evaluation struct {
	w     []float64
	f, t  float64
	edge  float64
	above int // scores at or above the edge
	rows  []Row
}

func (s *session) ask(q Query) (Answer, error) {
	answers, err := s.source.Scan(s.ctx, []Query{q})
	if err != nil {
		return Answer{}, err
	}
	return answers[0], nil
}

// evaluate asks for F and for the best rows that are not held yet, at several points in one reading.
func (s *session) evaluate(limit int, points ...[]float64) ([]evaluation, error) {
	queries := make([]Query, len(points))
	for k, w := range points {
		query := PopulationQuery{Above: s.safeEdge(w), Limit: limit}
		if s.pop != nil {
			query.Known = s.pop.known
		}
		queries[k] = Query{W: w, Population: &query}
	}
	answers, err := s.source.Scan(s.ctx, queries)
	if err != nil {
		return nil, err
	}
	out := make([]evaluation, len(points))
	for k, w := range points {
		e, found := &out[k], answers[k].Population
		e.w, e.rows = w, found.Rows
		s.f.rule.At(found.Scores, found.Weights, &s.support)
		e.t, e.edge = s.support.T, s.support.Edge
		for _, z := range found.Scores {
			if z >= e.edge {
				e.above++
			}
		}
		queries[k] = Query{W: w, Positives: &PositivesQuery{T: e.t, Squared: s.f.squared}}
	}
	if answers, err = s.source.Scan(s.ctx, queries); err != nil {
		return nil, err
	}
	for k := range out {
		out[k].f = answers[k].Positives.Loss/s.shape.Positives.Mass +
			float64(s.f.lambda/2*dot(out[k].w, out[k].w))
	}
	return out, nil
}

// along evaluates F on the way from one point to another: at the second one and, when that may be better, between or
// beyond them. The best point comes last.
func (s *session) along(from, to []float64, fractions []float64, limit int) ([]evaluation, error) {
	if searcher, ok := s.source.(lineSearcher); ok {
		points, err := s.evaluate(limit, to)
		if err != nil {
			return nil, err
		}
		found, err := searcher.search(s.ctx, s.f, from, to, 1e-2*(math.Min(s.upper, points[0].f)-s.lower))
		if err != nil || slices.Equal(found, to) || slices.Equal(found, from) {
			return points, err
		}
		more, err := s.evaluate(limit, found)
		return append(points, more...), err
	}
	var list [][]float64
	for _, alpha := range fractions {
		w := make([]float64, len(from))
		for j := range w {
			w[j] = from[j] + float64(alpha*(to[j]-from[j]))
		}
		list = append(list, w)
	}
	points, err := s.evaluate(limit, append(list, to)...)
	if err != nil {
		return nil, err
	}
	best := 0
	for k, e := range points {
		if e.f < points[best].f {
			best = k
		}
	}
	last := points[len(points)-1]
	if best == len(points)-1 {
		return []evaluation{last}, nil
	}
	return []evaluation{last, points[best]}, nil
}

// safeEdge is a score below which no row can change t(w): the band's edge on the rows held, which never lies above the
// band's edge on all rows.
func (s *session) safeEdge(w []float64) float64 {
	if s.pop == nil || s.pop.n == 0 || sum(s.pop.weight) < s.f.kappa {
		return math.Inf(-1)
	}
	z := make([]float64, s.pop.n)
	s.pop.times(w, z)
	_, edge, _ := s.f.threshold(z, s.pop.weight, nil)
	offset := dot(s.pop.centre, w)
	var scale float64
	for _, v := range z {
		scale = math.Max(scale, math.Abs(v))
	}
	return edge + offset - float64(1e-9*(scale+math.Abs(offset)))
}

// accept keeps a point if it is the best so far.
func (s *session) accept(e evaluation) {
	if e.f < s.upper {
		s.upper, s.best = e.f, e
	}
}

// target is the largest difference of the bounds at which the solve is done.
func (s *session) target() float64 {
	return math.Max(s.opt.gap()*(s.atZero-math.Max(s.lower, 0)), 1e-3*s.opt.gap()*s.atZero)
}

func (s *session) done() bool {
	return s.upper-s.lower <= .95*s.target() || s.enough != nil && s.enough()
}

// solve runs the outer loop. An error of the context ends it early; what was reached stands in the session.
func (s *session) solve() error {
	if err := s.begin(); err != nil {
		return err
	}
	tighter, stalled := 1.0, 0
	for !s.done() {
		s.rounds++
		tolerance := math.Max(.1*(s.upper-s.lower), .2*s.target()) * tighter
		w := s.inner(tolerance)
		s.report()
		if s.done() {
			return nil
		}
		if err := s.ctx.Err(); err != nil {
			return err
		}
		grown, err := s.scan(w)
		if err != nil {
			return err
		}
		if s.spent() {
			return nil
		}
		if grown == 0 {
			tighter /= 100
			if stalled++; stalled > roundsWithNoNew {
				return nil
			}
		}
	}
	return nil
}

// spent reports whether the readings asked for are used up.
func (s *session) spent() bool {
	passes, _ := s.source.Readings()
	return s.opt.MaxPasses > 0 && passes-s.passesBefore >= s.opt.MaxPasses
}

func (s *session) report() {
	if s.opt.Progress == nil {
		return
	}
	passes, _ := s.source.Readings()
	s.opt.Progress(Progress{Round: s.rounds, Passes: passes, Systems: s.systems, Upper: s.upper, Lower: s.lower,
		AtZero: s.atZero, WorkingSet: s.pop.n})
}

// begin finds a first point and takes the first rows there: the last problem's point, that of a sample, or one on the ray
// through the difference of the means.
func (s *session) begin() error {
	s.origin()
	if s.start != nil && s.start.width > 0 {
		return s.beginRounded(*s.start)
	}
	if resumed, err := s.resume(); resumed || err != nil {
		return err
	}
	e, err := s.beginOnRay()
	if err != nil {
		return err
	}
	if s.limit(); s.crowded {
		return s.widen(e, true)
	}
	first := s.wantedAtFirst()
	if first > len(e.rows) {
		again, err := s.evaluate(first, e.w)
		if err != nil {
			return err
		}
		e = again[0]
	}
	s.takeAll(e.rows[:min(first, len(e.rows))])
	return s.widen(e, true)
}

// beginRounded goes as far as rounded kinks do. The rows are then summed up around the kinks that were found.
func (s *session) beginRounded(first start) (err error) {
	if s.adopt(); s.pop == nil {
		s.holdNothing(first.frame)
	}
	s.limits, s.crowded = limitsFor(s.pop.frame.work), true
	if s.last, err = s.descend(s.source.(rounder), first); err != nil || s.done() {
		return err
	}
	return s.widen(s.best, true)
}

// origin makes w = 0 the best point.
func (s *session) origin() {
	s.shape = s.source.Shape()
	d := s.shape.Cols
	s.best.w = make([]float64, d)
	s.best.t, s.best.edge, _ = s.f.threshold([]float64{0}, []float64{s.shape.Population.Mass}, nil)
	s.atZero = s.f.loss(1 + s.best.t)
	s.upper, s.lower, s.lastGap = s.atZero, 0, math.Inf(1)
}

// holdNothing makes empty working sets.
func (s *session) holdNothing(f *frame) {
	s.pos = newWorkingSet(s.shape.Positives.Rows, f)
	s.pop = newWorkingSet(s.shape.Population.Rows, f)
}

// beginOnRay finds a first point on the ray through the difference of the means.
func (s *session) beginOnRay() (evaluation, error) {
	meanPos, meanPop, err := s.means()
	if err != nil {
		return evaluation{}, err
	}
	direction := make([]float64, s.shape.Cols)
	if s.start != nil {
		copy(direction, s.start.w)
	} else {
		for j := range direction {
			direction[j] = meanPos[j] - meanPop[j]
		}
	}
	e, err := s.ray(direction, 2*leastNear)
	if err != nil {
		return e, err
	}
	s.accept(e)
	if s.pop != nil {
		return e, nil
	}
	answer, err := s.ask(Query{W: e.w, Positives: &PositivesQuery{T: e.t, Squared: s.f.squared, Limit: leastNear}})
	if err != nil {
		return e, err
	}
	s.holdNothing(chooseFrame(meanPos, slices.Concat(answer.Positives.Rows, e.rows)))
	return e, nil
}

// limit decides how many rows may be held, and whether that is enough.
func (s *session) limit() {
	s.limits = limitsFor(s.pop.frame.work)
	s.crowded = s.wantedAtFirst() > s.limits.held
}

// wantedAtFirst is how many of the best rows a solve begins with: more than kappa, or the restricted problem has no
// interior.
func (s *session) wantedAtFirst() int {
	return int(math.Min(math.Max(nearWhenHeld, 3*math.Ceil(s.f.kappa)), float64(s.shape.Population.Rows)))
}

// means asks for the means of the classes, once in a chain.
func (s *session) means() (positives, population []float64, err error) {
	if s.from != nil && s.from.means[0] != nil {
		return s.from.means[0], s.from.means[1], nil
	}
	positives, population, err = s.source.Means(s.ctx)
	if err == nil && s.from != nil {
		s.from.means = [2][]float64{positives, population}
	}
	return positives, population, err
}

func (s *session) takeAll(rows []Row) {
	for _, r := range rows {
		s.pop.take(r)
	}
}

// positivesWanted is how many positives a scan asks for.
func (s *session) positivesWanted() int {
	if s.shape.Positives.Rows <= s.limits.held {
		return s.shape.Positives.Rows
	}
	return s.limits.near
}

// widen takes rows near the kinks of a point where not all that matter are held, and sums up the others if asked to.
func (s *session) widen(e evaluation, rest bool) error {
	if len(s.pos.ids) < s.shape.Positives.Rows {
		q := PositivesQuery{T: e.t, Squared: s.f.squared, Limit: s.positivesWanted(), Known: s.pos.known,
			Rest: s.groupsWanted(rest && s.shape.Positives.Rows > s.limits.held, s.f.squared)}
		answer, err := s.ask(Query{W: e.w, Positives: &q})
		if err != nil {
			return err
		}
		for _, r := range answer.Positives.Rows {
			s.pos.take(r)
		}
		s.pos.groups = answer.Positives.Groups
	}
	if !s.crowded {
		return nil
	}
	answer, err := s.ask(Query{W: e.w, Population: &PopulationQuery{Above: math.Inf(1), Limit: s.limits.near,
		Known: s.pop.known, Near: true, Edge: e.edge, Rest: s.groupsWanted(rest, s.f.kind == squaredQuantile)}})
	if err != nil {
		return err
	}
	s.takeAll(answer.Population.Rows)
	s.pop.groups = answer.Population.Groups
	return nil
}

func (s *session) groupsWanted(some, square bool) int {
	switch {
	case !some:
		return 0
	case square:
		return groupsOfSquare
	}
	return groupsOfHinge
}

// ray returns the best point found on the ray from 0 through w.
func (s *session) ray(w []float64, limit int) (evaluation, error) {
	zero := make([]float64, len(w))
	if _, ok := s.source.(lineSearcher); !ok {
		// The scale of the scores is not known yet: one reading for it, one for several multiples.
		answer, err := s.ask(Query{W: w, Population: &PopulationQuery{Above: math.Inf(-1)}})
		if err != nil {
			return evaluation{}, err
		}
		scores := answer.Population.Scores
		mean := sum(scores) / float64(max(1, len(scores)))
		var spread float64
		for _, z := range scores {
			spread += float64((z - mean) * (z - mean))
		}
		if spread = math.Sqrt(spread / float64(max(1, len(scores)))); spread > 0 {
			w = slices.Clone(w)
			for j := range w {
				w[j] /= spread
			}
		}
	}
	points, err := s.along(zero, w, []float64{.01, .1, .3, 3, 10, 100}, limit)
	if err != nil {
		return evaluation{}, err
	}
	return points[len(points)-1], nil
}

// scan evaluates F at the inner solver's point and between it and the best one, and takes rows at both. It returns the
// number of rows taken.
func (s *session) scan(w []float64) (int, error) {
	before := len(s.pop.ids) + len(s.pos.ids)
	gap := s.upper - s.lower
	if gap > .5*s.lastGap {
		s.limits.near = min(2*s.limits.near, s.limits.held)
	}
	s.lastGap = gap
	points, err := s.along(s.best.w, w, []float64{.1, .3, .6}, s.rowsWanted())
	if err != nil {
		return 0, err
	}
	for _, e := range points {
		s.accept(e)
		s.crowded = s.crowded || e.above > s.limits.held
	}
	for k, e := range points {
		if !s.crowded {
			s.take(e)
		}
		if err := s.widen(e, k == len(points)-1); err != nil {
			return 0, err
		}
	}
	return len(s.pop.ids) + len(s.pos.ids) - before, nil
}

// rowsWanted is how many rows a scan asks for.
func (s *session) rowsWanted() int {
	if s.crowded {
		return 0
	}
	most := math.Max(8*s.f.kappa, 2*float64(s.pop.n))
	return int(math.Min(math.Max(most, 1000), float64(s.shape.Population.Rows)))
}

// take adds the rows that violate the current model, and some below them.
func (s *session) take(e evaluation) {
	violators := 0
	for violators < len(e.rows) && e.rows[violators].Score >= e.edge {
		violators++
	}
	near := max(nearWhenHeld, violators*3/10)
	s.takeAll(e.rows[:min(len(e.rows), violators+near)])
}

// inner solves the problem on the rows held and the groups, and returns the point to look at next.
func (s *session) inner(tolerance float64) (w []float64) {
	s.pos.withGroups(func() {
		s.pop.withGroups(func() { w = s.innerOnRows(tolerance) })
	})
	return w
}

// innerOnRows solves the restricted problem, in the space of the rows where that is the smaller one.
func (s *session) innerOnRows(tolerance float64) []float64 {
	f, pos, population := s.f, s.pos.rows, s.pop.rows
	if s.wholeMean() {
		f.kappa, population = .5, s.pop.mean()
	}
	if !worthwhile(pos, population) {
		return s.innerAt(f, pos, population, s.best.w, tolerance, nil)
	}
	space := s.rowSpace(pos, population)
	before := space.pos.visits
	w := space.expand(s.innerAt(f, space.pos, space.row, space.reduce(s.best.w), tolerance, space))
	s.pop.visits += space.pos.visits - before
	return w
}

// rowSpace returns the rows' own space. It is kept for rounds that bring no row.
func (s *session) rowSpace(pos, population *rows) *rowSpace {
	lasting := len(s.pos.groups)+len(s.pop.groups) == 0 && population == s.pop.rows
	if old := s.space; lasting && old != nil && old.pos.n == pos.n && old.row.n == population.n {
		copy(old.pos.weight, pos.weight) // equal rows may have joined
		copy(old.row.weight, population.weight)
		return old
	}
	space := newRowSpace(pos, population)
	s.space = nil
	if lasting {
		s.space = space
	}
	return space
}

// innerAt solves the restricted problem from w: warm when the bounds are close enough for the last multipliers to mean
// something, else, or when that fails, cold.
func (s *session) innerAt(f form, pos, population *rows, w []float64, tolerance float64, space *rowSpace) []float64 {
	stop := func() bool { return s.ctx.Err() != nil }
	mass := s.shape.Positives.Mass
	if f.kind == squaredQuantile {
		v := newNewton(f, pos, population, mass)
		v.run(w, tolerance, 100, stop)
		s.keep(&v.restricted)
		return v.best.w
	}
	var system *rowSystem
	if space != nil && f.lambda > 0 {
		system = newRowSystem(space, f, mass)
	}
	v := newInterior(f, pos, population, mass)
	v.inRows = system
	warm := s.lower >= .3*s.upper && s.theta > 0
	if warm {
		gap := math.Min(5*s.upper, 1000*math.Max(s.upper-s.lower, 1e-6*s.upper))
		v.warmStart(w, s.theta, gap)
		v.run(tolerance, 40, stop)
		s.keep(&v.restricted)
	}
	if !warm || !v.best.closed && !stop() {
		best := v.best
		v = newInterior(f, pos, population, mass)
		v.inRows = system
		v.pos.times(w, v.zp)
		v.row.times(w, v.zs)
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
		s.lower, s.rounded = v.best.bound, nil
		if s.wholeMean() {
			v.best.a = append(v.best.a[:0], s.pop.weight...)
			s.f.repair(v.best.a, s.pop.weight)
		}
		s.p, s.a = s.pos.snapshot(v.best.p), s.pop.snapshot(v.best.a)
		s.radius = v.radius()
	}
}
