package feature

import (
	"math"

	"toptau/internal/core/kernel"
	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
	"toptau/internal/models/feature/trees"
	"toptau/schema"
)

// batch is some rows of a table that are encoded for a matrix. The next rows reuse its memory.
type batch struct {
	matrix.Batch
	done bool // the rows are encoded; otherwise only Sources is set

	inputs
	denseSpace []float64
	leaves     [][]uint32     // by block of trees: the columns of a row's leaves, row by row
	treeSpace  []*trees.Space // by block of trees
	row        Encoded
}

// newBatch returns a batch with memory for a number of rows.
func (p *packing) newBatch(rows int) *batch {
	return &batch{inputs: newInputs(p.m, rows), denseSpace: make([]float64, p.m.dense*rows)}
}

// encode overwrites b with at most size rows of the packing, from the first on.
func (b *batch) encode(p *packing, first, size int) {
	n := min(size, rowCount(p.t, p.rows)-first)
	b.Sources = b.Sources[:0]
	for i := range n {
		b.Sources = append(b.Sources, rowAt(p.rows, first+i))
	}
	b.done = b.classify(p.t) && b.resolveRows(p) && b.encodeEntries(p) && b.encodeDense(p.m)
}

// classify reads labels and weights. It returns false if a label is unknown.
func (b *batch) classify(t *table.Table) bool {
	b.Positive, b.Weights = b.Positive[:0], b.Weights[:0]
	for _, row := range b.Sources {
		if t.Label[row] == table.Unknown {
			return false
		}
		b.Positive = append(b.Positive, t.Label[row] == table.Positive)
		b.Weights = append(b.Weights, trees.WeightAt(t.Weight, row))
	}
	return true
}

// inputs are the resolved values of some rows by column, as Encoded has those of one.
type inputs struct {
	numbers [][]float64 // by input and derived column
	codes   [][]int32   // by input; nil for numbers
	space   []float64   // for numbers that are unpacked, imputed or derived
	most    int         // rows
}

func newInputs(m *Map, most int) inputs {
	k := numberCount(m)
	return inputs{make([][]float64, k), make([][]int32, len(m.Inputs)), make([]float64, k*most), most}
}

// resolve is Encoded.resolve for some rows. levels has, by input, the resolved values of codes. It returns false for a missing value under
// schema.ImputeError.
func (x *inputs) resolve(m *Map, t *table.Table, rows []int, levels [][]int32, impute schema.Impute) bool {
	n, adjacent := len(rows), adjacent(rows)
	for k := range m.Inputs {
		in := &m.Inputs[k]
		column := &t.Columns[in.Column]
		if in.Kind == schema.Categorical {
			if x.codes[k] == nil {
				x.codes[k] = make([]int32, x.most)
			}
			x.codes[k] = x.codes[k][:n]
			if adjacent {
				column.ReadCodes(rows[0], x.codes[k])
			} else {
				for i, row := range rows {
					x.codes[k][i] = column.Code(row)
				}
			}
			if !resolveCodes(levels[k], x.codes[k], impute) {
				return false
			}
			continue
		}
		space := x.space[k*x.most:][:n]
		if adjacent {
			x.numbers[k] = column.Range(rows[0], n, space)
		} else {
			x.numbers[k] = space
			for i, row := range rows {
				space[i] = column.Value(row)
			}
		}
		if impute == schema.ImputeIndicator || complete(x.numbers[k]) {
			continue
		}
		if impute == schema.ImputeError {
			return false
		}
		fill(space, x.numbers[k], in.Fill)
		x.numbers[k] = space
	}
	deriveRows(m, x.numbers, func(input int) []float64 { return x.space[input*x.most:][:n] })
	return true
}

// adjacent reports whether rows follow each other in the table.
func adjacent(rows []int) bool {
	for i, row := range rows {
		if row != rows[0]+i {
			return false
		}
	}
	return true
}

// fill copies values to dst and replaces missing ones by standIn.
func fill(dst, values []float64, standIn float64) {
	for i, x := range values {
		if math.IsNaN(x) {
			x = standIn
		}
		dst[i] = x
	}
}

// resolveCodes turns codes of a column into resolved ones. It returns false for a missing value under
// schema.ImputeError.
func resolveCodes(levels, codes []int32, policy schema.Impute) bool {
	for i, c := range codes {
		switch {
		case c >= 0:
			codes[i] = levels[c]
		case policy == schema.ImputeError:
			return false
		case policy == schema.ImputeMedian:
			codes[i] = 0 // the most frequent category
		default:
			codes[i] = codeMissing
		}
	}
	return true
}

// encodeEntries encodes the blocks that are not dense, row by row. It returns false if one fails.
func (b *batch) encodeEntries(p *packing) bool {
	if p.m.dense == p.m.cols {
		return true
	}
	e := &b.row
	e.reset(p.m)
	b.Ends = b.Ends[:0]
	b.findLeaves(p)
	for i, row := range b.Sources {
		for _, k := range p.mixed {
			if b.numbers[k] != nil {
				e.numbers[k] = b.numbers[k][i]
			} else {
				e.codes[k] = b.codes[k][i]
			}
		}
		for j, block := range p.m.Blocks {
			switch {
			case p.m.runs[j].dense:
			case p.trees[j].rows != nil && p.trees[j].complete(e):
				e.addOnes(b.leaves[j][i*len(p.trees[j].first):][:len(p.trees[j].first)])
			case block.encode(p.m, p.t, row, uint32(p.m.runs[j].first), e) != nil:
				return false
			}
		}
		b.Ends = append(b.Ends, len(e.Cols))
	}
	b.Cols, b.Values = e.Cols, e.Values
	return true
}

// findLeaves finds the leaves of the rows in blocks of trees that read numeric inputs alone. Those of rows with
// missing values are wrong.
func (b *batch) findLeaves(p *packing) {
	if b.leaves == nil {
		b.leaves, b.treeSpace = make([][]uint32, len(p.trees)), make([]*trees.Space, len(p.trees))
	}
	n := len(b.Sources)
	for j := range p.trees {
		t := &p.trees[j]
		if t.rows == nil {
			continue
		}
		if b.treeSpace[j] == nil {
			b.treeSpace[j] = t.rows.NewSpace()
		}
		count := len(t.first)
		if len(b.leaves[j]) < n*count {
			b.leaves[j] = make([]uint32, n*count)
		}
		for first := 0; first < n; first += trees.BatchRows {
			to := b.leaves[j][first*count:]
			t.rows.Leaves(b.numbers, first, min(trees.BatchRows, n-first), b.treeSpace[j], func(tree int, leaves []uint8) {
				column := t.first[tree]
				for row, leaf := range leaves {
					to[row*count+tree] = column + uint32(leaf)
				}
			})
		}
	}
}

// encodeDense encodes the dense blocks. It returns false if a value is too large.
func (b *batch) encodeDense(m *Map) bool {
	n := len(b.Sources)
	b.Dense = b.Dense[:0]
	for _, block := range m.Blocks {
		block, ok := block.(*NumericBlock)
		if !ok {
			continue
		}
		for i, k := range block.Inputs {
			column := b.denseSpace[len(b.Dense)*n:][:n]
			if !block.encodeColumn(i, b.numbers[k], column) {
				return false
			}
			b.Dense = append(b.Dense, column)
		}
	}
	return true
}

// encodeColumn is encode for one input and all rows of a batch. It returns false if a value is too large.
func (b *NumericBlock) encodeColumn(i int, x, dst []float64) bool {
	shift, scale := 0.0, 1.0 // x - 0 and x / 1 are x, bit for bit
	if b.Scale != nil {
		shift, scale = b.Shift[i], b.Scale[i]
	}
	if kernel.Standardise(x, dst, shift, scale) {
		return true
	}
	for k, v := range x {
		if math.IsNaN(v) {
			dst[k] = 0
		} else if !fits(dst[k]) {
			return false
		}
	}
	return true
}

// resolveRows is Encoded.resolve for all rows. It returns false if that would fail.
func (b *batch) resolveRows(p *packing) bool {
	if !p.m.Sparse {
		return b.resolve(p.m, p.t, b.Sources, p.levels, p.m.Impute)
	}
	if len(p.m.Inputs) == 0 {
		return true
	}
	n, e := len(b.Sources), &b.row
	e.reset(p.m)
	for k := range b.numbers {
		b.numbers[k] = b.space[k*b.most:][:n]
	}
	for i, row := range b.Sources {
		e.resolveIndices(p.m, p.t.Sparse, row)
		derive(p.m, e.numbers)
		for k, x := range e.numbers {
			b.numbers[k][i] = x
		}
	}
	return true
}
