package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Part computes one vector for each index: the gradient of a stripe of rows, for example.
type Part interface {
	// Compute works on index i in the space of one worker and reports whether there is anything to add.
	Compute(worker, i int) bool
	// AddTo adds what the worker computed last, for index i, to sum and clears the worker's space.
	AddTo(worker, i int, sum []float64)
}

// OrderedSum adds vectors in ascending order of their indices, whichever goroutine computed them, so that the sum does not
// depend on the number of workers. It keeps its memory from run to run; one goroutine at a time may call Run.
type OrderedSum struct {
	part  Part
	n     int
	total []float64
	next  atomic.Int64 // indices handed out
	done  sync.WaitGroup
	start []func() // one for each worker but the first: bound once, so that starting a goroutine allocates nothing

	// Vectors that are finished out of turn. Index i uses slot i mod len(slots).
	mu    sync.Mutex
	moved sync.Cond // turn has changed
	turn  int       // the first index that is not yet in total
	slots []slot
}

// slot holds one vector until its turn.
type slot struct {
	state slotState
	x     []float64
}

type slotState int

const (
	waiting slotState = iota // not computed yet
	empty                    // computed, nothing to add
	filled
)

// Run computes indices 0 to n-1 on some workers, numbered from 0, and adds their vectors to total. With a nil total AddTo is
// not called. One worker is the caller's goroutine.
func (s *OrderedSum) Run(part Part, n, workers int, total []float64) {
	s.part, s.n, s.total = part, n, total
	if workers <= 1 {
		s.runInOrder()
	} else {
		s.runOn(workers)
	}
	s.part, s.total = nil, nil
}

func (s *OrderedSum) runInOrder() {
	for i := range s.n {
		if s.part.Compute(0, i) && s.total != nil {
			s.part.AddTo(0, i, s.total)
		}
	}
}

func (s *OrderedSum) runOn(workers int) {
	s.moved.L = &s.mu
	for len(s.start) < workers-1 {
		worker := len(s.start) + 1
		s.start = append(s.start, func() {
			s.work(worker)
			s.done.Done()
		})
	}
	if s.total != nil {
		s.prepareSlots(workers)
	}
	s.next.Store(0)
	s.turn = 0
	s.done.Add(workers - 1)
	for _, start := range s.start[:workers-1] {
		go start()
	}
	s.work(0)
	s.done.Wait()
}

func (s *OrderedSum) prepareSlots(workers int) {
	for len(s.slots) < workers {
		s.slots = append(s.slots, slot{})
	}
	for i := range s.slots {
		if len(s.slots[i].x) < len(s.total) {
			s.slots[i].x = make([]float64, len(s.total))
		}
	}
}

// work takes indices until there are none.
func (s *OrderedSum) work(worker int) {
	for i := int(s.next.Add(1) - 1); i < s.n; i = int(s.next.Add(1) - 1) {
		if any := s.part.Compute(worker, i); s.total != nil {
			s.deliver(worker, i, any)
		}
	}
}

// deliver brings the vector of index i to its slot, and to total all vectors whose turn it is. The worker with the smallest
// index never waits, so all others get their turn.
func (s *OrderedSum) deliver(worker, i int, any bool) {
	s.mu.Lock()
	for i >= s.turn+len(s.slots) {
		s.moved.Wait()
	}
	s.mu.Unlock()
	mine := &s.slots[i%len(s.slots)]
	if any {
		s.part.AddTo(worker, i, mine.x[:len(s.total)])
	}
	s.mu.Lock()
	mine.state = empty
	if any {
		mine.state = filled
	}
	before := s.turn
	for s.slots[s.turn%len(s.slots)].state != waiting {
		s.slots[s.turn%len(s.slots)].moveTo(s.total)
		s.turn++
	}
	if s.turn != before {
		s.moved.Broadcast()
	}
	s.mu.Unlock()
}

// moveTo adds the slot's vector to total and frees the slot.
func (s *slot) moveTo(total []float64) {
	if s.state == filled {
		for j, x := range s.x[:len(total)] {
			total[j] += x
		}
		clear(s.x[:len(total)])
	}
	s.state = waiting
}

// InlineBytes is the amount of memory below which a pass stays on the caller's goroutine: starting another one takes 25 to 35
// microseconds (85 when it sleeps), in which a processor reads a few megabytes. It is a variable so that tests can split
// small data.
var InlineBytes = float64(8 << 20)

// Workers returns the number of workers for n indices of a pass that reads some bytes.
func Workers(n int, bytes float64) int {
	if bytes < InlineBytes {
		return 1
	}
	return max(1, min(runtime.GOMAXPROCS(0), n))
}
