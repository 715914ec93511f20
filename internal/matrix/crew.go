package matrix

import (
	"runtime"
	"sync"
	"sync/atomic"

	"toptau/internal/kernel"
)

// crew is the workers of one pass, with buffers that outlive it. Stripes are handed out in ascending order; the sums of a
// stripe are added to g when all earlier ones are, whoever computed them.
type crew struct {
	part    *Part
	workers []*worker
	job     job
	stripes int          // of the job
	next    atomic.Int64 // stripes handed out
	done    sync.WaitGroup

	// Sums of stripes that came out of turn. Stripe s uses slot s mod len(slots).
	mu    sync.Mutex
	moved sync.Cond // turn has changed
	turn  int       // the first stripe that is not yet in g
	slots []slot

	tile   []float32   // weights of a fast pass
	tables [][]float32 // of a fast pass, by block: scores of combinations
}

// slot holds the sums of one stripe until its turn.
type slot struct {
	state slotState
	g     []float64
}

type slotState int

const (
	waiting slotState = iota // not computed yet
	empty                    // computed, nothing to add
	filled
)

// worker is the space of one goroutine.
type worker struct {
	part   *Part
	sums   []sums    // by block; nil until the first gradient
	group  int       // panels that a pass takes at a time
	visits int       // panels that a pass with a visitor takes at a time
	z, v   []float64 // of a group; v is zero between panels
	active []bool    // panels of a group with a coefficient
	busy   bool      // most panels of the last group had many active rows
	fast   fast
	joint  []jointSums // by block
	run    func()      // bound once: starting it allocates nothing
}

func newWorker(c *crew) *worker {
	k := &worker{part: c.part, group: c.part.groupPanels(), visits: c.part.visitPanels()}
	k.z = make([]float64, k.group*kernel.PanelRows)
	k.v = make([]float64, k.group*kernel.PanelRows)
	k.active = make([]bool, k.group)
	k.run = func() {
		c.work(k)
		c.done.Done()
	}
	return k
}

// inlineCost is the bytes below which a pass runs on the caller's goroutine alone: starting another costs as much as
// reading a few megabytes. It is a variable so that tests can split small parts.
var inlineCost = float64(8 << 20)

// run does a job on all stripes, with as many workers as pay off. The result does not depend on their number.
func (p *Part) run(j job, cost float64) {
	for k := range j.g {
		j.g[k] += 0 // -0 becomes 0, so that columns that nobody touches end like those that gain zeros
	}
	stripes := p.stripes()
	if j.kind >= fastScoring {
		stripes = p.fastStripes()
	}
	workers := 1
	if cost >= inlineCost {
		workers = min(runtime.GOMAXPROCS(0), stripes)
		if j.g != nil {
			workers = min(workers, p.affordable(&j))
		}
	}
	c := p.borrow()
	c.job, c.stripes = j, stripes
	c.prepare(max(workers, 1))
	if workers <= 1 {
		c.workInOrder()
	} else {
		c.workTogether(workers)
	}
	c.job = job{}
	p.giveBack(c)
}

// affordable is the number of workers whose sums take at most a quarter of the part's memory, or 64 MB.
func (p *Part) affordable(j *job) int {
	perWorker := int64(8 * p.cols * max(j.models, 1))
	for _, b := range p.blocks {
		if _, tile := b.(tileBlock); tile && j.kind >= fastAdding {
			perWorker += 4 * kernel.TileLanes * int64(b.cols()*j.models)
		} else {
			perWorker += b.sumsBytes()
		}
	}
	return int(max(p.Bytes()/4, 64<<20) / max(perWorker, 1))
}

func (p *Part) borrow() *crew {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return c
	}
	c := &crew{part: p}
	c.moved.L = &c.mu
	return c
}

func (p *Part) giveBack(c *crew) {
	p.mu.Lock()
	p.idle = append(p.idle, c)
	p.mu.Unlock()
}

// prepare sees to it that there are enough workers, sums and slots for the job.
func (c *crew) prepare(workers int) {
	for len(c.workers) < workers {
		c.workers = append(c.workers, newWorker(c))
	}
	if c.job.readings != nil {
		c.tile = c.part.tileWeights(c.job.readings, c.tile)
		c.job.tile = c.tile
		c.tables = c.part.jointTables(c.job.readings, c.tables)
		c.job.tables = c.tables
	}
	if c.job.g == nil {
		return
	}
	for _, k := range c.workers[:workers] {
		k.makeSums(c.job.kind)
	}
	for workers > 1 && len(c.slots) < workers {
		c.slots = append(c.slots, slot{})
	}
	for i := range c.slots {
		if s := &c.slots[i]; len(s.g) < len(c.job.g) {
			s.g = make([]float64, len(c.job.g))
		}
	}
}

// makeSums sees to it that the blocks have sums, but for those whose sums are lanes of the tile.
func (k *worker) makeSums(kind jobKind) {
	if k.sums == nil {
		k.sums = make([]sums, len(k.part.blocks))
	}
	for b, block := range k.part.blocks {
		if _, tile := block.(tileBlock); k.sums[b] == nil && !(tile && kind >= fastAdding) {
			k.sums[b] = block.sums()
		}
	}
}

// workInOrder does all stripes on the caller's goroutine.
func (c *crew) workInOrder() {
	k := c.workers[0]
	for s := range c.stripes {
		if k.do(&c.job, s) {
			k.finish(&c.job, s, c.job.g)
		}
	}
}

// workTogether does the stripes on several goroutines, the caller's among them.
func (c *crew) workTogether(workers int) {
	c.next.Store(0)
	c.turn = 0
	c.done.Add(workers - 1)
	for _, k := range c.workers[1:workers] {
		go k.run()
	}
	c.work(c.workers[0])
	c.done.Wait()
}

// work takes stripes until there are none.
func (c *crew) work(k *worker) {
	for {
		s := int(c.next.Add(1) - 1)
		if s >= c.stripes {
			return
		}
		any := k.do(&c.job, s)
		if c.job.g != nil {
			c.deliver(k, s, any)
		}
	}
}

// finish adds the worker's sums of a stripe to g and clears them.
func (k *worker) finish(j *job, stripe int, g []float64) {
	if j.kind >= fastAdding {
		k.fastFinish(j, stripe, g)
		return
	}
	if j.kind != addingEach {
		k.finishSums(g)
		return
	}
	for h := range j.each {
		if k.addStripe(&j.each[h], stripe) {
			k.finishSums(g[h*k.part.cols:])
		}
	}
}

func (k *worker) finishSums(g []float64) {
	for b, s := range k.sums {
		s.finish(k.part.blockCols(b, g))
	}
}

// deliver brings the sums of stripe s to g, at once or, when earlier stripes are missing, by way of a slot. The worker
// with the earliest stripe never waits, so all others come to their turn.
func (c *crew) deliver(k *worker, s int, any bool) {
	c.mu.Lock()
	for s >= c.turn+len(c.slots) {
		c.moved.Wait()
	}
	c.mu.Unlock()
	mine := &c.slots[s%len(c.slots)]
	if any {
		k.finish(&c.job, s, mine.g[:len(c.job.g)])
	}
	c.mu.Lock()
	mine.state = empty
	if any {
		mine.state = filled
	}
	before := c.turn
	for c.slots[c.turn%len(c.slots)].state != waiting {
		c.slots[c.turn%len(c.slots)].addTo(c.job.g)
		c.turn++
	}
	if c.turn != before {
		c.moved.Broadcast()
	}
	c.mu.Unlock()
}

// addTo adds the slot to g and frees it.
func (s *slot) addTo(g []float64) {
	if s.state == filled {
		for j, x := range s.g[:len(g)] {
			g[j] += x
		}
		clear(s.g[:len(g)])
	}
	s.state = waiting
}
