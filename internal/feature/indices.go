package feature

import (
	"fmt"
	"slices"

	"toptau/diag"
	"toptau/internal/table"
	"toptau/internal/text"
	"toptau/schema"
)

// Scorecards and trees read each index of a LIBSVM table as a numeric input. It is 0 in rows without the
// index. Input.Column is the index minus 1.

// Indices are expanded to columns of all rows if there are at most maxIndexColumns of them and the values
// fit: 16 million and four for each entry, but at most maxIndexCells. Chosen by hand: 2^26 values take 512
// MB.
const (
	maxIndexColumns = 1 << 17
	leastIndexCells = 1 << 24
	maxIndexCells   = 1 << 26
)

// indexCells returns the largest number of values to which the indices of a table are expanded.
func indexCells(s *table.Sparse) int { return min(leastIndexCells+4*len(s.Index), maxIndexCells) }

// Encodable reports whether encodings other than raw can be fitted to a table: it has a numeric column, or so
// few LIBSVM indices that they can be expanded to columns.
func Encodable(t *table.Table) bool {
	if s := t.Sparse; s != nil {
		return s.Cols > 0 && s.Cols <= min(maxIndexColumns, indexCells(s)/max(t.Rows(), 1))
	}
	return slices.ContainsFunc(t.Columns, func(c table.Column) bool { return c.Kind != schema.Categorical })
}

// indexColumns returns a LIBSVM table with a column for each index.
func indexColumns(t *table.Table, e Encode) (*table.Table, error) {
	s := t.Sparse
	if !Encodable(t) {
		return nil, &diag.Error{Kind: diag.Usage, Param: "encoding",
			Found:    fmt.Sprintf("%s for %s rows with %s indices", e, text.Count(t.Rows()), text.Count(s.Cols)),
			Expected: fmt.Sprintf("at most %s indices and %s values, each index counted in each row", text.Count(maxIndexColumns), text.Count(indexCells(s))),
			Fixes:    []diag.Fix{{Param: "encoding", Value: string(schema.Raw)}}}
	}
	out := *t
	out.Sparse, out.Columns = nil, make([]table.Column, s.Cols)
	values := make([]float64, s.Cols*t.Rows())
	for j := range out.Columns {
		out.Columns[j] = table.Column{Name: indexName(uint32(j + 1)), Number: j + 1, Values: values[j*t.Rows():][:t.Rows()]}
	}
	for row := range t.Rows() {
		for e := s.Start[row]; e < s.Start[row+1]; e++ {
			out.Columns[s.Index[e]].Values[row] = s.Value[e]
		}
	}
	return &out, nil
}

// resolveIndices writes the inputs' values of a row of indices to dst.numbers. It counts indices that do not
// occur in the training data unless a sparse block counts them.
func (m *Map) resolveIndices(s *table.Sparse, row int, dst *Encoded) {
	clear(dst.numbers)
	k := 0
	for e := s.Start[row]; e < s.Start[row+1]; e++ {
		column := int(s.Index[e])
		for k < len(m.Inputs) && m.Inputs[k].Column < column {
			k++
		}
		switch {
		case k < len(m.Inputs) && m.Inputs[k].Column == column:
			dst.numbers[k] = s.Value[e]
		case len(m.Inputs) > 0 && m.sparseBlock() == nil && s.Value[e] != 0 && !m.dropped(column):
			dst.countUnknownIndex()
		}
	}
}

// sparseBlock returns the block of raw indices, nil if there is none.
func (m *Map) sparseBlock() *SparseBlock {
	for _, b := range m.Blocks {
		if b, ok := b.(*SparseBlock); ok {
			return b
		}
	}
	return nil
}

// dropped reports whether a column of the training data is not in use.
func (m *Map) dropped(column int) bool {
	_, found := slices.BinarySearchFunc(m.Dropped, column, func(d Dropped, column int) int { return d.Column - column })
	return found
}

// inputOf returns the input of an index, counted from 1; -1 for none.
func (m *Map) inputOf(index uint32) int {
	k, found := slices.BinarySearchFunc(m.Inputs, int(index)-1, func(in Input, column int) int { return in.Column - column })
	if !m.Sparse || !found {
		return -1
	}
	return k
}

// checkIndices checks a map of indices.
func (m *Map) checkIndices() error {
	for k := range m.Inputs {
		if m.Inputs[k].Kind != schema.Numeric {
			return fmt.Errorf("index %q is not numeric", m.Inputs[k].Name)
		}
	}
	for _, b := range m.Blocks {
		switch b.(type) {
		case *SparseBlock, *ScorecardBlock, *LeavesBlock:
		default:
			return fmt.Errorf("a %s block of indices", b.Kind())
		}
	}
	return nil
}

// resolveIndices is Map.resolveIndices for all rows of a batch.
func (b *batch) resolveIndices(p *packing) {
	if len(p.m.Inputs) == 0 {
		return
	}
	n, e := len(b.Sources), &b.row
	e.reset(p.m)
	for k := range p.m.Inputs {
		b.numbers[k] = b.space[k*n : (k+1)*n]
	}
	for i, row := range b.Sources {
		p.m.resolveIndices(p.t.Sparse, row, e)
		for k, x := range e.numbers {
			b.numbers[k][i] = x
		}
	}
}
