package feature

import (
	"context"

	"toptau/internal/matrix"
	"toptau/internal/table"
)

// RowBlocks are the rows of a table as matrices of some rows each. They are encoded whenever they are read, so that only
// a few are in memory. It is a certified.Blocks. A row's source is its number in the table, from 0.
type RowBlocks struct {
	packing packing
	storage matrix.Storage
	size    int                // rows of a block
	keep    func(row int) bool // nil: all rows
}

// blockRows is the number of rows of a block of a table in memory. Chosen by hand, like that of packed files.
const blockRows = 1 << 15

// InBlocks returns the rows of a labelled table as blocks with the given storage.
func (m *Map) InBlocks(t *table.Table, s matrix.Storage) (*RowBlocks, error) {
	p, err := m.newPacking(t, nil, s)
	if err != nil {
		return nil, err
	}
	b := &RowBlocks{packing: *p, storage: s, size: t.BlockRows()}
	if b.size == 0 {
		b.size = blockRows
	}
	return b, nil
}

// Where returns the blocks with some of their rows alone. Rows that are left out need no label.
func (b *RowBlocks) Where(keep func(row int) bool) *RowBlocks {
	some := *b
	some.keep = keep
	return &some
}

// Count returns the number of blocks.
func (b *RowBlocks) Count() int { return (b.packing.t.Rows() + b.size - 1) / b.size }

// Read encodes a block.
func (b *RowBlocks) Read(ctx context.Context, block int) (*matrix.Matrix, error) {
	first := block * b.size
	end := min(first+b.size, b.packing.t.Rows())
	rows := make([]int, 0, end-first)
	for row := first; row < end; row++ {
		if b.keep == nil || b.keep(row) {
			rows = append(rows, row)
		}
	}
	p := b.packing
	p.rows, p.row, p.alone = rows, Encoded{}, true
	p.to = matrix.NewBuilder(p.m.Layout(), b.storage)
	p.to.Part()
	return p.run(ctx, func(*batch) {})
}
