package matrix

import (
	"slices"
	"sort"

	"toptau/internal/kernel"
)

// Scores writes the score of every row to z: z[i] = x_i'w. w must have Cols elements and z Rows.
func (p *Part) Scores(w, z []float64) {
	if allZero(w[:p.cols]) { // where every solver begins
		clear(z[:p.rows])
		return
	}
	p.run(job{kind: scoring, w: w[:p.cols], z: z[:p.rows]}, p.cost())
}

// ScoresOf is Scores for several weight vectors in one reading: z[h] gets the scores of w[h], with the bits of Scores. A few
// panels at a time are scored for all of them while they are in cache.
func (p *Part) ScoresOf(w, z [][]float64) {
	var j job
	for h, wh := range w {
		if allZero(wh[:p.cols]) {
			clear(z[h][:p.rows])
			continue
		}
		j.each = append(j.each, job{kind: scoring, w: wh[:p.cols], z: z[h]})
	}
	switch len(j.each) {
	case 0:
	case 1:
		p.run(j.each[0], p.cost())
	default:
		j.kind = scoringEach
		p.run(j, p.cost()*float64(len(j.each)))
	}
}

func allZero(w []float64) bool {
	for _, x := range w {
		if x != 0 {
			return false
		}
	}
	return true
}

// AddGradient adds to g the sum over k of v[k] times row rows[k]; rows ascend, g has Cols elements. Rows with v = 0 are
// not read.
func (p *Part) AddGradient(rows []int32, v, g []float64) {
	if len(rows) == 0 {
		return
	}
	cost := p.cost() * float64(len(rows)) / float64(p.rows)
	p.run(job{kind: adding, rows: rows, v: v[:len(rows)], g: g[:p.cols]}, cost)
}

// Sum is a weighted sum of rows: it adds to G what AddGradient would, for the same arguments.
type Sum struct {
	Rows []int32
	V, G []float64
}

// AddGradients is AddGradient for several sums in one reading, with its bits: each stripe is read for all of them in turn.
func (p *Part) AddGradients(sums []Sum) {
	j := job{kind: addingEach}
	rows := 0
	for _, s := range sums {
		if len(s.Rows) > 0 {
			j.each = append(j.each, job{rows: s.Rows, v: s.V[:len(s.Rows)], g: s.G[:p.cols]})
			rows += len(s.Rows)
		}
	}
	if len(j.each) == 0 {
		return
	}
	j.models = len(j.each)
	j.g = make([]float64, 0, j.models*p.cols)
	for _, each := range j.each {
		j.g = append(j.g, each.g...)
	}
	p.run(j, p.cost()*float64(rows)/float64(p.rows))
	for h, each := range j.each {
		copy(each.g, j.g[h*p.cols:])
	}
}

// Visit is what a pass does with the scores z of the rows first, first+1, ... of one panel. It writes the coefficients
// of these rows to v, which arrives as zeros and is as long as z, and reports whether any is not zero: v must be all zeros
// when it says no.
//
// Visits of different panels may run at the same time, in any order. What a visit gathers over panels must therefore be
// kept by panel (first/kernel.PanelRows) and joined in a fixed order afterwards. z and v belong to the pass.
type Visit func(first int, z, v []float64) bool

// Pass reads the rows once: scores of a panel, then visit, then g += X'v while the panel is in cache. Panels whose visit
// reports false skip the last step. Scores and sums have the bits of Scores and AddGradient.
func (p *Part) Pass(w []float64, visit func(first int, z, v []float64) bool, g []float64) {
	p.run(job{kind: passing, w: w[:p.cols], visit: visit, g: g[:p.cols]}, 2*p.cost())
}

// cost is the bytes that a pass reads, or as many as would take the same time.
func (p *Part) cost() float64 {
	row := 0.0
	for _, b := range p.blocks {
		row += b.rowCost()
	}
	return float64(row * float64(p.rows))
}

type jobKind int

const (
	scoring jobKind = iota
	scoringEach
	adding
	addingEach
	passing
	fastScoring
	fastAdding
	fastPassing
)

// job is one call of Scores, ScoresOf, AddGradient, AddGradients, Pass, FastScores, AddFastGradients or FastPass.
type job struct {
	kind    jobKind
	w, z, g []float64
	rows    []int32
	v       []float64
	visit   Visit
	each    []job // of ScoresOf and AddGradients: one a vector

	models       int // of a fast pass; gradients of AddGradients, which stand one behind the other in g
	readings     []Reading
	tile         []float32   // weights of the tile
	tables       [][]float32 // by block: nil where it has no combinations
	coefficients []Coefficients
}

// do runs the job on one stripe and reports whether the worker's sums were added to.
func (k *worker) do(j *job, stripe int) bool {
	switch j.kind {
	case scoring:
		k.scoreStripe(j, stripe)
		return false
	case scoringEach:
		k.scoreStripeForEach(j, stripe)
		return false
	case adding:
		return k.addStripe(j, stripe)
	case addingEach:
		return true // finish adds: the worker's sums hold one gradient at a time
	case fastScoring:
		k.fastScoreStripe(j, stripe)
		return false
	case fastAdding:
		return k.fastAddStripe(j, stripe)
	case fastPassing:
		return k.fastPassStripe(j, stripe)
	default:
		return k.passStripe(j, stripe)
	}
}

// scorePanels computes the scores of the panels from first up to end.
func (k *worker) scorePanels(first, end int, w, z []float64) {
	for b := range k.part.blocks {
		k.part.scoreBlock(b, first, end, w, z, b > 0)
	}
}

// scoreBlock computes the part of block b in the scores of the panels from first up to end: it is added to z, or replaces
// z.
func (p *Part) scoreBlock(b, first, end int, w, z []float64, add bool) {
	block, wb := p.blocks[b], p.blockCols(b, w)
	if span, ok := block.(spanBlock); ok {
		span.scoreSpan(first, end, wb, z, add)
		return
	}
	if !add {
		clear(z)
	}
	for panel := first; panel < end; panel++ {
		block.scores(panel, wb, z[(panel-first)*kernel.PanelRows:][:kernel.PanelRows])
	}
}

// addPanels adds the panels from first up to end with the coefficients v.
func (k *worker) addPanels(first, end int, v []float64) {
	for _, s := range k.sums {
		if span, ok := s.(spanSums); ok {
			span.addSpan(first, end, v)
			continue
		}
		for panel := first; panel < end; panel++ {
			vp := v[(panel-first)*kernel.PanelRows:][:kernel.PanelRows]
			if active := nonZero(vp); active > 0 {
				s.add(panel, vp, active)
			}
		}
	}
}

func (k *worker) scoreStripe(j *job, stripe int) {
	first, end := k.part.stripe(stripe)
	k.scoreGroup(j, first, end)
}

// scoreStripeForEach takes as many panels at a time as stay in cache from one weight vector to the next.
func (k *worker) scoreStripeForEach(j *job, stripe int) {
	first, end := k.part.stripe(stripe)
	for ; first < end; first += k.group {
		for h := range j.each {
			k.scoreGroup(&j.each[h], first, min(first+k.group, end))
		}
	}
}

// scoreGroup writes to z directly, but for the panel that has fewer rows.
func (k *worker) scoreGroup(j *job, first, end int) {
	whole := min(end, k.part.rows/kernel.PanelRows)
	k.scorePanels(first, whole, j.w, j.z[first*kernel.PanelRows:whole*kernel.PanelRows])
	if whole < end {
		k.scorePanels(whole, end, j.w, k.z[:kernel.PanelRows])
		copy(j.z[whole*kernel.PanelRows:], k.z)
	}
}

// addStripe takes neighbouring panels with active rows together.
func (k *worker) addStripe(j *job, stripe int) bool {
	first, end := k.part.stripe(stripe)
	at, _ := slices.BinarySearch(j.rows, int32(first*kernel.PanelRows))
	limit, _ := slices.BinarySearch(j.rows, int32(min(end*kernel.PanelRows, k.part.rows))) // rows fit in int32: see Builder
	any := false
	for at < limit {
		if n := wholePanels(j.rows[at:limit]); n > 0 {
			from := int(j.rows[at]) / kernel.PanelRows
			k.addPanels(from, from+n, j.v[at:at+n*kernel.PanelRows])
			at, any = at+n*kernel.PanelRows, true
			continue
		}
		from := int(j.rows[at]) / kernel.PanelRows
		to := from // the panel behind the last one with a row
		for ; at < limit; at++ {
			panel := int(j.rows[at]) / kernel.PanelRows
			if panel > to || panel-from >= k.group {
				break
			}
			to = panel + 1
			k.v[int(j.rows[at])-from*kernel.PanelRows] = j.v[at]
		}
		v := k.v[:(to-from)*kernel.PanelRows]
		k.addPanels(from, to, v)
		clear(v)
		any = true
	}
	return any
}

// wholePanels is the number of panels that the first rows fill without a gap.
func wholePanels(rows []int32) int {
	if rows[0]%kernel.PanelRows != 0 {
		return 0
	}
	return sort.Search(len(rows)/kernel.PanelRows, func(n int) bool {
		last := (n+1)*kernel.PanelRows - 1
		return int(rows[last]-rows[0]) != last
	})
}

// passStripe reads groups of panels as long as few rows are active, and panel after panel where most are.
func (k *worker) passStripe(j *job, stripe int) bool {
	first, end := k.part.stripe(stripe)
	any := false
	for first < end {
		var visited bool
		if k.busy {
			first, visited = k.passOverlapped(j, first, end)
		} else {
			first, visited = k.passGroup(j, first, min(first+k.visits, end))
		}
		any = any || visited
	}
	return any
}

// passGroup reads as many panels at a time as stay in cache until their gradient.
func (k *worker) passGroup(j *job, first, end int) (next int, any bool) {
	z := k.z[:(end-first)*kernel.PanelRows]
	v := k.v[:len(z)]
	k.scorePanels(first, end, j.w, z)
	busy := 0
	for panel := first; panel < end; panel++ {
		at := (panel - first) * kernel.PanelRows
		active := k.visit(j, panel, z[at:], v[at:])
		k.active[panel-first] = active
		if active && kernel.ManyRows(v[at:]) {
			busy++
		}
		any = any || active
	}
	k.busy = 2*busy > end-first
	if any {
		k.addActive(first, k.active[:end-first], v)
	}
	return end, any
}

// addActive adds the active ones of the panels from first on, as many side by side as there are, and clears their
// coefficients v.
func (k *worker) addActive(first int, active []bool, v []float64) {
	for i := 0; i < len(active); i++ {
		from := i
		for i < len(active) && active[i] {
			i++
		}
		if own := v[from*kernel.PanelRows : i*kernel.PanelRows]; len(own) > 0 {
			k.addPanels(first+from, first+i, own)
			clear(own)
		}
	}
}

// passOverlapped scores each panel while it adds the one before, until one has few active rows.
func (k *worker) passOverlapped(j *job, first, end int) (next int, any bool) {
	z, v := k.z[:kernel.PanelRows], k.v[:kernel.PanelRows]
	last := -1 // the panel whose coefficients are v
	for next = first; next < end && k.busy; next++ {
		k.scoreBeside(next, j.w, z, last, v)
		clear(v)
		last = -1
		if k.visit(j, next, z, v) {
			last, any = next, true
		}
		k.busy = last >= 0 && kernel.ManyRows(v)
	}
	if last >= 0 {
		k.addPanels(last, last+1, v)
		clear(v)
	}
	return next, any
}

// visit hands one panel's scores to the visitor.
func (k *worker) visit(j *job, panel int, z, v []float64) bool {
	from, to := k.part.panelRows(panel)
	return j.visit(from, z[:to-from], v[:to-from])
}

// scoreBeside computes the scores of a panel and adds the panel last, -1 for none, with the coefficients v.
func (k *worker) scoreBeside(panel int, w, z []float64, last int, v []float64) {
	for b, s := range k.sums {
		if o, ok := s.(overlapSums); ok && last >= 0 {
			o.overlap(panel, k.part.blockCols(b, w), z, b > 0, last, v)
			continue
		}
		k.part.scoreBlock(b, panel, panel+1, w, z, b > 0)
		if last >= 0 {
			s.add(last, v, nonZero(v))
		}
	}
}

func nonZero(v []float64) int {
	n := 0
	for _, x := range v {
		if x != 0 {
			n++
		}
	}
	return n
}
