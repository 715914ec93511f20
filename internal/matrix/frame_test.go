package matrix

import (
	"testing"

	"toptau/internal/kernel"
)

// A frame that is used again has the rows of a matrix that was built, to the bit.
func TestFrameIsTheMatrix(t *testing.T) {
	f := NewFrame(5)
	for _, rows := range []int{300, 70, 20, 500, 64} {
		s := newSample(uint64(rows), rows, 5, 1)
		want := s.build(t, Layout{{Kind: Dense, Cols: 5}}, Float32)
		var sources [2][]uint32
		for k, p := range []*ClassRows{want.Positives, want.Negatives} {
			for i := range p.Rows() {
				sources[k] = append(sources[k], uint32(p.Source(i)))
			}
		}
		x := f.Reset(sources, [2][]float64{want.Positives.Weights(), want.Negatives.Weights()})
		row := make([]float64, 5)
		for k, p := range []*ClassRows{want.Positives, want.Negatives} {
			for i := range p.Rows() {
				p.Row(i, row)
				for j, v := range row {
					f.Panel(k, i/kernel.PanelRows)[j*kernel.PanelRows+i%kernel.PanelRows] = float32(v)
				}
			}
		}
		w := randomVector(uint64(rows), 5)
		for k, p := range []*ClassRows{want.Positives, want.Negatives} {
			q := []*ClassRows{x.Positives, x.Negatives}[k]
			v := randomVector(uint64(rows)+1, p.Rows())
			wantZ, wantG := reference(p, w, v)
			z, g := reference(q, w, v)
			sameBits(t, "scores", z, wantZ)
			sameBits(t, "gradient", g, wantG)
			checkPart(t, q, w, v)
		}
	}
}

// Rows that are collected in parts are those of the whole, in blocks of every kind.
func TestCollectedRows(t *testing.T) {
	for _, storage := range []Storage{Float32, Float64} {
		s := newSample(7, 400, 12, .4)
		for name, layout := range map[string]Layout{"dense": {{Kind: Dense, Cols: 12}}, "sparse": {{Kind: Sparse, Cols: 12}},
			"both": {{Kind: Dense, Cols: 4}, {Kind: Sparse, Cols: 8}}} {
			x := s.build(t, layout, storage)
			p := x.Negatives
			var c Collector
			for first := 0; first < p.Rows(); {
				n := min(p.Rows()-first, 1+first%90)
				rows := make([]int, n)
				for i := range rows {
					rows[i] = first + i
				}
				if err := c.Add(p.Take(rows)); err != nil {
					t.Fatal(err)
				}
				first += n
			}
			got := c.Rows()
			if got.Rows() != p.Rows() || got.Cols() != p.Cols() {
				t.Fatalf("%s: %d rows of %d columns", name, got.Rows(), got.Cols())
			}
			a, b := make([]float64, 12), make([]float64, 12)
			for i := range p.Rows() {
				p.Row(i, a)
				got.Row(i, b)
				sameBits(t, name, b, a)
				if got.Source(i) != p.Source(i) {
					t.Fatalf("%s: row %d has the number %d", name, i, got.Source(i))
				}
			}
			checkPart(t, got, randomVector(3, 12), randomVector(4, p.Rows()))
		}
	}
}
