package matrix

import "toptau/internal/kernel"

// addOthers adds the scores of the blocks that are not in the tile.
func (k *worker) addOthers(j *job, first, end int) {
	for b := range k.part.blocks {
		if j.tables[b] != nil {
			codes := k.part.jointOf(b).codes
			kernel.AddEntries(codes[first*kernel.PanelRows:end*kernel.PanelRows], j.tables[b], j.models, k.fast.z)
		} else if t, _ := k.part.tile(b); t == nil {
			k.addExact(j, b, first, end)
		}
	}
}

// addExact adds the scores of one block, one model after the other.
func (k *worker) addExact(j *job, b, first, end int) {
	k.fast.other = resize(k.fast.other, (end-first)*kernel.PanelRows)
	for h := range j.readings {
		k.part.scoreBlock(b, first, end, j.readings[h].W, k.fast.other, false)
		kernel.JoinScores(k.fast.other, k.fast.z[h*kernel.PanelRows:], j.models*kernel.PanelRows)
	}
}

// jointOf returns the combinations of block b, nil where it has none.
func (p *Part) jointOf(b int) *joint {
	if block, ok := p.blocks[b].(*coded); ok {
		return block.joint(p.rows)
	}
	return nil
}

// jointTables writes the tables of the blocks that have combinations, in the order of the blocks.
func (p *Part) jointTables(readings []Reading, dst [][]float32) [][]float32 {
	dst = resize(dst, len(p.blocks))
	for b := range p.blocks {
		if t := p.jointOf(b); t != nil {
			dst[b] = t.table(readings, p.offset[b], dst[b])
		}
	}
	return dst
}

// addOtherPanels adds the coefficients of the panels from first up to end, laid out as scores are, to the sums of blocks of
// few combinations, and lists them for the others that are not in the tile.
func (k *worker) addOtherPanels(j *job, first, end int) {
	listed := false
	for b := range k.part.blocks {
		if t := k.part.jointOf(b); t != nil {
			k.jointSums(b).addPanels(t, t.codes[first*kernel.PanelRows:end*kernel.PanelRows], k.fast.z, j.models)
		} else if tile, _ := k.part.tile(b); tile == nil && !listed {
			k.list(j.models, first, end)
			listed = true
		}
	}
}

// jointSums returns the worker's sums of block b.
func (k *worker) jointSums(b int) *jointSums {
	if k.joint == nil {
		k.joint = make([]jointSums, len(k.part.blocks))
	}
	return &k.joint[b]
}

// jointFinish adds the sums of one block of few combinations to g.
func (k *worker) jointFinish(j *job, t *joint, stripe, b int, g []float64) {
	s := k.jointSums(b)
	if j.kind != fastPassing { // its panels have been added
		_, end := k.part.fastStripe(stripe)
		k.seek(j, stripe)
		for h := range j.coefficients {
			s.add(t, &j.coefficients[h], k.fast.at[h], end*kernel.PanelRows, h, j.models)
		}
	}
	s.finish(t, g[k.part.offset[b]*j.models:], j.models)
}

// exactFinish adds the sums of one block that is not in the tile to g: by combination, or else in the exact arithmetic,
// model after model.
func (k *worker) exactFinish(j *job, stripe, b int, g []float64) {
	if t := k.part.jointOf(b); t != nil {
		k.jointFinish(j, t, stripe, b, g)
		return
	}
	_, end := k.part.fastStripe(stripe)
	cols := k.part.blocks[b].cols()
	first := k.part.offset[b]
	k.fast.v = resize(k.fast.v, kernel.PanelRows)
	k.fast.g = resize(k.fast.g, cols)
	k.seek(j, stripe)
	for h := range j.coefficients {
		any := false
		c, at := &j.coefficients[h], k.fast.at[h]
		for at < len(c.Rows) && int(c.Rows[at]) < end*kernel.PanelRows {
			panel := int(c.Rows[at]) / kernel.PanelRows
			clear(k.fast.v)
			active := 0
			for ; at < len(c.Rows) && int(c.Rows[at])/kernel.PanelRows == panel; at++ {
				k.fast.v[int(c.Rows[at])%kernel.PanelRows] = float64(c.V[at])
				active++
			}
			k.sums[b].add(panel, k.fast.v, active)
			any = true
		}
		switch {
		case !any:
		case j.models == 1:
			k.sums[b].finish(g[first : first+cols])
		default:
			clear(k.fast.g)
			k.sums[b].finish(k.fast.g)
			for i, x := range k.fast.g {
				g[(first+i)*j.models+h] += x
			}
		}
	}
}
