package matrix

import (
	"slices"
	"sort"

	"toptau/internal/core/kernel"
)

// AddGradient adds to g the sum over k of v[k] times row rows[k]. Rows ascend; g has Cols elements. Rows with v = 0 are not
// read.
func (p *ClassRows) AddGradient(rows []int32, v, g []float64) {
	if len(rows) == 0 {
		return
	}
	c := p.borrow()
	c.gradient = gradientJob{rows, v[:len(rows)]}
	c.run(&c.gradient, p.Cost()*float64(len(rows))/float64(p.rows), g[:p.cols], 1)
	c.gradient = gradientJob{}
	c.giveBack()
}

// Sum is a weighted sum of rows, with the arguments of AddGradient.
type Sum struct {
	Rows []int32
	V, G []float64
}

// AddGradients is AddGradient for several sums in one pass, with its bits: each stripe is read for all of them in turn.
func (p *ClassRows) AddGradients(sums []Sum) {
	c := p.borrow()
	defer c.giveBack()
	jobs, rows := c.manyGradient[:0], 0
	for _, s := range sums {
		if len(s.Rows) > 0 {
			jobs = append(jobs, gradientJob{s.Rows, s.V[:len(s.Rows)]})
			rows += len(s.Rows)
		}
	}
	if c.manyGradient = jobs; len(jobs) == 0 {
		return
	}
	g := make([]float64, 0, len(jobs)*p.cols) // one gradient after the other
	for _, s := range sums {
		if len(s.Rows) > 0 {
			g = append(g, s.G[:p.cols]...)
		}
	}
	c.run(&c.manyGradient, p.Cost()*float64(rows)/float64(p.rows), g, len(jobs))
	clear(jobs)
	for _, s := range sums {
		if len(s.Rows) > 0 {
			copy(s.G[:p.cols], g)
			g = g[p.cols:]
		}
	}
}

// gradientJob is one call of AddGradient.
type gradientJob struct {
	rows []int32
	v    []float64
}

// compute adds neighbouring panels with active rows in one call.
func (j *gradientJob) compute(k *worker, stripe int) bool {
	first, end := k.rows.stripes().Of(stripe)
	at, _ := slices.BinarySearch(j.rows, int32(first*kernel.PanelRows))
	limit, _ := slices.BinarySearch(j.rows, int32(min(end*kernel.PanelRows, k.rows.rows))) // rows fit in int32: see Builder
	any := false
	for at < limit {
		if n := wholePanels(j.rows[at:limit]); n > 0 {
			from := int(j.rows[at]) / kernel.PanelRows
			k.addPanels(from, from+n, j.v[at:at+n*kernel.PanelRows])
			at, any = at+n*kernel.PanelRows, true
			continue
		}
		from := int(j.rows[at]) / kernel.PanelRows
		to := from // the panel after the last one with a row
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

func (j *gradientJob) addTo(k *worker, _ int, g []float64) { k.finishSums(g) }

// wholePanels returns the number of panels that the first rows fill without a gap.
func wholePanels(rows []int32) int {
	if rows[0]%kernel.PanelRows != 0 {
		return 0
	}
	return sort.Search(len(rows)/kernel.PanelRows, func(n int) bool {
		last := (n+1)*kernel.PanelRows - 1
		return int(rows[last]-rows[0]) != last
	})
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
			if active := countNonZero(vp); active > 0 {
				s.AddPanel(panel, vp, active)
			}
		}
	}
}

func countNonZero(v []float64) int {
	n := 0
	for _, x := range v {
		if x != 0 {
			n++
		}
	}
	return n
}

// manyGradientsJob is one call of AddGradients.
type manyGradientsJob []gradientJob

// compute leaves the work to addTo: a worker's sums hold one gradient at a time.
func (j *manyGradientsJob) compute(*worker, int) bool { return true }

func (j *manyGradientsJob) addTo(k *worker, stripe int, g []float64) {
	for h := range *j {
		if (*j)[h].compute(k, stripe) {
			k.finishSums(g[h*k.rows.cols:])
		}
	}
}
