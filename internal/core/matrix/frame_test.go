package matrix

import (
	"testing"

	"toptau/internal/core/kernel"
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
