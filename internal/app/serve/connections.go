package serve

import (
	"container/list"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"
)

// connections limits the open connections, all of them and those of an address. When a limit is reached, the connection
// that has been idle longest is closed for the new one: clients open another when they need it. It is one of the new
// one's address if that has too many, otherwise one of the address with the most, so that many idle connections of a few
// addresses take none from the others. If none is idle, the new one is refused with an answer.
type connections struct {
	net.Listener
	most, perAddress int
	silent           bool // TLS: a refusal cannot be read
	refuse           chan struct{}

	mu        sync.Mutex
	open      int
	idle      int
	clock     uint64 // counts how often a connection became idle
	addresses map[netip.Prefix]*address
	evicted   uint64 // idle connections that were closed
	refused   uint64
}

// address is where connections come from: an IPv4 address or an IPv6 network /64, which one client can have.
type address struct {
	open int
	idle list.List // of *connection, the longest idle first
}

// connection is an open connection. It is idle until the headers of a request are complete, and after its answer.
type connection struct {
	net.Conn
	from  *connections
	key   netip.Prefix // invalid: unix sockets, which have no limit of their own
	of    *address
	place *list.Element // in address.idle; nil: not idle
	since uint64        // connections.clock when it became idle
	ended bool
}

// maxRefusals is the number of connections that are refused at the same time; further ones are closed at
// once.
const maxRefusals = 64

func newConnections(l net.Listener, most, perAddress int, silent bool) *connections {
	return &connections{Listener: l, most: most, perAddress: perAddress, silent: silent,
		refuse: make(chan struct{}, maxRefusals), addresses: map[netip.Prefix]*address{}}
}

// Accept implements net.Listener.
func (l *connections) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if admitted := l.admit(c); admitted != nil {
			return admitted, nil
		}
		select {
		case l.refuse <- struct{}{}:
			go l.refuseOne(c)
		default:
			c.Close()
		}
	}
}

// admit returns the connection with a place, nil if there is none.
func (l *connections) admit(conn net.Conn) *connection {
	c := &connection{Conn: conn, from: l}
	if a, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		c.key = networkOf(a.AddrPort().Addr())
	}
	l.mu.Lock()
	if c.of = l.addresses[c.key]; c.of == nil {
		c.of = &address{}
		l.addresses[c.key] = c.of
	}
	limited := func() bool { return c.key.IsValid() && c.of.open > l.perAddress }
	var victim *connection
	if c.key.IsValid() && c.of.open >= l.perAddress {
		victim = c.of.longestIdle()
	} else if l.open >= l.most {
		victim = l.longestIdle()
	}
	c.enter()
	if victim != nil {
		l.evicted++
		victim.leave()
	}
	if l.open > l.most || limited() {
		l.refused++
		c.leave()
		c = nil
	}
	l.mu.Unlock()
	if victim != nil {
		victim.Conn.Close()
	}
	return c
}

// networkOf returns the network of a client: its address of IPv4, or the network /64 of IPv6, which one client can have.
func networkOf(ip netip.Addr) netip.Prefix {
	ip = ip.Unmap()
	bits := 32
	if ip.Is6() {
		bits = 64
	}
	p, _ := ip.Prefix(bits) // invalid without an address
	return p
}

func (a *address) longestIdle() *connection {
	if first := a.idle.Front(); first != nil {
		return first.Value.(*connection)
	}
	return nil
}

// longestIdle returns an idle connection of the address with the most connections, nil if none is idle. The caller holds the
// mutex.
func (l *connections) longestIdle() (victim *connection) {
	for _, a := range l.addresses {
		c := a.longestIdle()
		if c != nil && (victim == nil || a.open > victim.of.open || a.open == victim.of.open && c.since < victim.since) {
			victim = c
		}
	}
	return victim
}

// enter counts a new connection, which is idle. The caller holds the mutex.
func (c *connection) enter() {
	c.from.open++
	c.of.open++
	c.setIdle(true)
}

// leave ends the count of a connection, once. The caller holds the mutex.
func (c *connection) leave() {
	if c.ended {
		return
	}
	c.setIdle(false)
	c.ended = true
	c.from.open--
	if c.of.open--; c.of.open == 0 {
		delete(c.from.addresses, c.key)
	}
}

func (c *connection) setIdle(idle bool) {
	switch {
	case idle == (c.place != nil) || c.ended:
	case idle:
		c.from.clock++
		c.from.idle++
		c.place, c.since = c.of.idle.PushBack(c), c.from.clock
	default:
		c.from.idle--
		c.of.idle.Remove(c.place)
		c.place = nil
	}
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.from.mu.Lock()
	c.leave()
	c.from.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite ends the sending half: net/http then reads on for a while, so that an answer is not lost with a reset.
func (c *connection) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// track is http.Server.ConnState.
func (l *connections) track(conn net.Conn, state http.ConnState) {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	if c, ok := conn.(*connection); ok && (state == http.StateActive || state == http.StateIdle) {
		l.mu.Lock()
		c.setIdle(state == http.StateIdle)
		l.mu.Unlock()
	}
}

const (
	refusalBody = `{"schema_version":2,"error":{"kind":"limit","found":"too many connections","message":"too many connections"}}` + "\n"
	refusalHead = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: "
)

var refusal = []byte(refusalHead + strconv.Itoa(len(refusalBody)) + "\r\n\r\n" + refusalBody)

// refuseOne answers a connection and reads what it sends, so that the answer is not lost with a reset.
func (l *connections) refuseOne(c net.Conn) {
	defer func() { <-l.refuse }()
	defer c.Close()
	if l.silent {
		return
	}
	c.SetDeadline(time.Now().Add(500 * time.Millisecond))
	c.Write(refusal)
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
	io.CopyN(io.Discard, c, 64<<10)
}

// counts returns the open and the idle connections, and how many were closed or refused so far.
func (l *connections) counts() (open, idle int, evicted, refused uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open, l.idle, l.evicted, l.refused
}
