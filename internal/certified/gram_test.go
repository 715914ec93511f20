package certified

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestGramAndCholesky compares the blocked code with the definitions, for sizes around the blocks' ends.
func TestGramAndCholesky(t *testing.T) {
	for _, d := range []int{1, 2, 3, 5, 47, 48, 49, 50, 101} {
		x := clouds(uint64(d), 300, 0, d, .2).x
		weights := make([]float64, len(x))
		for i := range weights {
			weights[i] = float64(i%7) / 3
		}
		for _, sparse := range []bool{false, true} {
			set := newRows(&frame{centre: x[0], common: x[1], sparse: sparse})
			for _, row := range x {
				set.add(row, 1)
			}
			h := make([]float64, d*d)
			set.addGram(weights, h, d)
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
			var c cholesky
			c.factor(h, d)
			b := make([]float64, d)
			for i := range b {
				for j := range b {
					b[i] += want[max(i, j)*d+min(i, j)] * float64(j+1)
				}
			}
			c.solve(b)
			for i, v := range b {
				if math.Abs(v-float64(i+1)) > 1e-8*float64(d) {
					t.Fatalf("d %d: unknown %d is %g, want %d", d, i, v, i+1)
				}
			}
		}
	}
}

// A matrix of rank one leaves all pivots but the first frozen.
func TestCholeskyFreezes(t *testing.T) {
	a := []float64{1, 0, 0, 2, 4, 0, 3, 6, 9}
	var c cholesky
	c.factor(a, 3)
	b := []float64{1, 2, 3}
	c.solve(b)
	if c.frozen != 2 || math.Abs(b[0]-1) > 1e-12 || b[1] != 0 && math.Abs(b[1]) > 1e-90 {
		t.Errorf("%d frozen, solution %g", c.frozen, b)
	}
}

func BenchmarkGram300(b *testing.B) {
	set := pack(clouds(1, 2048, 0, 300, 0).x, 300, false, nil)
	h := make([]float64, 300*300)
	b.ResetTimer()
	for range b.N {
		set.addGram(set.weight, h, 300)
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
	var c cholesky
	for range b.N {
		c.factor(a, n)
	}
	b.ReportMetric(float64(b.N)*n*n*n/6/b.Elapsed().Seconds()/1e9, "Gmul/s")
}

// TestPanelProducts compares the two ways to add products of columns: they have the same bits.
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
		for from := 0; from < width; from += choleskyBlock {
			addPanelProducts(packed, m, b, width, from, width)
		}
		if !slices.Equal(a, b) {
			t.Errorf("width %d: the sums differ", width)
		}
	}
}
