package serve

import (
	"net/http"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"toptau/diag"
)

// admission limits what happens at the same time: a slot for each processor, a short queue for them, and a
// budget of bytes (budget.go).
//
// A slot that becomes free goes to the client whose last one is longest ago, so that nobody's many requests make others
// wait, or find the queue full; and to a short request before a long one of the same client.
//
// A slot is held by a goroutine that may not run: the scheduler stopped it, or it got the slot while it waited and is now after
// hundreds of others. Nobody computes then, but all of these would find the slots taken, wait in the queue and be refused. So
// requests that take no longer than their refusal have some more slots (quickSlots).
type admission struct {
	slots int
	queue int   // requests that wait before another one
	most  int64 // bytes
	shed  [shedReasons]atomic.Uint64

	mu      sync.Mutex
	taken   int // slots
	waiters []*waiter
	grants  uint64           // how often a waiter got its slot
	work    [2]time.Duration // for which short and long requests have their slot
	usual   time.Duration    // the median of short requests
	used    int64            // bytes
	clients map[whom]*client // those with an account
}

// class is how urgent the work of a waiter is.
type class uint8

const (
	short class = iota // a body below longBody, or what has had a slot before
	long
	spare // the work after answers, when nobody else waits
)

// classOfBody returns the class of a request with that many bytes; -1: they are not known.
func classOfBody(body int64) class {
	if body >= 0 && body < longBody {
		return short
	}
	return long
}

// waiter waits for a slot.
type waiter struct {
	account  *account
	class    class
	admitted bool // it waits without a limit, and keeps its place
	result   chan shedReason
}

// granted is the result of a waiter that got its slot.
const granted = shedReasons

func newAdmission(o Options) *admission {
	return &admission{slots: runtime.GOMAXPROCS(0), queue: o.Queue, most: o.InFlight(), clients: map[whom]*client{}}
}

// ahead returns the number of waiters that get a slot before a further one of an account, and how long they need it: those
// of its client, and of each other client as many, or one more if its turn is before. The caller holds the mutex.
func (a *admission) ahead(x *account, of class) (n int, work time.Duration) {
	if len(a.waiters) == 0 {
		return 0, 0
	}
	type queued struct {
		n       int
		work    time.Duration
		granted uint64
	}
	by := map[whom]queued{}
	for _, w := range a.waiters {
		if w.class == spare || w.account.by == x.by && w.class > of {
			continue
		}
		q := by[w.account.by]
		by[w.account.by] = queued{q.n + 1, q.work + a.work[w.class], w.account.of.granted}
	}
	turns, granted := by[x.by].n, uint64(0)
	if c := a.clients[x.by]; c != nil {
		granted = c.granted
	}
	for key, q := range by {
		k := q.n
		switch {
		case key == x.by:
		case q.granted <= granted:
			k = min(k, turns+1)
		default:
			k = min(k, turns)
		}
		n += k
		work += q.work * time.Duration(k) / time.Duration(q.n)
	}
	return n, work
}

// full reports whether a further request would find the queue full, or wait for longer than maxBacklog at the speed of
// the last requests. Without the second rule, 64 large requests in the queue would make each wait for a tenth of a second.
// A few may always wait, so that a burst of large requests is not refused.
func (a *admission) full(x *account, body int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	n, work := a.ahead(x, classOfBody(body))
	return n >= a.queue || n > alwaysWaiting*a.slots && work > maxBacklog*time.Duration(a.slots)
}

// quickSlots are the further slots for short requests, if these usually have theirs for at most quickWork: some times what a
// refusal takes (docs/results/serve.md). Chosen by hand.
const (
	quickSlots = 16
	quickWork  = 250 * time.Microsecond
)

// hasSlot reports whether a slot is free. What was admitted before gets none of quickSlots: it gives its slot to others in
// between. The caller holds the mutex.
func (a *admission) hasSlot(of class, admitted bool) bool {
	slots := a.slots
	if of == short && !admitted && a.usual > 0 && a.usual <= quickWork {
		slots += quickSlots
	}
	return a.taken < slots
}

// worked notes how long a request had its slot, in a moving average over about 16 requests and, of short ones, as a median: on a busy
// machine many of them are stopped while they have it.
func (a *admission) worked(of class, d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if step := max(time.Microsecond, a.usual/16); of == short && d > a.usual {
		a.usual += step
	} else if of == short {
		a.usual = max(0, a.usual-step)
	}
	a.work[of] += (d - a.work[of]) / 16
}

// letRead lets other goroutines run that are ready. A request that has a slot calls it before it computes for long:
// those that arrived meanwhile then wait in the queue, where they are counted, and not for the scheduler. A request without
// one calls it between the pieces of its body.
func letRead(n int) {
	if n >= longBody {
		runtime.Gosched()
	}
}

// take takes a slot. It returns a reason if there is none within maxWait, or if too many wait.
func (a *admission) take(x *account, of class, done <-chan struct{}) (reason shedReason, ok bool) {
	w := a.enter(x, of, false)
	if w == nil {
		return 0, true
	}
	if w.result == nil {
		return shedQueue, false
	}
	limit := time.NewTimer(maxWait)
	defer limit.Stop()
	select {
	case reason = <-w.result:
	case <-done:
		reason = a.leave(w, shedWait)
	case <-limit.C:
		reason = a.leave(w, shedWait)
	}
	return reason, reason == granted
}

// wait takes a slot for what was admitted before: the next lines of a stream, whose sender waits too, so that nothing
// piles up; or spare work.
func (a *admission) wait(x *account, of class, done <-chan struct{}) bool {
	w := a.enter(x, of, true)
	if w == nil {
		return true
	}
	select {
	case <-w.result:
		return true
	case <-done:
		return a.leave(w, shedWait) == granted
	}
}

// enter takes a free slot and returns nil, or returns a waiter in the queue. Without a place in the queue it has no result.
func (a *admission) enter(x *account, of class, admitted bool) *waiter {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.hasSlot(of, admitted) {
		a.taken++
		return nil
	}
	w := &waiter{account: x, class: of, admitted: admitted}
	if n, _ := a.ahead(x, of); n >= a.queue && !admitted {
		return w
	}
	w.result = make(chan shedReason, 1)
	a.open(x)
	a.waiters = append(a.waiters, w)
	if !admitted {
		x.waiter = w
		x.await()
	}
	return w
}

// leave ends the wait of a waiter. It returns its result if it has one meanwhile, otherwise the reason.
func (a *admission) leave(w *waiter, reason shedReason) shedReason {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.remove(w, reason)
	return <-w.result
}

// remove takes a waiter that is in the queue out of it, with a result. The caller holds the mutex.
func (a *admission) remove(w *waiter, result shedReason) {
	i := slices.Index(a.waiters, w)
	if i < 0 {
		return
	}
	a.waiters = slices.Delete(a.waiters, i, i+1)
	if x := w.account; x.waiter == w {
		x.waiter = nil
		x.awaited()
	}
	w.result <- result
}

// free gives a slot back, to a waiter if there is one.
func (a *admission) free() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.taken--; len(a.waiters) > 0; a.taken++ {
		var next *waiter
		for _, w := range a.waiters {
			if next == nil || w.before(next) {
				next = w
			}
		}
		if !a.hasSlot(next.class, next.admitted) {
			return
		}
		a.grants++
		next.account.of.granted = a.grants
		a.remove(next, granted)
	}
}

// before reports whether a waiter gets a slot before one that has waited longer.
func (w *waiter) before(longer *waiter) bool {
	if (w.class == spare) != (longer.class == spare) {
		return longer.class == spare
	}
	if mine, other := w.account.of.granted, longer.account.of.granted; mine != other {
		return mine < other
	}
	return w.class < longer.class
}

// yield gives the slot to a request that waits. The caller waits for another without a limit: it was
// admitted.
func (a *admission) yield(x *account) {
	if a.waiting() > 0 {
		a.free()
		a.wait(x, short, nil)
	}
}

// waiting returns the number of requests that wait.
func (a *admission) waiting() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for _, w := range a.waiters {
		if w.class != spare {
			n++
		}
	}
	return n
}

// shedReason is why a request was refused under load.
type shedReason uint8

const (
	shedQueue   shedReason = iota // too many requests wait
	shedWait                      // it waited too long
	shedBytes                     // too many bytes are in flight
	shedStalled                   // it had waited longest when too many bytes were in flight
	shedTime                      // it took longer than Options.Timeout
	shedDraining
	shedReasons
)

var shedNames = [shedReasons]string{"queue", "wait", "bytes", "stalled", "timeout", "draining"}

// refusals are the problems of requests that are refused under load, by reason. They are made once, with their
// documents, because a refusal must cost little.
var refusals = func() (list [shedReasons]*problem) {
	for reason, found := range [shedReasons]string{shedQueue: "too many requests wait", shedWait: "the request waited too long",
		shedBytes: "too many bytes are in flight", shedStalled: "too many bytes are in flight, and this request waited for its client",
		shedTime: "the request took longer than the time limit", shedDraining: "the server is shutting down"} {
		status := http.StatusTooManyRequests
		if r := shedReason(reason); r == shedDraining || r == shedTime {
			status = http.StatusServiceUnavailable
		}
		p := &problem{status: status, err: &diag.Error{Kind: diag.Limit, Found: found,
			Hint: "try again after the time of the header Retry-After"}}
		p.made = p.document(false)
		list[reason] = p
	}
	return list
}()

// refuse counts a request that is refused under load and returns its problem.
func (a *admission) refuse(reason shedReason) *problem {
	a.shed[reason].Add(1)
	return refusals[reason]
}
