package feature

import "math"

// indices fits a LIBSVM table. Zeros that are not written count like written ones, so with mass M of all rows and mass
// m of the rows where index j is not zero
//
//	mean = sum m_i x_i / M,   sd^2 = (sum m_i (x_i - mean)^2 + (M - m) mean^2) / M
//
// An index that is never non-zero, or equal in every row, has no weight.
func (f *fitter) indices() {
	f.m.Blocks = blocks{}
	s := f.t.Sparse
	columns := make([]sparseMoments, s.Cols)
	for i := range columns {
		columns[i].low, columns[i].high = math.Inf(1), math.Inf(-1)
	}
	f.entries(func(c *sparseMoments, x, _ float64) {
		c.rows++
		c.low, c.high = min(c.low, x), max(c.high, x)
	}, columns)
	for i := range columns {
		columns[i].unit = unit(max(math.Abs(columns[i].low), math.Abs(columns[i].high)))
	}
	total := f.mass(func(int) bool { return true })
	f.entries(func(c *sparseMoments, x, weight float64) {
		c.mass.add(weight)
		c.first.add(float64(weight * (c.unit * x)))
	}, columns)
	f.entries(func(c *sparseMoments, x, weight float64) {
		d := float64(c.unit*x) - c.first.value()/total
		c.second.add(float64(weight * (d * d)))
	}, columns)

	block := new(SparseBlock)
	for j := range columns {
		c := &columns[j]
		index := uint32(j + 1)
		sd := c.deviation(total)
		switch {
		case c.rows == 0:
			f.never++
		case sd == 0 || c.rows == len(f.rows) && c.low == c.high:
			block.Constant = append(block.Constant, index)
			f.m.Dropped = append(f.m.Dropped, Dropped{Column: j, Name: indexName(index), Reason: "constant"})
		default:
			block.Index = append(block.Index, index)
			if f.o.Scale != ScaleNone {
				block.Scale = append(block.Scale, sd)
			}
		}
	}
	f.m.Blocks = blocks{block}
}

// sparseMoments gathers one index over the rows in which it is not zero.
type sparseMoments struct {
	rows                int
	low, high, unit     float64
	mass, first, second sum
}

func (c *sparseMoments) deviation(total float64) float64 {
	if c.rows == 0 {
		return 0
	}
	mean := c.first.value() / total
	zeros := max(0, total-c.mass.value())
	return math.Sqrt((c.second.value()+float64(zeros*(mean*mean)))/total) / c.unit
}

// entries visits the non-zero entries of the training rows in order.
func (f *fitter) entries(visit func(c *sparseMoments, x, weight float64), columns []sparseMoments) {
	s := f.t.Sparse
	for i, row := range f.rows {
		weight := weightAt(f.weights, i)
		for e := s.Start[row]; e < s.Start[row+1]; e++ {
			if s.Value[e] != 0 {
				visit(&columns[s.Index[e]], s.Value[e], weight)
			}
		}
	}
}
