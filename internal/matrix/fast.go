package matrix

import (
	"math"
	"slices"

	"toptau/internal/kernel"
)

// Reading is one model of a fast pass, and what becomes of its scores. A fast score is float32: the tile of package kernel
// on the blocks of float32 panels, with the weights rounded to float32, block after block; then the exact score of each
// other block, rounded to float32, is added. It does not depend on the other models.
type Reading struct {
	W     []float64 // Cols weights
	Keep  []float32 // unless nil: gets the score of every row, Rows elements
	Found *Found    // unless nil: gets the scores above Floor
	Floor float32

	Response *Response // of a FastPass
}

// Coefficients is a sparse vector over the rows of a part, rows ascending.
type Coefficients struct {
	Rows []int32
	V    []float32
}

// Fast reports whether fast passes are meant for the matrix: values of 8 bytes are kept for exact results.
func (m *Matrix) Fast() bool {
	for _, b := range m.Positives.blocks {
		switch b.(type) {
		case *dense[float64], *sparse[float64]:
			return false
		}
	}
	return true
}

// FastScores reads the rows once for several models. Scores are used while they are in cache.
func (p *Part) FastScores(readings []Reading) {
	if len(readings) == 0 {
		return
	}
	p.open(readings)
	p.run(job{kind: fastScoring, readings: readings, models: len(readings)}, p.fastCost(len(readings)))
}

// open makes room for what each stripe finds.
func (p *Part) open(readings []Reading) {
	for i := range readings {
		if f := readings[i].Found; f != nil {
			f.stripes = resize(f.stripes, p.fastStripes())
		}
	}
}

// AddFastGradients adds to g, for each of several models, the sum of V[k] times row Rows[k]: in the fast arithmetic of
// package kernel on the blocks of float32 panels, in float64 on others: rows of a Coded block that stand at the
// same levels are added up first, where such combinations are few. g holds the models' sums of a column side
// by side: Cols times as many elements as there are models.
func (p *Part) AddFastGradients(c []Coefficients, g []float64) {
	rows := 0
	for i := range c {
		rows += len(c[i].Rows)
	}
	if rows == 0 {
		return
	}
	cost := p.fastCost(len(c)) * float64(rows) / (float64(p.rows) * float64(len(c)))
	p.run(job{kind: fastAdding, coefficients: c, models: len(c), g: g[:p.cols*len(c)]}, cost)
}

// fastCost is the bytes that take as long to read as a pass for some models: four to six of them take as long as reading
// the float32 that they multiply.
func (p *Part) fastCost(models int) float64 { return float64(p.cost() * max(1, float64(models)/4)) }

// fastStripePanels is the number of panels of a stripe of a fast pass. Where all columns are in the tile it is smaller than
// that of other passes: the lanes of many models take little of the time, and two threads find more equal shares.
func (p *Part) fastStripePanels() int {
	const values, rows = 1 << 16, 512
	n := stripePanels(p.cols)
	if p.tileCols() == p.cols {
		n = min(n, panelsOf(max(rows, values/max(p.cols, 1))))
	}
	return n
}

// fastStripes is the number of stripes of a fast pass.
func (p *Part) fastStripes() int {
	n := p.fastStripePanels()
	return (p.panels() + n - 1) / n
}

// fastStripe returns the panels of stripe s of a fast pass: first up to, but without, end.
func (p *Part) fastStripe(s int) (first, end int) {
	n := p.fastStripePanels()
	return s * n, min((s+1)*n, p.panels())
}

// tileBlock is a block of float32 panels.
type tileBlock interface {
	block
	span(first, end int) ([]float32, int)
}

// tile returns block b as a tileBlock, and the number of the first of its columns among those of all such blocks.
func (p *Part) tile(b int) (tileBlock, int) {
	t, ok := p.blocks[b].(tileBlock)
	if !ok {
		return nil, 0
	}
	first := 0
	for _, other := range p.blocks[:b] {
		if _, ok := other.(tileBlock); ok {
			first += other.cols()
		}
	}
	return t, first
}

// tileCols is the number of columns of all blocks of float32 panels.
func (p *Part) tileCols() int {
	cols := 0
	for _, b := range p.blocks {
		if _, ok := b.(tileBlock); ok {
			cols += b.cols()
		}
	}
	return cols
}

// tileWeights rounds the weights for the tile: those of a column lie side by side.
func (p *Part) tileWeights(readings []Reading, dst []float32) []float32 {
	n := p.tileCols() * len(readings)
	dst = slices.Grow(dst[:0], n)[:n]
	for b := range p.blocks {
		t, first := p.tile(b)
		if t == nil {
			continue
		}
		for h := range readings {
			for j, x := range p.blockCols(b, readings[h].W) {
				dst[(first+j)*len(readings)+h] = float32(x)
			}
		}
	}
	return dst
}

// fastGroup is the panels that a fast pass takes at a time: the scores or coefficients of all models stay in cache.
func (k *worker) fastGroup(models int) int {
	const bytes = 48 << 10
	return max(1, min(k.group, bytes/(4*kernel.PanelRows*models)))
}

// fast is a worker's space for fast passes.
type fast struct {
	z     []float32 // scores or coefficients of a group, panel by panel, model by model
	other []float64 // one model: exact scores of the group in the blocks that are not in the tile
	lanes []float32 // sums of the tile's columns
	g     []float64 // one model: sums of one block in the exact arithmetic
	at    []int     // by model: the next coefficient
	v     []float64 // coefficients of a panel

	filters   []kernel.TileFilter // by model, of a stripe
	filtering bool
	none      []float32 // of a model that has no filter
	noRows    []int32

	job          job            // see withCoefficients
	coefficients []Coefficients // by model: what a FastPass found in the stripe, where there are blocks that are not in the tile
}

func resize[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

func (k *worker) fastScoreStripe(j *job, stripe int) {
	k.openFilters(j, stripe)
	defer k.closeFilters(j, stripe)
	first, end := k.part.fastStripe(stripe)
	step := k.fastGroup(j.models)
	for ; first < end; first += step {
		group := min(first+step, end)
		k.fast.z = resize(k.fast.z, (group-first)*j.models*kernel.PanelRows)
		k.fastPanels(j, first, group)
		k.fastUse(j, stripe, first, group)
	}
}

// fastPanels computes the scores of the panels from first up to end.
func (k *worker) fastPanels(j *job, first, end int) {
	z, add, others := k.fast.z, false, false
	for b := range k.part.blocks {
		t, col := k.part.tile(b)
		if t == nil {
			others = true
			continue
		}
		w := j.tile[col*j.models : (col+t.cols())*j.models]
		for panel := first; panel < end; {
			x, n := t.span(panel, end)
			kernel.ScoreTile(x, w, j.models, z[(panel-first)*j.models*kernel.PanelRows:][:n*j.models*kernel.PanelRows], add)
			panel += n
		}
		add = true
	}
	if !add {
		clear(z)
	}
	if others {
		k.addOthers(j, first, end)
	}
}

// fastUse keeps and filters the scores of the panels from first up to end.
func (k *worker) fastUse(j *job, stripe, first, end int) {
	from, _ := k.part.panelRows(first)
	_, to := k.part.panelRows(end - 1)
	k.filter(j, stripe, first, end)
	for h := range j.readings {
		r := &j.readings[h]
		z := k.fast.z[h*kernel.PanelRows:]
		for row := from; r.Keep != nil && row < to; row += kernel.PanelRows {
			copy(r.Keep[row:min(row+kernel.PanelRows, to)], z[(row-from)*j.models:])
		}
	}
}

// seek moves every model's cursor to the stripe.
func (k *worker) seek(j *job, stripe int) {
	first, _ := k.part.fastStripe(stripe)
	k.fast.at = resize(k.fast.at, j.models)
	for h := range j.coefficients {
		k.fast.at[h], _ = slices.BinarySearch(j.coefficients[h].Rows, int32(first*kernel.PanelRows))
	}
}

// nextPanel is the first panel in which a model has a coefficient, end when there is none before it.
func (k *worker) nextPanel(j *job, end int) int {
	row := int32(math.MaxInt32)
	for h := range j.coefficients {
		if c := &j.coefficients[h]; k.fast.at[h] < len(c.Rows) {
			row = min(row, c.Rows[k.fast.at[h]])
		}
	}
	return min(end, int(row)/kernel.PanelRows)
}

// fastAddStripe accumulates the tile's columns, some panels at a time, and reports whether the stripe has any coefficient.
func (k *worker) fastAddStripe(j *job, stripe int) bool {
	_, end := k.part.fastStripe(stripe)
	k.seek(j, stripe)
	cols := k.tileLanes(j.models)
	step := max(kernel.Streams, k.fastGroup(j.models))
	any := false
	for first := k.nextPanel(j, end); first < end; first = k.nextPanel(j, end) {
		any = true
		if cols == 0 {
			break // everything is done at the end
		}
		to, spread := min(first+step, end), false
		for h := 0; h < j.models; {
			width := kernel.TileModels
			if j.models-h < width {
				width = 1
			}
			if !k.addFew(j, h, width, first, to) {
				if !spread {
					k.fast.z = resize(k.fast.z, (to-first)*j.models*kernel.PanelRows)
					clear(k.fast.z)
					spread = true
				}
				k.spread(j, h, width, first, to)
			}
			h += width
		}
		if spread {
			k.fastAccumulate(j, first, to)
		}
	}
	return any
}

// fewCoefficients is the number of coefficients of a panel for a model up to which its rows are added one by one; four models
// that the tile takes together need twice as many.
const fewCoefficients = 1

// addFew adds the panels from first up to end for the models from h on, if there are few coefficients.
func (k *worker) addFew(j *job, h, width, first, end int) bool {
	few := fewCoefficients * (end - first)
	if width > 1 {
		few *= 2
	}
	limit := end * kernel.PanelRows
	for i := h; i < h+width; i++ {
		c, at := &j.coefficients[i], k.fast.at[i]
		if at+few < len(c.Rows) && int(c.Rows[at+few]) < limit {
			return false
		}
		for ; at < len(c.Rows) && int(c.Rows[at]) < limit; at++ {
			few--
		}
		if few < 0 {
			return false
		}
	}
	for ; width > 0; width-- {
		c := &j.coefficients[h]
		for ; k.fast.at[h] < len(c.Rows) && int(c.Rows[k.fast.at[h]]) < limit; k.fast.at[h]++ {
			k.fastAddRow(int(c.Rows[k.fast.at[h]]), c.V[k.fast.at[h]], j.models, h)
		}
		h++
	}
	return true
}

// fastAddRow adds v times a row to the lanes of model h.
func (k *worker) fastAddRow(row int, v float32, models, h int) {
	panel := row / kernel.PanelRows
	for b := range k.part.blocks {
		t, col := k.part.tile(b)
		if t == nil {
			continue
		}
		lanes := k.fast.lanes[col*models*kernel.TileLanes:][:t.cols()*models*kernel.TileLanes]
		x, _ := t.span(panel, panel+1)
		kernel.AccumulateTileRow(x, row%kernel.PanelRows, v, models, h, lanes)
	}
}

// tileLanes makes room for the sums of the tile's columns, whose number it returns.
func (k *worker) tileLanes(models int) int {
	cols := k.part.tileCols()
	if n := cols * models * kernel.TileLanes; len(k.fast.lanes) < n {
		k.fast.lanes = make([]float32, n)
	}
	return cols
}

// spread writes the coefficients of some models in the panels from first up to end to z.
func (k *worker) spread(j *job, h, width, first, end int) {
	for ; width > 0; width-- {
		c, at, v := &j.coefficients[h], k.fast.at[h], k.fast.z[h*kernel.PanelRows:]
		for ; at < len(c.Rows) && int(c.Rows[at]) < end*kernel.PanelRows; at++ {
			row := int(c.Rows[at]) - first*kernel.PanelRows
			v[row/kernel.PanelRows*j.models*kernel.PanelRows+row%kernel.PanelRows] = c.V[at]
		}
		k.fast.at[h] = at
		h++
	}
}

func (k *worker) fastAccumulate(j *job, first, end int) {
	for b := range k.part.blocks {
		t, col := k.part.tile(b)
		if t == nil {
			continue
		}
		lanes := k.fast.lanes[col*j.models*kernel.TileLanes:][:t.cols()*j.models*kernel.TileLanes]
		for panel := first; panel < end; {
			x, n := t.span(panel, end)
			v := k.fast.z[(panel-first)*j.models*kernel.PanelRows:][:n*j.models*kernel.PanelRows]
			if j.readings == nil {
				kernel.AccumulateTileFromMemory(x, v, j.models, lanes)
			} else {
				kernel.AccumulateTile(x, v, j.models, lanes)
			}
			panel += n
		}
	}
}

// fastFinish adds the sums of a stripe to g and clears them.
func (k *worker) fastFinish(j *job, stripe int, g []float64) {
	for b := range k.part.blocks {
		t, col := k.part.tile(b)
		if t == nil {
			k.exactFinish(j.withCoefficients(k), stripe, b, g)
			continue
		}
		lanes := k.fast.lanes[col*j.models*kernel.TileLanes:][:t.cols()*j.models*kernel.TileLanes]
		first := k.part.offset[b] * j.models
		kernel.ReduceTile(lanes, g[first:first+t.cols()*j.models])
	}
}
