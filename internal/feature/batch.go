package feature

import (
	"toptau/internal/matrix"
	"toptau/internal/table"
)

// batch is some rows of a table on their way into a matrix. It keeps its memory for the next ones.
type batch struct {
	matrix.Batch
	done bool // the rows are encoded; otherwise only their Sources are told

	numbers [][]float64 // by input: the resolved rows, as in Encoded
	codes   [][]int32
	scaled  [][]float64 // space for Dense
	row     Encoded
}

// encode overwrites b with rows of the packing, from the first on, at most size.
func (b *batch) encode(p *packing, first, size int) {
	n := min(size, rowCount(p.t, p.rows)-first)
	b.Sources = b.Sources[:0]
	for i := range n {
		b.Sources = append(b.Sources, rowAt(p.rows, first+i))
	}
	b.done = b.classes(p.t) && b.resolve(p) && b.encodeEntries(p) && b.encodeDense(p.m)
}

// classes tells labels and weights; false when a label is not known.
func (b *batch) classes(t *table.Table) bool {
	b.Positive, b.Weights = b.Positive[:0], b.Weights[:0]
	for _, row := range b.Sources {
		if t.Label[row] == table.Unknown {
			return false
		}
		b.Positive = append(b.Positive, t.Label[row] == table.Positive)
		if t.Weight != nil {
			b.Weights = append(b.Weights, t.Weight[row])
		}
	}
	if t.Weight == nil {
		b.Weights = nil
	}
	return true
}

// resolve is Map.resolve for all rows; false when it would fail.
func (b *batch) resolve(p *packing) bool {
	n, m := len(b.Sources), p.m
	b.numbers, b.codes = b.numbers[:0], b.codes[:0]
	consecutive := consecutive(b.Sources)
	for k := range m.Inputs {
		in := &m.Inputs[k]
		column := &p.t.Columns[in.Column]
		if in.Kind == Numeric {
			b.numbers, b.codes = extended(b.numbers, n), append(b.codes, nil)
			if values := b.numbers[k]; consecutive {
				column.ReadValues(b.Sources[0], values)
			} else {
				for i, row := range b.Sources {
					values[i] = column.Value(row)
				}
			}
			if !m.resolveNumbers(in, b.numbers[k]) {
				return false
			}
			continue
		}
		b.numbers, b.codes = append(b.numbers, nil), extended(b.codes, n)
		if codes := b.codes[k]; consecutive {
			column.ReadCodes(b.Sources[0], codes)
		} else {
			for i, row := range b.Sources {
				codes[i] = column.Code(row)
			}
		}
		if !m.resolveCodes(p.levels[k], b.codes[k]) {
			return false
		}
	}
	return true
}

func consecutive(rows []int) bool {
	for i, row := range rows {
		if row != rows[0]+i {
			return false
		}
	}
	return true
}

// extended appends a list of n elements, in the memory of the list that was there before if it suffices.
func extended[T any](lists [][]T, n int) [][]T {
	if k := len(lists); k < cap(lists) && cap(lists[:k+1][k]) >= n {
		lists = lists[:k+1]
		lists[k] = lists[k][:n]
		return lists
	}
	return append(lists, make([]T, n))
}

// resolveNumbers replaces missing values by their stand-in.
func (m *Map) resolveNumbers(in *Input, values []float64) bool {
	for i, x := range values {
		if x == x {
			continue
		}
		switch m.Impute {
		case ImputeError:
			return false
		case ImputeOwn:
		default:
			values[i] = in.Fill
		}
	}
	return true
}

// resolveCodes turns codes of a column into resolved ones.
func (m *Map) resolveCodes(levels, codes []int32) bool {
	for i, c := range codes {
		switch {
		case c >= 0:
			codes[i] = levels[c]
		case m.Impute == ImputeError:
			return false
		case m.Impute == ImputeMedian:
			codes[i] = 0 // the most frequent category
		default:
			codes[i] = codeMissing
		}
	}
	return true
}

// encodeEntries encodes the blocks that are not dense, row by row; false when one fails.
func (b *batch) encodeEntries(p *packing) bool {
	e := &b.row
	e.reset(p.m)
	b.Ends = b.Ends[:0]
	if p.m.dense == p.m.cols {
		b.Ends = nil
		return true
	}
	for i, row := range b.Sources {
		for k, mixed := range p.mixed {
			switch {
			case !mixed:
			case b.numbers[k] != nil:
				e.numbers[k] = b.numbers[k][i]
			default:
				e.codes[k] = b.codes[k][i]
			}
		}
		for j, block := range p.m.Blocks {
			if !p.m.runs[j].dense && block.encode(p.m, p.t, row, uint32(p.m.runs[j].first), e) != nil {
				return false
			}
		}
		b.Ends = append(b.Ends, len(e.Cols))
	}
	b.Cols, b.Values = e.Cols, e.Values
	return true
}

// encodeDense encodes the dense blocks; false when a value is too large.
func (b *batch) encodeDense(m *Map) bool {
	b.Dense = b.scaled[:0]
	for _, block := range m.Blocks {
		n, ok := block.(*NumericBlock)
		if !ok {
			continue
		}
		for i, k := range n.Inputs {
			b.Dense = extended(b.Dense, len(b.Sources))
			if !n.encodeColumn(i, b.numbers[k], b.Dense[len(b.Dense)-1]) {
				return false
			}
		}
	}
	b.scaled = b.Dense
	return true
}

// encodeColumn is encode for one input and all rows of a batch; false when a value is too large.
func (b *NumericBlock) encodeColumn(i int, x, dst []float64) bool {
	shift, scale := 0.0, 1.0 // x - 0 and x / 1 are x, bit for bit
	if b.Scale != nil {
		shift, scale = b.Shift[i], b.Scale[i]
	}
	finite := true
	for k, v := range x {
		if v == v {
			v = (v - shift) / scale
			finite = finite && fits(v)
		} else {
			v = 0
		}
		dst[k] = v
	}
	return finite
}
