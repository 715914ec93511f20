package matrix

import (
	"toptau/internal/core/kernel"
	"toptau/internal/core/parallel"
)

// pass runs one job at a time on a pool of workers, whose buffers outlive it.
type pass struct {
	rows    *ClassRows
	workers []*worker
	job     job
	sum     parallel.OrderedSum

	// The jobs, kept here so that a pass allocates nothing.
	scores       scoresJob
	manyScores   manyScoresJob
	gradient     gradientJob
	manyGradient manyGradientsJob
	both         bothJob
}

// job is one kind of pass over the stripes.
type job interface {
	// compute works on one stripe and reports whether the worker has sums to add.
	compute(k *worker, stripe int) bool
	// addTo adds the worker's sums of the stripe to g and clears them.
	addTo(k *worker, stripe int, g []float64)
}

// worker is the space of one goroutine.
type worker struct {
	rows     *ClassRows
	sums     []Sums    // by block; nil until the first gradient
	group    int       // panels that a pass reads before it uses them again
	callback int       // the same with a RowFunc
	z, v     []float64 // of a group; v is zero between panels
	active   []bool    // panels of a group with a coefficient
	busy     bool      // most panels of the last group had many active rows
}

func newWorker(p *ClassRows) *worker {
	k := &worker{rows: p, group: p.GroupPanels(), callback: callbackPanels(p)}
	k.z = make([]float64, k.group*kernel.PanelRows)
	k.v = make([]float64, k.group*kernel.PanelRows)
	k.active = make([]bool, k.group)
	return k
}

// borrow returns a pass that no other goroutine uses. Its method giveBack ends the use.
func (p *ClassRows) borrow() *pass {
	if c := p.idle.Take(); c != nil {
		return c
	}
	return &pass{rows: p}
}

func (c *pass) giveBack() { c.rows.idle.Put(c) }

// run does a job on all stripes with the number of workers that pays off for reading some bytes, and adds its sums to g,
// which holds models gradients or is nil. The result does not depend on the number of workers.
func (c *pass) run(j job, bytes float64, g []float64, models int) {
	for k := range g {
		g[k] += 0 // -0 becomes 0: columns without a contribution end like columns that gain zeros
	}
	workers := parallel.Workers(c.rows.stripes().Count(), bytes)
	if g != nil {
		workers = max(1, min(workers, c.affordable(models)))
	}
	for len(c.workers) < workers {
		c.workers = append(c.workers, newWorker(c.rows))
	}
	for _, k := range c.workers[:workers] {
		if g != nil && k.sums == nil {
			k.makeSums()
		}
	}
	c.job = j
	c.sum.Run(c, c.rows.stripes().Count(), workers, g)
	c.job = nil
}

// Compute and AddTo implement parallel.Part.
func (c *pass) Compute(worker, stripe int) bool { return c.job.compute(c.workers[worker], stripe) }

func (c *pass) AddTo(worker, stripe int, g []float64) { c.job.addTo(c.workers[worker], stripe, g) }

// affordable returns the number of workers whose sums take at most a quarter of the rows' memory, or 64 MB.
func (c *pass) affordable(models int) int {
	perWorker := int64(8 * c.rows.cols * max(models, 1))
	for _, b := range c.rows.blocks {
		perWorker += b.sumsBytes()
	}
	return AffordableWorkers(c.rows, perWorker)
}

// AffordableWorkers returns the number of workers of some bytes each that together take at most a quarter of the rows'
// memory, or 64 MB. The limit was chosen by hand: sums of many columns shall not make the peak of the memory.
func AffordableWorkers(p *ClassRows, perWorker int64) int {
	return int(max(p.Bytes()/4, 64<<20) / max(perWorker, 1))
}

func (k *worker) makeSums() {
	for _, b := range k.rows.blocks {
		k.sums = append(k.sums, b.sums())
	}
}

// finishSums adds the sums of all blocks to g and clears them.
func (k *worker) finishSums(g []float64) {
	for b, s := range k.sums {
		s.Finish(k.rows.blockCols(b, g))
	}
}
