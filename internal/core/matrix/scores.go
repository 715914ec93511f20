package matrix

import "toptau/internal/core/kernel"

// Scores writes the score of every row to z: z[i] = x_i'w. w must have Cols elements and z Rows.
func (p *ClassRows) Scores(w, z []float64) {
	if allZero(w[:p.cols]) { // where every solver starts
		clear(z[:p.rows])
		return
	}
	c := p.borrow()
	c.scores = scoresJob{w[:p.cols], z[:p.rows]}
	c.run(&c.scores, p.Cost(), nil, 1)
	c.scores = scoresJob{}
	c.giveBack()
}

// ScoresOf is Scores for several weight vectors in one pass: z[h] receives the scores of w[h], with the bits of Scores. A few
// panels at a time are scored for all vectors while they are in cache.
func (p *ClassRows) ScoresOf(w, z [][]float64) {
	c := p.borrow()
	jobs := c.manyScores[:0]
	for h, wh := range w {
		if allZero(wh[:p.cols]) {
			clear(z[h][:p.rows])
			continue
		}
		jobs = append(jobs, scoresJob{wh[:p.cols], z[h][:p.rows]})
	}
	if c.manyScores = jobs; len(jobs) > 0 {
		c.run(&c.manyScores, p.Cost()*float64(len(jobs)), nil, 1)
	}
	clear(jobs)
	c.giveBack()
}

func allZero(w []float64) bool {
	for _, x := range w {
		if x != 0 {
			return false
		}
	}
	return true
}

// scoresJob is one call of Scores.
type scoresJob struct{ w, z []float64 }

func (j *scoresJob) compute(k *worker, stripe int) bool {
	first, end := k.rows.stripes().Of(stripe)
	j.scorePanels(k, first, end)
	return false
}

func (j *scoresJob) addTo(*worker, int, []float64) {}

// scorePanels writes to z directly, except for a last panel with fewer rows.
func (j *scoresJob) scorePanels(k *worker, first, end int) {
	whole := min(end, k.rows.rows/kernel.PanelRows)
	k.scorePanels(first, whole, j.w, j.z[first*kernel.PanelRows:whole*kernel.PanelRows])
	if whole < end {
		k.scorePanels(whole, end, j.w, k.z[:kernel.PanelRows])
		copy(j.z[whole*kernel.PanelRows:], k.z)
	}
}

// scorePanels computes the scores of the panels from first up to end.
func (k *worker) scorePanels(first, end int, w, z []float64) {
	for b, block := range k.rows.blocks {
		scoreBlock(block, first, end, k.rows.blockCols(b, w), z, b > 0)
	}
}

// manyScoresJob is one call of ScoresOf.
type manyScoresJob []scoresJob

// compute reads as many panels at a time as stay in cache from one weight vector to the next.
func (j *manyScoresJob) compute(k *worker, stripe int) bool {
	first, end := k.rows.stripes().Of(stripe)
	for ; first < end; first += k.group {
		for h := range *j {
			(*j)[h].scorePanels(k, first, min(first+k.group, end))
		}
	}
	return false
}

func (j *manyScoresJob) addTo(*worker, int, []float64) {}
