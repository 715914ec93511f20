package certified

import (
	"cmp"
	"math"
	"slices"
)

// rowSystem solves the interior point's block B in a row space, where the Gram matrix G = L L' of the rows is known once
// and for all. With the rows' diagonal D, r = D^1/2, c = C lambda > 0 and H = c I + L'DL,
//
//	M = c I + r G r,     H^-1 b = (b - L'r M^-1 r L b)/c,     H^-1 L'D = L'r M^-1 r
//
// so a Newton system costs one factorisation of M and no Gram matrix. Rows whose D matters little are left out of M;
// refinement against the whole B puts them back.
type rowSystem struct {
	space   *rowSpace
	c       float64
	d       []float64 // D, positives first
	root    []float64 // r, beside active
	active  []int     // rows that are in M
	matrix  []float64
	chol    cholesky
	borders int          // 2: t and s apart; 1: one unknown for both
	solved  [2][]float64 // H^-1 times the borders
	corner  [2][2]float64
}

// leftOut bounds how much the rows left out may change H, relatively: each refinement shrinks the residual by it.
const leftOut = .01

func newRowSystem(space *rowSpace, f form, mass float64) *rowSystem {
	s := &rowSystem{space: space, c: mass * f.lambda, d: make([]float64, space.n), borders: 2}
	if f.kind == hingeQuantile {
		s.borders = 1
	}
	return s
}

// border is the number of the border that a row belongs to.
func (s *rowSystem) border(i int) int {
	if s.borders == 2 && i >= s.space.pos.n {
		return 1
	}
	return 0
}

func (s *rowSystem) factor(d1, d2 []float64) {
	copy(s.d, d1)
	copy(s.d[len(d1):], d2)
	s.choose()
	n, m := s.space.n, len(s.active)
	if cap(s.matrix) < m*m {
		s.matrix = make([]float64, m*m)
	}
	s.matrix = s.matrix[:m*m]
	s.root = s.root[:0]
	for _, i := range s.active {
		s.root = append(s.root, math.Sqrt(s.d[i]))
	}
	for a, i := range s.active {
		gram, row := s.space.gram[i*n:(i+1)*n], s.matrix[a*m:a*m+a+1]
		for b := range row {
			row[b] = s.root[a] * gram[s.active[b]] * s.root[b]
		}
		row[a] += s.c
	}
	s.chol.factor(s.matrix, m)
	s.corner = [2][2]float64{}
	out := slices.Clone(s.d)
	for _, i := range s.active {
		out[i] = 0
	}
	for i := range s.d {
		s.corner[s.border(i)][s.border(i)] += out[i]
	}
	for k := range s.borders {
		y := make([]float64, m)
		for a, i := range s.active {
			if s.border(i) == k {
				y[a] = s.root[a]
			}
		}
		s.chol.solve(y)
		for a, i := range s.active {
			s.corner[k][s.border(i)] += float64(s.c * s.root[a] * y[a])
		}
		s.solved[k] = make([]float64, n)
		s.addBack(y, -1, s.solved[k])
	}
}

// choose finds the rows that matter: all but those of the smallest shares of the trace of H/c, up to leftOut in all.
func (s *rowSystem) choose() {
	n := s.space.n
	share := make([]float64, n)
	s.active = s.active[:0]
	for i := range n {
		share[i] = s.d[i] * s.space.gram[i*n+i] / s.c
		s.active = append(s.active, i)
	}
	slices.SortFunc(s.active, func(i, k int) int { return cmp.Or(cmp.Compare(share[i], share[k]), i-k) })
	var total float64
	for total <= leftOut && len(s.active) > 0 {
		total += share[s.active[0]]
		if total <= leftOut {
			s.active = s.active[1:]
		}
	}
	slices.Sort(s.active)
}

// addBack adds scale L'r y to x.
func (s *rowSystem) addBack(y []float64, scale float64, x []float64) {
	full := make([]float64, s.space.n)
	for a, i := range s.active {
		full[i] = s.root[a] * y[a]
	}
	s.space.pos.addTransposed(full, scale, x)
	s.space.row.addTransposed(full[s.space.pos.n:], scale, x)
}

// scores is L x.
func (s *rowSystem) scores(x []float64) []float64 {
	z := make([]float64, s.space.n)
	s.space.pos.times(x, z)
	s.space.row.times(x, z[s.space.pos.n:])
	return z
}

// solve overwrites b with about B^-1 b.
func (s *rowSystem) solve(b []float64) {
	n := s.space.n
	x := b[:n]
	// U'H^-1 b, with H^-1 U at hand.
	var rest [2]float64
	for k := range s.borders {
		rest[k] = b[n+k] - dot(s.solved[k], x)
	}
	z := s.scores(x)
	y := make([]float64, len(s.active))
	for a, i := range s.active {
		y[a] = s.root[a] * z[i]
	}
	s.chol.solve(y)
	s.addBack(y, -1, x)
	for j := range x {
		x[j] /= s.c
	}
	if s.borders == 1 {
		rest[0] /= s.corner[0][0]
	} else {
		q := s.corner
		cross := (q[0][1] + q[1][0]) / 2
		determinant := float64(q[0][0]*q[1][1]) - float64(cross*cross)
		rest[0], rest[1] = (float64(q[1][1]*rest[0])-float64(cross*rest[1]))/determinant,
			(float64(q[0][0]*rest[1])-float64(cross*rest[0]))/determinant
	}
	for k := range s.borders {
		axpy(-rest[k], s.solved[k], x)
		b[n+k] = rest[k]
	}
}

// subtract sets r -= B x: with e the border that a row belongs to, H x - L'D e = c x + L'D (L x - e), and -e'D L x + e'D e.
func (s *rowSystem) subtract(x, r []float64) {
	n := s.space.n
	z := s.scores(x[:n])
	axpy(-s.c, x[:n], r[:n])
	for i := range z {
		k := s.border(i)
		z[i] = s.d[i] * (z[i] - x[n+k])
		r[n+k] += float64(z[i])
	}
	s.space.pos.addTransposed(z, -1, r[:n])
	s.space.row.addTransposed(z[s.space.pos.n:], -1, r[:n])
}
