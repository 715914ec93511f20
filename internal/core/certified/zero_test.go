package certified

import (
	"context"
	"testing"

	"toptau/internal/core/matrix"
)

// TestZeroOnPublicSets compares with answers that were found by other means.
func TestZeroOnPublicSets(t *testing.T) {
	cases := []struct {
		set  string
		raw  bool
		want [4]Verdict // TopPush, TopPushK 5, TopMean-NP 0.01, 0.05
	}{
		{"pima", false, [4]Verdict{1, 1, 1, 1}},
		{"german", true, [4]Verdict{1, 1, 1, 1}},
		{"a9a", false, [4]Verdict{1, 1, 1, 1}},
		{"ionosphere", false, [4]Verdict{2, 2, 2, 2}},
		{"spambase", false, [4]Verdict{2, 2, 2, 2}},
		{"mammography", false, [4]Verdict{1, 1, 1, 2}},
	}
	for _, c := range cases {
		if testing.Short() && c.set == "a9a" {
			continue // takes seconds
		}
		d := readSet(t, c.set)
		if !c.raw {
			d = d.standardise()
		}
		x := d.matrix(t, matrix.Float32)
		for k, n := range []named{{"toppush", hyper(1e-3, "", 0, 0, false)}, {"toppushk", hyper(1e-3, "", 0, 5, false)},
			{"topmean-np", hyper(1e-3, "0.01", 0, 0, false)}, {"topmean-np", hyper(1e-3, "0.05", 0, 0, true)}} {
			z, err := IsZeroOptimal(context.Background(), bind(t, newProblem(t, n.name, n.h), x), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if z.Verdict != c.want[k] {
				t.Errorf("%s %s: %v, want %v", c.set, label(n), z.Verdict, c.want[k])
			}
			t.Logf("%s %s: %v, distance %.1e, scale %.1e, advantage %.1e, %d passes", c.set, label(n), z.Verdict, z.Distance, z.Scale, z.Advantage, z.Passes)
		}
	}
}

// TestZeroVerdicts has small cases with known answers.
func TestZeroVerdicts(t *testing.T) {
	square := [][]float64{{1, 1}, {1, -1}, {-1, 1}, {-1, -1}}
	inside := dataset{append([][]float64{{.3, .2}, {-.1, .1}}, square...), []bool{true, true, false, false, false, false}}
	outside := dataset{append([][]float64{{1.3, .2}, {.9, .1}}, square...), []bool{true, true, false, false, false, false}}
	same := dataset{append([][]float64{{.5, .2}, {-.5, -.2}}, square...), []bool{true, true, false, false, false, false}}
	cases := []struct {
		name string
		d    dataset
		n    named
		want Verdict
	}{
		{"inside the hull", inside, named{"toppush", hyper(0, "", 0, 0, false)}, ZeroIsOptimal},
		{"outside the hull", outside, named{"toppush", hyper(.1, "", 0, 0, false)}, ZeroIsNotOptimal},
		{"outside the hull of pairs", inside, named{"toppushk", hyper(.1, "", 0, 4, true)}, ZeroIsNotOptimal},
		{"the corollary", outside, named{"topmean", hyper(.1, "0.3", 0, 0, false)}, ZeroIsOptimal},
		{"beyond the corollary", outside, named{"topmean", hyper(.1, "0.9", 0, 0, false)}, ZeroIsNotOptimal},
		{"patmat", inside, named{"patmat", hyper(.1, "0.3", 1, 0, false)}, ZeroIsNotOptimal},
		{"equal means", same, named{"patmat-np", hyper(.1, "0.3", 1, 0, true)}, ZeroIsOptimal},
	}
	for _, c := range cases {
		o := bind(t, newProblem(t, c.n.name, c.n.h), c.d.matrix(t, matrix.Float64))
		z, err := IsZeroOptimal(context.Background(), o, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if z.Verdict != c.want {
			t.Errorf("%s: %v, want %v (distance %g, advantage %g)", c.name, z.Verdict, c.want, z.Distance, z.Advantage)
		}
		r, err := Solve(context.Background(), o, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.ProveZero(context.Background(), o); err != nil {
			t.Fatal(err)
		}
		if r.Zero != c.want {
			t.Errorf("%s: the solve has %v: %s", c.name, r.Zero, describe(r))
		}
	}
}
