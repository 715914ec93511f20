package certified

import (
	"math"
	"slices"

	"toptau/internal/certified/form"
	"toptau/internal/certified/linalg"
	"toptau/internal/certified/restricted"
)

// workingSet is the rows that a solve holds in memory, with the solver of the problem restricted to them. No
// row is ever dropped.
type workingSet struct {
	pos, pop *heldRows // positives and population
	inner    restricted.Solver
	limits   limits
	crowded  bool // more rows of the population matter than can be held: the rest enters as groups
}

// limits are numbers of rows. They follow from the cost of a row in a Newton system, so that narrow data may
// hold many rows and wide data few.
type limits struct {
	held int // of a class that may be held; if more matter, the rest enters as groups
	near int // nearest to the corner of the hinge, added in one scan; doubled after a slow round
}

const (
	// rowWork is the number of multiplications that the rows of one class may cost in a Newton system. It
	// bounds the rows held between leastHeld and mostHeld. All three were chosen by hand.
	rowWork   = 1e8
	leastHeld = 20_000
	mostHeld  = 40_000

	// leastNear is the number of rows near the corner that are added in one scan if not all rows that matter
	// can be held, or an eighth of the rows that may be held. Chosen by hand.
	leastNear = 2_000
	nearPart  = 8

	// violatorsNear is the number of rows below the edge that are added to all those above it if all rows
	// that matter are held, or .3 of the number above. With 20, 100, 400 and 1,000 nine hard instances took
	// 75, 71, 69 and 68 scans.
	violatorsNear = 400

	// firstKappas is the number of rows that a solve starts with, in units of kappa. With no more rows than
	// kappa the restricted problem has no interior; the prototype needed 1.5 times 2 kappa.
	firstKappas = 3

	// A scan returns at most scanKappas kappa rows, or scanGrowth times the rows held, but at least
	// leastScan. An uncapped band brought 210,000 to 230,000 rows in the prototype (kddcup99, beta 1e-4).
	scanKappas = 8
	scanGrowth = 2
	leastScan  = 1000
)

// limitsFor returns the limits for rows that cost work multiplications each.
func limitsFor(work float64) limits {
	held := int(math.Min(mostHeld, math.Max(leastHeld, rowWork/math.Max(work, 1))))
	return limits{held: held, near: max(leastNear, held/nearPart)}
}

// holdNothing makes the working set empty.
func (s *solver) holdNothing(shift *linalg.Shift) {
	s.pos = newHeldRows(s.shape.Positives.Rows, shift)
	s.pop = newHeldRows(s.shape.Population.Rows, shift)
}

// setLimits decides how many rows may be held, and whether that is enough.
func (s *solver) setLimits() {
	s.limits = limitsFor(s.pop.Work)
	s.crowded = s.firstRows() > s.limits.held
}

// firstRows is the number of best rows that a solve starts with: clearly more than kappa, or the restricted
// problem has no interior.
func (s *solver) firstRows() int {
	return int(math.Min(math.Max(violatorsNear, firstKappas*math.Ceil(s.form.Kappa)), float64(s.shape.Population.Rows)))
}

// rowLimit is the number of best rows that a scan asks for. A band that pulls in many rows at once is cut, so
// that the working set at most about triples in a round.
func (s *solver) rowLimit() int {
	if s.crowded {
		return 0
	}
	most := math.Max(scanKappas*s.form.Kappa, scanGrowth*float64(s.pop.N))
	return int(math.Min(math.Max(most, leastScan), float64(s.shape.Population.Rows)))
}

// positivesLimit is the number of positives that a scan asks for.
func (s *solver) positivesLimit() int {
	if s.shape.Positives.Rows <= s.limits.held {
		return s.shape.Positives.Rows
	}
	return s.limits.near
}

// The number of groups on one side of the corner, by score. The hinge is linear there and needs few. For a
// square the bound loses the variance of the scores within a group, which falls with the square of the number
// of groups. Chosen by hand.
const (
	groupsOfHinge  = 8
	groupsOfSquare = 2048
)

// groupCount is the number of groups a side.
func groupCount(square bool) int {
	if square {
		return groupsOfSquare
	}
	return groupsOfHinge
}

// rowsHeld is the number of rows of both classes.
func (s *solver) rowsHeld() int { return len(s.pop.ids) + len(s.pos.ids) }

// addViolators adds the rows above the edge, which the restricted problem overlooked, and some below it.
func (s *solver) addViolators(e evaluation) {
	s.addPopulation(e.rows[:violatorsOf(e.rows, e.edge)])
}

// violatorsOf returns the number of rows, best first, that are above an edge or so near to it that they are added, too.
func violatorsOf(rows []Row, edge float64) int {
	violators := 0
	for violators < len(rows) && rows[violators].Score >= edge {
		violators++
	}
	return min(len(rows), violators+max(violatorsNear, violators*3/10))
}

func (s *solver) addPopulation(rows []Row) {
	for _, r := range rows {
		s.pop.hold(r)
	}
}

// addNearRows adds the rows nearest to the corners of the hinge at a point, for classes of which not all rows
// that matter are held, and sums up the others.
func (s *solver) addNearRows(e evaluation) error {
	positives := len(s.pos.ids) < s.shape.Positives.Rows
	if !positives && !s.crowded {
		return nil
	}
	q := Query{At: e.at}
	if positives {
		q.Positives = Request{Held: s.pos.known}
		if limit := s.positivesLimit(); limit == s.shape.Positives.Rows {
			q.Positives.Want = everyScore(Highest, limit)
		} else {
			ties, err := s.heavyTies(&e, false)
			if err != nil {
				return err
			}
			q.Positives.Want = nearest(1+e.t, limit, ties)
			ends, err := s.positiveEnds(&e, groupCount(s.form.Squared))
			if err != nil {
				return err
			}
			q.Positives.Groups = withTies(ends, ties)
		}
	}
	if s.crowded {
		ties, err := s.heavyTies(&e, true)
		if err != nil {
			return err
		}
		q.Population = Request{Held: s.pop.known, Want: nearest(e.edge, s.limits.near, ties)}
		ends, err := s.populationEnds(&e, groupCount(s.form.Kind == form.SquaredQuantile))
		if err != nil {
			return err
		}
		q.Population.Groups = withTies(ends, ties)
	}
	answers, err := s.ask(q)
	if err != nil {
		return err
	}
	for _, rows := range answers[0].Positives.Rows {
		for _, r := range rows {
			s.pos.hold(r)
		}
	}
	for _, rows := range answers[0].Population.Rows {
		s.addPopulation(rows)
	}
	if positives {
		s.pos.setGroups(groupsOf(answers[0].Positives.Groups, e.at, q.Positives.Groups, len(s.pos.ids)))
	}
	if s.crowded {
		s.pop.setGroups(groupsOf(answers[0].Population.Groups, e.at, q.Population.Groups, len(s.pop.ids)))
	}
	return nil
}

// nearest asks for the rows nearest to a score, and for none with the scores of ties, which ascend.
func nearest(centre float64, limit int, ties []float64) []Want {
	return without(Want{Low: math.Inf(-1), High: math.Inf(1), Order: Nearest, Centre: centre, Limit: limit}, ties)
}

// without divides a Want into the intervals between ties, which ascend and lie in its interval. They share its
// limit.
func without(all Want, ties []float64) (list []Want) {
	part := all
	part.Limit = max(1, all.Limit/(len(ties)+1))
	for _, tie := range ties {
		if part.High = math.Nextafter(tie, math.Inf(-1)); part.Low <= part.High {
			list = append(list, part)
		}
		part.Low = math.Nextafter(tie, math.Inf(1))
	}
	if part.High = all.High; part.Low <= part.High {
		list = append(list, part)
	}
	return list
}

// withTies adds ends to those of groups, so that each tie is a group.
func withTies(ends, ties []float64) []float64 {
	for _, tie := range ties {
		ends = append(ends, tie, math.Nextafter(tie, math.Inf(1)))
	}
	return ascending(ends)
}

// heavyTies returns scores that more rows share than one scan may add, in ascending order. They are
// likely to be equal rows, and become a group each.
func (s *solver) heavyTies(e *evaluation, population bool) (ties []float64, err error) {
	if err := s.divide(e, population, everything, s.limits.held); err != nil {
		return nil, err
	}
	for _, b := range *e.bins(population) {
		if b.Rows > s.limits.near && b.Low == b.High {
			ties = append(ties, b.Low)
		}
	}
	return ties, nil
}

// bins returns the histogram of a class.
func (e *evaluation) bins(population bool) *histogram {
	if population {
		return &e.pop
	}
	return &e.pos
}

// divisions is the number of times that bins with too many rows are divided. Outliers can leave most rows in
// one bin of equal width, so that one division does not do.
const divisions = 4

// interval is an interval of scores.
type interval struct{ low, high float64 }

var everything = interval{math.Inf(-1), math.Inf(1)}

// divide divides the bins of a class that reach into an interval and have more than most rows and several scores.
func (s *solver) divide(e *evaluation, population bool, within interval, most int) error {
	for range divisions {
		h := e.bins(population)
		if s.expected != nil && len(*h) >= farCuts {
			return nil // the sample divided them about evenly, and finer ones would cost a pass
		}
		var large histogram
		for _, b := range *h {
			if b.Rows > most && b.Low < b.High && b.Low <= within.high && b.High >= within.low {
				large = append(large, b)
			}
		}
		if len(large) == 0 && len(*h) > 0 {
			return nil
		}
		var cuts []float64
		for _, b := range large {
			cuts = append(cuts, b.cutsInside(max(2, s.cutsOfRange()/len(large)))...)
		}
		answer, err := s.askClass(e.at, population, Request{Cuts: slices.Compact(cuts), Sums: true, Inside: len(cuts) > 0})
		if err != nil {
			return err
		}
		*h = h.divided(large, newHistogram(answer.Bins))
	}
	return nil
}

// divided returns the histogram with finer bins in the place of some of its bins. Finer bins elsewhere are
// ignored. An empty histogram becomes the finer one.
func (h histogram) divided(large, finer histogram) (out histogram) {
	if len(h) == 0 {
		return finer
	}
	for _, b := range h {
		if len(large) == 0 || b.Low != large[0].Low {
			out = append(out, b)
			continue
		}
		large = large[1:]
		for len(finer) > 0 && finer[0].Low < b.Low {
			finer = finer[1:]
		}
		for len(finer) > 0 && finer[0].High <= b.High {
			out, finer = append(out, finer[0]), finer[1:]
		}
	}
	return out
}

// groupResolution is the number of bins, at least, that a group consists of where groups are to have equal
// numbers of rows.
const groupResolution = 2

// populationEnds returns the ends of groups of about equal numbers of rows, count on each side of the edge: all
// rows above it, and the nearest below it, about twice as many.
func (s *solver) populationEnds(e *evaluation, count int) ([]float64, error) {
	above := e.pop.rowsFrom(e.edge)
	if err := s.divide(e, true, everything, max(1, above/(groupResolution*count))); err != nil {
		return nil, err
	}
	ends := e.pop.quantileEnds(math.Inf(-1), e.edge, count, 2*above)
	ends = append(ends, e.edge)
	ends = append(ends, e.pop.quantileEnds(e.edge, math.Inf(1), count, math.MaxInt)...)
	return ascending(append(ends, math.Inf(1))), nil
}

// positiveEnds does the same for all positives on both sides of the corner of their loss.
func (s *solver) positiveEnds(e *evaluation, count int) ([]float64, error) {
	if err := s.divide(e, false, everything, max(1, s.shape.Positives.Rows/(groupResolution*2*count))); err != nil {
		return nil, err
	}
	corner := 1 + e.t
	ends := append([]float64{math.Inf(-1)}, e.pos.quantileEnds(math.Inf(-1), corner, count, math.MaxInt)...)
	ends = append(ends, corner)
	ends = append(ends, e.pos.quantileEnds(corner, math.Inf(1), count, math.MaxInt)...)
	return ascending(append(ends, math.Inf(1))), nil
}

// ascending sorts ends and drops equal ones.
func ascending(ends []float64) []float64 {
	slices.Sort(ends)
	return slices.Compact(ends)
}

// quantileEnds returns up to count ends of bins that divide the highest rows of an interval, most of them, into
// parts of about equal numbers of rows.
func (h histogram) quantileEnds(low, high float64, count, most int) (ends []float64) {
	var inside histogram
	total := 0
	for k := len(h) - 1; k >= 0 && total < most; k-- {
		if b := h[k]; b.Low < high && b.High >= low {
			inside = append(inside, b)
			total += b.Rows
		}
	}
	rows, part := 0, 0
	for _, b := range inside { // from the highest
		rows += b.Rows
		if want := float64(part+1) * float64(total) / float64(count); float64(rows) >= want {
			if b.Low > low && b.Low < high {
				ends = append(ends, b.Low)
			}
			part = int(float64(rows) * float64(count) / float64(total))
		}
	}
	return ends
}

// withGroups calls do while the groups of both classes follow their rows.
func (w *workingSet) withGroups(do func()) {
	w.pos.withGroups(func() { w.pop.withGroups(do) })
}
