package restricted

import (
	"slices"

	"toptau/internal/core/certified/linalg"
)

// rowSpace has the coordinates of some rows R in an orthonormal basis Q of the space that they span. A
// restricted problem depends only on the rows' inner products G = R R' = L L'. So the rows of L can replace
// the rows R = L Q'. They have as many columns as there are rows, and w = Q u has the scores and the norm of
// u. This is how wide data are solved.
type rowSpace struct {
	positives, population     *linalg.Rows // the rows' coordinates: rows of L
	positivesIn, populationIn *linalg.Rows // the rows themselves
	gram                      []float64    // G, lower triangle
	lower                     []float64    // L, row-major, with 0 for frozen pivots
	pivot                     []float64    // the diagonal of L, with frozen pivots
	n                         int          // rows
}

const (
	minWide = 256 // columns from which the row space is considered; below it a system of columns is cheap
	// rowsPerColumn is the largest ratio of rows to columns at which the row space pays: forming G and
	// changing coordinates must be worth it. Both were chosen by hand.
	rowsPerColumn = .75
)

// worthwhile reports whether the rows' space is clearly smaller than the columns'.
func worthwhile(p Problem) bool {
	d := p.Positives.D
	return d > minWide && float64(p.Positives.N+p.Population.N) < rowsPerColumn*float64(d)
}

// newRowSpace computes the coordinates of rows of the two classes.
func newRowSpace(pos, row *linalg.Rows) *rowSpace {
	s := &rowSpace{positivesIn: pos, populationIn: row, n: pos.N + row.N}
	n := s.n
	// G row by row: the scores of all rows before a row, for that row as weights.
	gram := make([]float64, n*n)
	const block = 16 // rows a goroutine takes at a time
	blocks := (n + block - 1) / block
	linalg.For(blocks, float64(n)*(pos.Stored()+row.Stored()), func(b int) {
		x, z := make([]float64, pos.D), make([]float64, n)
		for i := b * block; i < min((b+1)*block, n); i++ {
			if i < pos.N {
				pos.Row(i, x)
			} else {
				row.Row(i-pos.N, x)
			}
			pos.TimesRange(x, z, 0, min(pos.N, i+1))
			if i >= pos.N {
				row.TimesRange(x, z[pos.N:], 0, i+1-pos.N)
			}
			copy(gram[i*n:i*n+i+1], z)
		}
	})
	s.gram = gram
	var factor linalg.Cholesky
	factor.Factor(gram, n)
	s.lower, s.pivot = factor.Lower(), make([]float64, n)
	for i := range n {
		at := &s.lower[i*n+i]
		s.pivot[i] = *at
		if *at == linalg.FrozenPivot {
			*at = 0 // the row lies in the span of those before it
		}
	}
	// The rows of L are the coordinates. They are not shifted again, and not copied: for thousands of rows L
	// takes hundreds of megabytes.
	s.positives = linalg.RowsOf(s.lower, n, slices.Clone(pos.Weight[:pos.N]))
	s.population = linalg.RowsOf(s.lower[pos.N*n:], n, slices.Clone(row.Weight[:row.N]))
	return s
}

// reduce returns u = Q'w, by forward substitution in L u = R w. u has w's scores on the rows.
func (s *rowSpace) reduce(w []float64) []float64 {
	u := make([]float64, s.n)
	s.positivesIn.Times(w, u)
	s.populationIn.Times(w, u[s.positivesIn.N:])
	for i := range u {
		u[i] = (u[i] - linalg.Dot(s.lower[i*s.n:i*s.n+i], u[:i])) / s.pivot[i]
	}
	return u
}

// expand returns w = Q u = R'c, where L'c = u is solved by back substitution.
func (s *rowSpace) expand(u []float64) []float64 {
	c := append([]float64(nil), u...)
	for i := s.n - 1; i >= 0; i-- {
		c[i] /= s.pivot[i]
		linalg.Axpy(-c[i], s.lower[i*s.n:i*s.n+i], c[:i])
	}
	w := make([]float64, s.positivesIn.D)
	s.positivesIn.AddTransposed(c[:s.positivesIn.N], 1, w)
	s.populationIn.AddTransposed(c[s.positivesIn.N:], 1, w)
	return w
}
