package feature

import (
	"fmt"
	"slices"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/schema"
)

// Scorecards and trees read each index of a LIBSVM table as a numeric input. It is 0 in rows without the
// index. Input.Column is the index minus 1.

// Indices are expanded to columns of all rows if there are at most maxIndexColumns of them and the values
// fit: 16 million and four for each entry, but at most maxIndexCells. Chosen by hand: 2^26 values take 512
// MB.
const (
	maxIndexColumns = 1 << 17
	minIndexCells   = 1 << 24
	maxIndexCells   = 1 << 26
)

// indexCells returns the largest number of values to which the indices of a table are expanded.
func indexCells(s *table.Sparse) int { return min(minIndexCells+4*len(s.Index), maxIndexCells) }

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
		out.Columns[j] = table.Column{Name: IndexName(uint32(j + 1)), Number: j + 1, Values: values[j*t.Rows():][:t.Rows()]}
	}
	for row := range t.Rows() {
		for e := s.Start[row]; e < s.Start[row+1]; e++ {
			out.Columns[s.Index[e]].Values[row] = s.Value[e]
		}
	}
	return &out, nil
}

// checkIndices checks a map of indices.
func checkIndices(m *Map) error {
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
