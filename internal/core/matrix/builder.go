package matrix

import (
	"fmt"
	"math"
	"strconv"

	"toptau/diag"
	"toptau/internal/core/kernel"
)

// Builder packs rows into the blocks of a Matrix. Build returns the first error; rows after it are ignored.
type Builder struct {
	layout  Layout
	dense   int // columns of all dense blocks
	classes [2]classBuilder
	part    bool // rows of one class suffice
	err     error
}

// classBuilder packs the rows of one class.
type classBuilder struct {
	blocks    []growing // one for each block of the layout
	weights   []float64 // nil while all are 1
	sources   []uint32
	blockCols []uint32 // scratch: columns counted from the block's first
	rows      []int32  // scratch: the rows of a batch that are of this class
}

// growing is a block under construction. One field is not nil.
type growing struct {
	dense interface {
		add(values []float64) int
		appendColumns(columns [][]float64, rows []int32) (finite bool)
	}
	sparse interface {
		add(cols []uint32, values []float64) int
		flush()
	}
	coded *coded
}

// NewBuilder returns a Builder for matrices with a layout. Build returns an error for a Coded block that is not valid.
func NewBuilder(l Layout, s Storage) *Builder {
	b := &Builder{layout: l}
	for _, spec := range l {
		if spec.Kind == Dense {
			b.dense += spec.Cols
		}
	}
	for k := range b.classes {
		for _, spec := range l {
			g, err := newGrowing(spec, s)
			if err != nil {
				b.err = err
			}
			b.classes[k].blocks = append(b.classes[k].blocks, g)
		}
	}
	return b
}

func newGrowing(spec BlockSpec, s Storage) (growing, error) {
	switch {
	case spec.Kind == Coded:
		coded, err := newCoded(spec, s)
		return growing{coded: coded}, err
	case spec.Kind == Dense && s == Float32:
		return growing{dense: &dense[float32]{width: spec.Cols}}, nil
	case spec.Kind == Dense:
		return growing{dense: &dense[float64]{width: spec.Cols}}, nil
	case s == Float32:
		return growing{sparse: &sparse[float32]{width: spec.Cols}}, nil
	default:
		return growing{sparse: &sparse[float64]{width: spec.Cols}}, nil
	}
}

// ValueError is the error for a value that cannot be stored.
type ValueError struct {
	Source int     // 0-based row number in the user's data
	Col    int     // 0-based column of the matrix
	Value  float64 // as given, before rounding
}

func (e *ValueError) Error() string {
	if math.IsNaN(e.Value) || math.IsInf(e.Value, 0) {
		return fmt.Sprintf("row %d, feature %d: %v is not a finite number", e.Source+1, e.Col+1, e.Value)
	}
	return fmt.Sprintf("row %d, feature %d: %g is too large for float32 (scale the column)", e.Source+1, e.Col+1, e.Value)
}

// Add appends a row. dense holds the values of all Dense blocks in order; cols (ascending column numbers of the whole
// matrix) and values hold the entries of the Sparse and Coded blocks. weight is the row's importance, positive and
// finite; source is its 0-based number in the user's data, for messages and certificates. The slices are not kept.
func (b *Builder) Add(positive bool, dense []float64, cols []uint32, values []float64, weight float64, source int) {
	if b.err == nil {
		b.err = b.add(positive, dense, cols, values, weight, source)
	}
}

func (b *Builder) add(positive bool, dense []float64, cols []uint32, values []float64, weight float64, source int) error {
	c := b.class(positive)
	switch {
	case len(dense) != b.dense:
		return fmt.Errorf("row %d: %d dense values for %d columns", source+1, len(dense), b.dense)
	case len(cols) != len(values):
		return fmt.Errorf("row %d: %d columns for %d values", source+1, len(cols), len(values))
	}
	if err := c.checkRow(weight, source); err != nil {
		return err
	}
	if err := c.addDense(b.layout, dense, source); err != nil {
		return err
	}
	if err := c.addEntries(b.layout, cols, values, source); err != nil {
		return err
	}
	c.addRow(weight, source)
	return nil
}

func (b *Builder) class(positive bool) *classBuilder {
	if positive {
		return &b.classes[0]
	}
	return &b.classes[1]
}

// checkRow returns an error for a row number or a weight that is not valid.
func (c *classBuilder) checkRow(weight float64, source int) error {
	switch {
	case len(c.sources) >= math.MaxInt32:
		return &diag.Error{Kind: diag.Data, Found: fmt.Sprintf("more than %d rows of one class", math.MaxInt32)}
	case source < 0 || int64(source) > math.MaxUint32:
		return &diag.Error{Kind: diag.Data, Found: fmt.Sprintf("row number %d", source+1),
			Expected: "at most 4294967296 rows"}
	case !(weight > 0) || math.IsInf(weight, 1):
		return &diag.Error{Kind: diag.Data, Found: fmt.Sprintf("row %d: weight %v", source+1, weight),
			Expected: "a positive, finite weight"}
	}
	return nil
}

// addDense adds the row to the dense blocks.
func (c *classBuilder) addDense(l Layout, values []float64, source int) error {
	first := 0 // the block's first column
	for k, spec := range l {
		if spec.Kind == Dense {
			if j := c.blocks[k].dense.add(values[:spec.Cols]); j >= 0 {
				return badValue(source, first+j, values[j])
			}
			values = values[spec.Cols:]
		}
		first += spec.Cols
	}
	return nil
}

// addEntries adds the row to the other blocks.
func (c *classBuilder) addEntries(l Layout, cols []uint32, values []float64, source int) error {
	first := 0 // the block's first column
	for k, spec := range l {
		end := first + spec.Cols
		if spec.Kind != Dense {
			n, least := 0, int64(first)
			for n < len(cols) && int64(cols[n]) < int64(end) {
				if int64(cols[n]) < least {
					return fmt.Errorf("row %d: column %d does not ascend within its block", source+1, cols[n])
				}
				least = int64(cols[n]) + 1
				n++
			}
			j, err := c.blocks[k].addEntries(c.fromFirst(cols[:n], uint32(first)), values[:n])
			if j >= 0 {
				return badValue(source, int(cols[j]), values[j])
			}
			if err != nil {
				return fmt.Errorf("row %d: %w", source+1, err)
			}
			cols, values = cols[n:], values[n:]
		}
		first = end
	}
	if len(cols) > 0 {
		return fmt.Errorf("row %d: column %d is not in a sparse or coded block", source+1, cols[0])
	}
	return nil
}

// fromFirst returns column numbers counted from a block's first column.
func (c *classBuilder) fromFirst(cols []uint32, first uint32) []uint32 {
	if first == 0 {
		return cols
	}
	c.blockCols = c.blockCols[:0]
	for _, j := range cols {
		c.blockCols = append(c.blockCols, j-first)
	}
	return c.blockCols
}

// addEntries appends a row to a block that is not dense.
func (g growing) addEntries(cols []uint32, values []float64) (bad int, err error) {
	if g.coded != nil {
		return g.coded.add(cols, values)
	}
	return g.sparse.add(cols, values), nil
}

func badValue(source, col int, value float64) error {
	return &diag.Error{Kind: diag.Data, Column: strconv.Itoa(col + 1),
		Err: &ValueError{Source: source, Col: col, Value: value}}
}

// addRow adds the weight and number of a row after its values. No weights are stored while all are 1.
func (c *classBuilder) addRow(weight float64, source int) {
	if c.weights == nil && weight != 1 {
		c.weights = make([]float64, len(c.sources), 2*len(c.sources)+kernel.PanelRows)
		for i := range c.weights {
			c.weights[i] = 1
		}
	}
	if c.weights != nil {
		c.weights = append(c.weights, weight)
	}
	c.sources = append(c.sources, uint32(source))
}

// Part makes Build accept rows of one class only: they are a part of the data.
func (b *Builder) Part() { b.part = true }

// Build returns the matrix. It returns the first error of a row, or an error when a class or all columns are missing. The
// Builder must not be used afterwards.
func (b *Builder) Build() (*Matrix, error) {
	switch {
	case b.err != nil:
		return nil, b.err
	case b.part:
	case len(b.classes[0].sources) == 0:
		return nil, &diag.Error{Kind: diag.Data, Found: "no positive row", Expected: "rows of both classes",
			Hint: "check the label column and the positive class"}
	case len(b.classes[1].sources) == 0:
		return nil, &diag.Error{Kind: diag.Data, Found: "no negative row", Expected: "rows of both classes",
			Hint: "check the label column and the positive class"}
	case b.layout.Cols() == 0:
		return nil, &diag.Error{Kind: diag.Data, Found: "no feature", Expected: "at least one column that varies"}
	}
	return &Matrix{Positives: b.classes[0].build(), Negatives: b.classes[1].build()}, nil
}

func (c *classBuilder) build() *ClassRows {
	blocks := make([]block, len(c.blocks))
	for k, g := range c.blocks {
		switch {
		case g.dense != nil:
			blocks[k] = g.dense.(block)
		case g.coded != nil:
			g.coded.flush()
			blocks[k] = g.coded
		default:
			g.sparse.flush()
			blocks[k] = g.sparse.(block)
		}
	}
	return newClassRows(blocks, len(c.sources), c.weights, c.sources)
}

// FromDense packs rows x with labels y (true for positives) into one dense block. All rows must have the same length. weights
// may be nil when all are 1.
func FromDense(x [][]float64, y []bool, weights []float64, s Storage) (*Matrix, error) {
	cols := 0
	if len(x) > 0 {
		cols = len(x[0])
	}
	if len(y) != len(x) || weights != nil && len(weights) != len(x) {
		return nil, fmt.Errorf("%d rows, %d labels, %d weights", len(x), len(y), len(weights))
	}
	b := NewBuilder(Layout{{Kind: Dense, Cols: cols}}, s)
	for i, row := range x {
		weight := 1.0
		if weights != nil {
			weight = weights[i]
		}
		b.Add(y[i], row, nil, nil, weight, i)
	}
	return b.Build()
}
