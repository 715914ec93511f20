package matrix

import "toptau/internal/core/kernel"

// block stores some columns of the rows of a class. Rows are addressed by their panel.
type block interface {
	cols() int
	bytes() int64
	// rowCost returns the bytes that a pass reads for a row, or the number of bytes that take the same time to read.
	rowCost() float64
	// scores adds the scores of a panel to z, which has kernel.PanelRows elements.
	scores(panel int, w, z []float64)
	// sums returns a worker's space for gradients.
	sums() Sums
	// sumsBytes returns the memory that sums takes.
	sumsBytes() int64
	// row writes a row to dst, which has cols elements.
	row(i int, dst []float64)
	// appendEntries appends the nonzero values of a row, columns ascending and counted from the block's first.
	appendEntries(i int, e *rowEntries)
	// take copies rows in the given order.
	take(rows []int) block
}

// Sums accumulates the gradient of one block over one stripe, in the lanes of package kernel.
type Sums interface {
	// AddPanel adds a panel's part of X'v. v has kernel.PanelRows elements, of which active are not zero.
	AddPanel(panel int, v []float64, active int)
	// Finish adds the reduced lanes to g, which has the block's columns, and clears them.
	Finish(g []float64)
}

// spanBlock is a block that scores many panels in one call; its sums are spanSums.
type spanBlock interface {
	block
	// scoreSpan adds the scores of the panels from first up to end to z, or replaces z.
	scoreSpan(first, end int, w, z []float64, add bool)
}

// spanSums are sums that add many panels in one call.
type spanSums interface {
	Sums
	// addSpan adds the parts of X'v of the panels from first up to end. Panels whose v is zero are not read.
	addSpan(first, end int, v []float64)
}

// overlapSums are sums that add one panel while another is scored.
type overlapSums interface {
	Sums
	// overlap adds the scores of a panel to z, or replaces z, and adds the part of X'v of the panel last.
	overlap(panel int, w, z []float64, add bool, last int, v []float64)
}

// Block describes one block to package lockstep, which reads the same memory in an arithmetic of its own.
type Block struct {
	First, Cols int           // its columns among those of the matrix
	Panels      Float32Panels // nil unless the block consists of float32 panels

	block block
	rows  int
}

// Float32Panels gives access to the values of a dense float32 block.
type Float32Panels interface {
	// Span returns the panels from first on that are adjacent in memory, up to end at most, and their number.
	Span(first, end int) (values []float32, panels int)
}

// Block returns a description of block k, which is less than Blocks.
func (p *ClassRows) Block(k int) Block {
	b := p.blocks[k]
	panels, _ := b.(Float32Panels)
	return Block{First: p.offset[k], Cols: b.cols(), Panels: panels, block: b, rows: p.rows}
}

// Blocks returns the number of blocks.
func (p *ClassRows) Blocks() int { return len(p.blocks) }

// Scores writes the exact scores of the panels from first up to end to z. w has the weights of all columns of the matrix.
func (b Block) Scores(first, end int, w, z []float64) {
	scoreBlock(b.block, first, end, w[b.First:b.First+b.Cols], z, false)
}

// NewSums returns space for exact gradients, which takes SumsBytes.
func (b Block) NewSums() Sums { return b.block.sums() }

// SumsBytes returns the memory that NewSums takes.
func (b Block) SumsBytes() int64 { return b.block.sumsBytes() }

// Combinations returns the combinations of levels of a coded block, or nil where it has too many and for other blocks.
func (b Block) Combinations() *Combinations {
	if coded, ok := b.block.(*coded); ok {
		return coded.combinations(b.rows)
	}
	return nil
}

// scoreBlock computes a block's part of the scores of the panels from first up to end. It adds to z or replaces z; w has the
// weights of the block's columns.
func scoreBlock(b block, first, end int, w, z []float64, add bool) {
	if span, ok := b.(spanBlock); ok {
		span.scoreSpan(first, end, w, z, add)
		return
	}
	if !add {
		clear(z)
	}
	for panel := first; panel < end; panel++ {
		b.scores(panel, w, z[(panel-first)*kernel.PanelRows:][:kernel.PanelRows])
	}
}
