package table

import "sync"

// scanPool reads chunks ahead. One goroutine cuts the stream, which also decompresses and hashes it, several
// nonDigits scan the chunks, and next returns them in order. The number of chunks and the bytes of their text
// bound the memory. The pipeline of package parallel does not fit: the number of chunks is unknown, one
// goroutine produces them, and long lines change what they take.
type scanPool struct {
	free   chan *chunk
	toScan chan *chunk
	order  chan *chunk
	quit   chan struct{}
	all    sync.WaitGroup

	reusable int // the largest buffer that is used again, in bytes
	ahead    int // bytes of text at which no further chunk is cut

	mu       sync.Mutex
	released sync.Cond // out has become less, or quit is closed
	out      int       // bytes of text in the chunks that were cut and not returned to free
}

func newScanPool(q *chunkQueue, workers int) *scanPool {
	chunks := 2*workers + 2
	w := &scanPool{
		free:     make(chan *chunk, chunks+1), // and the one that was current before
		toScan:   make(chan *chunk, chunks),
		order:    make(chan *chunk, chunks),
		quit:     make(chan struct{}),
		ahead:    q.cutter.policy.ahead,
		reusable: max(q.cutter.policy.ahead/chunks, q.cutter.policy.chunk+padding),
	}
	w.released.L = &w.mu
	for range chunks {
		w.free <- &chunk{ready: make(chan struct{}, 1)}
	}
	w.all.Go(func() { w.cutAhead(&q.cutter) })
	for range workers {
		w.all.Go(func() {
			for c := range w.toScan {
				q.scanChunk(c)
				c.ready <- struct{}{}
			}
		})
	}
	return w
}

// cutAhead fills free chunks until the stream ends or the pool is stopped. The channels toScan and order are
// never full.
func (w *scanPool) cutAhead(k *chunkCutter) {
	defer close(w.toScan)
	for w.waitForMemory() {
		var c *chunk
		select {
		case c = <-w.free:
		case <-w.quit:
			return
		}
		k.cut(c)
		w.addText(len(c.text))
		w.toScan <- c
		w.order <- c
		if c.failed != nil {
			return
		}
	}
}

// waitForMemory waits until another chunk may be cut. It returns false when the pool is stopped.
func (w *scanPool) waitForMemory() bool {
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
		w.released.Wait()
	}
}

// addText adds to the bytes of text in use.
func (w *scanPool) addText(bytes int) {
	w.mu.Lock()
	w.out += bytes
	w.mu.Unlock()
	if bytes < 0 {
		w.released.Signal()
	}
}

// next releases a chunk and waits for the one after it, which must exist.
func (w *scanPool) next(before *chunk) *chunk {
	if before != nil && before.ready != nil {
		w.addText(-len(before.text))
		if len(before.buffer) > w.reusable { // long lines: release the memory of the text and of its rows
			before = &chunk{ready: before.ready}
		}
		w.free <- before
	}
	c := <-w.order
	<-c.ready
	return c
}

// stop ends the goroutines. It waits for a read of the source in progress.
func (w *scanPool) stop() {
	w.mu.Lock()
	close(w.quit)
	w.mu.Unlock()
	w.released.Signal()
	w.all.Wait()
}
