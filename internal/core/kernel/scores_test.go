package kernel

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// naiveScores is the definition: one row after the other.
func naiveScores[T Float](panels []T, w, z []float64) {
	d := len(w)
	for i := range z {
		p, r := i/PanelRows, i%PanelRows
		for j, wj := range w {
			z[i] += float64(float64(panels[(p*d+j)*PanelRows+r]) * wj)
		}
	}
}

func checkScores[T Float](t *testing.T, r *rand.Rand, values func(*rand.Rand, int) []T, d, panels, offset int) {
	t.Helper()
	x := fence(values(r, panels*d*PanelRows), offset)
	w := fence(floats64(r, d), offset%3)
	start := floats64(r, panels*PanelRows)
	want := append([]float64(nil), start...)
	naiveScores(x.x, w.x, want)
	fresh := make([]float64, len(want))
	naiveScores(x.x, w.x, fresh)
	for _, l := range levels() {
		what := l.String() + " " + shapeName(d, panels, offset)
		atLevel(l, func() {
			z := fence(start, offset%5)
			ScorePanels(x.x, w.x, z.x, true)
			sameBits(t, what+" add", z.x, want)
			z.check(t, what)
			z = fence(start, offset%5)
			ScorePanels(x.x, w.x, z.x, false)
			sameBits(t, what+" set", z.x, fresh)
			z.check(t, what)
			z = fence(start, offset%5)
			for p := range panels {
				Scores(x.x[p*d*PanelRows:(p+1)*d*PanelRows], w.x, z.x[p*PanelRows:])
			}
			sameBits(t, what+" one by one", z.x, want)
			z.check(t, what)
		})
	}
}

func TestScoresHaveTheBitsOfTheDefinition(t *testing.T) {
	r := newRand(1)
	for i, d := range sizes() {
		panels := 1 + i%4
		if d > 1000 {
			panels = 2
		}
		checkScores(t, r, floats32, d, panels, i%16)
		if d <= 300 {
			checkScores(t, r, floats64, d, panels, i%8)
		}
	}
}

func TestListedScoresHaveTheBitsOfTheDefinition(t *testing.T) {
	r := newRand(2)
	for i, d := range sizes() {
		if d <= 5000 {
			checkListed(t, r, floats32, d, i)
			checkListed(t, r, floats64, d, i)
		}
	}
}

func checkListed[T Float](t *testing.T, r *rand.Rand, values func(*rand.Rand, int) []T, d, i int) {
	x := fence(values(r, d*PanelRows), i%8)
	var list []int32
	var w []float64
	for j := range d {
		if r.IntN(3) == 0 {
			list, w = append(list, int32(j)), append(w, anyFloat64(r))
		}
	}
	start := floats64(r, PanelRows)
	want := append([]float64(nil), start...)
	for row := range want {
		for k, j := range list {
			want[row] += float64(float64(x.x[int(j)*PanelRows+row]) * w[k])
		}
	}
	for _, l := range levels() {
		atLevel(l, func() {
			z := fence(start, i%5)
			ScoreListed(x.x, list, w, z.x)
			sameBits(t, l.String()+" "+shapeName(d, 1, i%8), z.x, want)
			z.check(t, l.String())
		})
	}
}

func TestScoresWithoutFeatures(t *testing.T) {
	z := []float64{3: 1, 63: 2}
	ScorePanels([]float32{}, nil, z, true)
	if z[3] != 1 || z[63] != 2 {
		t.Error("adding no features changed the scores")
	}
	ScorePanels([]float32{}, nil, z, false)
	if z[3] != 0 || z[63] != 0 {
		t.Error("setting to no features kept the scores")
	}
	ScorePanels([]float32{}, []float64{1, 2}, nil, false)
}

func TestScoresByHand(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		panel, z := make([]float32, 2*PanelRows), make([]float64, PanelRows)
		for r := range PanelRows {
			panel[r], panel[PanelRows+r], z[r] = float32(r), 1, 0.5
		}
		ScorePanels(panel, []float64{2, -3}, z, true)
		for r, s := range z {
			if want := 2*float64(r) - 2.5; s != want {
				t.Errorf("row %d has score %v, want %v", r, s, want)
			}
		}
	})
}

// A fused product would give another last bit here: x*w is not a float64 number.
func TestScoresAreNotFused(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		panel, z := make([]float32, PanelRows), make([]float64, PanelRows)
		for r := range PanelRows {
			panel[r], z[r] = 0x1.000002p0, -1
		}
		w := 0x1.0000000000001p0
		ScorePanels(panel, []float64{w}, z, true)
		product := float64(float64(panel[0]) * w)
		if z[7] != product-1 {
			t.Errorf("score %x, want %x", z[7], product-1)
		}
	})
}

func TestScoresOfRandomShapes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newRand(rapid.Uint64().Draw(rt, "seed"))
		d := rapid.IntRange(1, 300).Draw(rt, "features")
		panels := rapid.IntRange(1, 6).Draw(rt, "panels")
		checkScores(t, r, floats32, d, panels, rapid.IntRange(0, 15).Draw(rt, "offset"))
	})
}

func FuzzScores(f *testing.F) {
	f.Add(uint64(1), uint16(1), uint8(1), uint8(0), true)
	f.Add(uint64(2), uint16(10), uint8(7), uint8(3), false)
	f.Add(uint64(3), uint16(784), uint8(2), uint8(1), true)
	f.Fuzz(func(t *testing.T, seed uint64, d uint16, panels, offset uint8, single bool) {
		r := newRand(seed)
		if single {
			checkScores(t, r, floats32, 1+int(d)%3000, 1+int(panels)%8, int(offset)%16)
		} else {
			checkScores(t, r, floats64, 1+int(d)%3000, 1+int(panels)%8, int(offset)%8)
		}
	})
}
