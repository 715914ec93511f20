package lockstep

import (
	"math"
	"slices"

	"toptau/internal/core/kernel"
	"toptau/internal/core/matrix"
)

// gradientsJob is one call of AddGradients.
type gradientsJob struct{ coefficients []Coefficients }

// compute accumulates the float32 panels of a stripe, some panels at a time, and reports whether the stripe has any
// coefficient. addTo handles the other blocks.
func (j *gradientsJob) compute(k *worker, stripe int) bool {
	p := k.passes
	_, end := p.stripes().Of(stripe)
	k.seek(j.coefficients, stripe)
	k.panels.grow()
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
			k.panels.accumulate(first, to, k.z, kernel.AccumulateTileFromMemory)
		}
	}
	return any
}

func (j *gradientsJob) addTo(k *worker, stripe int, g []float64) {
	k.panels.addTo(g)
	for b, block := range k.passes.blocks {
		if block.Panels != nil {
			continue
		}
		if c := block.Combinations(); c != nil {
			_, end := k.passes.stripes().Of(stripe)
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
	first, _ := k.passes.stripes().Of(stripe)
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
			k.panels.addRow(int(c[h].Rows[k.next[h]]), c[h].V[k.next[h]], h)
		}
		h++
	}
	return true
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

// addExactSums adds the sums of block b in the exact arithmetic, model after model.
func (k *worker) addExactSums(c []Coefficients, stripe, b int, g []float64) {
	block, models := k.passes.blocks[b], k.passes.models
	_, end := k.passes.stripes().Of(stripe)
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
