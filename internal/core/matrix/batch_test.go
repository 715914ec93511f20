package matrix

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Rows that are added in batches make the matrix of rows that are added one by one.
func TestAddBatch(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	layout := Layout{{Kind: Dense, Cols: 3}, {Kind: Sparse, Cols: 9}, CodedSpec([]Group{{Levels: 4}}), {Kind: Dense, Cols: 2}}
	for _, storage := range []Storage{Float32, Float64} {
		one, many := NewBuilder(layout, storage), NewBuilder(layout, storage)
		source := 0
		for range 40 {
			rows := r.IntN(50)
			x := &Batch{Dense: make([][]float64, 5)}
			for range rows {
				positive, weight := r.IntN(5) == 0, 1+r.Float64()
				var dense []float64
				for j := range x.Dense {
					dense = append(dense, r.Float64())
					x.Dense[j] = append(x.Dense[j], dense[j])
				}
				var cols []uint32
				var values []float64
				for j := range uint32(9) {
					if r.IntN(3) == 0 {
						cols, values = append(cols, 3+j), append(values, r.Float64())
					}
				}
				if r.IntN(4) > 0 {
					cols, values = append(cols, 12+r.Uint32N(4)), append(values, 1)
				}
				one.Add(positive, dense, cols, values, weight, source)
				x.Positive, x.Sources, x.Weights = append(x.Positive, positive), append(x.Sources, source), append(x.Weights, weight)
				x.Cols, x.Values = append(x.Cols, cols...), append(x.Values, values...)
				x.Ends = append(x.Ends, len(x.Cols))
				source++
			}
			many.AddBatch(x)
		}
		want, err := one.Build()
		if err != nil {
			t.Fatal(err)
		}
		got, err := many.Build()
		if err != nil {
			t.Fatal(err)
		}
		for k, p := range []*ClassRows{want.Positives, want.Negatives} {
			q := []*ClassRows{got.Positives, got.Negatives}[k]
			if p.Rows() != q.Rows() || p.Rows() < 100 {
				t.Fatalf("%d rows, want %d", q.Rows(), p.Rows())
			}
			a, b := make([]float64, p.Cols()), make([]float64, p.Cols())
			for i := range p.Rows() {
				p.Row(i, a)
				q.Row(i, b)
				for j := range a {
					if a[j] != b[j] {
						t.Fatalf("row %d: %v, want %v", i, b, a)
					}
				}
				if p.Source(i) != q.Source(i) || p.Weights()[i] != q.Weights()[i] {
					t.Fatalf("row %d is another one", i)
				}
			}
		}
	}
}

// A batch with a mistake is one of Build.
func TestBadBatches(t *testing.T) {
	good := func() *Batch {
		return &Batch{Positive: []bool{true, false}, Sources: []int{0, 1}, Weights: []float64{1, 1},
			Dense: [][]float64{{1, 2}, {3, 4}}}
	}
	for name, spoil := range map[string]func(x *Batch){
		"columns": func(x *Batch) { x.Dense = x.Dense[:1] },
		"sources": func(x *Batch) { x.Sources = x.Sources[:1] },
		"short":   func(x *Batch) { x.Dense[1] = x.Dense[1][:1] },
		"ends":    func(x *Batch) { x.Ends = []int{0} },
		"weight":  func(x *Batch) { x.Weights[1] = 0 },
		"source":  func(x *Batch) { x.Sources[1] = -1 },
		"large":   func(x *Batch) { x.Dense[1][0] = 1e300 },
		"NaN":     func(x *Batch) { x.Dense[0][1] = math.NaN() },
		"column":  func(x *Batch) { x.Ends, x.Cols, x.Values = []int{1, 1}, []uint32{0}, []float64{1} },
	} {
		b, x := NewBuilder(Layout{{Kind: Dense, Cols: 2}}, Float32), good()
		b.AddBatch(x)
		spoil(x)
		b.AddBatch(x)
		if _, err := b.Build(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
