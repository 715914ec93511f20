package feature

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"toptau/internal/core/matrix"
	"toptau/internal/core/parallel"
	"toptau/internal/data/memory"
	"toptau/internal/data/table"
	"toptau/internal/models/feature/trees"
	"toptau/schema"
)

// packing turns a table into a matrix. Rows are encoded in batches, column by column, and packed in their
// order. Several goroutines encode if that is slow. A batch with anything wrong is encoded again row by row,
// which returns the error.
type packing struct {
	m      *Map
	t      *table.Table
	first  int   // the number of row 0 of the table, in the matrix
	rows   []int // of the table; nil: all
	to     *matrix.Builder
	levels [][]int32     // by input: from the codes of a categorical column to resolved ones
	mixed  []int         // the inputs that blocks which are not dense read
	trees  []packedTrees // by block; without rows for all but trees that read numeric inputs alone and are not too large
	row    Encoded       // scratch
	alone  bool          // one goroutine encodes
}

// packedTrees are the trees of a block.
type packedTrees struct {
	rows   *trees.Rows
	inputs []int
	first  []uint32 // by tree: the column of its first leaf
}

func newPackedTrees(block *LeavesBlock, first uint32) packedTrees {
	p := packedTrees{rows: block.rows(nil), inputs: block.Inputs}
	for i := range block.Trees {
		p.first = append(p.first, first)
		first += uint32(block.Trees[i].Leaves())
	}
	return p
}

// complete reports whether a row has all values that the trees read.
func (p *packedTrees) complete(row *Encoded) bool {
	for _, k := range p.inputs {
		if math.IsNaN(row.numbers[k]) {
			return false
		}
	}
	return true
}

func newPacking(m *Map, t *table.Table, rows []int, s matrix.Storage) (*packing, error) {
	if err := m.Check(t); err != nil {
		return nil, err
	}
	p := &packing{m: m, t: t, rows: rows, to: matrix.NewBuilder(m.Layout(), s), levels: make([][]int32, len(m.Inputs))}
	for k := range m.Inputs {
		if in := &m.Inputs[k]; in.Kind == schema.Categorical {
			p.levels[k] = in.Levels(t.Columns[in.Column].Dictionary)
		}
	}
	p.trees = make([]packedTrees, len(m.Blocks))
	reads := make([]bool, numberCount(m))
	for i, b := range m.Blocks {
		if b, ok := b.(*LeavesBlock); ok && len(b.Codes) == 0 {
			p.trees[i] = newPackedTrees(b, uint32(m.runs[i].first))
		}
		if !m.runs[i].dense {
			b.reads(reads)
		}
	}
	for k, read := range reads {
		if read {
			p.mixed = append(p.mixed, k)
		}
	}
	return p, nil
}

// checkMemory returns an error if a matrix takes more memory than is free and than the table will release.
func checkMemory(m *Map, t *table.Table, rows int, s matrix.Storage, released int64) error {
	bytes := rowBytes(m, t, s)
	short := memory.Shortage(fmt.Sprintf("a matrix of %d rows by %d columns", rows, m.cols), bytes*int64(rows)-released,
		func(free int64) string { return fmt.Sprintf("about %d rows fit", (free+released)/bytes) })
	if short == nil {
		return nil
	}
	short.File = t.File
	return short
}

// MatrixBytes returns about the memory of a matrix of some rows, and of what a solver keeps for them.
func (m *Map) MatrixBytes(t *table.Table, rows int, s matrix.Storage) int64 {
	return rowBytes(m, t, s) * int64(rows)
}

// rowBytes returns about the memory of a row in a matrix.
func rowBytes(m *Map, t *table.Table, s matrix.Storage) int64 {
	size := int64(4)
	if s == matrix.Float64 {
		size = 8
	}
	bytes := int64(72) // for each row: its number, its weight, and the scores that a solver keeps
	for i, b := range m.Blocks {
		switch spec := b.Spec(); {
		case m.runs[i].dense:
			bytes += size * int64(spec.Cols)
		case spec.Kind == matrix.Sparse:
			bytes += (4 + size) * int64(len(t.Sparse.Index)) / int64(max(t.Rows(), 1))
		default:
			bytes += int64(len(spec.Groups))
		}
	}
	return bytes
}

// batchRows returns the number of rows of a batch: as many as keep its columns in the second-level cache
// (2^15 values are 256 KB).
func (p *packing) batchRows() int {
	const values, least, most = 1 << 15, 64, 1 << 9
	return max(least, min(most, values/(numberCount(p.m)+1)))
}

// costly reports whether encoding is slow enough for several goroutines.
func (p *packing) costly() bool {
	return slices.ContainsFunc(p.m.Blocks, func(b Block) bool {
		switch b.(type) {
		case *ScorecardBlock, *LeavesBlock:
			return true
		}
		return false
	})
}

// addBatch packs the rows of a batch.
func (p *packing) addBatch(b *batch) error {
	if b.done {
		for i := range b.Sources {
			b.Sources[i] += p.first
		}
		p.to.AddBatch(&b.Batch)
		return nil
	}
	for _, row := range b.Sources {
		if err := p.addRow(row); err != nil {
			return err
		}
	}
	return nil
}

// addRow encodes and packs a row.
func (p *packing) addRow(row int) error {
	e := &p.row
	if err := p.m.Encode(p.t, row, e); err != nil {
		return err
	}
	class := p.t.Label[row]
	if class == table.Unknown {
		e := errorAt(p.t, row)
		e.Found, e.Expected = "a row without a label", "a label in every training row"
		return e
	}
	p.to.Add(class == table.Positive, e.Dense, e.Cols, e.Values, trees.WeightAt(p.t.Weight, row), p.first+row)
	return nil
}

// run encodes and packs all rows. It calls before with each batch before that is packed.
func (p *packing) run(ctx context.Context, before func(b *batch)) (*matrix.Matrix, error) {
	if err := p.addRows(ctx, before); err != nil {
		return nil, err
	}
	return p.to.Build()
}

// addRows encodes and packs the rows of the table.
func (p *packing) addRows(ctx context.Context, before func(b *batch)) error {
	return p.encodeRows(ctx, func(b *batch) error {
		before(b)
		return p.addBatch(b)
	})
}

// encodeRows encodes the rows of the table and calls do with each batch, in their order.
func (p *packing) encodeRows(ctx context.Context, do func(b *batch) error) error {
	rows, size := rowCount(p.t, p.rows), p.batchRows()
	batches := (rows + size - 1) / size
	workers := 1
	if p.costly() && !p.alone {
		workers = min(runtime.GOMAXPROCS(0), batches)
	}
	ahead := parallel.NewOrdered(batches, workers, func() *batch { return p.newBatch(size) },
		func(i int, b *batch) { b.encode(p, i*size, size) })
	defer ahead.Stop()
	for b := ahead.Next(); b != nil; b = ahead.Next() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := do(b); err != nil {
			return err
		}
	}
	return nil
}

// Matrix encodes some rows of a labelled table (nil: all) into a matrix with the given storage. A row's
// source in the matrix is its number in the table, from 0.
func (m *Map) Matrix(t *table.Table, rows []int, s matrix.Storage) (*matrix.Matrix, error) {
	return m.MatrixContext(context.Background(), t, rows, s)
}

// MatrixContext is Matrix with a context. If ctx ends, it returns the cause.
func (m *Map) MatrixContext(ctx context.Context, t *table.Table, rows []int, s matrix.Storage) (*matrix.Matrix, error) {
	p, err := newPacking(m, t, rows, s)
	if err != nil {
		return nil, err
	}
	if err := checkMemory(m, t, rowCount(t, rows), s, 0); err != nil {
		return nil, err
	}
	return p.run(ctx, func(*batch) {})
}

// MatrixOf is MatrixContext for all rows, which may stay in a file.
func (m *Map) MatrixOf(ctx context.Context, f *table.Frame, s matrix.Storage) (*matrix.Matrix, error) {
	p, err := newPacking(m, f.Shape(), nil, s)
	if err != nil {
		return nil, err
	}
	if err := checkMemory(m, p.t, f.Rows(), s, 0); err != nil {
		return nil, err
	}
	err = f.Scan(m.InputColumns(), func(t *table.Table, first int) error {
		p.t, p.first = t, first
		return p.addRows(ctx, func(*batch) {})
	})
	if err != nil {
		return nil, err
	}
	return p.to.Build()
}

// InputColumns returns the places of the columns that the map reads.
func (m *Map) InputColumns() []int {
	list := make([]int, 0, len(m.Inputs))
	for k := range m.Inputs {
		if !m.Sparse {
			list = append(list, m.Inputs[k].Column)
		}
	}
	return list
}

// MatrixPart is Matrix for all rows of a table that may have rows of one class alone.
func (m *Map) MatrixPart(t *table.Table, s matrix.Storage) (*matrix.Matrix, error) {
	p, err := newPacking(m, t, nil, s)
	if err != nil {
		return nil, err
	}
	if err := checkMemory(m, t, t.Rows(), s, 0); err != nil {
		return nil, err
	}
	p.to.Part()
	return p.run(context.Background(), func(*batch) {})
}

// Consume is Matrix for all rows of a table that is not needed any more. It releases packed columns while the
// matrix grows, so that memory does not have to hold both. Afterwards the table has no columns, but labels,
// lines and weights.
func (m *Map) Consume(ctx context.Context, t *table.Table, s matrix.Storage) (*matrix.Matrix, error) {
	defer func() { t.Columns = nil }()
	p, err := newPacking(m, t, nil, s)
	if err != nil {
		return nil, err
	}
	released := int64(0)
	if t.Sparse == nil {
		released = t.FeatureBytes()
	}
	if err := checkMemory(m, t, t.Rows(), s, released); err != nil {
		return nil, err
	}
	return p.run(ctx, func(b *batch) { t.Release(b.Sources[0]) })
}
