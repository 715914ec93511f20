package matrix

import "toptau/internal/core/kernel"

func (b *coded) scores(panel int, w, z []float64) { b.scoreSpan(panel, panel+1, w, z, true) }

// scoreSpan scores all panels run by run, so that each call of the kernel handles many of them.
func (b *coded) scoreSpan(first, end int, w, z []float64, add bool) {
	for _, run := range b.runs {
		run.scores(first, end, w, z, add)
		add = true
	}
	if !add {
		clear(z)
	}
}

// scores handles many panels in one call of the kernel where it can.
func (c *codes[C]) scores(first, end int, w, z []float64, add bool) {
	w = w[c.first : c.first+int(c.end())]
	for first < end {
		codes, fractions, n := c.even(first, end)
		if n > 0 {
			c.score(codes, fractions, w, c.start, z[:n*kernel.PanelRows], add)
		} else {
			if n = 1; !add {
				clear(z[:kernel.PanelRows])
			}
			c.panelScores(first, w, z[:kernel.PanelRows])
		}
		first, z = first+n, z[n*kernel.PanelRows:]
	}
}

// even returns the panels without gaps from first on, up to end at most, that are adjacent in memory.
func (c *codes[C]) even(first, end int) ([]C, []float32, int) {
	if c.score == nil {
		return nil, nil, 0
	}
	even := first
	for even < end && !c.gappy[even] {
		even++
	}
	if even == first {
		return nil, nil, 0
	}
	all, n := c.codes.span(first, even)
	if !c.between {
		return all, nil, n
	}
	fractions, fewer := c.fractions.span(first, first+n)
	return all[:fewer*c.size()], fractions, fewer
}

// panelScores is scores for a panel with gaps, or with codes that the kernel does not handle.
func (c *codes[C]) panelScores(panel int, w, z []float64) {
	codes, fractions := c.panel(panel)
	gaps := c.gaps[panel*c.count():][:c.count()]
	for g := 0; g < len(gaps); {
		end := g
		for c.score != nil && end < len(gaps) && gaps[end] == noGap {
			end++
		}
		from, to := g*kernel.PanelRows, end*kernel.PanelRows
		switch {
		case end > g && c.between:
			c.score(codes[from:to], fractions[from:to], w, c.start[g:end+1], z, true)
		case end > g:
			c.score(codes[from:to], nil, w, c.start[g:end+1], z, true)
		default:
			if end++; gaps[g] != allGaps {
				c.groupScores(g, codes[from:from+kernel.PanelRows], fractions, w, z)
			}
		}
		g = end
	}
}

// groupScores adds one group's scores. A code without a weight adds nothing.
func (c *codes[C]) groupScores(g int, codes []C, fractions []float32, w, z []float64) {
	table := w[c.start[g]:c.start[g+1]]
	z = z[:kernel.PanelRows]
	switch {
	case c.between:
		fractions = fractions[g*kernel.PanelRows:][:kernel.PanelRows]
		for r, place := range c.place {
			if at := int(codes[place]); at < len(table)-1 {
				f := float64(fractions[r])
				s := z[r] + float64((1-f)*table[at])
				z[r] = s + float64(f*table[at+1])
			}
		}
	case c.factors != nil:
		values := c.factors[c.start[g]:c.start[g+1]]
		for r, place := range c.place {
			if at := int(codes[place]); at < len(table) {
				z[r] += float64(values[at] * table[at])
			}
		}
	default:
		for r, place := range c.place {
			if at := int(codes[place]); at < len(table) {
				z[r] += table[at]
			}
		}
	}
}
