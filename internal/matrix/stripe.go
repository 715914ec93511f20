package matrix

import "toptau/internal/kernel"

// A stripe is some consecutive panels: what one worker takes at a time, and the unit of the gradient's sums. Its size
// depends on the number of columns only, so that sums do not depend on the number of threads: about 1 MB of float32, at
// least 512 rows, so that reducing the lanes costs a few per cent of reading them, and with very many columns a
// sixteenth as many rows as columns, since then the columns cost more than the (sparse) rows.
func stripePanels(cols int) int {
	const values, rows, wide = 1 << 18, 512, 16
	return panelsOf(max(rows, values/max(cols, 1), cols/wide))
}

// stripes is the number of stripes of the part.
func (p *Part) stripes() int {
	n := stripePanels(p.cols)
	return (p.panels() + n - 1) / n
}

// stripe returns the panels of stripe s: first up to, but without, end.
func (p *Part) stripe(s int) (first, end int) {
	n := stripePanels(p.cols)
	return s * n, min((s+1)*n, p.panels())
}

// panelRows returns the rows of a panel: first up to, but without, end.
func (p *Part) panelRows(panel int) (first, end int) {
	return panel * kernel.PanelRows, min((panel+1)*kernel.PanelRows, p.rows)
}

// groupPanels is the number of panels that a pass takes at a time: as many as stay in the second cache between their
// scores and their gradient, and few enough that their scores and coefficients stay in the first.
func (p *Part) groupPanels() int {
	const bytes, most = 160 << 10, 16
	return max(1, min(most, int(bytes/p.panelCost())))
}

// visitPanels is that number where a visitor is called in between, in which nothing is read. Either the pauses are so short,
// after a part of the first cache, that the processor reads on, or there are few of them.
func (p *Part) visitPanels() int {
	const bytes = 14 << 10
	if n := int(bytes / p.panelCost()); n > 0 {
		return min(n, p.groupPanels())
	}
	return p.groupPanels()
}

// panelCost is cost for a panel.
func (p *Part) panelCost() float64 {
	return max(1, p.cost()/float64(max(p.rows, 1))*kernel.PanelRows)
}
