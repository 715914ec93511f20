package matrix

import (
	"unsafe"

	"toptau/internal/core/kernel"
)

// dense is a block of panels. Value (row r, column j) of a panel is panel[64j+r]; missing rows of the last panel are zero.
type dense[T kernel.Float] struct {
	width  int
	rows   int
	panels [][]T
	memory arena[T]
}

func (d *dense[T]) cols() int { return d.width }

func (d *dense[T]) bytes() int64 {
	var x T
	return int64(len(d.panels)) * kernel.PanelRows * int64(d.width) * int64(unsafe.Sizeof(x))
}

func (d *dense[T]) rowCost() float64 {
	var x T
	return float64(d.width * int(unsafe.Sizeof(x)))
}

// add appends a row and returns the first column whose value is not finite after rounding, or -1.
func (d *dense[T]) add(values []float64) int {
	r := d.rows % kernel.PanelRows
	if r == 0 {
		d.panels = append(d.panels, d.memory.alloc(d.width*kernel.PanelRows))
	}
	d.rows++
	panel := d.panels[len(d.panels)-1]
	for j, v := range values {
		x := T(v)
		if x-x != 0 { // infinite or not a number
			return j
		}
		panel[j*kernel.PanelRows+r] = x
	}
	return -1
}

func (d *dense[T]) scores(panel int, w, z []float64) { kernel.Scores(d.panels[panel], w, z) }

// Span returns the panels from first on that are adjacent in memory, up to end at most, and their number.
func (d *dense[T]) Span(first, end int) ([]T, int) {
	panel := d.panels[first]
	if len(panel) == 0 {
		return nil, end - first
	}
	n := min(end-first, cap(panel)/len(panel))
	return panel[:n*len(panel)], n
}

func (d *dense[T]) scoreSpan(first, end int, w, z []float64, add bool) {
	for first < end {
		x, n := d.Span(first, end)
		kernel.ScorePanels(x, w, z[:n*kernel.PanelRows], add)
		first, z = first+n, z[n*kernel.PanelRows:]
	}
}

func (d *dense[T]) row(i int, dst []float64) {
	panel, r := d.panels[i/kernel.PanelRows], i%kernel.PanelRows
	for j := range dst {
		dst[j] = float64(panel[j*kernel.PanelRows+r])
	}
}

func (d *dense[T]) appendEntries(i int, e *rowEntries) {
	panel, r := d.panels[i/kernel.PanelRows], i%kernel.PanelRows
	for j := range d.width {
		if x := panel[j*kernel.PanelRows+r]; x != 0 {
			e.add(j, float64(x))
		}
	}
}

// take copies some rows into panels of their own. In a panel, the values of a row are kernel.PanelRows apart.
func (d *dense[T]) take(rows []int) block {
	out := &dense[T]{width: d.width, rows: len(rows)}
	out.memory.reserve(panelsOf(len(rows)) * kernel.PanelRows * d.width)
	for to, from := range rows {
		if to%kernel.PanelRows == 0 {
			out.panels = append(out.panels, out.memory.alloc(d.width*kernel.PanelRows))
		}
		src := d.panels[from/kernel.PanelRows][from%kernel.PanelRows:]
		dst := out.panels[to/kernel.PanelRows][to%kernel.PanelRows:]
		for j := 0; j < d.width*kernel.PanelRows; j += kernel.PanelRows {
			dst[j] = src[j]
		}
	}
	return out
}

func (d *dense[T]) sums() Sums {
	return &denseSums[T]{block: d, lanes: make([]float64, d.width*kernel.Lanes)}
}

func (d *dense[T]) sumsBytes() int64 { return 8 * kernel.Lanes * int64(d.width) }

type denseSums[T kernel.Float] struct {
	block *dense[T]
	lanes []float64
}

func (s *denseSums[T]) AddPanel(panel int, v []float64, _ int) {
	kernel.AccumulatePanels(s.block.panels[panel], v, s.lanes)
}

func (s *denseSums[T]) addSpan(first, end int, v []float64) {
	for first < end {
		x, n := s.block.Span(first, end)
		kernel.AccumulatePanels(x, v[:n*kernel.PanelRows], s.lanes)
		first, v = first+n, v[n*kernel.PanelRows:]
	}
}

func (s *denseSums[T]) overlap(panel int, w, z []float64, add bool, last int, v []float64) {
	kernel.Overlap(s.block.panels[panel], w, z, add, s.block.panels[last], v, s.lanes)
}

func (s *denseSums[T]) Finish(g []float64) { kernel.ReduceLanes(s.lanes, g) }
