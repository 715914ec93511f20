package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestExtent(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 5e-324, math.MaxFloat64}
	for n := range 80 {
		x := make([]float64, n)
		for i := range x {
			x[i] = r.Float64() - 0.5
		}
		for range 10 {
			low, high, ordered := math.Inf(1), math.Inf(-1), true
			for _, v := range x {
				low, high, ordered = min(low, v), max(high, v), ordered && v == v
			}
			for _, l := range levels() {
				atLevel(l, func() {
					gotLow, gotHigh, gotOrdered := Extent(x)
					if gotOrdered != ordered || ordered && (gotLow != low || gotHigh != high) ||
						ordered && (math.Signbit(gotLow) && gotLow == 0 || math.Signbit(gotHigh) && gotHigh == 0) {
						t.Fatalf("%s, %v: %v to %v, %v", l, x, gotLow, gotHigh, gotOrdered)
					}
				})
			}
			if n > 0 {
				x[r.IntN(n)] = special[r.IntN(len(special))]
			}
		}
	}
}

func checkFillPanel[T Float](t *testing.T, columns [][]float64, rows []int32, first int) {
	t.Helper()
	for _, l := range levels() {
		atLevel(l, func() {
			panel := fence(make([]T, len(columns)*PanelRows), len(rows)%3)
			finite := FillPanel(columns, rows, panel.x, first)
			panel.check(t, l.String())
			want := true
			for j, x := range columns {
				for i := range PanelRows {
					v := T(0)
					if i >= first && i < first+len(rows) {
						v = T(x[rows[i-first]])
					}
					want = want && v-v == 0
					if got := panel.x[j*PanelRows+i]; got != v && (v == v || got == got) {
						t.Fatalf("%s: column %d, row %d: %v, want %v", l, j, i, got, v)
					}
				}
			}
			if finite != want {
				t.Fatalf("%s: finite %v, want %v", l, finite, want)
			}
		})
	}
}

func TestFillPanel(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for n := range PanelRows + 1 {
		columns := make([][]float64, 3)
		for j := range columns {
			columns[j] = make([]float64, 100)
			for i := range columns[j] {
				columns[j][i] = r.Float64()
			}
		}
		if n%2 == 1 {
			columns[r.IntN(3)][r.IntN(100)] = []float64{math.NaN(), 1e300, math.Inf(-1)}[r.IntN(3)]
		}
		rows := make([]int32, n)
		for i := range rows {
			rows[i] = int32(r.IntN(100))
		}
		checkFillPanel[float32](t, columns, rows, r.IntN(PanelRows-n+1))
		checkFillPanel[float64](t, columns, rows, r.IntN(PanelRows-n+1))
	}
}
