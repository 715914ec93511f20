package matrix

import (
	"sync"

	"toptau/internal/kernel"
)

// Part is the rows of one class. It is not changed after Build and safe for concurrent use; it must not be copied.
type Part struct {
	rows, cols int
	blocks     []block
	offset     []int     // first column of each block
	weights    []float64 // nil: all 1
	sources    []uint32

	mu   sync.Mutex
	idle []*crew // workers with their buffers, between passes
}

// block is some columns of a part. Rows are addressed by their panel.
type block interface {
	cols() int
	bytes() int64
	// rowCost is the bytes that a pass reads for a row, or as many as would take the same time.
	rowCost() float64
	// scores adds the scores of a panel to z, which has kernel.PanelRows elements.
	scores(panel int, w, z []float64)
	// sums returns a worker's space for gradients.
	sums() sums
	// sumsBytes is the memory that sums takes.
	sumsBytes() int64
	// row writes a row to dst, which has cols elements.
	row(i int, dst []float64)
	// appendEntries appends the values of a row that are not zero, columns ascending and counted from the block's first.
	appendEntries(i int, e *rowEntries)
	// take copies rows in the order given.
	take(rows []int) block
}

// sums is the gradient of one block over one stripe, in the lanes of package kernel.
type sums interface {
	// add adds a panel's part of X'v; v has kernel.PanelRows elements, of which active are not zero.
	add(panel int, v []float64, active int)
	// finish adds the reduced lanes to g, which has the block's columns, and clears them.
	finish(g []float64)
}

// spanBlock is a block that can take many panels at once; its sums are spanSums.
type spanBlock interface {
	block
	// scoreSpan adds the scores of the panels from first up to end to z, or replaces z.
	scoreSpan(first, end int, w, z []float64, add bool)
}

// spanSums is sums that can take many panels at once.
type spanSums interface {
	sums
	// addSpan adds the parts of X'v of the panels from first up to end. Panels whose v is zero are not read.
	addSpan(first, end int, v []float64)
}

// overlapSums is sums that can add one panel while another is scored.
type overlapSums interface {
	sums
	// overlap adds the scores of a panel to z, or replaces z, and adds the part of X'v of the panel last.
	overlap(panel int, w, z []float64, add bool, last int, v []float64)
}

func newPart(blocks []block, rows int, weights []float64, sources []uint32) *Part {
	p := &Part{rows: rows, blocks: blocks, weights: weights, sources: sources}
	for _, b := range blocks {
		p.offset = append(p.offset, p.cols)
		p.cols += b.cols()
	}
	return p
}

// Rows is the number of rows.
func (p *Part) Rows() int { return p.rows }

// Cols is the number of columns of all blocks.
func (p *Part) Cols() int { return p.cols }

// Weights are the importance weights of the rows; nil when all are 1. The caller must not change them.
func (p *Part) Weights() []float64 { return p.weights }

// Source is the 0-based number of row i in the user's data.
func (p *Part) Source(i int) int { return int(p.sources[i]) }

// Bytes is the memory that the values, weights and row numbers take.
func (p *Part) Bytes() int64 {
	total := 8*int64(len(p.weights)) + 4*int64(len(p.sources))
	for _, b := range p.blocks {
		total += b.bytes()
	}
	return total
}

// Row writes row i, decoded, to dst, which must have Cols elements.
func (p *Part) Row(i int, dst []float64) {
	for k, b := range p.blocks {
		b.row(i, dst[p.offset[k]:p.offset[k]+b.cols()])
	}
}

// Entries appends the values of row i that are not zero to values, and their columns, ascending, to cols.
func (p *Part) Entries(i int, cols []uint32, values []float64) ([]uint32, []float64) {
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

// Take returns a packed copy of some rows, in the order given. A row may be taken more than once, or none at all.
func (p *Part) Take(rows []int) *Part {
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
	return newPart(blocks, len(rows), weights, sources)
}

// Every takes every step-th row from the first one given on.
func (p *Part) Every(first, step int) *Part {
	rows := make([]int, 0, p.rows/step+1)
	for i := first; i < p.rows; i += step {
		rows = append(rows, i)
	}
	return p.Take(rows)
}

func (p *Part) panels() int { return panelsOf(p.rows) }

func panelsOf(rows int) int { return (rows + kernel.PanelRows - 1) / kernel.PanelRows }

// blockCols returns the elements of a vector over all columns that belong to block k.
func (p *Part) blockCols(k int, x []float64) []float64 {
	return x[p.offset[k] : p.offset[k]+p.blocks[k].cols()]
}
