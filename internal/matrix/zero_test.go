package matrix

import (
	"fmt"
	"math"
	"testing"
)

// Scores at w = 0 are what reading the rows gives: zeros, none of them negative.
func TestScoresAtZero(t *testing.T) {
	for name, layout := range fastLayouts {
		if name == "wide" {
			continue
		}
		for _, storage := range []Storage{Float32, Float64} {
			p := smallNumbers(300, layout.Cols(), 5).build(t, layout, storage).Negatives
			for _, zero := range []float64{0, math.Copysign(0, -1)} {
				w := make([]float64, p.Cols())
				for j := range w {
					w[j] = zero
				}
				short, read := make([]float64, p.Rows()), make([]float64, p.Rows())
				for i := range short {
					short[i] = 1
				}
				p.Scores(w, short)
				p.run(job{kind: scoring, w: w, z: read}, p.cost())
				for i := range read {
					if math.Float64bits(short[i]) != math.Float64bits(read[i]) {
						t.Fatalf("%s, w = %v: score %v instead of %v", name, zero, short[i], read[i])
					}
				}
			}
		}
	}
}

// Asking for large pages changes nothing in memory that is in use.
func TestHugePagesKeepValues(t *testing.T) {
	for _, n := range []int{0, 10, 1 << 19, 5<<19 + 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			x := make([]float32, n)
			for i := range x {
				x[i] = float32(i)
			}
			askForHugePages(x)
			for i, v := range x {
				if v != float32(i) {
					t.Fatalf("value %d became %v", i, v)
				}
			}
		})
	}
}
