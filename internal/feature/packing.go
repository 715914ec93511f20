package feature

import (
	"runtime/debug"

	"toptau/internal/matrix"
	"toptau/internal/table"
)

// packing is a matrix on its way from a table.
type packing struct {
	m   *Map
	t   *table.Table
	to  *matrix.Builder
	row Encoded
}

func (m *Map) newPacking(t *table.Table, s matrix.Storage) (*packing, error) {
	if err := m.Check(t); err != nil {
		return nil, err
	}
	return &packing{m: m, t: t, to: matrix.NewBuilder(m.Layout(), s)}, nil
}

// add encodes a row.
func (p *packing) add(row int) error {
	e := &p.row
	if err := p.m.Encode(p.t, row, e); err != nil {
		return err
	}
	class := p.t.Label[row]
	if class == table.Unknown {
		fault := at(p.t, row)
		fault.Found, fault.Expected = "a row without a label", "a label in every training row"
		return fault
	}
	p.to.Add(class == table.Positive, e.Dense, e.Cols, e.Values, weightAt(p.t.Weight, row), row)
	return nil
}

// Consume is Matrix for all rows of a table that is not needed any more: its columns, if they are packed, are given up
// while the matrix grows, so that memory does not have to hold both. Afterwards the table has none, and labels, lines
// and weights as before.
func (m *Map) Consume(t *table.Table, s matrix.Storage) (*matrix.Matrix, error) {
	defer func() { t.Columns = nil }()
	p, err := m.newPacking(t, s)
	if err != nil {
		return nil, err
	}
	const (
		often = 1 << 10  // rows
		piece = 16 << 20 // bytes that are worth a collection
	)
	freed := int64(0)
	debug.FreeOSMemory() // what reading and Fit have left
	for row := range t.Rows() {
		if row%often == 0 {
			if freed += t.Release(row); freed >= piece {
				debug.FreeOSMemory()
				freed = 0
			}
		}
		if err := p.add(row); err != nil {
			return nil, err
		}
	}
	return p.to.Build()
}
