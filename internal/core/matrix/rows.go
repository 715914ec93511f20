package matrix

import (
	"toptau/internal/core/kernel"
	"toptau/internal/core/parallel"
)

// ClassRows holds the rows of one class. It does not change after Build and is safe for concurrent use; it must not be
// copied.
type ClassRows struct {
	rows, cols int
	blocks     []block
	offset     []int     // first column of each block
	weights    []float64 // nil: all 1
	sources    []uint32

	idle parallel.Spares[pass] // workers with their buffers, between passes
}

func newClassRows(blocks []block, rows int, weights []float64, sources []uint32) *ClassRows {
	p := &ClassRows{rows: rows, blocks: blocks, weights: weights, sources: sources}
	for _, b := range blocks {
		p.offset = append(p.offset, p.cols)
		p.cols += b.cols()
	}
	return p
}

// Rows returns the number of rows.
func (p *ClassRows) Rows() int { return p.rows }

// Cols returns the number of columns of all blocks.
func (p *ClassRows) Cols() int { return p.cols }

// Weights returns the importance weights of the rows, or nil when all are 1. The caller must not change them.
func (p *ClassRows) Weights() []float64 { return p.weights }

// Source returns the 0-based number of row i in the user's data.
func (p *ClassRows) Source(i int) int { return int(p.sources[i]) }

// Bytes returns the memory that the values, weights and row numbers take.
func (p *ClassRows) Bytes() int64 {
	total := 8*int64(len(p.weights)) + 4*int64(len(p.sources))
	for _, b := range p.blocks {
		total += b.bytes()
	}
	return total
}

// Row writes row i, decoded, to dst, which must have Cols elements.
func (p *ClassRows) Row(i int, dst []float64) {
	for k, b := range p.blocks {
		b.row(i, dst[p.offset[k]:p.offset[k]+b.cols()])
	}
}

// Entries appends the nonzero values of row i to values and their columns, ascending, to cols.
func (p *ClassRows) Entries(i int, cols []uint32, values []float64) ([]uint32, []float64) {
	e := rowEntries{cols, values}
	for k, b := range p.blocks {
		first := len(e.cols)
		b.appendEntries(i, &e)
		for n := first; n < len(e.cols); n++ {
			e.cols[n] += uint32(p.offset[k])
		}
	}
	return e.cols, e.values
}

// Take returns a packed copy of some rows in the given order. A row may be taken several times; rows may be empty.
func (p *ClassRows) Take(rows []int) *ClassRows {
	blocks := make([]block, len(p.blocks))
	for k, b := range p.blocks {
		blocks[k] = b.take(rows)
	}
	var weights []float64
	if p.weights != nil {
		weights = make([]float64, len(rows))
	}
	sources := make([]uint32, len(rows))
	for to, from := range rows {
		sources[to] = p.sources[from]
		if weights != nil {
			weights[to] = p.weights[from]
		}
	}
	return newClassRows(blocks, len(rows), weights, sources)
}

// Every returns a packed copy of every step-th row, starting with row first.
func (p *ClassRows) Every(first, step int) *ClassRows {
	rows := make([]int, 0, p.rows/step+1)
	for i := first; i < p.rows; i += step {
		rows = append(rows, i)
	}
	return p.Take(rows)
}

// Weighted returns the same rows with their weights times factor. It shares the values.
func (p *ClassRows) Weighted(factor float64) *ClassRows {
	weights := make([]float64, p.rows)
	for i := range weights {
		weights[i] = factor
		if p.weights != nil {
			weights[i] *= p.weights[i]
		}
	}
	return newClassRows(p.blocks, p.rows, weights, p.sources)
}

// Panels returns the number of panels of kernel.PanelRows rows.
func (p *ClassRows) Panels() int { return panelsOf(p.rows) }

// panelsOf returns the number of panels that rows fill.
func panelsOf(rows int) int { return (rows + kernel.PanelRows - 1) / kernel.PanelRows }

// PanelRows returns the rows of a panel: from first up to, but not including, end.
func (p *ClassRows) PanelRows(panel int) (first, end int) {
	return panel * kernel.PanelRows, min((panel+1)*kernel.PanelRows, p.rows)
}

// blockCols returns the elements of x, a vector over all columns, that belong to block k.
func (p *ClassRows) blockCols(k int, x []float64) []float64 {
	return x[p.offset[k] : p.offset[k]+p.blocks[k].cols()]
}
