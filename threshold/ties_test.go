package threshold

import (
	"math"
	"reflect"
	"testing"

	"toptau/surrogate"
)

// Hand-worked cases: ties on the edge are filled in index order, weights count as mass, the last row partly.
func TestHandWorkedCases(t *testing.T) {
	sevenths := fill(10, func(int) float64 { return 0.7 })
	ten := fill(10, func(j int) float64 { return float64(10 - j) })
	hinge := func(tau string, beta float64) Rule { return SurrogateQuantile{MustRate(tau), beta, surrogate.Hinge} }
	for _, c := range []struct {
		name string
		rule Rule
		x    sample
		t    float64
		rows []int32
		a    []float64
	}{
		{"mean, ties", TopCount{2}, sample{z: []float64{0, 1, 1, 1}}, 1, []int32{1, 2}, []float64{0.5, 0.5}},
		{"mean, tie at the cut", TopCount{2}, sample{z: []float64{1, 0, 3, 1}}, 2, []int32{0, 2}, []float64{0.5, 0.5}},
		{"mean, all", TopCount{3}, sample{z: []float64{1, 2, 3}}, 2, []int32{0, 1, 2}, []float64{1. / 3, 1. / 3, 1. / 3}},
		{"mean, partly", TopCount{4}, sample{[]float64{1, 2, 3}, []float64{5, 2, 1}}, 2, []int32{0, 1, 2},
			[]float64{0.25, 0.5, 0.25}},
		{"mean, heavy row", TopCount{1}, sample{[]float64{1, 2}, []float64{5, 7}}, 2, []int32{1}, []float64{1}},
		{"mean, no weight", TopCount{2}, sample{[]float64{9, 2, 1}, []float64{0, 1, 3}}, 1.5, []int32{1, 2},
			[]float64{0.5, 0.5}},
		{"mean, zeros of both signs", TopCount{2}, sample{z: []float64{-1, math.Copysign(0, -1), 0}}, 0, []int32{1, 2},
			[]float64{0.5, 0.5}},
		{"quantile, ties", Quantile{MustRate("50%")}, sample{z: []float64{1, 1, 1, 1}}, 1, []int32{1}, []float64{1}},
		{"quantile, tie at the cut", Quantile{MustRate("75%")}, sample{z: []float64{1, 1, 3, 1}}, 1, []int32{1}, []float64{1}},
		{"quantile, mass", Quantile{MustRate("50%")}, sample{[]float64{1, 2, 3}, []float64{1, 2, 3}}, 3, []int32{2}, []float64{1}},
		{"quantile, sums that round", Quantile{MustRate("30%")}, sample{ten, sevenths}, 8, []int32{2}, []float64{1}},
		{"quantile, no weight", Quantile{MustRate("50%")}, sample{[]float64{2, 2, 1}, []float64{0, 1, 1}}, 2, []int32{1},
			[]float64{1}},
		// sum of (z - s)+ = C: s = 1 from rows 5 and 3, t = s + 1/beta
		{"hinge", hinge("50%", 0.25), sample{z: []float64{5, 3, 0}}, 5, []int32{0, 1}, []float64{0.5, 0.5}},
		// the level 1 touches the row at 1, which stays out
		{"hinge, kink", hinge("50%", 1./3), sample{z: []float64{5, 3, 1, 0}}, 4, []int32{0, 1}, []float64{0.5, 0.5}},
		{"hinge, mass", hinge("25%", 0.5), sample{[]float64{4, 1, 0}, []float64{1, 3, 4}}, 2.75, []int32{0, 1},
			[]float64{0.25, 0.75}},
	} {
		s, _ := at(bind(t, c.rule, c.x), c.x)
		if s.T != c.t || !reflect.DeepEqual(s.Rows, c.rows) || !reflect.DeepEqual(s.A, c.a) {
			t.Errorf("%s: t = %v, rows %v, a %v; want %v, %v, %v", c.name, s.T, s.Rows, s.A, c.t, c.rows, c.a)
		}
	}
}
