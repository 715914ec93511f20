package kernel

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// naiveTile is the definition: one row and one model after the other.
func naiveTile(panels, w []float32, models int, z []float32) {
	d := len(w) / models
	for i := range z {
		p, h, r := i/PanelRows/models, i/PanelRows%models, i%PanelRows
		for j := range d {
			z[i] = fma32(panels[(p*d+j)*PanelRows+r], w[j*models+h], z[i])
		}
	}
}

// naiveTileGradient is the definition, with nothing skipped.
func naiveTileGradient(panels, v []float32, models int, lanes []float32) {
	d := len(lanes) / (TileLanes * models)
	for i, vi := range v {
		p, h, r := i/PanelRows/models, i/PanelRows%models, i%PanelRows
		for j := range d {
			l := &lanes[(j*models+h)*TileLanes+r%TileLanes]
			*l = fma32(panels[(p*d+j)*PanelRows+r], vi, *l)
		}
	}
}

func checkTile(t *testing.T, r *rand.Rand, d, panels, models, offset int) {
	t.Helper()
	x := fence(floats32(r, panels*d*PanelRows), offset)
	w := fence(floats32(r, d*models), offset%3)
	start := floats32(r, panels*models*PanelRows)
	want := append([]float32(nil), start...)
	naiveTile(x.x, w.x, models, want)
	fresh := make([]float32, len(want))
	naiveTile(x.x, w.x, models, fresh)
	for _, l := range levels() {
		what := l.String() + " " + shapeName(d, panels, offset)
		atLevel(l, func() {
			z := fence(start, offset%5)
			ScoreTile(x.x, w.x, models, z.x, true)
			sameBits(t, what+" add", z.x, want)
			z.check(t, what)
			z = fence(start, offset%5)
			ScoreTile(x.x, w.x, models, z.x, false)
			sameBits(t, what+" set", z.x, fresh)
			z.check(t, what)
		})
	}
}

func checkTileGradient(t *testing.T, r *rand.Rand, d, panels, models, offset int, active float64) {
	t.Helper()
	x := fence(floats32(r, panels*d*PanelRows), offset)
	v := fence(floats32(r, panels*models*PanelRows), offset%3)
	for i := 0; i < len(v.x); i += PanelRows {
		if unit(r) >= active {
			clear(v.x[i : i+PanelRows])
		}
	}
	start := make([]float32, d*models*TileLanes)
	naiveTileGradient(x.x, floats32(r, len(v.x)), models, start)
	g := floats64(r, d*models)
	lanesGo, wantG := append([]float32(nil), start...), append([]float64(nil), g...)
	defined := append([]float32(nil), start...)
	naiveTileGradient(x.x, v.x, models, defined)
	definedG := append([]float64(nil), g...)
	ReduceTile(defined, definedG)
	atLevel(levelGo, func() {
		AccumulateTile(x.x, v.x, models, lanesGo)
		ReduceTile(append([]float32(nil), lanesGo...), wantG)
	})
	sameBits(t, "gradient with and without skipping", wantG, definedG)
	for _, l := range levels() {
		what := l.String() + " " + shapeName(d, panels, offset)
		atLevel(l, func() {
			lanes, sums := fence(start, offset%5), fence(g, offset%4)
			AccumulateTile(x.x, v.x, models, lanes.x)
			sameBits(t, what, lanes.x, lanesGo)
			ReduceTile(lanes.x, sums.x)
			sameBits(t, what+" reduced", sums.x, wantG)
			sameBits(t, what+" cleared", lanes.x, make([]float32, len(start)))
			lanes.check(t, what)
			sums.check(t, what)
		})
	}
}

func TestTileHasTheBitsOfTheDefinition(t *testing.T) {
	r := newRand(5)
	for i, d := range sizes() {
		models := []int{1, 4, 3, 8, 5, 16, 2}[i%7]
		panels := 1 + i%3
		if d > 1000 {
			models, panels = 1+i%5, 1
		}
		if d > 5000 {
			d, models = 5000, 4
		}
		checkTile(t, r, d, panels, models, i%16)
		checkTileGradient(t, r, d, panels, models, i%16, []float64{1, 0.5, 0}[i%3])
	}
	checkTile(t, r, 3, 40, 4, 1)
	checkTileGradient(t, r, 3, 40, 6, 1, 0.3)
}

func TestTileRowHasTheBitsOfTheDefinition(t *testing.T) {
	r := newRand(12)
	for i, d := range []int{1, 2, 7, 28, 100} {
		models, row := 1+i, r.IntN(PanelRows)
		x, start := fence(floats32(r, d*PanelRows), i), floats32(r, d*models*TileLanes)
		h, v := r.IntN(models), make([]float32, models*PanelRows)
		v[h*PanelRows+row] = anyFloat32(r)
		want := append([]float32(nil), start...)
		atLevel(levelGo, func() { AccumulateTile(x.x, v, models, want) })
		everyLevel(t, func(t *testing.T) {
			lanes := fence(start, i)
			AccumulateTileRow(x.x, row, v[h*PanelRows+row], models, h, lanes.x)
			for k := range want { // a zero may lose its sign where a product with zero is added
				if lanes.x[k] != want[k] {
					t.Fatalf("d = %d: lane %d is %v, want %v", d, k, lanes.x[k], want[k])
				}
			}
			lanes.check(t, "tile row")
		})
	}
}

// The bytes of a model must not depend on the other models.
func TestTileOfManyModelsIsThatOfEach(t *testing.T) {
	r := newRand(6)
	everyLevel(t, func(t *testing.T) {
		const d, panels, models = 77, 3, 7
		x, w, v := floats32(r, d*panels*PanelRows), floats32(r, d*models), floats32(r, panels*models*PanelRows)
		z, lanes, g := make([]float32, len(v)), make([]float32, d*models*TileLanes), make([]float64, d*models)
		for i := 0; i < len(v); i += 3 * PanelRows {
			clear(v[i : i+PanelRows])
		}
		ScoreTile(x, w, models, z, false)
		AccumulateTile(x, v, models, lanes)
		ReduceTile(lanes, g)
		for h := range models {
			wh, vh := make([]float32, d), make([]float32, panels*PanelRows)
			zh, lanesH, gh := make([]float32, len(vh)), make([]float32, d*TileLanes), make([]float64, d)
			for j := range d {
				wh[j] = w[j*models+h]
			}
			for p := range panels {
				copy(vh[p*PanelRows:(p+1)*PanelRows], v[(p*models+h)*PanelRows:])
			}
			ScoreTile(x, wh, 1, zh, false)
			AccumulateTile(x, vh, 1, lanesH)
			ReduceTile(lanesH, gh)
			for p := range panels {
				sameBits(t, "scores", z[(p*models+h)*PanelRows:][:PanelRows], zh[p*PanelRows:][:PanelRows])
			}
			for j := range d {
				sameBits(t, "gradient", g[j*models+h:][:1], gh[j:][:1])
			}
		}
	})
}

func TestTileOfNothing(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		z := []float32{63: 2}
		ScoreTile(nil, nil, 1, z, true)
		if z[63] != 2 {
			t.Error("adding no features changed the scores")
		}
		ScoreTile(nil, nil, 1, z, false)
		if z[63] != 0 {
			t.Error("setting to no features kept the scores")
		}
		ScoreTile(nil, nil, 0, nil, false)
		AccumulateTile(nil, nil, 0, nil)
		AccumulateTile(nil, nil, 3, nil)
		ReduceTile(nil, nil)
	})
}

func TestTileByHand(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		panel, z, g := make([]float32, 2*PanelRows), make([]float32, 2*PanelRows), make([]float64, 4)
		for r := range PanelRows {
			panel[r], panel[PanelRows+r] = float32(r), 1
		}
		ScoreTile(panel, []float32{2, 3, 10, 100}, 2, z, false)
		if z[5] != 20 || z[PanelRows+5] != 115 {
			t.Errorf("row 5 has scores %v and %v, want 20 and 115", z[5], z[PanelRows+5])
		}
		lanes := make([]float32, 4*TileLanes)
		AccumulateTile(panel, z, 2, lanes)
		ReduceTile(lanes, g)
		// sum of r is 2016, of r*r 85344
		if want := [4]float64{2*85344 + 10*2016, 3*85344 + 100*2016, 2*2016 + 640, 3*2016 + 6400}; [4]float64(g) != want {
			t.Errorf("gradient %v, want %v", g, want)
		}
	})
}

func TestTileOfRandomShapes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newRand(rapid.Uint64().Draw(rt, "seed"))
		d := rapid.IntRange(1, 150).Draw(rt, "features")
		panels := rapid.IntRange(1, 4).Draw(rt, "panels")
		models := rapid.IntRange(1, 12).Draw(rt, "models")
		offset := rapid.IntRange(0, 15).Draw(rt, "offset")
		checkTile(t, r, d, panels, models, offset)
		checkTileGradient(t, r, d, panels, models, offset, rapid.SampledFrom([]float64{1, 0.5, 0.1}).Draw(rt, "active"))
	})
}

func FuzzTile(f *testing.F) {
	f.Add(uint64(1), uint16(1), uint8(0), uint8(0), uint8(0), uint8(255))
	f.Add(uint64(2), uint16(10), uint8(6), uint8(3), uint8(7), uint8(90))
	f.Add(uint64(3), uint16(300), uint8(17), uint8(15), uint8(3), uint8(200))
	f.Fuzz(func(t *testing.T, seed uint64, d uint16, panels, models, offset, active uint8) {
		r := newRand(seed)
		features, count, columns := 1+int(d)%400, 1+int(panels)%20, 1+int(models)%20
		checkTile(t, r, features, count, columns, int(offset)%16)
		checkTileGradient(t, r, features, count, columns, int(offset)%16, float64(active)/255)
	})
}
