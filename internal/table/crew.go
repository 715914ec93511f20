package table

import "sync"

// crew reads a stream ahead: one cuts it, unpacks and hashes on the way, some scan the chunks, and the caller of next takes
// them in order. Two limits bound the memory: the number of chunks, and the bytes of their text.
type crew struct {
	free  chan *chunk
	work  chan *chunk
	order chan *chunk
	quit  chan struct{}
	all   sync.WaitGroup

	share int // bytes of a buffer that is used again
	ahead int // bytes of text beyond which no further chunk is cut

	mu    sync.Mutex
	taken sync.Cond // out has become less, or quit is closed
	out   int       // bytes of the text of the chunks that were cut and not given back
}

func newCrew(f *feed, workers int) *crew {
	chunks := 2*workers + 2
	w := &crew{
		free:  make(chan *chunk, chunks+1), // and the one that was current before
		work:  make(chan *chunk, chunks),
		order: make(chan *chunk, chunks),
		quit:  make(chan struct{}),
		ahead: f.cutter.pace.ahead,
		share: max(f.cutter.pace.ahead/chunks, f.cutter.pace.chunk+padding),
	}
	w.taken.L = &w.mu
	for range chunks {
		w.free <- &chunk{ready: make(chan struct{}, 1)}
	}
	w.all.Go(func() { w.cut(&f.cutter) })
	for range workers {
		w.all.Go(func() {
			for c := range w.work {
				f.read(c)
				c.ready <- struct{}{}
			}
		})
	}
	return w
}

// cut fills free chunks until the stream ends or the crew is stopped. Neither work nor order can be full.
func (w *crew) cut(k *cutter) {
	defer close(w.work)
	for w.wait() {
		var c *chunk
		select {
		case c = <-w.free:
		case <-w.quit:
			return
		}
		k.cut(c)
		w.count(len(c.text))
		w.work <- c
		w.order <- c
		if c.failed != nil {
			return
		}
	}
}

// wait waits until there is memory for another chunk; false when the crew is stopped.
func (w *crew) wait() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		select {
		case <-w.quit:
			return false
		default:
		}
		if w.out <= w.ahead {
			return true
		}
		w.taken.Wait()
	}
}

// count adds to the bytes of text that are out.
func (w *crew) count(bytes int) {
	w.mu.Lock()
	w.out += bytes
	w.mu.Unlock()
	if bytes < 0 {
		w.taken.Signal()
	}
}

// next waits for the next chunk and gives back the one before it. The last chunk must not be asked to be followed.
func (w *crew) next(before *chunk) *chunk {
	if before != nil && before.ready != nil {
		w.count(-len(before.text))
		if len(before.buffer) > w.share { // long lines: what they took, and the values read from them, is not kept
			before = &chunk{ready: before.ready}
		}
		w.free <- before
	}
	c := <-w.order
	<-c.ready
	return c
}

// stop ends the crew; it waits for a read of the source that is under way.
func (w *crew) stop() {
	w.mu.Lock()
	close(w.quit)
	w.mu.Unlock()
	w.taken.Signal()
	w.all.Wait()
}
