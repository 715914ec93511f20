package serve

import (
	"net/http"
	"runtime"
	"sync/atomic"
	"time"

	"toptau/diag"
)

// admission limits what happens at the same time: a slot for each processor, a short queue for them, and a
// budget of bytes.
type admission struct {
	slots   chan struct{}
	queue   int64
	most    int64 // bytes
	waiting atomic.Int64
	bytes   atomic.Int64
	work    atomic.Int64 // nanoseconds that a request has its slot
	shed    [shedReasons]atomic.Uint64
}

func newAdmission(o Options) *admission {
	return &admission{slots: make(chan struct{}, runtime.GOMAXPROCS(0)), queue: int64(o.Queue), most: o.InFlight()}
}

// full reports whether a further request would find the queue full, or wait for longer than maxBacklog at the speed of
// the last requests. Without the second rule, 64 large requests in the queue would make each wait for a tenth of a second.
// A few may always wait, so that a burst of large requests is not refused.
func (a *admission) full() bool {
	n, slots := a.waiting.Load(), int64(cap(a.slots))
	return n >= a.queue || n > alwaysWaiting*slots && n*a.work.Load() > int64(maxBacklog)*slots
}

// worked notes how long a request had its slot, in a moving average over about 16 requests.
func (a *admission) worked(d time.Duration) {
	before := a.work.Load()
	a.work.Store(before + (int64(d)-before)/16) // two at the same time may lose one
}

// letRead lets other goroutines run that are ready. A request that has a slot calls it before it computes for long:
// those that arrived meanwhile then wait in the queue, where they are counted, and not for the scheduler.
func (a *admission) letRead(body int) {
	if body >= longBody {
		runtime.Gosched()
	}
}

// takeFree takes a slot if one is free.
func (a *admission) takeFree() bool {
	select {
	case a.slots <- struct{}{}:
		return true
	default:
		return false
	}
}

// take takes a slot. It returns a reason if there is none within maxWait, or if too many wait.
func (a *admission) take(done <-chan struct{}) (reason shedReason, ok bool) {
	if a.takeFree() {
		return 0, true
	}
	if a.waiting.Add(1) > a.queue {
		a.waiting.Add(-1)
		return shedQueue, false
	}
	defer a.waiting.Add(-1)
	limit := time.NewTimer(maxWait)
	defer limit.Stop()
	select {
	case a.slots <- struct{}{}:
		return 0, true
	case <-done:
	case <-limit.C:
	}
	return shedWait, false
}

// wait takes a slot for the next lines of a stream: its sender waits too, so nothing piles up.
func (a *admission) wait(done <-chan struct{}) bool {
	if a.takeFree() {
		return true
	}
	a.waiting.Add(1)
	defer a.waiting.Add(-1)
	select {
	case a.slots <- struct{}{}:
		return true
	case <-done:
		return false
	}
}

func (a *admission) free() { <-a.slots }

// yield gives the slot to a request that waits. The caller waits for another without a limit: it was
// admitted.
func (a *admission) yield() {
	if a.waiting.Load() > 0 {
		a.free()
		a.slots <- struct{}{}
	}
}

// hasRoom reports whether n further bytes fit into the budget now, so that a body is not read in vain.
func (a *admission) hasRoom(n int64) bool { return a.bytes.Load()+n <= a.most }

// reserve counts bytes that are about to be used. It returns false if that is too much.
func (a *admission) reserve(n int64) bool {
	if a.bytes.Add(n) > a.most {
		a.bytes.Add(-n)
		return false
	}
	return true
}

// shedReason is why a request was refused under load.
type shedReason uint8

const (
	shedQueue shedReason = iota // too many requests wait
	shedWait                    // it waited too long
	shedBytes                   // too many bytes are in flight
	shedTime                    // it took longer than Options.Timeout
	shedDraining
	shedReasons
)

var shedNames = [shedReasons]string{"queue", "wait", "bytes", "timeout", "draining"}

// refusals are the problems of requests that are refused under load, by reason. They are made once, with their
// documents, because a refusal must cost little.
var refusals = func() (list [shedReasons]*problem) {
	for reason, found := range [shedReasons]string{shedQueue: "too many requests wait", shedWait: "the request waited too long",
		shedBytes: "too many bytes are in flight", shedTime: "the request took longer than the time limit",
		shedDraining: "the server is shutting down"} {
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
