package matrix

import "toptau/internal/core/kernel"

// RowFunc is the callback of a pass: it receives the scores z of the rows first, first+1, ... of one panel, writes their
// coefficients to v, which arrives as zeros and is as long as z, and reports whether any is not zero. v must be all zeros
// when it returns false.
//
// Calls for different panels may run at the same time, in any order. Results that depend on several panels must therefore be
// stored by panel (first/kernel.PanelRows) and combined in a fixed order afterwards. z and v belong to the pass.
type RowFunc func(first int, z, v []float64) bool

// Pass reads the rows once: it computes the scores of a panel, calls f, then adds X'v to g while the panel is in cache.
// Panels for which f returns false skip the last step. Scores and sums have the bits of Scores and AddGradient.
func (p *ClassRows) Pass(w []float64, f RowFunc, g []float64) {
	c := p.borrow()
	c.both = bothJob{w[:p.cols], f}
	c.run(&c.both, 2*p.Cost(), g[:p.cols], 1)
	c.both = bothJob{}
	c.giveBack()
}

// bothJob is one call of Pass.
type bothJob struct {
	w []float64
	f RowFunc
}

// compute reads groups of panels while few rows are active, and single panels where most are.
func (j *bothJob) compute(k *worker, stripe int) bool {
	first, end := k.rows.stripes().Of(stripe)
	any := false
	for first < end {
		var active bool
		if k.busy {
			first, active = j.overlapPanels(k, first, end)
		} else {
			first, active = j.group(k, first, min(first+k.callback, end))
		}
		any = any || active
	}
	return any
}

func (j *bothJob) addTo(k *worker, _ int, g []float64) { k.finishSums(g) }

// group handles the panels from first up to end, which stay in cache until their gradient.
func (j *bothJob) group(k *worker, first, end int) (next int, any bool) {
	z := k.z[:(end-first)*kernel.PanelRows]
	v := k.v[:len(z)]
	k.scorePanels(first, end, j.w, z)
	busy := 0
	for panel := first; panel < end; panel++ {
		at := (panel - first) * kernel.PanelRows
		active := j.call(k, panel, z[at:], v[at:])
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

// addActive adds the active panels, neighbours in one call, and clears their coefficients. first is the number of the first
// panel.
func (k *worker) addActive(first int, active []bool, v []float64) {
	for i := 0; i < len(active); i++ {
		from := i
		for i < len(active) && active[i] {
			i++
		}
		if run := v[from*kernel.PanelRows : i*kernel.PanelRows]; len(run) > 0 {
			k.addPanels(first+from, first+i, run)
			clear(run)
		}
	}
}

// overlapPanels scores each panel while it adds the one before, until a panel has few active rows.
func (j *bothJob) overlapPanels(k *worker, first, end int) (next int, any bool) {
	z, v := k.z[:kernel.PanelRows], k.v[:kernel.PanelRows]
	last := -1 // the panel with the coefficients v
	for next = first; next < end && k.busy; next++ {
		k.scoreAndAdd(next, j.w, z, last, v)
		clear(v)
		last = -1
		if j.call(k, next, z, v) {
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

// call passes one panel's scores to the callback.
func (j *bothJob) call(k *worker, panel int, z, v []float64) bool {
	from, to := k.rows.PanelRows(panel)
	return j.f(from, z[:to-from], v[:to-from])
}

// scoreAndAdd computes the scores of a panel and adds the panel last, or none when it is -1, with the coefficients v.
func (k *worker) scoreAndAdd(panel int, w, z []float64, last int, v []float64) {
	for b, s := range k.sums {
		if o, ok := s.(overlapSums); ok && last >= 0 {
			o.overlap(panel, k.rows.blockCols(b, w), z, b > 0, last, v)
			continue
		}
		scoreBlock(k.rows.blocks[b], panel, panel+1, k.rows.blockCols(b, w), z, b > 0)
		if last >= 0 {
			s.AddPanel(last, v, countNonZero(v))
		}
	}
}
