package matrix

import (
	"fmt"
	"math"
	"testing"
)

// zeroLayouts have blocks of every kind.
var zeroLayouts = map[string]Layout{
	"dense":  {{Kind: Dense, Cols: 17}},
	"sparse": {{Kind: Sparse, Cols: 17}},
	"mixed":  {{Kind: Dense, Cols: 5}, {Kind: Sparse, Cols: 4}, {Kind: Dense, Cols: 3}, CodedSpec([]Group{{Levels: 5}})},
}

// zeroSample returns random rows for a layout. A last block of five columns holds one level per row.
func zeroSample(l Layout) sample {
	s := newSample(300, 300, l.Cols(), 0.6)
	for i, x := range s.x {
		if len(l) > 1 {
			clear(x[len(x)-5:])
			x[len(x)-1-i%5] = 1
		}
	}
	return s
}

// Scores at w = 0 are what reading the rows gives: zeros, none of them negative.
func TestScoresAtZero(t *testing.T) {
	for name, layout := range zeroLayouts {
		for _, storage := range []Storage{Float32, Float64} {
			p := zeroSample(layout).build(t, layout, storage).Negatives
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
				c := p.borrow()
				c.run(&scoresJob{w, read}, p.Cost(), nil, 1)
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
