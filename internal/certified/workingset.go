package certified

import (
	"math"

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

// groupCount is the number of groups a side that a scan asks for.
func groupCount(some, square bool) int {
	switch {
	case !some:
		return 0
	case square:
		return groupsOfSquare
	}
	return groupsOfHinge
}

// rowsHeld is the number of rows of both classes.
func (s *solver) rowsHeld() int { return len(s.pop.ids) + len(s.pos.ids) }

// addRowsAt adds the rows that matter at some points, and regroups the others at the last one.
func (s *solver) addRowsAt(points []evaluation) error {
	for k, e := range points {
		if !s.crowded {
			s.addViolators(e)
		}
		if err := s.addNearRows(e, k == len(points)-1); err != nil {
			return err
		}
	}
	return nil
}

// addViolators adds the rows above the edge, which the restricted problem overlooked, and some below it.
func (s *solver) addViolators(e evaluation) {
	violators := 0
	for violators < len(e.rows) && e.rows[violators].Score >= e.edge {
		violators++
	}
	near := max(violatorsNear, violators*3/10)
	s.addPopulation(e.rows[:min(len(e.rows), violators+near)])
}

func (s *solver) addPopulation(rows []Row) {
	for _, r := range rows {
		s.pop.hold(r)
	}
}

// addNearRows adds the rows nearest to the corners of the hinge at a point, for classes of which not all rows
// that matter are held. With regroup it sums up the others.
func (s *solver) addNearRows(e evaluation, regroup bool) error {
	if len(s.pos.ids) < s.shape.Positives.Rows {
		q := PositivesQuery{T: e.t, Squared: s.form.Squared, Limit: s.positivesLimit(), Known: s.pos.known,
			Rest: groupCount(regroup && s.shape.Positives.Rows > s.limits.held, s.form.Squared)}
		answer, err := s.ask(Query{At: e.at, Positives: &q})
		if err != nil {
			return err
		}
		for _, r := range answer.Positives.Rows {
			s.pos.hold(r)
		}
		s.pos.groups = answer.Positives.Groups
	}
	if !s.crowded {
		return nil
	}
	q := PopulationQuery{Above: math.Inf(1), Limit: s.limits.near, Known: s.pop.known, Near: true, Edge: e.edge,
		Rest: groupCount(regroup, s.form.Kind == form.SquaredQuantile)}
	answer, err := s.ask(Query{At: e.at, Population: &q})
	if err != nil {
		return err
	}
	s.addPopulation(answer.Population.Rows)
	s.pop.groups = answer.Population.Groups
	return nil
}

// withGroups calls do while the groups of both classes follow their rows.
func (w *workingSet) withGroups(do func()) {
	w.pos.withGroups(func() { w.pop.withGroups(do) })
}
