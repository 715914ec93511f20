// Package matrix holds the rows of a training problem in memory and reads them in passes.
//
// Positives and negatives are stored separately, each as ClassRows. Their columns are divided into blocks, which store them
// in one of three ways: dense panels of 64 rows, feature-major and padded with zeros (package kernel); compressed rows (CSR);
// or coded groups of columns (one-hot, bins, leaves). All blocks divide the rows into the same panels of 64. The interface
// block lists what a new kind of storage must implement.
//
// Values are rounded once, to the storage type; the rounded matrix is the training problem. All passes use the exact
// arithmetic of package kernel, float64 products and sums without fused multiply-add, in a fixed order:
//
//   - a score adds the products of its row in the order of the columns, block after block;
//   - a gradient keeps eight sums ("lanes") per feature, one for each row number in the panel mod 8. They are added up at the
//     end of each stripe of rows, and the stripes are added in ascending order.
//
// A product with zero, stored or not, changes nothing, and neither does a row with v = 0. So the same values give the same
// bits in any kind of block, with dense or sparse v, in one pass or in two, on any number of threads. Stripes (stripe.go)
// depend on the number of columns alone.
package matrix

// Storage is the type in which values are stored.
type Storage int

const (
	Float32 Storage = iota // 4 bytes a value, the default
	Float64                // 8 bytes a value: small data and reference tests
)

// BlockKind is the way in which a block stores its columns.
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
	Groups []Group // of a Coded block; their levels add up to Cols (CodedSpec)
}

// Layout lists the blocks of a matrix. The columns of the matrix are the blocks' columns in order.
type Layout []BlockSpec

// Cols returns the number of columns of all blocks.
func (l Layout) Cols() int {
	cols := 0
	for _, s := range l {
		cols += s.Cols
	}
	return cols
}

// Matrix is a training problem: the rows of two classes with the same blocks.
type Matrix struct {
	Positives, Negatives *ClassRows
}

// Cols returns the number of features.
func (m *Matrix) Cols() int { return m.Positives.Cols() }

// Rows returns the number of rows of both classes.
func (m *Matrix) Rows() int { return m.Positives.Rows() + m.Negatives.Rows() }

// Bytes returns the memory that the values, weights and row numbers take.
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
