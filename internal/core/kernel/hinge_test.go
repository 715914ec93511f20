package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// checkHinge compares every implementation with the definition, the rows one by one.
func checkHinge(t *testing.T, r *rand.Rand, h Hinge, panels, gap, offset int) {
	t.Helper()
	stride := PanelRows + gap
	z := floats32(r, max(0, panels*stride-gap))
	for i := range z {
		switch r.IntN(40) {
		case 0:
			z[i] = float32(-h.Sign * h.Shift) // at the kink, or next to it
		case 1:
			z[i] = math.Nextafter32(float32(-h.Sign*h.Shift), float32(math.Inf(1-2*r.IntN(2))))
		case 2:
			z[i] = float32([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}[r.IntN(3)])
		}
	}
	start := [TileLanes]float64(floats64(r, TileLanes))
	for i := range start {
		start[i] = math.Abs(start[i])
	}
	want, lanes, count := append([]float32(nil), z...), start, 0
	for i, s := range z {
		if row := i % stride; row < PanelRows {
			want[i] = 0
			if u := h.Shift + float64(h.Sign*float64(s)); u > 0 {
				want[i], count = h.V, count+1
				lanes[row%TileLanes] += u
			}
		}
	}
	for _, l := range levels() {
		what := l.String() + " " + shapeName(gap, panels, offset)
		atLevel(l, func() {
			in, sums := fence(z, offset), start
			if got := h.Panels(in.x, stride, panels, &sums); got != count {
				t.Fatalf("%s: %d rows of %+v count, want %d", what, got, h, count)
			}
			sameBits(t, what, in.x, want)
			sameBits(t, what+" sums", sums[:], lanes[:])
			in.check(t, what)
		})
	}
}

// anyHinge is one with a shift among the scores, far away, or not finite.
func anyHinge(r *rand.Rand) Hinge {
	h := Hinge{Sign: float64(2*r.IntN(2) - 1), Shift: anyFloat64(r), V: anyFloat32(r)}
	switch r.IntN(12) {
	case 0:
		h.Shift = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1)}[r.IntN(5)]
	case 1:
		h.Shift = math.Copysign(math.MaxFloat32*(1+unit(r)), h.Shift)
	}
	return h
}

func TestHingeHasTheBitsOfTheDefinition(t *testing.T) {
	r := newRand(11)
	for i := range 2000 {
		checkHinge(t, r, anyHinge(r), i%6, []int{0, 64, 3}[i%3], i%9)
	}
}

func FuzzHinge(f *testing.F) {
	f.Add(uint64(1), 1.0, false, uint8(1))
	f.Add(uint64(2), -0.99999999, true, uint8(3))
	f.Fuzz(func(t *testing.T, seed uint64, shift float64, up bool, panels uint8) {
		r, h := newRand(seed), Hinge{Sign: -1, Shift: shift, V: 0.25}
		if up {
			h.Sign = 1
		}
		checkHinge(t, r, h, int(panels)%5, int(seed%3)*PanelRows, int(seed%7))
	})
}

func TestSumLanes(t *testing.T) {
	var l [TileLanes]float64
	for i := range l {
		l[i] = float64(int(1) << i)
	}
	if got := SumLanes(&l); got != 1<<TileLanes-1 {
		t.Errorf("the sum is %v", got)
	}
}
