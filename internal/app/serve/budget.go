package serve

import (
	"container/list"
	"net/http"
	"net/netip"
	"time"
)

// whom is a client for the division of what is short: a token where there are tokens, otherwise an address.
type whom struct {
	token   *token
	network netip.Prefix
}

// client is what a client has of the server. It exists while it has accounts.
type client struct {
	accounts int
	bytes    int64
	granted  uint64    // admission.grants when it last got a slot for which it had waited
	waits    list.List // of *account: those that can be ended because they wait, the longest first
}

// account is what a request holds: bytes, and a place among those that wait.
type account struct {
	by      whom
	of      *client // nil before it holds anything
	bytes   int64
	w       http.ResponseWriter
	waiter  *waiter // it waits for a slot; nil: for the network, if at all
	writes  bool    // it waits for its client to read
	since   time.Time
	place   *list.Element // in client.waits; nil: it does not wait
	stalled bool          // its bytes were needed for others
}

// The budget when it is used up. Every client has an equal share of it, less a sixteenth: that is left to clients which are
// below their share and to small requests, so that they need not wait until others are ended.
//
// A client below its share takes what it needs from those above: what has waited longest for the network ends first. A
// client above its share, which may be alone, ends only what has waited for stalledAfter: otherwise bodies that arrive at the
// same time would end each other, and none would be answered.
const (
	stalledAfter = 500 * time.Millisecond
	smallRequest = 16 << 10 // bytes
)

// open gives an account a client. The caller holds the mutex.
func (a *admission) open(x *account) {
	if x.of != nil {
		return
	}
	if x.of = a.clients[x.by]; x.of == nil {
		x.of = &client{}
		a.clients[x.by] = x.of
	}
	x.of.accounts++
}

// release ends an account and uncounts what it holds.
func (a *admission) release(x *account) {
	if x.of == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.drop(x)
	if x.of.accounts--; x.of.accounts == 0 {
		delete(a.clients, x.by)
	}
	x.of = nil
}

// drop uncounts the bytes of an account. The caller holds the mutex.
func (a *admission) drop(x *account) {
	a.used -= x.bytes
	x.of.bytes -= x.bytes
	x.bytes = 0
}

// reserve counts bytes that are about to be used. It returns false if that is too much, or if the account's bytes were
// needed for others.
func (a *admission) reserve(x *account, n int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open(x)
	for !x.stalled && a.used+n > a.limit(x, n) {
		victim := a.victim(x, n)
		if victim == nil {
			return false
		}
		a.end(victim)
	}
	if x.stalled {
		return false
	}
	a.used += n
	x.of.bytes += n
	x.bytes += n
	return true
}

// hasRoom reports whether n further bytes fit into the budget now, or can be taken from others, so that a body is not read
// in vain.
func (a *admission) hasRoom(x *account, n int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open(x)
	return a.used+n <= a.limit(x, n) || a.victim(x, n) != nil
}

// share returns the bytes that each client may have when the budget is used up.
func (a *admission) share() int64 { return (a.most - a.most/16) / int64(max(1, len(a.clients))) }

// limit returns the bytes of all that an account may fill with n more. The caller holds the mutex.
func (a *admission) limit(x *account, n int64) int64 {
	if x.bytes+n > smallRequest && x.of.bytes+n > a.share() {
		return a.most - a.most/16
	}
	return a.most
}

// victim returns what ends first so that an account can have n bytes more, nil if nothing may. The caller holds the mutex.
func (a *admission) victim(x *account, n int64) (victim *account) {
	share, now := a.share(), time.Now()
	for _, c := range a.clients {
		first := c.waits.Front()
		if first == nil || c != x.of && c.bytes <= share || c == x.of && c.bytes+n <= share {
			continue
		}
		y := first.Value.(*account)
		if (x.of.bytes+n <= share || now.Sub(y.since) >= stalledAfter) && (victim == nil || y.since.Before(victim.since)) {
			victim = y
		}
	}
	return victim
}

// end takes the bytes of an account that waits, and ends its wait. The caller holds the mutex, so that its request cannot
// end before.
func (a *admission) end(x *account) {
	past := time.Unix(1, 0)
	switch x.stalled = true; {
	case x.waiter != nil:
		a.remove(x.waiter, shedStalled)
	case x.writes:
		http.NewResponseController(x.w).SetWriteDeadline(past)
	default:
		http.NewResponseController(x.w).SetReadDeadline(past)
	}
	x.awaited()
	a.drop(x)
}

// await and awaited begin and end the wait of an account. The caller holds the mutex.
func (x *account) await() {
	x.since = time.Now()
	x.place = x.of.waits.PushBack(x)
}

func (x *account) awaited() {
	if x.place != nil {
		x.of.waits.Remove(x.place)
		x.place = nil
	}
}

// during calls f, which waits for the network. It returns false if the account's bytes were needed meanwhile.
func (a *admission) during(x *account, writes bool, f func()) bool {
	a.mu.Lock()
	before := x.stalled // then it waits for the client to read why
	if !before {
		a.open(x)
		x.writes = writes
		x.await()
	}
	a.mu.Unlock()
	f()
	a.mu.Lock()
	defer a.mu.Unlock()
	x.awaited()
	return x.stalled == before
}

// inFlight returns the bytes that are counted.
func (a *admission) inFlight() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.used
}
