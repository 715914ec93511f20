package kernel

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// naiveAccumulate is the definition: every row, in order, to its lane.
func naiveAccumulate[T Float](panels []T, v, lanes []float64) {
	d := len(lanes) / Lanes
	for i, vi := range v {
		p, r := i/PanelRows, i%PanelRows
		for j := range d {
			lanes[j*Lanes+r%Lanes] += float64(float64(panels[(p*d+j)*PanelRows+r]) * vi)
		}
	}
}

func checkAccumulate[T Float](t *testing.T, r *rand.Rand, values func(*rand.Rand, int) []T, d, panels, offset int, active float64) {
	t.Helper()
	x := fence(values(r, panels*d*PanelRows), offset)
	v := fence(floats64(r, panels*PanelRows), offset%3)
	sparse64(r, v.x, active)
	start := make([]float64, d*Lanes)
	naiveAccumulate(x.x, floats64(r, panels*PanelRows), start) // what earlier panels left
	want := append([]float64(nil), start...)
	naiveAccumulate(x.x, v.x, want)
	g := floats64(r, d)
	wantG := append([]float64(nil), g...)
	for j := range wantG {
		l := want[j*Lanes:]
		wantG[j] += ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]))
	}
	for _, l := range levels() {
		what := l.String() + " " + shapeName(d, panels, offset)
		atLevel(l, func() {
			lanes := fence(start, offset%5)
			AccumulatePanels(x.x, v.x, lanes.x)
			sameBits(t, what, lanes.x, want)
			lanes.check(t, what)
			lanes = fence(start, offset%5)
			oneStream = !oneStream
			AccumulatePanels(x.x, v.x, lanes.x)
			oneStream = !oneStream
			sameBits(t, what+" the other way", lanes.x, want)
			lanes = fence(start, offset%5)
			for p := range panels {
				Accumulate(x.x[p*d*PanelRows:(p+1)*d*PanelRows], v.x[p*PanelRows:], lanes.x)
			}
			sameBits(t, what+" one by one", lanes.x, want)
			sums := fence(g, offset%4)
			ReduceLanes(lanes.x, sums.x)
			sameBits(t, what+" reduced", sums.x, wantG)
			sameBits(t, what+" cleared", lanes.x, make([]float64, d*Lanes))
			lanes.check(t, what)
			sums.check(t, what)
		})
	}
}

func TestGradientHasTheBitsOfTheDefinition(t *testing.T) {
	r := newRand(2)
	for i, d := range sizes() {
		panels := 1 + i%4
		if d > 1000 {
			panels = 2
		}
		active := []float64{1, 0.3, 0.05, 0.01}[i%4]
		checkAccumulate(t, r, floats32, d, panels, i%16, active)
		if d <= 300 {
			checkAccumulate(t, r, floats64, d, panels, i%8, active)
		}
	}
}

// Every set of active octets takes the way for many or for few of them.
func TestGradientOfEverySetOfActiveOctets(t *testing.T) {
	r := newRand(3)
	const d = 5
	for set := range 256 {
		x, v := floats32(r, d*PanelRows), make([]float64, PanelRows)
		for o := range PanelRows / Lanes {
			if set>>o&1 == 1 {
				v[o*Lanes+r.IntN(Lanes)] = 1 + unit(r)
			}
		}
		want := make([]float64, d*Lanes)
		naiveAccumulate(x, v, want)
		everyLevel(t, func(t *testing.T) {
			lanes := make([]float64, d*Lanes)
			Accumulate(x, v, lanes)
			sameBits(t, "lanes", lanes, want)
		})
	}
}

func TestGradientByHand(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		panel, v := make([]float32, 2*PanelRows), make([]float64, PanelRows)
		for r := range PanelRows {
			panel[r], panel[PanelRows+r], v[r] = float32(r), 1, 2
		}
		lanes, g := make([]float64, 2*Lanes), []float64{0, 0.5}
		AccumulatePanels(panel, v, lanes)
		if lanes[3] != 2*(3+11+19+27+35+43+51+59) {
			t.Errorf("lane 3 holds %v", lanes[3])
		}
		ReduceLanes(lanes, g)
		if g[0] != 63*64 || g[1] != 128.5 {
			t.Errorf("gradient %v, want [4032 128.5]", g)
		}
	})
}

func TestGradientOfNothing(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		AccumulatePanels([]float32{}, nil, make([]float64, 8))
		AccumulatePanels([]float32{}, make([]float64, 64), nil)
		ReduceLanes(nil, nil)
	})
}

func TestGradientOfRandomShapes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newRand(rapid.Uint64().Draw(rt, "seed"))
		d := rapid.IntRange(1, 300).Draw(rt, "features")
		panels := rapid.IntRange(1, 6).Draw(rt, "panels")
		active := rapid.SampledFrom([]float64{1, 0.1, 0.02, 0}).Draw(rt, "active")
		checkAccumulate(t, r, floats32, d, panels, rapid.IntRange(0, 15).Draw(rt, "offset"), active)
	})
}

func FuzzAccumulate(f *testing.F) {
	f.Add(uint64(1), uint16(1), uint8(1), uint8(0), uint8(255), true)
	f.Add(uint64(2), uint16(10), uint8(7), uint8(3), uint8(5), false)
	f.Add(uint64(3), uint16(784), uint8(2), uint8(1), uint8(40), true)
	f.Fuzz(func(t *testing.T, seed uint64, d uint16, panels, offset, active uint8, single bool) {
		r := newRand(seed)
		if single {
			checkAccumulate(t, r, floats32, 1+int(d)%3000, 1+int(panels)%8, int(offset)%16, float64(active)/255)
		} else {
			checkAccumulate(t, r, floats64, 1+int(d)%3000, 1+int(panels)%8, int(offset)%8, float64(active)/255)
		}
	})
}
