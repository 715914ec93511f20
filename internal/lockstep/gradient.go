package lockstep

import (
	"math"
	"slices"

	"toptau/internal/kernel"
	"toptau/internal/matrix"
)

// gradientsJob is one call of AddGradients.
type gradientsJob struct{ coefficients []Coefficients }

// compute accumulates the float32 panels of a stripe, some panels at a time, and reports whether the stripe has any
// coefficient. addTo handles the other blocks.
func (j *gradientsJob) compute(k *worker, stripe int) bool {
	p := k.passes
	_, end := p.stripe(stripe)
	k.seek(j.coefficients, stripe)
	k.growLanes()
	step := max(kernel.Streams, k.groupPanels())
	any := false
	for first := k.nextPanel(j.coefficients, end); first < end; first = k.nextPanel(j.coefficients, end) {
		any = true
		if p.panelCols == 0 {
			break
		}
		to, spread := min(first+step, end), false
		for h := 0; h < p.models; {
			width := kernel.TileModels
			if p.models-h < width {
				width = 1
			}
			if !k.addFewRows(j.coefficients, h, width, first, to) {
				if !spread {
					k.z = resize(k.z, (to-first)*p.models*kernel.PanelRows)
					clear(k.z)
					spread = true
				}
				k.spreadCoefficients(j.coefficients, h, width, first, to)
			}
			h += width
		}
		if spread {
			k.accumulate(first, to, kernel.AccumulateTileFromMemory)
		}
	}
	return any
}

func (j *gradientsJob) addTo(k *worker, stripe int, g []float64) {
	k.addPanelSums(g)
	for b, block := range k.passes.blocks {
		if block.Panels != nil {
			continue
		}
		if c := block.Combinations(); c != nil {
			_, end := k.passes.stripe(stripe)
			k.seek(j.coefficients, stripe)
			s := &k.combinations[b]
			for h := range j.coefficients {
				s.addRows(c, &j.coefficients[h], k.next[h], end*kernel.PanelRows, h, k.passes.models)
			}
			s.addTo(c, g[block.First*k.passes.models:], k.passes.models)
		} else {
			k.addExactSums(j.coefficients, stripe, b, g)
		}
	}
}

// seek moves every model to its first coefficient in the stripe.
func (k *worker) seek(c []Coefficients, stripe int) {
	first, _ := k.passes.stripe(stripe)
	k.next = resize(k.next, k.passes.models)
	for h := range c {
		k.next[h], _ = slices.BinarySearch(c[h].Rows, int32(first*kernel.PanelRows))
	}
}

// nextPanel returns the first panel in which a model has a coefficient, or end when there is none before it.
func (k *worker) nextPanel(c []Coefficients, end int) int {
	row := int32(math.MaxInt32)
	for h := range c {
		if k.next[h] < len(c[h].Rows) {
			row = min(row, c[h].Rows[k.next[h]])
		}
	}
	return min(end, int(row)/kernel.PanelRows)
}

// fewCoefficients is the number of coefficients per panel and model up to which rows are added one by one. Four models, which
// the kernel adds together, need twice as many. Chosen by hand: one row costs about as much as a panel for one model of four.
const fewCoefficients = 1

// addFewRows adds the panels from first up to end for width models from h on, if they have few coefficients.
func (k *worker) addFewRows(c []Coefficients, h, width, first, end int) bool {
	few := fewCoefficients * (end - first)
	if width > 1 {
		few *= 2
	}
	limit := end * kernel.PanelRows
	for i := h; i < h+width; i++ {
		rows, at := c[i].Rows, k.next[i]
		if at+few < len(rows) && int(rows[at+few]) < limit {
			return false
		}
		for ; at < len(rows) && int(rows[at]) < limit; at++ {
			few--
		}
		if few < 0 {
			return false
		}
	}
	for ; width > 0; width-- {
		for ; k.next[h] < len(c[h].Rows) && int(c[h].Rows[k.next[h]]) < limit; k.next[h]++ {
			k.addRow(int(c[h].Rows[k.next[h]]), c[h].V[k.next[h]], h)
		}
		h++
	}
	return true
}

// addRow adds v times a row to the lanes of model h.
func (k *worker) addRow(row int, v float32, h int) {
	panel := row / kernel.PanelRows
	for b, block := range k.passes.blocks {
		if block.Panels == nil {
			continue
		}
		x, _ := block.Panels.Span(panel, panel+1)
		kernel.AccumulateTileRow(x, row%kernel.PanelRows, v, k.passes.models, h, k.blockLanes(b))
	}
}

// growLanes makes space for the sums of the float32 panels.
func (k *worker) growLanes() {
	if n := k.passes.panelCols * k.passes.models * kernel.TileLanes; len(k.lanes) < n {
		k.lanes = make([]float32, n)
	}
}

// blockLanes returns the lanes of block b, which has float32 panels.
func (k *worker) blockLanes(b int) []float32 {
	size := k.passes.models * kernel.TileLanes
	return k.lanes[k.passes.panelCol[b]*size:][:k.passes.blocks[b].Cols*size]
}

// spreadCoefficients writes the coefficients of width models in the panels from first up to end to z.
func (k *worker) spreadCoefficients(c []Coefficients, h, width, first, end int) {
	for ; width > 0; width-- {
		rows, at, v := c[h].Rows, k.next[h], k.z[h*kernel.PanelRows:]
		for ; at < len(rows) && int(rows[at]) < end*kernel.PanelRows; at++ {
			row := int(rows[at]) - first*kernel.PanelRows
			v[row/kernel.PanelRows*k.passes.models*kernel.PanelRows+row%kernel.PanelRows] = c[h].V[at]
		}
		k.next[h] = at
		h++
	}
}

// tileGradient is kernel.AccumulateTile for panels in cache, kernel.AccumulateTileFromMemory for others.
type tileGradient func(x, v []float32, models int, lanes []float32)

// accumulate adds the float32 panels from first up to end with the coefficients in z.
func (k *worker) accumulate(first, end int, add tileGradient) {
	models := k.passes.models
	for b, block := range k.passes.blocks {
		if block.Panels == nil {
			continue
		}
		for panel := first; panel < end; {
			x, n := block.Panels.Span(panel, end)
			v := k.z[(panel-first)*models*kernel.PanelRows:][:n*models*kernel.PanelRows]
			add(x, v, models, k.blockLanes(b))
			panel += n
		}
	}
}

// addPanelSums adds the sums of the float32 panels to g and clears them.
func (k *worker) addPanelSums(g []float64) {
	for b, block := range k.passes.blocks {
		if block.Panels != nil {
			first := block.First * k.passes.models
			kernel.ReduceTile(k.blockLanes(b), g[first:first+block.Cols*k.passes.models])
		}
	}
}

// addExactSums adds the sums of block b in the exact arithmetic, model after model.
func (k *worker) addExactSums(c []Coefficients, stripe, b int, g []float64) {
	block, models := k.passes.blocks[b], k.passes.models
	_, end := k.passes.stripe(stripe)
	k.v = resize(k.v, kernel.PanelRows)
	k.g = resize(k.g, block.Cols)
	k.seek(c, stripe)
	for h := range c {
		if !k.sumExact(&c[h], k.next[h], end*kernel.PanelRows, k.sums[b]) {
			continue
		}
		if models == 1 {
			k.sums[b].Finish(g[block.First : block.First+block.Cols])
			continue
		}
		clear(k.g)
		k.sums[b].Finish(k.g)
		for i, x := range k.g {
			g[(block.First+i)*models+h] += x
		}
	}
}

// sumExact adds a model's coefficients in the rows below end, from element at on, and reports whether there are any.
func (k *worker) sumExact(c *Coefficients, at, end int, sums matrix.Sums) (any bool) {
	for at < len(c.Rows) && int(c.Rows[at]) < end {
		panel := int(c.Rows[at]) / kernel.PanelRows
		clear(k.v)
		active := 0
		for ; at < len(c.Rows) && int(c.Rows[at])/kernel.PanelRows == panel; at++ {
			k.v[int(c.Rows[at])%kernel.PanelRows] = float64(c.V[at])
			active++
		}
		sums.AddPanel(panel, k.v, active)
		any = true
	}
	return any
}
