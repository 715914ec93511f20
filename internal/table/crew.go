package table

import "sync"

// crew reads a stream ahead: one cuts it, unpacks and hashes on the way, some scan the chunks, and whoever calls next
// takes them in order. At most ahead chunks are under way, which bounds the memory.
type crew struct {
	free  chan *chunk
	work  chan *chunk
	order chan *chunk
	quit  chan struct{}
	all   sync.WaitGroup
}

func newCrew(f *feed, workers int) *crew {
	ahead := 2*workers + 2
	w := &crew{
		free:  make(chan *chunk, ahead+1), // and the one that was current before
		work:  make(chan *chunk, ahead),
		order: make(chan *chunk, ahead),
		quit:  make(chan struct{}),
	}
	for range ahead {
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
	for {
		var c *chunk
		select {
		case c = <-w.free:
		case <-w.quit:
			return
		}
		select {
		case <-w.quit: // also when a chunk is free
			return
		default:
		}
		k.cut(c)
		w.work <- c
		w.order <- c
		if c.failed != nil {
			return
		}
	}
}

// next waits for the next chunk and gives back the one before it. The last chunk must not be asked to be followed.
func (w *crew) next(before *chunk) *chunk {
	if before != nil && before.ready != nil {
		w.free <- before
	}
	c := <-w.order
	<-c.ready
	return c
}

// stop ends the crew; it waits for a read of the source that is under way.
func (w *crew) stop() {
	close(w.quit)
	w.all.Wait()
}
