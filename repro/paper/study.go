package paper

import (
	"context"
	"fmt"
	"sync"
	"time"

	"toptau/internal/core/optim"
	"toptau/method"
)

// study contains the experiments of a run and their results so far.
type study struct {
	o      Options
	store  *store
	sets   []Set
	absent map[string]string // the missing file, by the set's key

	prints fingerprints // of this program
	shapes map[string]*Shape
	cells  map[string]*Cell
	zeros  map[string]*ZeroAnswer
	timed  map[string]*Timing
	stable *stability // nil: no campaign

	record  record
	started time.Time

	convergence *Convergence // nil before it is followed
	assessed    []assessment // nil before the conclusions are tested

	work workMeter
}

// cellName returns the name of a cell in the store and in the map.
func cellName(s *Set, v variant, e entry) string { return s.Key + "/" + v.String() + "-" + e.Key() }

// zeroName returns the name of an answer. It depends on the rule alone, not on lambda or beta.
func zeroName(s *Set, p method.Problem) string {
	name := s.Key + "/zero-" + entry{Method: p.Definition(), Tau: p.Tau}.Key()
	if p.Definition().UsesK {
		name += fmt.Sprintf("-k%d", p.K)
	}
	return name
}

// Shape is the size of a set for Table "counts", from the rows that were read.
type Shape struct {
	Key     string     `json:"key"`
	Columns int        `json:"columns"`
	Parts   [3]Counted `json:"parts"`
}

// Counted is the size of a part.
type Counted struct {
	Rows  int     `json:"rows"`
	Share float64 `json:"positive_share"`
}

// first is the seed of the split that tables of a single split show.
const first uint64 = 1

// seeds returns the seeds of the splits of a set.
func (st *study) seeds(s *Set) []uint64 {
	n := 1
	if s.Seeds {
		n = st.o.Seeds
	}
	list := make([]uint64, n)
	for i := range list {
		list[i] = first + uint64(i)
	}
	return list
}

// variants returns the variants to run on one split of a set.
func (st *study) variants(s *Set, seed uint64) []variant {
	var list []variant
	need := st.o.need
	if need.adam && st.o.Adam && st.o.Zero {
		list = append(list, variant{Seed: seed, Solver: solverAdam})
	}
	if need.random && st.o.Adam && st.o.Random {
		list = append(list, variant{Seed: seed, Solver: solverAdam, Start: optim.Random})
	}
	if need.certified && st.o.Certified {
		list = append(list, variant{Seed: seed, Solver: solverCertified})
	}
	if need.steps && s.Kind == Real && seed == first && st.o.Adam && st.o.Zero {
		for _, step := range otherSteps {
			list = append(list, variant{Seed: seed, Solver: solverAdam, Step: step})
		}
	}
	if need.scaled && s.Seeds && s.Kind == Real {
		for _, v := range list {
			if v.Start == optim.Zero && v.Step == 0 {
				v.Scaled = true
				list = append(list, v)
			}
		}
	}
	if st.o.withChanges {
		for _, v := range list {
			for _, v.Change = range changesOf(v.Solver) {
				list = append(list, v)
			}
		}
	}
	return list
}

// runSet runs the experiments on one set, split by split.
func (st *study) runSet(ctx context.Context, s *Set) error {
	digest, err := s.digest()
	if err != nil {
		return err
	}
	for _, seed := range st.seeds(s) {
		for _, scaled := range []bool{false, true} {
			d := loader{set: s, division: division{seed: seed, scaled: scaled}}
			var list []variant
			for _, v := range st.variants(s, seed) {
				if v.Scaled == scaled {
					list = append(list, v)
				}
			}
			if len(list) == 0 && (seed != first || scaled) {
				continue
			}
			if err := st.runSplit(ctx, &d, digest, list); err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
		}
	}
	return nil
}

// loader loads the parts of a set when they are first needed.
type loader struct {
	set      *Set
	division division
	parts    *Parts
}

// get returns the parts.
func (l *loader) get() (*Parts, error) {
	if l.parts == nil {
		p, err := l.set.load(l.division)
		if err != nil {
			return nil, err
		}
		l.parts = p
	}
	return l.parts, nil
}

// runSplit runs the experiments on one split.
func (st *study) runSplit(ctx context.Context, d *loader, digest string, list []variant) error {
	if d.division.seed == first && !d.division.scaled {
		if err := st.countShape(d, digest); err != nil {
			return err
		}
		if st.o.need.zeros {
			if err := st.zeroAnswers(ctx, d, digest); err != nil {
				return err
			}
		}
	}
	for _, v := range list {
		if err := st.runVariant(ctx, d, digest, v); err != nil {
			return err
		}
	}
	return nil
}

// countShape loads or counts the size of a set.
func (st *study) countShape(d *loader, digest string) error {
	k, err := partKey(st.prints[solverAdam], "shape", digest, d.division.seed)
	if err != nil {
		return err
	}
	name := d.set.Key + "/shape"
	shape := new(Shape)
	if found, err := st.store.load(name, k, shape); err != nil || found {
		st.shapes[d.set.Key] = shape
		return err
	}
	parts, err := d.get()
	if err != nil {
		return err
	}
	*shape = Shape{Key: k, Columns: parts.Training.Cols()}
	for i, x := range parts.inOrder() {
		shape.Parts[i].Rows, shape.Parts[i].Share = countRows(x)
	}
	st.shapes[d.set.Key] = shape
	return st.savePart(name, shape)
}

// runVariant makes the cells of a variant that are not stored yet.
func (st *study) runVariant(ctx context.Context, d *loader, digest string, v variant) error {
	keys := make(map[string]string)
	var left []entry
	for _, e := range tableEntries() {
		problems, err := e.problems()
		if err != nil {
			return err
		}
		k, err := st.cellKey(digest, st.shapes[d.set.Key].Parts[0].Rows, v, e, problems)
		if err != nil {
			return err
		}
		known, err := st.loadCell(d.set, v, e, k)
		if err != nil {
			return err
		}
		if !known {
			keys[e.Key()] = k
			left = append(left, e)
		}
	}
	for len(left) > 0 {
		n := min(len(left), cellsAtOnce)
		if v.Solver == solverCertified {
			n = 1
		}
		parts, err := d.get()
		if err != nil {
			return err
		}
		if err := st.fitCells(ctx, d, parts, digest, v, left[:n], keys); err != nil {
			return err
		}
		left = left[n:]
	}
	return nil
}

// loadCell loads a cell from the store. Methods without a certificate get the cell of their run of ADAM.
func (st *study) loadCell(s *Set, v variant, e entry, key string) (bool, error) {
	name := cellName(s, v, e)
	c := new(Cell)
	known, err := st.store.load(name, key, c)
	if err != nil {
		return false, err
	}
	same := st.findCell(s, variant{Seed: v.Seed, Solver: solverAdam, Scaled: v.Scaled, Change: v.Change.ofAdam()}, e)
	if !known && same != nil && v.Solver == solverCertified && certifiedless(e) {
		*c = *same
		c.Key, c.Variant, known = key, v.String(), true
		if err := st.savePart(name, c); err != nil {
			return false, err
		}
	}
	if known {
		st.cells[name] = c
		st.work.addDone(st.estimateWork(s, v))
	}
	return known, nil
}

// cellsAtOnce is the number of entries that are fitted on shared passes and then stored. An interruption
// loses at most these. It was chosen by hand.
const cellsAtOnce = 4

// cellKey returns the digest of everything that determines a cell. n is the number of training rows.
func (st *study) cellKey(digest string, n int, v variant, e entry, problems []method.Problem) (string, error) {
	if v.Solver == solverCertified && !certifiedless(e) {
		return partKey(st.prints[solverCertified], "cell", digest, v, e.Key(), gridKey(problems), min(n, certifiedRows))
	}
	return partKey(st.prints[solverAdam], "cell", digest, v, e.Key(), gridKey(problems))
}

// gridKey returns the settings of an entry, for the key.
func gridKey(problems []method.Problem) [][3]float64 {
	var list [][3]float64
	for _, p := range problems {
		h := p
		list = append(list, [3]float64{h.Lambda, h.Beta, float64(h.K)})
	}
	return list
}

// fitCells makes some cells and stores them.
func (st *study) fitCells(ctx context.Context, d *loader, parts *Parts, digest string, v variant, list []entry,
	keys map[string]string) error {
	units := st.estimateWork(d.set, v) * float64(len(list))
	w := workshop{parts: parts, minibatches: d.set.Minibatches,
		zero:     func(p method.Problem) (*ZeroAnswer, error) { return st.zeroAnswer(ctx, d, digest, p) },
		progress: func(fraction float64) { st.work.showDuring(fraction*units, st.describeVariant(d.set, v)) }}
	cells, err := w.makeCells(ctx, v, list)
	if err != nil {
		return err
	}
	for i, e := range list {
		c := cells[i]
		c.Key, c.Set = keys[e.Key()], d.set.Key
		name := cellName(d.set, v, e)
		st.cells[name] = c
		if err := st.savePart(name, c); err != nil {
			return err
		}
	}
	st.work.addDone(units)
	return nil
}

// certifiedless reports whether an entry has no certificate, as the Grill methods.
func certifiedless(e entry) bool { return !e.Method.Convex }

// zeroAnswer loads or decides whether w = 0 is optimal for a problem's rule on a split. The answer does not
// depend on lambda, beta or the scale of the columns: it is the same under every invertible linear map of the
// features.
func (st *study) zeroAnswer(ctx context.Context, d *loader, digest string, p method.Problem) (*ZeroAnswer, error) {
	name := zeroName(d.set, p)
	if d.division.seed != first {
		name += fmt.Sprintf("-%d", d.division.seed)
	}
	h := p
	k, err := partKey(st.prints[solverCertified], "zero", digest, d.division.seed, p.Definition().Name, h.Tau.String(), h.K)
	if err != nil {
		return nil, err
	}
	if a := st.zeros[name]; a != nil {
		return a, nil
	}
	a := new(ZeroAnswer)
	found, err := st.store.load(name, k, a)
	if err != nil {
		return nil, err
	}
	if !found {
		parts, err := d.get()
		if err != nil {
			return nil, err
		}
		if a, err = isZeroOptimal(ctx, parts.Training, p); err != nil {
			return nil, err
		}
		a.Key = k
		if err := st.savePart(name, a); err != nil {
			return nil, err
		}
	}
	if d.division.seed == first { // the tables are about this split, and a run that finds its cells asks for no other
		st.zeros[name] = a
	}
	return a, nil
}

// zeroAnswers answers the question for all rules on the first split.
func (st *study) zeroAnswers(ctx context.Context, d *loader, digest string) error {
	st.work.showText("is w = 0 optimal on " + d.set.Name)
	for _, e := range entries() {
		if certifiedless(e) {
			continue
		}
		problems, err := e.problems()
		if err != nil {
			return err
		}
		for _, p := range problems {
			if _, err := st.zeroAnswer(ctx, d, digest, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// estimateWork returns the estimated work of a cell, roughly in seconds on an idle machine, from the sizes in
// Table "counts". The constants were chosen by hand and only affect the progress line.
func (st *study) estimateWork(s *Set, v variant) float64 {
	rows, columns := 4000.0, 50.0
	if p := s.printedCounts(); p != nil {
		rows, columns = float64(p.Parts[0].Rows), float64(p.Columns)
	}
	if st.o.Quick && s.Kind == StandIn {
		rows /= 50
	}
	if v.Solver == solverCertified {
		return 0.1 + float64(min(rows, certifiedRows)*columns*1e-6)
	}
	step := float64(rows/float64(s.Minibatches)*columns*2e-9) + 5e-6
	return float64(6000*step) + float64(rows*columns*1e-7)
}

// describeVariant returns a set with a variant in words.
func (st *study) describeVariant(s *Set, v variant) string {
	text := s.Name + ", " + v.Solver
	if v.Start == optim.Random {
		text += " from a random start"
	}
	if v.Scaled {
		text += ", columns scaled"
	}
	if v.Step != 0 {
		text += ", step " + number(v.Step)
	}
	if v.Change != "" {
		text += ", " + v.Change.words()
	}
	if s.Seeds && st.o.Seeds > 1 {
		text += fmt.Sprintf(", split %d of %d", v.Seed, st.o.Seeds)
	}
	return text
}

// workMeter reports finished work as progress.
type workMeter struct {
	mu          sync.Mutex
	total, done float64
	report      func(fraction float64, text string)
	text        string
}

// addDone adds finished work.
func (w *workMeter) addDone(units float64) {
	w.mu.Lock()
	w.done += units
	w.mu.Unlock()
	w.showDuring(0, w.text)
}

// showText shows the current task.
func (w *workMeter) showText(text string) { w.showDuring(0, text) }

// showDuring reports the finished work plus some units of the current task.
func (w *workMeter) showDuring(units float64, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = text
	if w.report != nil && w.total > 0 {
		w.report(min(1, (w.done+units)/w.total), text)
	}
}

// findCell returns a finished cell, and nil if there is none.
func (st *study) findCell(s *Set, v variant, e entry) *Cell { return st.cells[cellName(s, v, e)] }
