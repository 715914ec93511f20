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
}

func newAdmission(o Options) *admission {
	return &admission{slots: make(chan struct{}, runtime.GOMAXPROCS(0)), queue: int64(o.Queue), most: o.InFlight()}
}

// full reports whether a further request would find the queue full.
func (a *admission) full() bool { return a.waiting.Load() >= a.queue }

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

// busy returns the problem of a request that is refused under load.
func (s *Server) busy(reason shedReason) *problem {
	s.metrics.shed[reason].Add(1)
	found := map[shedReason]string{shedQueue: "too many requests wait", shedWait: "the request waited too long",
		shedBytes: "too many bytes are in flight", shedTime: "the request took longer than the time limit", shedDraining: "the server is shutting down"}[reason]
	status := http.StatusTooManyRequests
	if reason == shedDraining || reason == shedTime {
		status = http.StatusServiceUnavailable
	}
	return &problem{status, &diag.Error{Kind: diag.Limit, Found: found,
		Hint: "try again after the time of the header Retry-After"}}
}
