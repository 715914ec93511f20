package lockstep

import "toptau/internal/core/kernel"

// laneSums sums the float32 panels of a stripe, for all models, in the lanes of kernel.AccumulateTile.
type laneSums struct {
	passes *Passes
	lanes  []float32 // zero between stripes
}

// tileGradient is kernel.AccumulateTile for panels in cache, kernel.AccumulateTileFromMemory for others.
type tileGradient func(x, v []float32, models int, lanes []float32)

// addRow adds v times a row to the lanes of model h.
func (s *laneSums) addRow(row int, v float32, h int) {
	panel := row / kernel.PanelRows
	for b, block := range s.passes.blocks {
		if block.Panels == nil {
			continue
		}
		x, _ := block.Panels.Span(panel, panel+1)
		kernel.AccumulateTileRow(x, row%kernel.PanelRows, v, s.passes.models, h, s.ofBlock(b))
	}
}

// grow makes space for the sums of the float32 panels.
func (s *laneSums) grow() {
	if n := s.passes.panelCols * s.passes.models * kernel.TileLanes; len(s.lanes) < n {
		s.lanes = make([]float32, n)
	}
}

// ofBlock returns the lanes of block b, which has float32 panels.
func (s *laneSums) ofBlock(b int) []float32 {
	size := s.passes.models * kernel.TileLanes
	return s.lanes[s.passes.panelCol[b]*size:][:s.passes.blocks[b].Cols*size]
}

// accumulate adds the float32 panels from first up to end with the coefficients in z.
func (s *laneSums) accumulate(first, end int, z []float32, add tileGradient) {
	models := s.passes.models
	for b, block := range s.passes.blocks {
		if block.Panels == nil {
			continue
		}
		for panel := first; panel < end; {
			x, n := block.Panels.Span(panel, end)
			v := z[(panel-first)*models*kernel.PanelRows:][:n*models*kernel.PanelRows]
			add(x, v, models, s.ofBlock(b))
			panel += n
		}
	}
}

// addTo adds the sums of the float32 panels to g and clears them.
func (s *laneSums) addTo(g []float64) {
	for b, block := range s.passes.blocks {
		if block.Panels != nil {
			first := block.First * s.passes.models
			kernel.ReduceTile(s.ofBlock(b), g[first:first+block.Cols*s.passes.models])
		}
	}
}
