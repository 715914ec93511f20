// Package matrix holds the rows of a training problem in memory and reads them in passes.
//
// Positives and negatives lie apart, each in a Part. The columns of a part are its blocks' columns in order: dense panels
// of 64 rows, feature-major, padded with zeros (package kernel), compressed rows (CSR), or coded groups of columns. Every
// block keeps its rows in the same panels of 64, so a panel of the part is a panel of each of its blocks. What a block
// must offer is the interface block.
//
// Values are rounded once, to the storage type; the rounded matrix is the training problem. All passes use the exact
// arithmetic of package kernel: float64 products and sums, multiply, then add, in one order:
//
//   - a score adds the products of its row in the order of the columns, block after block;
//   - a gradient adds, for each stripe of rows, eight lanes a feature (the row's place in its panel, mod 8), reduces them at
//     the end of the stripe, and adds the stripes in ascending order.
//
// A product with a stored or an unstored zero changes nothing, and neither does a row with v = 0, so the same values give
// the same bits dense, sparse or coded, with v dense or sparse, in one pass or in two, for any number of threads.
// Stripes (stripe.go) depend on the number of columns only.
package matrix

// Storage is the type in which values are kept.
type Storage int

const (
	Float32 Storage = iota // 4 bytes a value, the default
	Float64                // 8 bytes a value: small data and reference tests
)

// BlockKind says how the columns of a block are kept.
type BlockKind int

const (
	Dense  BlockKind = iota // panels
	Sparse                  // compressed rows
	Coded                   // the level of a row in each group of columns (one-hot, bins, leaves)
)

// BlockSpec describes one block.
type BlockSpec struct {
	Kind   BlockKind
	Cols   int
	Groups []Group // of a Coded block: their levels add up to Cols (CodedSpec); nil otherwise
}

// Layout is the blocks of a matrix. The columns of the matrix are the blocks' columns in order.
type Layout []BlockSpec

// Cols is the number of columns of all blocks.
func (l Layout) Cols() int {
	cols := 0
	for _, s := range l {
		cols += s.Cols
	}
	return cols
}

// Matrix is a training problem: two parts with the same blocks.
type Matrix struct {
	Positives, Negatives *ClassRows
}

// Cols is the number of features.
func (m *Matrix) Cols() int { return m.Positives.Cols() }

// Rows is the number of rows of both classes.
func (m *Matrix) Rows() int { return m.Positives.Rows() + m.Negatives.Rows() }

// Bytes is the memory that the values, weights and row numbers take.
func (m *Matrix) Bytes() int64 { return m.Positives.Bytes() + m.Negatives.Bytes() }

// StoresFloat64 reports whether some block stores float64 values.
func (m *Matrix) StoresFloat64() bool {
	for _, b := range m.Positives.blocks {
		switch b.(type) {
		case *dense[float64], *sparse[float64]:
			return true
		}
	}
	return false
}
