package certified

import (
	"context"
	"math/rand/v2"
	"testing"

	"toptau/diag"
	"toptau/method"
)

// Scores of a source are those in memory. Another value, another weight and a missing row are found.
func TestCompareScores(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 11))
	d := randomRows(r, 40, 400, true)
	w := make([]float64, len(d.x[0]))
	for j := range w {
		w[j] = r.NormFloat64()
	}
	for _, name := range []string{"topmean-np", "topmean"} {
		p := newProblem(t, name, hyper(1e-3, "0.05", 0, 0, false))
		o := bind(t, p, d.matrix(t))
		compare := func(d weightedRows) error {
			return CompareScores(context.Background(), newFileSource(t, d, p.Definition().Population), o, w, .25)
		}
		if err := compare(d); err != nil {
			t.Errorf("%s: the same rows: %v", name, err)
		}
		negative := 0
		for d.y[negative] {
			negative++
		}
		x, m := d.x[negative][0], d.m[negative]
		d.x[negative][0] = x + 1e-6
		if diag.Of(compare(d)) == nil {
			t.Errorf("%s: a value that differs by 1e-6 is not found", name)
		}
		d.x[negative][0], d.m[negative] = x, m*(1+1e-9)
		if diag.Of(compare(d)) == nil {
			t.Errorf("%s: a weight that differs by 1e-9 of itself is not found", name)
		}
		d.m[negative] = m
		fewer := d.slice(0, len(d.x)-1)
		if population := p.Definition().Population; (population == method.AllRows || !d.y[len(d.y)-1]) && diag.Of(compare(fewer)) == nil {
			t.Errorf("%s: a missing row is not found", name)
		}
	}
}

// A fit from a source takes no more passes than it may.
func TestMaxPassesOfSource(t *testing.T) {
	d := randomRows(rand.New(rand.NewPCG(5, 9)), 60, 900, false)
	for _, n := range []named{{"topmean-np", hyper(1e-4, "0.05", 0, 0, false)}, {"patmat-np", hyper(1e-4, "0.01", 1, 0, true)}, {"topmean", hyper(1e-3, "0.01", 0, 0, false)}} {
		p := newProblem(t, n.name, n.h)
		source := newFileSource(t, d, p.Definition().Population)
		for _, passes := range []int{2, 3, 5, 8} {
			r, err := SolveSource(context.Background(), source, p, Options{Gap: 1e-9, MaxPasses: passes})
			if err != nil {
				t.Fatal(err)
			}
			if r.Passes > passes {
				t.Errorf("%s: %d passes of at most %d", label(n), r.Passes, passes)
			}
			if !(r.LowerBound <= r.Objective) {
				t.Errorf("%s: F %v, bound %v", label(n), r.Objective, r.LowerBound)
			}
		}
	}
}
