package feature

import (
	"context"
	"sync"

	"toptau/internal/core/kernel"
	"toptau/internal/core/matrix"
	"toptau/internal/core/parallel"
	"toptau/internal/data/packed"
	"toptau/internal/data/table"
	"toptau/schema"
)

// RowBlocks are the rows of a frame as matrices of some rows each. They are encoded whenever they are read, so that only
// a few are in memory. It is a certified.Blocks. A row's source is its number in the table, from 0.
//
// Raw float32 columns of a packed file take a short way: from the bytes of the file to panels, column by column, in
// memory that is used again. The values are the same to the bit.
type RowBlocks struct {
	rows    *table.Frame
	packing packing
	storage matrix.Storage
	keep    func(row int) bool // nil: all rows
	direct  []directColumn     // the short way; nil: there is none

	idle parallel.Spares[blockReader]

	mu   sync.Mutex
	busy map[*matrix.Matrix]*blockReader
}

// directColumn is a column of a matrix that takes the short way.
type directColumn struct {
	column       int
	shift, scale float64
}

// InBlocks returns labelled rows as blocks with the given storage.
func (m *Map) InBlocks(f *table.Frame, s matrix.Storage) (*RowBlocks, error) {
	p, err := newPacking(m, f.Shape(), nil, s)
	if err != nil {
		return nil, err
	}
	b := &RowBlocks{rows: f, packing: *p, storage: s, busy: map[*matrix.Matrix]*blockReader{}}
	if s == matrix.Float32 && f.InFile() {
		if b.direct = directColumns(m, f); b.direct != nil {
			f.ForgetChunks()
		}
	}
	return b, nil
}

// directColumns returns the columns of the matrix if all of them are numeric columns that stay in a packed file.
func directColumns(m *Map, f *table.Frame) (list []directColumn) {
	if m.Sparse || len(m.Blocks) != 1 {
		return nil
	}
	b, ok := m.Blocks[0].(*NumericBlock)
	if !ok {
		return nil
	}
	for i, k := range b.Inputs {
		in := &m.Inputs[k]
		if in.Kind != schema.Numeric || !f.StaysInFile(in.Column) {
			return nil
		}
		d := directColumn{in.Column, 0, 1} // x - 0 and x / 1 are x, bit for bit
		if b.Scale != nil {
			d.shift, d.scale = b.Shift[i], b.Scale[i]
		}
		list = append(list, d)
	}
	return list
}

// Where returns the blocks with some of their rows alone. Rows that are left out need no label.
func (b *RowBlocks) Where(keep func(row int) bool) *RowBlocks {
	return &RowBlocks{rows: b.rows, packing: b.packing, storage: b.storage, keep: keep, direct: b.direct, busy: map[*matrix.Matrix]*blockReader{}}
}

// Count returns the number of blocks.
func (b *RowBlocks) Count() int { return b.rows.Blocks() }

// Read encodes a block. Its memory may be used again after Done.
func (b *RowBlocks) Read(ctx context.Context, block int) (*matrix.Matrix, error) {
	if b.direct != nil {
		x, err := b.readDirect(block)
		if x != nil || err != nil {
			return x, err
		}
	}
	p := b.packing
	var err error
	if p.t, err = b.rows.Block(block, p.m.InputColumns()); err != nil {
		return nil, err
	}
	p.first = block * b.rows.BlockRows()
	p.rows, p.row, p.alone = make([]int, 0, p.t.Rows()), Encoded{}, true
	for row := range p.t.Rows() {
		if b.keep == nil || b.keep(p.first+row) {
			p.rows = append(p.rows, row)
		}
	}
	p.to = matrix.NewBuilder(p.m.Layout(), b.storage)
	p.to.Part()
	return p.run(ctx, func(*batch) {})
}

// Done takes back a block that Read returned.
func (b *RowBlocks) Done(x *matrix.Matrix) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := b.busy[x]; r != nil {
		delete(b.busy, x)
		b.idle.Put(r)
	}
}

// blockReader is the memory in which a block is read.
type blockReader struct {
	frame   *matrix.Frame
	chunk   packed.Chunk
	numbers []float64
	singles []float32 // a column of the matrix
	sources [2][]uint32
	weights [2][]float64
	runs    []rowRun
}

// rowRun is rows of a block that follow each other there and in a panel.
type rowRun struct {
	class, panel      int
	first, row, count int // the first row in the block and in the panel
}

// borrow returns a reader that no other goroutine uses.
func (b *RowBlocks) borrow() *blockReader {
	if r := b.idle.Take(); r != nil {
		return r
	}
	return &blockReader{frame: matrix.NewFrame(len(b.direct))}
}

// readDirect reads a block by the short way. It returns nil if a value is missing, too large, or has no label, which the
// long way handles.
func (b *RowBlocks) readDirect(block int) (*matrix.Matrix, error) {
	r := b.borrow()
	x, err := b.fill(r, block)
	b.mu.Lock()
	defer b.mu.Unlock()
	if x == nil {
		b.idle.Put(r)
	} else {
		b.busy[x] = r
	}
	return x, err
}

// fill fills the frame of a reader.
func (b *RowBlocks) fill(r *blockReader, block int) (*matrix.Matrix, error) {
	first := block * b.rows.BlockRows()
	n := min(b.rows.BlockRows(), b.rows.Rows()-first)
	if !r.classify(b.rows.Head(), first, n, b.keep) {
		return nil, nil
	}
	x := r.frame.Reset(r.sources, r.weights)
	if len(r.singles) < n {
		r.singles, r.numbers = make([]float32, n), make([]float64, packed.SegmentRows)
	}
	for j := range b.direct {
		c := &b.direct[j]
		if err := b.rows.ReadChunk(block, c.column, &r.chunk); err != nil {
			return nil, err
		}
		if !r.standardise(c) {
			return nil, nil
		}
		for i := range r.runs {
			u := &r.runs[i]
			dst := r.frame.Panel(u.class, u.panel)[j*kernel.PanelRows+u.row:][:u.count]
			if u.count > 4 {
				copy(dst, r.singles[u.first:])
				continue
			}
			for k := range dst {
				dst[k] = r.singles[u.first+k]
			}
		}
	}
	return x, nil
}

// classify finds the rows of each class. It returns false if a label is unknown.
func (r *blockReader) classify(t *table.Table, first, n int, keep func(row int) bool) bool {
	r.runs = r.runs[:0]
	for k := range r.sources {
		r.sources[k], r.weights[k] = r.sources[k][:0], r.weights[k][:0]
	}
	last := -2 // the row of the last run that ends before i
	for i := range n {
		row := first + i
		if keep != nil && !keep(row) {
			continue
		}
		class := 0
		switch t.Label[row] {
		case table.Unknown:
			return false
		case table.Negative:
			class = 1
		}
		at := len(r.sources[class])
		r.sources[class] = append(r.sources[class], uint32(row))
		if t.Weight != nil {
			r.weights[class] = append(r.weights[class], t.Weight[row])
		}
		if at%kernel.PanelRows > 0 && last == i-1 && r.runs[len(r.runs)-1].class == class {
			r.runs[len(r.runs)-1].count++
		} else {
			r.runs = append(r.runs, rowRun{class, at / kernel.PanelRows, i, at % kernel.PanelRows, 1})
		}
		last = i
	}
	if t.Weight == nil {
		r.weights = [2][]float64{}
	}
	return true
}

// standardise writes the values of the chunk to singles. It returns false if one is not finite there.
func (r *blockReader) standardise(c *directColumn) bool {
	to := r.singles
	for i := range r.chunk.Segments {
		s := &r.chunk.Segments[i]
		n := s.Rows()
		if data, ok := s.Singles(); ok {
			if !kernel.StandardiseSingles(data, to[:n], c.shift, c.scale) {
				return false
			}
			to = to[n:]
			continue
		}
		numbers := s.Numbers(0, n, r.numbers)
		if !kernel.Standardise(numbers, r.numbers[:n], c.shift, c.scale) {
			return false
		}
		for k, v := range r.numbers[:n] {
			to[k] = float32(v)
		}
		to = to[n:]
	}
	return true
}
