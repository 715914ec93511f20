package certified

import (
	"math"

	"toptau/internal/core/certified/linalg"
	"toptau/internal/core/certified/restricted"
)

// workingSet is the rows that a solve holds in memory, with the solver of the problem restricted to them. No
// row is ever dropped.
type workingSet struct {
	pos, pop  *heldRows // positives and population
	inner     restricted.Solver
	limits    limits
	useGroups bool // more rows of the population matter than can be held: the rest enters as groups
}

// limits are numbers of rows. They follow from the cost of a row in a Newton system, so that narrow data may
// hold many rows and wide data few.
type limits struct {
	held int // of a class that may be held; if more matter, the rest enters as groups
	near int // nearest to the corner of the hinge, added in one scan; doubled after a slow round
	scan int // of a class, added in one scan to wide data; 0: data are not wide

	positives int // up to which all positives are held
}

const (
	// rowWork is the number of multiplications that the rows of one class may cost in a Newton system. It
	// bounds the rows held between minHeld and maxHeld. All three were chosen by hand.
	rowWork = 1e8
	minHeld = 20_000
	maxHeld = 40_000

	// minNear is the number of rows near the corner that are added in one scan if not all rows that matter
	// can be held, or an eighth of the rows that may be held. Chosen by hand.
	minNear  = 2_000
	nearPart = 8

	// positivesOfNear is the number of positives, in units of minNear, up to which all are held if a source keeps
	// scores. More have a loss that is 0 or linear, mostly, and count as groups. On magic04, a9a and nsl_kdd
	// (18 problems with 7,800 to 12,300 positives) the solver reads 15 % fewer rows than with all positives.
	positivesOfNear = 2

	// violatorsNear is the number of rows below the edge that are added to all those above it if all rows
	// that matter are held, or .3 of the number above. With 20, 100, 400 and 1,000 nine hard instances took
	// 75, 71, 69 and 68 scans.
	violatorsNear = 400

	// firstKappas is the number of rows that a solve starts with, in units of kappa. With no more rows than
	// kappa the restricted problem has no interior; the prototype needed 1.5 times 2 kappa.
	firstKappas = 3

	// A scan returns at most scanKappas kappa rows, or scanGrowth times the rows held, but at least
	// minScan. An uncapped band brought 210,000 to 230,000 rows in the prototype (kddcup99, beta 1e-4).
	scanKappas = 8
	scanGrowth = 2
	minScan    = 1000

	// wideScan is the number of rows of a class that are added to wide data in one scan. Without a limit the first rounds, whose points are
	// poor, add all rows.
	wideScan = 400
)

// limitsFor returns the limits for rows that cost work multiplications each.
func limitsFor(work float64) limits {
	held := int(math.Min(maxHeld, math.Max(minHeld, rowWork/math.Max(work, 1))))
	return limits{held: held, near: max(minNear, held/nearPart), positives: held}
}

// empty makes the working set empty, for the classes of a source.
func (w *workingSet) empty(shape *Shape, shift *linalg.Shift) {
	w.pos = newHeldRows(shape.Positives.Rows, shift)
	w.pop = newHeldRows(shape.Population.Rows, shift)
}

// setLimits decides how many rows may be held, and whether that is enough.
func (w *workingSet) setLimits(p *problem) {
	w.limits = limitsFor(w.pop.Work)
	if p.shape.KeepsScores { // a scan costs less than positives that are held in vain
		w.limits.near, w.limits.positives = minNear, positivesOfNear*minNear
	}
	if w.useGroups = p.firstRows() > w.limits.held; !w.useGroups && p.wide && !p.wholeMean() {
		w.limits.scan, w.inner.Wide = wideScan, true
	}
}

// rowLimit is the number of best rows that a scan asks for. A band that pulls in many rows at once is cut, so
// that the working set at most about triples in a round.
func (w *workingSet) rowLimit(p *problem) int {
	if w.useGroups {
		return 0
	}
	if w.limits.scan > 0 {
		return min(w.limits.scan, p.shape.Population.Rows)
	}
	most := math.Max(scanKappas*p.rowsOnTop(), scanGrowth*float64(w.pop.N))
	return int(math.Min(math.Max(most, minScan), float64(p.shape.Population.Rows)))
}

// positivesLimit is the number of positives that a scan asks for.
func (w *workingSet) positivesLimit(p *problem) int {
	if p.shape.Positives.Rows <= w.limits.positives {
		return p.shape.Positives.Rows
	}
	return w.limits.near
}

// rowsHeld is the number of rows of both classes.
func (w *workingSet) rowsHeld() int { return len(w.pop.ids) + len(w.pos.ids) }

// addViolators adds the rows above the edge, which the restricted problem overlooked, and some below it.
func (w *workingSet) addViolators(e evaluation) {
	w.addPopulation(e.rows[:violatorsOf(e.rows, e.edge)])
}

// violatorsOf returns the number of rows, best first, that are above an edge or so near to it that they are added, too.
func violatorsOf(rows []Row, edge float64) int {
	violators := 0
	for violators < len(rows) && rows[violators].Score >= edge {
		violators++
	}
	return min(len(rows), violators+max(violatorsNear, violators*3/10))
}

func (w *workingSet) addPopulation(rows []Row) {
	for _, r := range rows {
		w.pop.hold(r)
	}
}

// withGroups calls do while the groups of both classes follow their rows.
func (w *workingSet) withGroups(do func()) {
	w.pos.withGroups(func() { w.pop.withGroups(do) })
}
