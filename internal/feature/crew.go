package feature

import "sync"

// crew encodes the batches of a packing ahead: each worker every so-many-th of them, into two batches in turns, which
// bounds the memory. Whoever asks for the next batch gets them in order.
type crew struct {
	p      *packing
	size   int // rows of a batch
	lanes  []lane
	before *batch // the one that was handed out last
	quit   chan struct{}
	all    sync.WaitGroup
}

// lane is a worker.
type lane struct{ free, ready chan *batch }

// newCrew begins to encode batches of so many rows. A single worker is the caller itself.
func (p *packing) newCrew(size, workers int) *crew {
	c := &crew{p: p, size: size, quit: make(chan struct{})}
	if workers < 2 {
		c.before = p.newBatch(size)
		return c
	}
	c.lanes = make([]lane, workers)
	for w := range c.lanes {
		l := lane{free: make(chan *batch, 2), ready: make(chan *batch, 2)}
		l.free <- p.newBatch(size)
		l.free <- p.newBatch(size)
		c.lanes[w] = l
		c.all.Go(func() { c.work(l, w) })
	}
	return c
}

// work encodes the batches w, w + workers, ... until the rows end or the crew is stopped.
func (c *crew) work(l lane, w int) {
	for first := w * c.size; first < rowCount(c.p.t, c.p.rows); first += len(c.lanes) * c.size {
		select {
		case b := <-l.free:
			b.encode(c.p, first, c.size)
			l.ready <- b
		case <-c.quit:
			return
		}
	}
}

// next returns batch i, valid until the following call. All batches must be asked for, in order.
func (c *crew) next(i int) *batch {
	if c.lanes == nil {
		c.before.encode(c.p, i*c.size, c.size)
		return c.before
	}
	if i > 0 {
		c.lanes[(i-1)%len(c.lanes)].free <- c.before
	}
	c.before = <-c.lanes[i%len(c.lanes)].ready
	return c.before
}

// stop ends the crew.
func (c *crew) stop() {
	close(c.quit)
	c.all.Wait()
}
