package lockstep

import (
	"toptau/internal/core/kernel"
	"toptau/internal/core/matrix"
)

// worker is the space of one goroutine.
type worker struct {
	passes *Passes
	group  int // panels that stay in cache until they are read again

	z     []float32 // scores or coefficients of a group: panel by panel, model by model
	exact []float64 // of one model: scores of the group in one exact block

	// Sums of a stripe.
	panels       laneSums          // of float32 panels
	combinations []combinationSums // by block
	sums         []matrix.Sums     // by block: of the others; nil until the first gradient
	g            []float64         // of one model and block: from sums
	v            []float64         // coefficients of one panel for sums
	next         []int             // by model: the next coefficient

	filters   []kernel.TileFilter // by model
	filtering bool                // some model has a filter
	noScores  []float32           // of a model without a filter
	noRows    []int32

	found []Coefficients // by model: coefficients that a pass found in a stripe, for exact blocks
}

func (k *worker) makeSums() {
	p := k.passes
	k.sums = make([]matrix.Sums, len(p.blocks))
	k.combinations = make([]combinationSums, len(p.blocks))
	for b, block := range p.blocks {
		if block.Panels == nil {
			k.sums[b] = block.NewSums()
		}
	}
}

// groupPanels returns the number of panels that a pass handles at a time: the scores or coefficients of all models, 48 KB at
// most, stay in the first cache or close to it.
func (k *worker) groupPanels() int {
	const bytes = 48 << 10
	return max(1, min(k.group, bytes/(4*kernel.PanelRows*k.passes.models)))
}

// scoresJob is one call of Scores.
type scoresJob struct{ requests []Request }

func (j *scoresJob) compute(k *worker, stripe int) bool {
	k.openFilters(j.requests, stripe)
	first, end := k.passes.stripes().Of(stripe)
	step := k.groupPanels()
	for ; first < end; first += step {
		group := min(first+step, end)
		k.scorePanels(j.requests, first, group)
		k.useScores(j.requests, stripe, first, group)
	}
	k.closeFilters(j.requests, stripe)
	return false
}

func (j *scoresJob) addTo(*worker, int, []float64) {}

// scorePanels computes the scores of the panels from first up to end.
func (k *worker) scorePanels(requests []Request, first, end int) {
	p := k.passes
	k.z = resize(k.z, (end-first)*p.models*kernel.PanelRows)
	add := false
	for b, block := range p.blocks {
		if block.Panels == nil {
			continue
		}
		col := p.panelCol[b]
		w := p.weights[col*p.models : (col+block.Cols)*p.models]
		for panel := first; panel < end; {
			x, n := block.Panels.Span(panel, end)
			kernel.ScoreTile(x, w, p.models, k.z[(panel-first)*p.models*kernel.PanelRows:][:n*p.models*kernel.PanelRows], add)
			panel += n
		}
		add = true
	}
	if !add {
		clear(k.z)
	}
	for b, block := range p.blocks {
		if p.tables[b] != nil {
			codes := block.Combinations().Codes
			kernel.AddEntries(codes[first*kernel.PanelRows:end*kernel.PanelRows], p.tables[b], p.models, k.z)
		} else if block.Panels == nil {
			k.addExactScores(requests, block, first, end)
		}
	}
}

// addExactScores adds the scores of one block, model after model.
func (k *worker) addExactScores(requests []Request, b matrix.Block, first, end int) {
	k.exact = resize(k.exact, (end-first)*kernel.PanelRows)
	for h := range requests {
		b.Scores(first, end, requests[h].W, k.exact)
		kernel.JoinScores(k.exact, k.z[h*kernel.PanelRows:], k.passes.models*kernel.PanelRows)
	}
}

// useScores filters and stores the scores of the panels from first up to end.
func (k *worker) useScores(requests []Request, stripe, first, end int) {
	from, _ := k.passes.rows.PanelRows(first)
	_, to := k.passes.rows.PanelRows(end - 1)
	k.filterScores(requests, stripe, first, end)
	for h := range requests {
		keep := requests[h].Keep
		if keep == nil {
			continue
		}
		z := k.z[h*kernel.PanelRows:] // panel by panel, and in each model by model
		for row := from; row < to; row += kernel.PanelRows {
			copy(keep[row:min(row+kernel.PanelRows, to)], z[(row-from)*k.passes.models:])
		}
	}
}
