package restricted

import (
	"cmp"
	"math"
	"slices"

	"toptau/internal/core/certified/form"
	"toptau/internal/core/certified/linalg"
)

// rowSystem solves systems with the interior point's block B in a row space. The Gram matrix G = L L' of the
// rows is known there and does not change. With the diagonal D of the rows, r = D^1/2, c = C lambda > 0 and H
// = c I + L'DL,
//
//	M = c I + r G r,     H^-1 b = (b - L'r M^-1 r L b)/c,     H^-1 L'D = L'r M^-1 r
//
// So a Newton system costs one factorisation of M and no Gram matrix. Rows whose D matters little are left
// out of M. Iterative refinement against the whole B corrects for them.
type rowSystem struct {
	space   *rowSpace
	c       float64
	d       []float64 // D, positives first
	root    []float64 // r of the active rows
	active  []int     // rows that are in M
	matrix  []float64 // the memory of M and its factor
	chol    linalg.Cholesky
	borders int           // 2: t and s are two unknowns; 1: they are one
	solved  [2][]float64  // H^-1 times the borders
	corner  [2][2]float64 // the Schur complement of H in B
}

// leftOut bounds how much the rows left out may change H, relatively. Each refinement shrinks the residual by
// about this factor, so seven reach the rounding of a float64. Chosen by hand.
const leftOut = .01

func newRowSystem(space *rowSpace, p Problem) *rowSystem {
	s := &rowSystem{space: space, c: p.Mass * p.Lambda, d: make([]float64, space.n), borders: 2}
	if p.Kind == form.HingeQuantile {
		s.borders = 1
	}
	return s
}

// border returns the border that a row belongs to: t for the positives, s for the population.
func (s *rowSystem) border(i int) int {
	if s.borders == 2 && i >= s.space.positives.N {
		return 1
	}
	return 0
}

// factor factors M for the diagonals of the two classes, and eliminates the borders.
func (s *rowSystem) factor(d1, d2 []float64) {
	copy(s.d, d1)
	copy(s.d[len(d1):], d2)
	s.chooseActive()
	n, m := s.space.n, len(s.active)
	if cap(s.matrix) < m*m {
		s.matrix = make([]float64, m*m)
	}
	s.matrix = s.matrix[:m*m]
	s.root = s.root[:0]
	for _, i := range s.active {
		s.root = append(s.root, math.Sqrt(s.d[i]))
	}
	// M = c I + r G r on the active rows.
	for a, i := range s.active {
		gram, row := s.space.gram[i*n:(i+1)*n], s.matrix[a*m:a*m+a+1]
		for b := range row {
			row[b] = s.root[a] * gram[s.active[b]] * s.root[b]
		}
		row[a] += s.c
	}
	s.chol.FactorInPlace(s.matrix, m)
	// The Schur complement E'DE - E'DL H^-1 L'DE, with E the membership of rows in borders. For rows in M
	// this is c E'r M^-1 r E; rows left out of M add their D.
	s.corner = [2][2]float64{}
	out := slices.Clone(s.d)
	for _, i := range s.active {
		out[i] = 0
	}
	for i := range s.d {
		s.corner[s.border(i)][s.border(i)] += out[i]
	}
	// For each border k solve M y = r e_k; then H^-1 times the border is -L'r y.
	for k := range s.borders {
		y := make([]float64, m)
		for a, i := range s.active {
			if s.border(i) == k {
				y[a] = s.root[a]
			}
		}
		s.chol.Solve(y)
		for a, i := range s.active {
			s.corner[k][s.border(i)] += float64(s.c * s.root[a] * y[a])
		}
		s.solved[k] = make([]float64, n)
		s.addBack(y, -1, s.solved[k])
	}
}

// chooseActive finds the rows of M. It leaves out those with the smallest parts of the trace of H/c, up to
// leftOut in all.
func (s *rowSystem) chooseActive() {
	n := s.space.n
	part := make([]float64, n)
	s.active = s.active[:0]
	for i := range n {
		part[i] = s.d[i] * s.space.gram[i*n+i] / s.c
		s.active = append(s.active, i)
	}
	slices.SortFunc(s.active, func(i, k int) int { return cmp.Or(cmp.Compare(part[i], part[k]), i-k) })
	var total float64
	for total <= leftOut && len(s.active) > 0 {
		total += part[s.active[0]]
		if total <= leftOut {
			s.active = s.active[1:]
		}
	}
	slices.Sort(s.active)
}

// addBack adds scale L'r y to x; y has one element for each active row.
func (s *rowSystem) addBack(y []float64, scale float64, x []float64) {
	full := make([]float64, s.space.n)
	for a, i := range s.active {
		full[i] = s.root[a] * y[a]
	}
	s.space.positives.AddTransposed(full, scale, x)
	s.space.population.AddTransposed(full[s.space.positives.N:], scale, x)
}

// scores returns L x.
func (s *rowSystem) scores(x []float64) []float64 {
	z := make([]float64, s.space.n)
	s.space.positives.Times(x, z)
	s.space.population.Times(x, z[s.space.positives.N:])
	return z
}

// solve overwrites b with about B^-1 b.
func (s *rowSystem) solve(b []float64) {
	n := s.space.n
	x := b[:n]
	// Eliminate the border's unknowns from the right side: rest = b - U'H^-1 b, where H^-1 U is known.
	var rest [2]float64
	for k := range s.borders {
		rest[k] = b[n+k] - linalg.Dot(s.solved[k], x)
	}
	// H^-1 b = (b - L'r M^-1 r L b)/c.
	z := s.scores(x)
	y := make([]float64, len(s.active))
	for a, i := range s.active {
		y[a] = s.root[a] * z[i]
	}
	s.chol.Solve(y)
	s.addBack(y, -1, x)
	for j := range x {
		x[j] /= s.c
	}
	// The border's unknowns, from a system of one or two equations; then back to x.
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
		linalg.Axpy(-rest[k], s.solved[k], x)
		b[n+k] = rest[k]
	}
}

// subtract sets r -= B x. With e the border's unknown that a row sees, the rows of w are H x - L'D e = c x +
// L'D (L x - e), and those of the border -E'D (L x - e).
func (s *rowSystem) subtract(x, r []float64) {
	n := s.space.n
	z := s.scores(x[:n])
	linalg.Axpy(-s.c, x[:n], r[:n])
	for i := range z {
		k := s.border(i)
		z[i] = s.d[i] * (z[i] - x[n+k])
		r[n+k] += float64(z[i])
	}
	s.space.positives.AddTransposed(z, -1, r[:n])
	s.space.population.AddTransposed(z[s.space.positives.N:], -1, r[:n])
}
