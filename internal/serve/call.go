package serve

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"toptau/diag"
)

// call is one request.
type call struct {
	s        *Server
	w        http.ResponseWriter
	r        *http.Request
	start    time.Time
	id       string // of the request, from the client or made here
	trace    string // of W3C traceparent; "" without one
	at       endpoint
	model    *served // nil: the request is not about a model
	status   int     // of the answer; 0: none yet
	rows     int
	received int64
	sent     int64
	reserved int64 // bytes of the budget
	body     []byte
	out      []byte
	slot     bool
}

var calls = sync.Pool{New: func() any { return &call{} }}

// Values of headers that every answer has. They are shared, so that they cost no allocation.
var (
	noSniff  = []string{"nosniff"}
	noStore  = []string{"no-store"}
	noScript = []string{"default-src 'none'"}
)

// keptBuffer is the largest buffer that a call keeps for the next one: kept buffers are not in the budget of
// bytes, and there may be two for each connection. firstRead is the first buffer of a body: it grows with
// what arrives and not with what the client announces.
const (
	keptBuffer = 16 << 10
	firstRead  = 64 << 10
)

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := calls.Get().(*call)
	*c = call{s: s, w: w, r: r, start: time.Now(), at: atOther, body: c.body[:0], out: c.out[:0]}
	s.metrics.inflight.Add(1)
	defer c.finish()
	h := w.Header()
	h["X-Content-Type-Options"], h["Cache-Control"], h["Content-Security-Policy"] = noSniff, noStore, noScript
	c.identify(h)
	handle, known := s.route(c)
	switch p := s.auth.check(c); {
	case p != nil:
		c.fail(p)
	case !known:
		c.fail(refused(http.StatusNotFound, diag.Usage, "no such address", "an address of /openapi.json"))
	default:
		handle(c)
	}
}

// finish counts and logs the request.
func (c *call) finish() {
	s, mistake := c.s, recover()
	if mistake != nil {
		c.panicked(mistake)
	}
	c.freeSlot()
	if c.reserved > 0 {
		s.admission.bytes.Add(-c.reserved)
	}
	s.metrics.inflight.Add(-1)
	took := time.Since(c.start)
	s.metrics.times[c.at].add(took)
	counts := &s.metrics.other
	if c.model != nil {
		counts = &c.model.counts.requests
	}
	counts.add(c.at, c.status)
	s.access.write(c, took)
	if cap(c.body) > keptBuffer {
		c.body = nil
	}
	if cap(c.out) > keptBuffer {
		c.out = nil
	}
	c.w, c.r, c.model = nil, nil, nil
	calls.Put(c)
	if mistake == http.ErrAbortHandler {
		panic(mistake) // for net/http, which closes the connection
	}
}

// identify reads the id of the request and its trace, and writes both to the answer.
func (c *call) identify(h http.Header) {
	if id := c.r.Header["X-Request-Id"]; len(id) == 1 && isID(id[0]) {
		c.id = id[0]
		h["X-Request-Id"] = id
	} else {
		c.id = c.s.nextID()
		h["X-Request-Id"] = []string{c.id}
	}
	if trace := c.r.Header["Traceparent"]; len(trace) == 1 && isTrace(trace[0]) {
		c.trace = trace[0]
		h["Traceparent"] = trace
	}
}

// isID reports whether an id of a request can be logged and sent back: printable ASCII.
func isID(id string) bool {
	if id == "" || len(id) > 128 {
		return false
	}
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return false
		}
	}
	return true
}

// isTrace reports whether a text is a W3C traceparent: version, trace id, parent id and flags, in lower-case
// hexadecimal, none of the ids zero.
func isTrace(t string) bool {
	if len(t) < 55 || t[2] != '-' || t[35] != '-' || t[52] != '-' || len(t) > 55 &&
		(t[:2] == "00" || t[55] != '-' || len(t) > 128) {
		return false
	}
	for i := range len(t) {
		if c := t[i]; c-'0' > 9 && c-'a' > 5 && (i < 55 && c != '-' || c <= ' ' || c > '~') {
			return false
		}
	}
	return t[:2] != "ff" && strings.Trim(t[3:35], "0") != "" && strings.Trim(t[36:52], "0") != ""
}

// reserve counts bytes of the call.
func (c *call) reserve(n int64) error {
	if !c.s.admission.reserve(n) {
		return c.s.busy(shedBytes)
	}
	c.reserved += n
	return nil
}

// readBody reads the body, of at most Options.MaxBody bytes, without a slot.
func (c *call) readBody() error {
	limit := c.s.options.MaxBody
	if c.r.ContentLength > limit {
		return tooLong(limit)
	}
	if e := c.r.Header["Content-Encoding"]; len(e) > 0 && e[0] != "identity" {
		return refused(http.StatusUnsupportedMediaType, diag.Usage, "Content-Encoding "+diag.Quote(e[0]),
			"a body without compression")
	}
	if !c.s.admission.hasRoom(2 * c.r.ContentLength) { // rows and answer take about as much as the body
		return c.s.busy(shedBytes)
	}
	counted := int64(0)
	for {
		if n := len(c.body); n == cap(c.body) {
			grown := max(512, 4*n)
			if announced := int(c.r.ContentLength) + 1; announced > n { // with a byte for the end
				grown = min(max(firstRead, 4*n), announced)
			}
			c.body = slices.Grow(c.body, grown-n)
		}
		if n := int64(cap(c.body)); n > counted {
			if err := c.reserve(n - counted); err != nil {
				return err
			}
			counted = n
		}
		n, err := c.r.Body.Read(c.body[len(c.body):cap(c.body)])
		c.body = c.body[:len(c.body)+n]
		c.received = int64(len(c.body))
		if c.received > limit {
			return tooLong(limit)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return readProblem(err)
		}
	}
}

func tooLong(limit int64) *problem {
	return refused(http.StatusRequestEntityTooLarge, diag.Limit,
		"a body of more than "+strconv.FormatInt(limit, 10)+" bytes", "a shorter body, or NDJSON")
}

// readProblem returns the problem of a body that could not be read. 499 is the usual status for the logs if
// the client is gone.
func readProblem(err error) *problem {
	if errors.Is(err, os.ErrDeadlineExceeded) || isTimeout(err) {
		return refused(http.StatusRequestTimeout, diag.IO, "a body that arrives too slowly", "all of it in time")
	}
	return refused(499, diag.IO, "a body that ended early", "all of it")
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout() || errors.Is(err, context.DeadlineExceeded)
}

// takeSlot waits for a slot.
func (c *call) takeSlot() error {
	reason, ok := c.s.admission.take(c.r.Context().Done())
	if !ok {
		return c.s.busy(reason)
	}
	c.slot = true
	return nil
}

func (c *call) freeSlot() {
	if c.slot {
		c.slot = false
		c.s.admission.free()
	}
}

// answer sends an answer in one piece.
func (c *call) answer(status int, contentType []string, body []byte) {
	c.freeSlot() // the client may be slow
	h := c.w.Header()
	h["Content-Type"] = contentType
	if len(body) >= 2048 { // net/http counts shorter ones itself
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	c.status = status
	if status != http.StatusOK {
		c.w.WriteHeader(status)
	}
	n, err := c.w.Write(body)
	c.sent += int64(n)
	if err != nil {
		c.status = 499
	}
}

// fail answers with an error.
func (c *call) fail(err error) {
	p := problemOf(err)
	h := c.w.Header()
	switch p.status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		h.Set("Retry-After", "1")
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	}
	document := p.document(c.s.options.TerseErrors)
	if c.at == atInfer { // the protocol has a text
		document = append(appendText([]byte(`{"error":`), p.shown(c.s.options.TerseErrors).Error()), '}')
	}
	c.answer(p.status, contentTypes[mediaJSON], append(document, '\n'))
}

// method refuses other methods than the given ones.
func (c *call) method(methods ...string) bool {
	for _, m := range methods {
		if c.r.Method == m || c.r.Method == http.MethodHead && m == http.MethodGet {
			return true
		}
	}
	c.w.Header().Set("Allow", strings.Join(methods, ", "))
	c.fail(refused(http.StatusMethodNotAllowed, diag.Usage, "the method "+diag.Quote(c.r.Method),
		strings.Join(methods, " or ")))
	return false
}
