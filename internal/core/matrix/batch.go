package matrix

import (
	"errors"
	"slices"

	"toptau/internal/core/kernel"
)

// Batch holds some rows, with the values of the dense blocks column by column. Slices by row have as many elements as
// Positive.
type Batch struct {
	Positive []bool
	Sources  []int
	Weights  []float64   // nil when all are 1
	Dense    [][]float64 // the columns of all Dense blocks in order, each by row
	Ends     []int       // by row: the end of its entries in Cols and Values; nil where no row has any
	Cols     []uint32    // of the Sparse and Coded blocks, as in Add
	Values   []float64
}

// AddBatch appends rows in their order, with the result of Add for each. When a batch has several errors, Build may return any
// of them.
func (b *Builder) AddBatch(x *Batch) {
	if b.err == nil {
		b.err = b.addBatch(x)
	}
}

func (b *Builder) addBatch(x *Batch) error {
	if !x.fits(b.dense) {
		return errors.New("a batch with another shape than the layout")
	}
	for k := range b.classes {
		b.classes[k].rows = b.classes[k].rows[:0]
	}
	begin := 0
	for i, positive := range x.Positive {
		c, weight := b.class(positive), 1.0
		if x.Weights != nil {
			weight = x.Weights[i]
		}
		if err := c.checkRow(weight, x.Sources[i]); err != nil {
			return err
		}
		if x.Ends != nil {
			if err := c.addEntries(b.layout, x.Cols[begin:x.Ends[i]], x.Values[begin:x.Ends[i]], x.Sources[i]); err != nil {
				return err
			}
			begin = x.Ends[i]
		}
		c.addRow(weight, x.Sources[i])
		c.rows = append(c.rows, int32(i))
	}
	for k := range b.classes {
		if err := b.classes[k].addDenseColumns(b.layout, x.Dense, x.Sources); err != nil {
			return err
		}
	}
	return nil
}

// fits reports whether a batch has the given number of dense columns and slices of the right lengths.
func (x *Batch) fits(dense int) bool {
	n := len(x.Positive)
	short := func(column []float64) bool { return len(column) != n }
	return len(x.Dense) == dense && !slices.ContainsFunc(x.Dense, short) && len(x.Sources) == n &&
		(x.Weights == nil || len(x.Weights) == n) && (x.Ends == nil || len(x.Ends) == n)
}

// addDenseColumns adds this class's rows of a batch to the dense blocks. columns are those of all dense blocks in order, sources the numbers
// of the batch's rows in the data.
func (c *classBuilder) addDenseColumns(l Layout, columns [][]float64, sources []int) error {
	first := 0 // the block's first column in the matrix
	for k, spec := range l {
		if spec.Kind == Dense {
			own := columns[:spec.Cols]
			if !c.blocks[k].dense.appendColumns(own, c.rows) {
				return c.firstBad(own, first, sources)
			}
			columns = columns[spec.Cols:]
		}
		first += spec.Cols
	}
	return nil
}

// firstBad returns the error for the first value that is not finite in float32.
func (c *classBuilder) firstBad(columns [][]float64, first int, sources []int) error {
	for _, row := range c.rows {
		for j, column := range columns {
			if v := float32(column[row]); v-v != 0 {
				return badValue(sources[row], first+j, column[row])
			}
		}
	}
	return errors.New("a value that is not finite")
}

// appendColumns appends some rows of columns, panel by panel. It reports whether all values are finite after rounding.
func (d *dense[T]) appendColumns(columns [][]float64, rows []int32) (finite bool) {
	finite = true
	for len(rows) > 0 {
		r := d.rows % kernel.PanelRows
		if r == 0 {
			d.panels = append(d.panels, d.memory.alloc(d.width*kernel.PanelRows))
		}
		n := min(len(rows), kernel.PanelRows-r)
		finite = kernel.FillPanel(columns, rows[:n], d.panels[len(d.panels)-1], r) && finite
		d.rows += n
		rows = rows[n:]
	}
	return finite
}
