package evidence

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestOrderWithTies compares the order with that of a sort by Precedes, for keys with many equal ones, zeros of both signs and infinities.
func TestOrderWithTies(t *testing.T) {
	random := rand.New(rand.NewPCG(41, 42))
	special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), 5e-324, -5e-324, math.MaxFloat64, 1, -1}
	for n := range 70 {
		for _, distinct := range []int{1, 2, 9, 1000} {
			keys := make([]float64, n)
			for i := range keys {
				if k := random.IntN(distinct); k < len(special) {
					keys[i] = special[k]
				} else {
					keys[i] = math.Float64frombits(random.Uint64() &^ (1 << 62)) // finite
				}
			}
			seed := random.Uint64()
			sorted, ties := OrderWithTies(keys, rand.New(rand.NewPCG(seed, 1)))
			again := rand.New(rand.NewPCG(seed, 1))
			type row struct {
				key float64
				tie uint32
			}
			want := make([]row, n)
			for i, key := range keys {
				want[i] = row{key + 0, again.Uint32()}
			}
			slices.SortFunc(want, func(a, b row) int {
				switch {
				case Precedes(a.key, a.tie, b.key, b.tie):
					return -1
				case Precedes(b.key, b.tie, a.key, a.tie):
					return 1
				}
				return 0
			})
			for i, w := range want {
				if math.Float64bits(sorted[i]) != math.Float64bits(w.key) || ties[i] != w.tie {
					t.Fatalf("%d keys: element %d is %v, %d instead of %v", n, i, sorted[i], ties[i], w)
				}
			}
		}
	}
}

func BenchmarkOrderWithTies(b *testing.B) {
	random := rand.New(rand.NewPCG(43, 44))
	keys := make([]float64, 15_000)
	for i := range keys {
		keys[i] = math.Round(random.NormFloat64() * 1e5)
	}
	for b.Loop() {
		OrderWithTies(keys, random)
	}
}
