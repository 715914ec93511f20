package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func checkFilter[T Float](t *testing.T, z []T, threshold T, first int32, offset int) {
	t.Helper()
	var wantValues []T
	var wantRows []int32
	for i, s := range z {
		if s > threshold {
			wantValues, wantRows = append(wantValues, s), append(wantRows, first+int32(i))
		}
	}
	for _, l := range levels() {
		what := l.String() + " " + shapeName(1, len(z), offset)
		atLevel(l, func() {
			in, values := fence(z, offset%7), fence(make([]T, len(z)), offset)
			rows := make([]int32, len(z)+1)
			rows[len(z)] = -99
			n := Filter(in.x, threshold, first, values.x, rows[:len(z)])
			if n != len(wantRows) {
				t.Fatalf("%s: %d scores above %v, want %d", what, n, threshold, len(wantRows))
			}
			sameBits(t, what, values.x[:n], wantValues)
			for i, row := range rows[:n] {
				if row != wantRows[i] {
					t.Fatalf("%s: entry %d is row %d, want %d", what, i, row, wantRows[i])
				}
			}
			values.check(t, what)
			if rows[len(z)] != -99 {
				t.Fatalf("%s: wrote behind the rows", what)
			}
		})
	}
}

// checkFilters checks scores of both arithmetics.
func checkFilters(t *testing.T, z []float64, threshold float64, first int32, offset int) {
	t.Helper()
	checkFilter(t, z, threshold, first, offset)
	single := make([]float32, len(z))
	for i, s := range z {
		single[i] = float32(s)
	}
	checkFilter(t, single, float32(threshold), first, offset)
}

func randomFilter(t *testing.T, r *rand.Rand, n, offset int, share float64) {
	t.Helper()
	z := make([]float64, n)
	for i := range z {
		z[i] = anyFloat64(r)
		if unit(r) < share {
			z[i] = 1e250 * unit(r)
			if offset%3 == 0 {
				z[i] = unit(r)
			}
		} else if z[i] > 0 {
			z[i] = -z[i]
		}
	}
	threshold := 0.0
	if n > 0 && offset%2 == 0 {
		threshold = z[r.IntN(n)] // ties do not count
	}
	checkFilters(t, z, threshold, int32(r.IntN(1000)), offset)
}

func TestFilterOfEveryLength(t *testing.T) {
	r := newRand(7)
	for n := range 330 {
		randomFilter(t, r, n, n%9, []float64{0, 0.01, 0.3, 1}[n%4])
	}
}

// Each of the masks of eight neighbours, at each place of a block.
func TestFilterOfEveryMask(t *testing.T) {
	for mask := range 256 {
		z := make([]float64, 2*PanelRows)
		for i := range z {
			z[i] = -1
			if at := (mask + i/8) % 256; at>>(i%8)&1 == 1 {
				z[i] = float64(i)
			}
		}
		checkFilters(t, z, -0.5, 7, 0)
	}
}

func TestFilterKeepsOrderAndIgnoresTies(t *testing.T) {
	checkFilters(t, []float64{1, 2, math.Copysign(0, -1), 0, 5e-324, 3}, 0, -3, 1)
	checkFilters(t, []float64{1, 2, math.Inf(1), math.Inf(-1), math.NaN(), 3}, 1, 0, 1)
	z := make([]float64, 256)
	for i := range z {
		z[i] = math.Inf(-1)
	}
	z[63], z[64], z[255] = math.Inf(1), 1, 2
	checkFilters(t, z, math.Inf(-1), 1<<30, 0)
	checkFilters(t, z, math.Inf(1), 0, 0)
	for i := range z {
		if i%3 > 0 {
			z[i] = math.NaN()
		}
	}
	checkFilters(t, z, math.Inf(-1), 0, 0)
	checkFilters(t, z, math.NaN(), 0, 0)
}

func TestFilterOfRandomScores(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newRand(rapid.Uint64().Draw(rt, "seed"))
		n := rapid.IntRange(0, 700).Draw(rt, "scores")
		randomFilter(t, r, n, rapid.IntRange(0, 9).Draw(rt, "offset"), rapid.Float64Range(0, 1).Draw(rt, "share"))
	})
}

func FuzzFilter(f *testing.F) {
	f.Add(uint64(1), uint16(64), uint8(0), uint8(3))
	f.Add(uint64(2), uint16(1000), uint8(5), uint8(128))
	f.Fuzz(func(t *testing.T, seed uint64, n uint16, offset, share uint8) {
		randomFilter(t, newRand(seed), int(n)%5000, int(offset)%9, float64(share)/255)
	})
}
