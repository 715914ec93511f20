package kernel

import (
	"math/bits"
	"unsafe"
)

// Accumulate adds one panel's part of X'v to lanes, which has Lanes elements per feature. v has PanelRows elements.
func Accumulate[T Float](panel []T, v, lanes []float64) {
	AccumulatePanels(panel, v[:PanelRows], lanes)
}

// AccumulatePanels adds the parts of X'v of consecutive panels, len(v)/PanelRows of them, to lanes, which has Lanes
// elements per feature. A panel whose v is all zero costs nothing; one with few non-zero rows costs little.
func AccumulatePanels[T Float](panels []T, v, lanes []float64) {
	d, count := len(lanes)/Lanes, len(v)/PanelRows
	v, panels = v[:count*PanelRows], panels[:count*PanelRows*d]
	if d < widePanel || count == 1 || oneStream {
		accumulateInOrder(panels, v, lanes)
		return
	}
	var turns gradientTurns[T]
	for p := range count {
		turns.add(panels, v, lanes, p)
		if turns.full() {
			turns.run(d)
		}
	}
	turns.run(d)
}

// widePanel is the number of features from which the lanes do not stay in the first cache until the next panel needs them.
// A few panels are then read in turns, as streams, so that their lanes are fetched once for all of them.
const widePanel = 512

// oneStream is true where wide panels are not read in turns. It is a variable so that tests can compare both ways: the same
// numbers are added in the same order. AMD's family 1Ah (Zen 5) reads one stream faster: X'v of 784 and 5,000 features took
// 1.94 and 1.60 times the probe in turns, and 1.26 and 1.29 times in order, X w of 5,000 features 1.63 and 1.09 times. Family 19h
// (Zen 4) took 1.13 and 1.09 times in turns for X'v.
var oneStream = readsOneStream()

// accumulateInOrder is AccumulatePanels, panel after panel.
func accumulateInOrder[T Float](panels []T, v, lanes []float64) {
	d, count := len(lanes)/Lanes, len(v)/PanelRows
	if count == 0 || d == 0 {
		return
	}
	if count > 1 || d <= largePart {
		accumulatePart(panels, v, lanes)
		return
	}
	// The last features first: their values are still in the second cache when the scores have just been computed. The
	// lanes of a feature do not depend on the order of features.
	for end := d; end > 0; {
		first := max(0, end-largePart)
		accumulatePart(panels[first*PanelRows:end*PanelRows], v, lanes[first*Lanes:end*Lanes])
		end = first
	}
}

// largePart is the number of features of a panel that the second cache of 1 MB holds next to other data.
const largePart = 2048

func accumulatePart[T Float](panels []T, v, lanes []float64) {
	d, count := len(lanes)/Lanes, len(v)/PanelRows
	x := unsafe.Pointer(&panels[0])
	switch {
	case !uses(accumulateFamily):
		accumulatePanels(panels, v, lanes)
	case unsafe.Sizeof(panels[0]) == 4:
		asmAccumulateFloat32((*float32)(x), &v[0], &lanes[0], d, count)
	default:
		asmAccumulateFloat64((*float64)(x), &v[0], &lanes[0], d, count)
	}
}

// The number of rows of a panel with a nonzero coefficient, in classes that are added in different ways.
const (
	noRows = iota
	fewRows
	manyRows
)

// manyOctets is the number of eights of rows with a nonzero coefficient, of eight, from which a whole panel is added.
const manyOctets = 5

// activity returns the class of a panel's coefficients. Plain Go goes through the eights one by one in any case.
func activity(v []float64) int {
	if !uses(accumulateFamily) {
		return fewRows
	}
	mask := uint(asmOctets(&v[0])) // a bit for each eight coefficients that are not all zero
	switch {
	case mask == 0:
		return noRows
	case bits.OnesCount(mask) < manyOctets:
		return fewRows
	}
	return manyRows
}

// ManyRows reports whether enough of a panel's coefficients are nonzero that the whole panel is added.
func ManyRows(v []float64) bool { return activity(v[:PanelRows]) == manyRows }

// accumulatePanels is the plain Go of AccumulatePanels.
func accumulatePanels[T Float](panels []T, v, lanes []float64) {
	d := len(lanes) / Lanes
	for len(v) > 0 {
		for first := 0; first < PanelRows; first += Lanes {
			accumulateOctet(panels[first:PanelRows*d], (*[Lanes]float64)(v[first:]), lanes)
		}
		panels, v = panels[PanelRows*d:], v[PanelRows:]
	}
}

// accumulateOctet adds eight rows, each to its lane.
func accumulateOctet[T Float](panel []T, v *[Lanes]float64, lanes []float64) {
	v0, v1, v2, v3, v4, v5, v6, v7 := v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]
	if v0 == 0 && v1 == 0 && v2 == 0 && v3 == 0 && v4 == 0 && v5 == 0 && v6 == 0 && v7 == 0 {
		return
	}
	for len(lanes) >= Lanes {
		x, l := (*[Lanes]T)(panel), (*[Lanes]float64)(lanes)
		l[0] += float64(float64(x[0]) * v0)
		l[1] += float64(float64(x[1]) * v1)
		l[2] += float64(float64(x[2]) * v2)
		l[3] += float64(float64(x[3]) * v3)
		l[4] += float64(float64(x[4]) * v4)
		l[5] += float64(float64(x[5]) * v5)
		l[6] += float64(float64(x[6]) * v6)
		l[7] += float64(float64(x[7]) * v7)
		lanes = lanes[Lanes:]
		panel = panel[min(PanelRows, len(panel)):] // fewer values follow the last feature
	}
}

// ReduceLanes adds each feature's eight lanes to g in the fixed order and clears them.
func ReduceLanes(lanes, g []float64) {
	lanes = lanes[:len(g)*Lanes]
	if fours := len(g) / 4; uses(reduceFamily) && fours > 0 {
		asmReduceLanes(&lanes[0], &g[0], fours)
		lanes, g = lanes[4*fours*Lanes:], g[4*fours:]
	}
	for j := range g {
		l := (*[Lanes]float64)(lanes[j*Lanes:])
		g[j] += ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]))
		*l = [Lanes]float64{}
	}
}
