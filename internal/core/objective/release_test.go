package objective

import (
	"testing"

	"toptau/internal/core/matrix"
	"toptau/method"
	"toptau/surrogate"
)

// Space that one objective leaves to another of another size changes no value.
func TestReleasedSpaceIsUsedAgain(t *testing.T) {
	forEveryMethod(t, func(t *testing.T, m method.Method, l surrogate.Surrogate) {
		var list []*Objective
		var want []Value
		w := []float64{0.5, -1, 2}
		for _, rows := range []int{90, 30, 150} {
			x, y, weights := randomRows(uint64(rows), rows, len(w), false)
			o, err := New(problemOf(t, m, l, 0.1), pack(t, x, y, weights, matrix.Dense))
			if err != nil {
				t.Fatal(err)
			}
			list, want = append(list, o), append(want, o.At(w, nil))
		}
		for _, i := range []int{0, 1, 2, 1, 0} {
			list[i].Release()
			if got := list[i].At(w, make([]float64, len(w))); got != want[i] {
				t.Errorf("%v, want %v", got, want[i])
			}
		}
	})
}
