package kernel

// Accumulate adds one panel's part of X'v to lanes, which has Lanes elements a feature; v has PanelRows elements.
func Accumulate[T Float](panel []T, v, lanes []float64) {
	AccumulatePanels(panel, v[:PanelRows], lanes)
}

// AccumulatePanels adds the parts of X'v of consecutive panels, len(v)/PanelRows of them, to lanes, which has Lanes
// elements a feature. A panel whose v is all zero costs nothing; one with few non-zero rows costs little.
func AccumulatePanels[T Float](panels []T, v, lanes []float64) {
	d, count := len(lanes)/Lanes, len(v)/PanelRows
	v, panels = v[:count*PanelRows], panels[:count*PanelRows*d]
	if d < widePanel {
		accumulateTogether(panels, v, lanes)
		return
	}
	var active [streams]int // panels with a non-zero v
	n := 0
	for p := range count {
		if anyNonZero(v[p*PanelRows : (p+1)*PanelRows]) {
			active[n] = p
			n++
		}
		if n == streams || p == count-1 {
			accumulateWide(panels, v, lanes, active[:n])
			n = 0
		}
	}
}

// widePanel is the number of features from which the lanes do not stay in the first cache until the next panel needs
// them. A few panels are then taken in turns: their lanes are fetched once for all of them, and they are streams, too.
const widePanel = 512

func anyNonZero(v []float64) bool {
	for _, x := range v {
		if x != 0 {
			return true
		}
	}
	return false
}

// largePart is the number of features of a single panel that the second cache holds.
const largePart = 2048

// accumulateWide adds the parts of the panels given. The lanes of a feature do not depend on the order of features.
func accumulateWide[T Float](panels []T, v, lanes []float64, active []int) {
	d := len(lanes) / Lanes
	part := func(p, first, end int) {
		x := panels[(p*d+first)*PanelRows : (p*d+end)*PanelRows]
		accumulateTogether(x, v[p*PanelRows:(p+1)*PanelRows], lanes[first*Lanes:end*Lanes])
	}
	if len(active) == 1 {
		// The last features first: their values are still in the second cache when the scores have just been computed.
		for end := d; end > 0; end -= min(end, largePart) {
			part(active[0], max(0, end-largePart), end)
		}
		return
	}
	for first := 0; first < d; first += turnFeatures {
		for _, p := range active {
			part(p, first, min(first+turnFeatures, d))
		}
	}
}

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
		panel = panel[min(PanelRows, len(panel)):] // the last feature has fewer values behind it
	}
}

// AccumulateRow adds v times row r of a panel to lanes: what Accumulate does when only v[r] is non-zero.
func AccumulateRow[T Float](panel []T, r int, v float64, lanes []float64) {
	lane := r % Lanes
	for j := range len(lanes) / Lanes {
		lanes[j*Lanes+lane] += float64(float64(panel[j*PanelRows+r]) * v)
	}
}

// ReduceLanes adds each feature's eight lanes to g in the fixed order and clears them.
func ReduceLanes(lanes, g []float64) {
	lanes = lanes[:len(g)*Lanes]
	done := vectorReduceLanes(lanes, g)
	reduceLanes(lanes[done*Lanes:], g[done:])
}

// reduceLanes is the plain Go of ReduceLanes.
func reduceLanes(lanes, g []float64) {
	for j := range g {
		l := (*[Lanes]float64)(lanes[j*Lanes:])
		g[j] += ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]))
		*l = [Lanes]float64{}
	}
}
