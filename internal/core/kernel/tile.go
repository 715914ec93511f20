package kernel

// tileFeatures is the largest number of features after which a tile's sums are stored and reloaded, so that this part of a
// panel, 10 KB, stays in the first cache while all models use it.
const tileFeatures = 40

// secondFeatures is the same number for two or three models, whose parts of a panel stay in the second cache.
const secondFeatures = 1024

// ScoreTile computes the scores of consecutive panels under several models in the fast arithmetic.
//
// w is features x models, w[j*models+h]. z holds PanelRows scores per model and panel, z[(p*models+h)*64+r], which determines
// the number of panels. With add the scores are added to z; otherwise they replace it.
func ScoreTile(panels, w []float32, models int, z []float32, add bool) {
	if models == 0 || len(z) == 0 {
		return
	}
	d := len(w) / models
	if d == 0 {
		if !add {
			clear(z)
		}
		return
	}
	panels, w = panels[:len(z)/models*d], w[:d*models]
	if block := tileBlock(d, models); block < d {
		for len(z) > 0 {
			scoreTileBlocks(panels[:PanelRows*d], w, models, z[:PanelRows*models], add, block)
			panels, z = panels[PanelRows*d:], z[PanelRows*models:]
		}
		return
	}
	if uses(tileFamily) {
		asmTile(&panels[0], &w[0], &z[0], d, models, flagOf(add), fetchAhead, len(z)/(PanelRows*models))
		return
	}
	for len(z) > 0 {
		scoreTile(panels[:PanelRows*d], w, models, z[:PanelRows*models], add)
		panels, z = panels[PanelRows*d:], z[PanelRows*models:]
	}
}

// tileBlock returns the number of features that a tile handles at a time, about the same in each block.
func tileBlock(d, models int) int {
	switch {
	case models == 1:
		return d // each value is used once
	case models < TileModels:
		return secondFeatures
	}
	blocks := (d + tileFeatures - 1) / tileFeatures
	return (d + blocks - 1) / blocks
}

// scoreTileBlocks goes through one panel in blocks of features.
func scoreTileBlocks(panel, w []float32, models int, z []float32, add bool, block int) {
	for len(panel) > 0 {
		d := min(len(panel)/PanelRows, block)
		if uses(tileFamily) {
			asmTile(&panel[0], &w[0], &z[0], d, models, flagOf(add), fetchAhead, 1)
		} else {
			scoreTile(panel[:PanelRows*d], w, models, z, add)
		}
		panel, w, add = panel[PanelRows*d:], w[d*models:], true
	}
}

// scoreTile is the plain Go of ScoreTile, for one panel.
func scoreTile(panel, w []float32, models int, z []float32, add bool) {
	if !add {
		clear(z)
	}
	d := len(panel) / PanelRows
	for h := range models {
		for first := 0; first < PanelRows; first += 4 {
			s := (*[4]float32)(z[h*PanelRows+first:])
			s0, s1, s2, s3 := s[0], s[1], s[2], s[3]
			for j := range d {
				x, wj := (*[4]float32)(panel[j*PanelRows+first:]), w[j*models+h]
				s0 = fma32(x[0], wj, s0)
				s1 = fma32(x[1], wj, s1)
				s2 = fma32(x[2], wj, s2)
				s3 = fma32(x[3], wj, s3)
			}
			s[0], s[1], s[2], s[3] = s0, s1, s2, s3
		}
	}
}
