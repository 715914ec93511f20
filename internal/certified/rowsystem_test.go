package certified

import (
	"math"
	"testing"
)

// TestRowSystemIsTheDenseOne solves the same Newton systems by both ways, in the same coordinates.
func TestRowSystemIsTheDenseOne(t *testing.T) {
	d := clouds(44, 20, 30, 300, .3)
	pos, row := pack(d.x[:20], 300, false, nil), pack(append(d.x[20:], d.x[3], d.x[25]), 300, false, nil)
	space := newRowSpace(pos, row)
	for _, f := range []form{
		{kind: topMean, kappa: 3, lambda: .01}, {kind: topMean, kappa: 3, lambda: 10, squared: true},
		{kind: hingeQuantile, kappa: 2, beta: .5, lambda: .01},
	} {
		dense, rowwise := newInterior(f, space.pos, space.row, 20), newInterior(f, space.pos, space.row, 20)
		rowwise.inRows = newRowSystem(space, f, 20)
		for _, v := range []*interior{dense, rowwise} {
			v.coldStart(make([]float64, pos.n), make([]float64, row.n), 1)
			for i := range v.p {
				v.sg[i] *= math.Ldexp(1, i-10) // diagonals of many sizes
			}
			v.residuals()
			v.factor()
		}
		b, last := make([]float64, dense.size), .3
		for i := range b {
			b[i] = float64(i%5) - 1.7
		}
		x, theta := dense.solveReduced(b, last)
		y, other := rowwise.solveReduced(b, last)
		if math.Abs(theta-other) > 1e-8*math.Abs(theta) {
			t.Errorf("%+v: theta %g and %g", f, theta, other)
		}
		size := math.Sqrt(dot(x, x))
		for i := range x {
			if math.Abs(x[i]-y[i]) > 1e-8*size {
				t.Fatalf("%+v: unknown %d is %g and %g", f, i, x[i], y[i])
			}
		}
		r, q := make([]float64, len(x)), make([]float64, len(x))
		dense.subtractMatrix(x, r)
		rowwise.subtractMatrix(x, q)
		for i := range r {
			if math.Abs(r[i]-q[i]) > 1e-8*math.Abs(r[i])+1e-8 {
				t.Fatalf("%+v: B x at %d is %g and %g", f, i, r[i], q[i])
			}
		}
		if len(rowwise.inRows.active) == space.n && f.lambda == 10 {
			t.Errorf("%+v: no row is left out", f)
		}
	}
}
