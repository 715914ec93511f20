package matrix

import "toptau/internal/core/kernel"

// StripePanels returns the number of panels of a stripe. A stripe is a run of consecutive panels: the work that one worker
// takes at a time, and the unit in which a gradient is summed. Its size depends on the number of columns alone, so that sums
// do not depend on the number of threads.
func StripePanels(cols int) int {
	const (
		values = 1 << 18 // about 1 MB of float32: large enough to hide the cost of taking a stripe
		rows   = 512     // at least, so that reducing the lanes costs a few per cent of reading the rows
		wide   = 16      // with very many columns a sixteenth as many rows: clearing columns costs more than sparse rows
	)
	return panelsOf(max(rows, values/max(cols, 1), cols/wide))
}

// Stripes are the panels of a class in runs of Size panels. The last one may have fewer.
type Stripes struct{ Panels, Size int }

// Count returns the number of stripes.
func (s Stripes) Count() int { return (s.Panels + s.Size - 1) / s.Size }

// Of returns the panels of a stripe: from first up to, but not including, end.
func (s Stripes) Of(stripe int) (first, end int) {
	return stripe * s.Size, min((stripe+1)*s.Size, s.Panels)
}

// stripes returns the stripes of a pass.
func (p *ClassRows) stripes() Stripes { return Stripes{p.Panels(), StripePanels(p.cols)} }

// GroupPanels returns the number of panels that a pass reads before it uses them a second time. They must stay in the second
// cache (1 MB on the machines measured, shared with scores and lanes), and their scores and coefficients in the first.
func (p *ClassRows) GroupPanels() int {
	const bytes, most = 160 << 10, 16
	return max(1, min(most, p.panelsIn(bytes)))
}

// callbackPanels returns that number for passes that call a RowFunc in between, during which nothing is read. Groups that
// fill less than half of the first cache keep the processor reading; with 28 KB, the whole cache, a pass took 1.3 to 1.4
// times as long (bench/tried.md).
func callbackPanels(p *ClassRows) int {
	const bytes = 14 << 10
	if n := p.panelsIn(bytes); n > 0 {
		return min(n, p.GroupPanels())
	}
	return p.GroupPanels()
}

// panelsIn returns the number of panels whose Cost is at most some bytes.
func (p *ClassRows) panelsIn(bytes float64) int {
	return int(bytes / max(1, p.Cost()/float64(max(p.rows, 1))*kernel.PanelRows))
}

// Cost returns the bytes that a pass reads, or the number of bytes that take the same time to read.
func (p *ClassRows) Cost() float64 {
	row := 0.0
	for _, b := range p.blocks {
		row += b.rowCost()
	}
	return float64(row * float64(p.rows))
}
