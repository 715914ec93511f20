package linalg

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestGramAndCholesky compares the blocked code with the definitions, for sizes at the ends of blocks.
func TestGramAndCholesky(t *testing.T) {
	for _, d := range []int{1, 2, 3, 5, 47, 48, 49, 50, 101} {
		x := randomRows(uint64(d), 300, d)
		weights := make([]float64, len(x))
		for i := range weights {
			weights[i] = float64(i%7) / 3
		}
		for _, sparse := range []bool{false, true} {
			set := NewRows(&Shift{Centre: x[0], Common: x[1], Sparse: sparse})
			for _, row := range x {
				set.Add(row, 1)
			}
			h := make([]float64, d*d)
			set.AddGram(weights, h, d)
			want := make([]float64, d*d)
			for k, row := range x {
				for i := range d {
					for j := range i + 1 {
						want[i*d+j] += weights[k] * (row[i] - x[0][i]) * (row[j] - x[0][j])
					}
				}
			}
			for i := range d {
				for j := range i + 1 {
					if math.Abs(h[i*d+j]-want[i*d+j]) > 1e-9*math.Max(1, math.Abs(want[i*d+j])) {
						t.Fatalf("d %d sparse %v: entry %d, %d is %g, want %g", d, sparse, i, j, h[i*d+j], want[i*d+j])
					}
				}
			}
			for i := range d {
				h[i*d+i] += .1
				want[i*d+i] += .1
			}
			var c Cholesky
			c.Factor(h, d)
			b := make([]float64, d)
			for i := range b {
				for j := range b {
					b[i] += want[max(i, j)*d+min(i, j)] * float64(j+1)
				}
			}
			c.Solve(b)
			for i, v := range b {
				if math.Abs(v-float64(i+1)) > 1e-8*float64(d) {
					t.Fatalf("d %d: unknown %d is %g, want %d", d, i, v, i+1)
				}
			}
		}
	}
}

// TestCholeskyFreezes factors a matrix of rank one: all pivots but the first are frozen.
func TestCholeskyFreezes(t *testing.T) {
	a := []float64{1, 0, 0, 2, 4, 0, 3, 6, 9}
	var c Cholesky
	c.Factor(a, 3)
	b := []float64{1, 2, 3}
	c.Solve(b)
	if c.Frozen != 2 || math.Abs(b[0]-1) > 1e-12 || b[1] != 0 && math.Abs(b[1]) > 1e-90 {
		t.Errorf("%d frozen, solution %g", c.Frozen, b)
	}
}

// randomRows returns n rows of d columns.
func randomRows(seed uint64, n, d int) [][]float64 {
	r := rand.New(rand.NewPCG(seed, 7))
	x := make([][]float64, n)
	for i := range x {
		x[i] = make([]float64, d)
		for j := range x[i] {
			for range 4 {
				x[i][j] += float64(r.Uint64()>>11)/(1<<53) - .5
			}
			x[i][j] += .2 / float64(1+j)
		}
	}
	return x
}

func BenchmarkGram300(b *testing.B) {
	set := NewRows(NewShift(300))
	for _, x := range randomRows(1, 2048, 300) {
		set.Add(x, 1)
	}
	h := make([]float64, 300*300)
	b.ResetTimer()
	for range b.N {
		set.AddGram(set.Weight, h, 300)
	}
	b.ReportMetric(float64(b.N)*2048*300*300/2/b.Elapsed().Seconds()/1e9, "Gmul/s")
}

func BenchmarkCholesky1000(b *testing.B) {
	const n = 1000
	a := make([]float64, n*n)
	for i := range n {
		for j := range i {
			a[i*n+j] = 1 / float64(1+i+j)
		}
		a[i*n+i] = 10
	}
	var c Cholesky
	for range b.N {
		c.Factor(a, n)
	}
	b.ReportMetric(float64(b.N)*n*n*n/6/b.Elapsed().Seconds()/1e9, "Gmul/s")
}

// TestPanelProducts checks that the two ways to add products of columns have the same bits.
func TestPanelProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 3))
	for _, width := range []int{1, 3, 63, 64, 65, 130} {
		const m = 37
		packed, a := make([]float64, width*m), make([]float64, width*width)
		for i := range packed {
			packed[i] = float64(r.Uint64()>>11)/(1<<53) - .5
		}
		for i := range a {
			a[i] = float64(r.Uint64()>>11) / (1 << 53)
		}
		b := slices.Clone(a)
		addProducts(packed, m, a, width, 0, width)
		for from := 0; from < width; from += panel {
			addPanelProducts(packed, m, b, width, from, width)
		}
		if !slices.Equal(a, b) {
			t.Errorf("width %d: the sums differ", width)
		}
	}
}
