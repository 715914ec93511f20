package certified

// rowSpace is the coordinates of some rows in an orthonormal basis of the space that they span. The problem on the rows
// needs their inner products only, so with G = R R' = L L' the rows of L may stand for the rows R = L Q': as many columns
// as rows, and w = Q u has the scores and the norm of u. That is how wide data are solved: d > rows.
type rowSpace struct {
	pos, row *rows // the rows, and their stand-ins
	posIn    *rows
	rowIn    *rows
	gram     []float64 // of the rows, lower triangle
	factor   cholesky
	n        int
}

// worthwhile reports whether the rows' own space is clearly smaller than the columns'.
func worthwhile(pos, row *rows) bool { return pos.d > 256 && 4*(pos.n+row.n) < 3*pos.d }

func newRowSpace(pos, row *rows) *rowSpace {
	s := &rowSpace{posIn: pos, rowIn: row, n: pos.n + row.n}
	n := s.n
	gram := make([]float64, n*n)
	blocks := (n + 15) / 16
	parallel(blocks, float64(n)*(pos.products()+row.products()), func(b int) {
		x, z := make([]float64, pos.d), make([]float64, n)
		for i := b * 16; i < min((b+1)*16, n); i++ {
			if i < pos.n {
				pos.row(i, x)
			} else {
				row.row(i-pos.n, x)
			}
			pos.timesRange(x, z, 0, min(pos.n, i+1))
			if i >= pos.n {
				row.timesRange(x, z[pos.n:], 0, i+1-pos.n)
			}
			copy(gram[i*n:i*n+i+1], z)
		}
	})
	s.gram = gram
	s.factor.factor(gram, n)
	f := &frame{centre: make([]float64, n), common: make([]float64, n), work: float64(n) * float64(n)}
	s.pos, s.row = newRows(f), newRows(f)
	x := make([]float64, n)
	for i := range n {
		clear(x)
		copy(x, s.factor.l[i*n:i*n+i+1])
		if x[i] == frozenPivot {
			x[i] = 0 // the row lies in the span of those before it
		}
		if i < pos.n {
			s.pos.add(x, pos.weight[i])
		} else {
			s.row.add(x, row.weight[i-pos.n])
		}
	}
	return s
}

// reduce returns u = Q'w, which has w's scores on the rows.
func (s *rowSpace) reduce(w []float64) []float64 {
	u := make([]float64, s.n)
	s.posIn.times(w, u)
	s.rowIn.times(w, u[s.posIn.n:])
	for i := range u {
		u[i] = (u[i] - dot(s.factor.l[i*s.n:i*s.n+i], u[:i])) / s.factor.l[i*s.n+i]
	}
	return u
}

// expand returns w = Q u = R'c with L'c = u.
func (s *rowSpace) expand(u []float64) []float64 {
	c := append([]float64(nil), u...)
	for i := s.n - 1; i >= 0; i-- {
		c[i] /= s.factor.l[i*s.n+i]
		axpy(-c[i], s.factor.l[i*s.n:i*s.n+i], c[:i])
	}
	w := make([]float64, s.posIn.d)
	s.posIn.addTransposed(c[:s.posIn.n], 1, w)
	s.rowIn.addTransposed(c[s.posIn.n:], 1, w)
	return w
}
