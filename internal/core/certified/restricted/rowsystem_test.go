package restricted

import (
	"math"
	"testing"

	"toptau/internal/core/certified/form"
	"toptau/internal/core/certified/linalg"
)

// TestRowSystemIsTheDenseOne solves the same Newton systems in both ways, in the same coordinates.
func TestRowSystemIsTheDenseOne(t *testing.T) {
	x0 := wideRows(44, 50)
	pos, row := pack(x0[:20], 300, false, nil), pack(append(x0[20:], x0[3], x0[25]), 300, false, nil)
	space := newRowSpace(pos, row)
	for _, f := range []form.Form{
		{Kind: form.TopMean, Kappa: 3, Lambda: .01}, {Kind: form.TopMean, Kappa: 3, Lambda: 10, Squared: true},
		{Kind: form.HingeQuantile, Kappa: 2, Beta: .5, Lambda: .01},
	} {
		p := Problem{f, space.positives, space.population, 20, 1}
		dense, rowwise := newInterior(p, nil), newInterior(p, newRowSystem(space, p))
		for _, v := range []*interior{dense, rowwise} {
			v.coldStart(make([]float64, pos.N), make([]float64, row.N), 1)
			for i := range v.p {
				v.sg[i] *= math.Ldexp(1, i-10) // diagonals of very different sizes
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
		size := math.Sqrt(linalg.Dot(x, x))
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
		if len(rowwise.inRows.active) == space.n && f.Lambda == 10 {
			t.Errorf("%+v: no row is left out", f)
		}
	}
}
