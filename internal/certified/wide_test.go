package certified

import (
	"context"
	"testing"

	"toptau/internal/matrix"
)

// TestMoreColumnsThanRows solves problems with more columns than rows, some of which repeat.
func TestMoreColumnsThanRows(t *testing.T) {
	d := clouds(41, 15, 60, 300, .3)
	for i := range 10 {
		d.x, d.y = append(d.x, d.x[i], d.x[len(d.x)-1-2*i]), append(d.y, i%3 > 0, i%2 > 0)
	}
	x := d.matrix(t, matrix.Float64)
	for _, lambda := range []float64{10, 1e-2} {
		for _, n := range everyMethod(lambda) {
			o := bind(t, newProblem(t, n.name, n.h), x)
			r, err := Solve(context.Background(), o, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !r.Converged {
				t.Errorf("%s: %s", label(n), describe(r))
			}
		}
	}
}
