package kernel

// The gradient of several models reads the data in parts of a few panels that stay in the second cache while all models use
// them. More panels mean fewer loads of lanes. With 16 or 32 models the v of the panels are a power of two apart, and the first
// cache keeps at most eight such lines. The sizes were chosen by hand.
const (
	gradientPanels = 6
	gradientBytes  = 256 << 10
	smallBytes     = 16 << 10
)

// AccumulateTile adds the parts of X'v of consecutive panels to the lanes of several models in the fast arithmetic.
//
// v holds PanelRows values per model and panel, v[(p*models+h)*64+r], the layout of ScoreTile's z, which
// determines the number of panels. lanes holds TileLanes values per feature and model, lanes[(j*models+h)*16+l]. Four neighbouring
// models whose v is all zero in a panel cost nothing there.
func AccumulateTile(panels, v []float32, models int, lanes []float32) {
	accumulateTiles(panels, v, models, lanes, 0)
}

// AccumulateTileFromMemory is AccumulateTile for panels that are not in cache.
func AccumulateTileFromMemory(panels, v []float32, models int, lanes []float32) {
	accumulateTiles(panels, v, models, lanes, fetchAhead)
}

func accumulateTiles(panels, v []float32, models int, lanes []float32, ahead int) {
	if models == 0 {
		return
	}
	d, count := len(lanes)/(TileLanes*models), len(v)/(PanelRows*models)
	group := gradientPanels
	if models < TileModels { // bound by memory: one panel at a time unless they are small, or as streams
		least := 1
		if ahead > 0 {
			least = Streams
		}
		group = min(group, max(least, smallBytes/(4*PanelRows*max(d, 1))))
	}
	for count > 0 && d > 0 {
		n := min(count, group)
		accumulateTileGroup(panels[:n*PanelRows*d], v[:n*PanelRows*models], models, lanes[:d*models*TileLanes], ahead)
		panels, v, count = panels[n*PanelRows*d:], v[n*PanelRows*models:], count-n
	}
}

// accumulateTileGroup adds the parts of at most gradientPanels panels, some features at a time.
func accumulateTileGroup(panels, v []float32, models int, lanes []float32, ahead int) {
	d, count := len(lanes)/(TileLanes*models), len(v)/(PanelRows*models)
	features := max(64, gradientBytes/(4*PanelRows*count))
	for first := 0; first < d; first += features {
		part := tilePart{panels: panels, v: v, lanes: lanes, models: models, d: d, ahead: ahead,
			first: first, features: min(features, d-first), count: count}
		for h := 0; h < models; {
			width := TileModels
			if models-h < width {
				width = 1
			}
			part.accumulate(h, width)
			h += width
		}
	}
}

// tilePart is some features of some panels.
type tilePart struct {
	panels, v, lanes []float32
	models, d, ahead int
	first, features  int // the features
	count            int // of panels
}

// accumulate adds the part of models h to h+width-1 of the panels in which they have a non-zero v.
func (t *tilePart) accumulate(h, width int) {
	var offsets [gradientPanels][2]int // bytes, into panels and v
	n := 0
	for p := range t.count {
		row := (p*t.models + h) * PanelRows
		if active(t.v[row : row+width*PanelRows]) {
			offsets[n] = [2]int{4 * PanelRows * (p*t.d + t.first), 4 * row}
			n++
		}
	}
	if n == 0 {
		return
	}
	lanes := t.lanes[(t.first*t.models+h)*TileLanes:]
	if uses(tilegradientFamily) {
		x, v, l, stride := &t.panels[0], &t.v[0], &lanes[0], 4*TileLanes*t.models
		if width == TileModels {
			asmTileGradient4(x, v, l, &offsets[0], t.features, n, stride, t.ahead)
		} else {
			asmTileGradient1(x, v, l, &offsets[0], t.features, n, stride, t.ahead)
		}
		return
	}
	for _, o := range offsets[:n] {
		x := t.panels[o[0]/4 : o[0]/4+t.features*PanelRows]
		accumulateTile(x, t.v[o[1]/4:o[1]/4+width*PanelRows], t.models, lanes)
	}
}

// active reports whether a value is not zero. Where many rows are active, the first one usually is.
func active(v []float32) bool {
	if v[0] != 0 {
		return true
	}
	if uses(tilegradientFamily) {
		return asmActive(&v[0], len(v)) != 0
	}
	for _, x := range v {
		if x != 0 {
			return true
		}
	}
	return false
}

// accumulateTile is the plain Go of AccumulateTile for one panel and the neighbouring models in v.
func accumulateTile(panel, v []float32, models int, lanes []float32) {
	for j := range len(panel) / PanelRows {
		x := (*[PanelRows]float32)(panel[j*PanelRows:])
		for h := range len(v) / PanelRows {
			vh := (*[PanelRows]float32)(v[h*PanelRows:])
			l := (*[TileLanes]float32)(lanes[(j*models+h)*TileLanes:])
			for r := range l {
				s := l[r]
				s = fma32(x[r], vh[r], s)
				s = fma32(x[r+16], vh[r+16], s)
				s = fma32(x[r+32], vh[r+32], s)
				s = fma32(x[r+48], vh[r+48], s)
				l[r] = s
			}
		}
	}
}

// AccumulateTileRow adds v times row r of a panel to the lanes of model h, like AccumulateTile when only this v of the panel is
// nonzero.
func AccumulateTileRow(panel []float32, r int, v float32, models, h int, lanes []float32) {
	d := len(lanes) / (TileLanes * models)
	if d == 0 {
		return
	}
	panel, lanes = panel[:PanelRows*d][r:], lanes[:d*models*TileLanes][h*TileLanes+r%TileLanes:]
	if uses(tilerowFamily) {
		asmTileRow(&panel[0], v, &lanes[0], d, 4*TileLanes*models)
		return
	}
	for j := range d {
		l := &lanes[j*models*TileLanes]
		*l = fma32(panel[j*PanelRows], v, *l)
	}
}

// ReduceTile adds the lanes of each feature and model to g, g[j*models+h], in the fixed order and clears them.
func ReduceTile(lanes []float32, g []float64) {
	lanes = lanes[:len(g)*TileLanes]
	if fours := len(g) / 4; uses(reduceFamily) && fours > 0 {
		asmReduceTile(&lanes[0], &g[0], fours)
		lanes, g = lanes[4*fours*TileLanes:], g[4*fours:]
	}
	for j := range g {
		l := (*[TileLanes]float32)(lanes[j*TileLanes:])
		var s [Lanes]float64
		for i := range s {
			s[i] = float64(l[i]) + float64(l[i+Lanes])
		}
		g[j] += ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
		*l = [TileLanes]float32{}
	}
}
