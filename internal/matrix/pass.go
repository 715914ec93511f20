package matrix

import (
	"slices"

	"toptau/internal/kernel"
)

// Scores writes the score of every row to z: z[i] = x_i'w. w must have Cols elements and z Rows.
func (p *Part) Scores(w, z []float64) {
	p.run(job{kind: scoring, w: w[:p.cols], z: z[:p.rows]}, p.cost())
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

// Visit is what a pass does with the scores z of the rows first, first+1, ... of one panel. It writes the coefficients
// of these rows to v, which arrives as zeros and is as long as z, and reports whether any is not zero.
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
	adding
	passing
)

// job is one call of Scores, AddGradient or Pass.
type job struct {
	kind    jobKind
	w, z, g []float64
	rows    []int32
	v       []float64
	visit   Visit
}

// do runs the job on one stripe and reports whether the worker's sums were added to.
func (k *worker) do(j *job, stripe int) bool {
	switch j.kind {
	case scoring:
		k.scoreStripe(j, stripe)
		return false
	case adding:
		return k.addStripe(j, stripe)
	default:
		return k.passStripe(j, stripe)
	}
}

// scorePanel computes the scores of one panel.
func (k *worker) scorePanel(panel int, w []float64) {
	clear(k.z[:])
	for b, block := range k.part.blocks {
		block.scores(panel, k.part.blockCols(b, w), k.z[:])
	}
}

// addPanel adds one panel with the coefficients k.v.
func (k *worker) addPanel(panel, active int) {
	for _, s := range k.sums {
		s.add(panel, k.v[:], active)
	}
}

func (k *worker) scoreStripe(j *job, stripe int) {
	first, end := k.part.stripe(stripe)
	for panel := first; panel < end; panel++ {
		k.scorePanel(panel, j.w)
		from, to := k.part.panelRows(panel)
		copy(j.z[from:to], k.z[:])
	}
}

func (k *worker) addStripe(j *job, stripe int) bool {
	first, end := k.part.stripe(stripe)
	at, _ := slices.BinarySearch(j.rows, int32(first*kernel.PanelRows))
	limit := int32(min(end*kernel.PanelRows, k.part.rows)) // rows fit in int32: Builder sees to it
	any := false
	for at < len(j.rows) && j.rows[at] < limit {
		panel := int(j.rows[at]) / kernel.PanelRows
		clear(k.v[:])
		active := 0
		for ; at < len(j.rows) && int(j.rows[at])/kernel.PanelRows == panel; at++ {
			if j.v[at] != 0 {
				k.v[int(j.rows[at])%kernel.PanelRows] = j.v[at]
				active++
			}
		}
		if active > 0 {
			k.addPanel(panel, active)
			any = true
		}
	}
	return any
}

func (k *worker) passStripe(j *job, stripe int) bool {
	first, end := k.part.stripe(stripe)
	any := false
	for panel := first; panel < end; panel++ {
		k.scorePanel(panel, j.w)
		from, to := k.part.panelRows(panel)
		clear(k.v[:])
		if !j.visit(from, k.z[:to-from], k.v[:to-from]) {
			continue
		}
		if active := nonZero(k.v[:]); active > 0 {
			k.addPanel(panel, active)
			any = true
		}
	}
	return any
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
