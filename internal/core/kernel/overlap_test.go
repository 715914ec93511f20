package kernel

import (
	"math/rand/v2"
	"testing"
)

// checkOverlap compares both results with the definitions, for any share of active rows.
func checkOverlap[T Float](t *testing.T, r *rand.Rand, values func(*rand.Rand, int) []T, d, offset int, active float64) {
	t.Helper()
	panel, last := fence(values(r, d*PanelRows), offset), fence(values(r, d*PanelRows), (offset+3)%7)
	w, v := fence(floats64(r, d), offset%5), fence(floats64(r, PanelRows), offset%3)
	sparse64(r, v.x, active)
	start, earlier := floats64(r, PanelRows), make([]float64, d*Lanes)
	naiveAccumulate(panel.x, floats64(r, PanelRows), earlier)
	wantLanes := append([]float64(nil), earlier...)
	naiveAccumulate(last.x, v.x, wantLanes)
	for _, add := range []bool{false, true} {
		want := append([]float64(nil), start...)
		if !add {
			clear(want)
		}
		naiveScores(panel.x, w.x, want)
		for _, l := range levels() {
			what := l.String() + " " + shapeName(d, 1, offset)
			atLevel(l, func() {
				z, lanes := fence(start, offset%4), fence(earlier, offset%6)
				Overlap(panel.x, w.x, z.x, add, last.x, v.x, lanes.x)
				sameBits(t, what+" scores", z.x, want)
				sameBits(t, what+" lanes", lanes.x, wantLanes)
				z.check(t, what)
				lanes.check(t, what)
			})
		}
	}
}

func TestOverlapHasTheBitsOfTheDefinitions(t *testing.T) {
	r := newRand(21)
	for i, d := range sizes() {
		active := []float64{1, 0.3, 0.02, 0}[i%4]
		checkOverlap(t, r, floats32, d, i%16, active)
		if d <= 300 {
			checkOverlap(t, r, floats64, d, i%8, active)
		}
	}
}

func FuzzOverlap(f *testing.F) {
	f.Add(uint64(1), uint16(10), uint8(3), uint8(64))
	f.Add(uint64(2), uint16(600), uint8(1), uint8(5))
	f.Fuzz(func(t *testing.T, seed uint64, d uint16, offset, active uint8) {
		r := newRand(seed)
		checkOverlap(t, r, floats32, int(d%1000), int(offset%16), float64(active%65)/64)
		checkOverlap(t, r, floats64, int(d%100), int(offset%8), float64(active%65)/64)
	})
}
