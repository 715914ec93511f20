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

// factorByDefinition returns L of a matrix, and the number of frozen pivots, element after element in the order of the sums.
func factorByDefinition(a []float64, n int) (l []float64, frozen int) {
	l = make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			first := j / panel * panel
			rest := a[i*n+j]
			if first > 0 { // the columns of earlier panels, whose products are added first
				rest -= Dot(l[i*n:i*n+first], l[j*n:j*n+first])
			}
			rest -= Dot(l[i*n+first:i*n+j], l[j*n+first:j*n+j])
			switch {
			case i > j:
				l[i*n+j] = rest / l[j*n+j]
			case rest > pivotNoise*math.Abs(a[i*n+i]) && !math.IsInf(rest, 0):
				l[i*n+i] = math.Sqrt(rest)
			default:
				l[i*n+i] = FrozenPivot
				frozen++
			}
		}
	}
	return l, frozen
}

// TestFactorsHaveTheirBits compares factors with the definition: of all sizes up to 70, of more than a panel, and with frozen pivots, at
// places that the last factor has left other numbers in.
func TestFactorsHaveTheirBits(t *testing.T) {
	var c Cholesky
	sizes := []int{panel + 30, 2*panel + 6, 4*panel + 46}
	for n := range 71 {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		for _, rank := range []int{n, n / 2} {
			x, a := randomRows(uint64(n), rank, n), make([]float64, n*n)
			for i := range n {
				for j := range i + 1 {
					for _, row := range x {
						a[i*n+j] += float64(row[i] * row[j])
					}
				}
				if rank == n {
					a[i*n+i]++
				}
			}
			for _, pivot := range []float64{1, math.Inf(1), math.NaN(), 5e-324} {
				if n > 0 {
					a[n/2*n+n/2] *= pivot
				}
				want, frozen := factorByDefinition(a, n)
				c.Factor(a, n)
				if c.Frozen != frozen || rank == n && pivot == 1 && frozen > 0 {
					t.Fatalf("size %d, rank %d, pivot times %v: %d frozen, want %d", n, rank, pivot, c.Frozen, frozen)
				}
				for i := range n {
					sameOrNaN(t, "factor", n, c.Lower()[i*n:i*n+i+1], want[i*n:i*n+i+1])
				}
			}
		}
	}
}

// TestOuterProductsHaveTheirBits compares them with the definition, for one and several strips of rows.
func TestOuterProductsHaveTheirBits(t *testing.T) {
	const stride = 150
	r := rand.New(rand.NewPCG(37, 38))
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 5e-324, -5e-324, math.Copysign(0, -1), math.MaxFloat64}
	for n := range 71 {
		index, value := make([]int32, n), make([]float64, n)
		for k, j := range r.Perm(stride)[:n] {
			index[k], value[k] = int32(j), r.NormFloat64()
			if n%2 == 1 && r.IntN(9) == 0 {
				value[k] = special[r.IntN(len(special))]
			}
		}
		slices.Sort(index)
		for _, last := range []int{0, 1, 3} {
			got, v := make([]float64, stride*stride), r.NormFloat64()
			for i := range got {
				got[i] = r.NormFloat64()
			}
			want := slices.Clone(got)
			for a, j := range index {
				for b, k := range index[:a+1] {
					want[int(j)*stride+int(k)] += float64(v * value[a] * value[b])
				}
			}
			for s := range last + 1 {
				addOuterProduct(v, index, value, got, stride, s, last)
			}
			sameOrNaN(t, "outer product", n, got, want)
		}
	}
}

// sameOrNaN is same, but all NaNs are alike.
func sameOrNaN(t *testing.T, what string, n int, got, want []float64) {
	t.Helper()
	for i := range want {
		if !math.IsNaN(got[i]) || !math.IsNaN(want[i]) {
			same(t, what, n, got[i:i+1], want[i:i+1])
		}
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
