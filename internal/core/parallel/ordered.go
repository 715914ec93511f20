package parallel

import "sync"

// Ordered is a pipeline that computes items ahead of their consumer and hands them out in order. Worker w computes items
// w, w + workers, ...; each has two buffers in turns, which bounds the memory.
type Ordered[T any] struct {
	n       int
	compute func(i int, item *T)
	workers []worker[T]
	current *T // the item that Next returned last
	next    int
	quit    chan struct{}
	group   sync.WaitGroup
}

type worker[T any] struct{ free, ready chan *T }

// NewOrdered starts workers goroutines that call compute(i, item) for i in [0, n), each with an item made by create and
// used again. One worker is no goroutine: Next then computes. Stop must be called.
func NewOrdered[T any](n, workers int, create func() *T, compute func(i int, item *T)) *Ordered[T] {
	o := &Ordered[T]{n: n, compute: compute, quit: make(chan struct{})}
	workers = min(workers, n)
	if workers < 2 {
		o.current = create()
		return o
	}
	o.workers = make([]worker[T], workers)
	for w := range o.workers {
		own := worker[T]{free: make(chan *T, 2), ready: make(chan *T, 2)}
		own.free <- create()
		own.free <- create()
		o.workers[w] = own
		o.group.Go(func() { o.work(own, w) })
	}
	return o
}

func (o *Ordered[T]) work(own worker[T], w int) {
	for i := w; i < o.n; i += len(o.workers) {
		select {
		case item := <-own.free:
			o.compute(i, item)
			own.ready <- item
		case <-o.quit:
			return
		}
	}
}

// Next returns the next item, valid until the following call, or nil after the last one.
func (o *Ordered[T]) Next() *T {
	i := o.next
	if i == o.n {
		return nil
	}
	o.next++
	if o.workers == nil {
		o.compute(i, o.current)
		return o.current
	}
	if i > 0 {
		o.workers[(i-1)%len(o.workers)].free <- o.current
	}
	o.current = <-o.workers[i%len(o.workers)].ready
	return o.current
}

// Stop ends the goroutines and waits for them. No call of compute runs afterwards.
func (o *Ordered[T]) Stop() {
	close(o.quit)
	o.group.Wait()
}
