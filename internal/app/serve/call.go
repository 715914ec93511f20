package serve

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"toptau/diag"
	"toptau/internal/data/jsontext"
)

// env is what all requests share.
type env struct {
	options   Options
	admission *admission
	metrics   metrics
	log       *slog.Logger
	access    *accessLog
	draining  atomic.Bool // the server is about to end
	zippers   chan *gzip.Writer

	idStart string // of the ids of requests that have none
	idCount atomic.Uint64
}

func newEnv(o Options) *env {
	e := &env{options: o, admission: newAdmission(o), idStart: newIDStart()}
	e.log, e.access = newLogs(o.Log)
	n := runtime.GOMAXPROCS(0)
	e.zippers = make(chan *gzip.Writer, n)
	for range n {
		z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
		e.zippers <- z
	}
	return e
}

// newIDStart returns the start of the ids that this process gives to requests.
func newIDStart() string {
	var b [8]byte
	for i := range b {
		b[i] = byte(rand.Uint32()) // an id must be rare, not secret
	}
	return hex.EncodeToString(b[:]) + "-"
}

func (e *env) nextID() string {
	var space [32]byte
	b := append(space[:0], e.idStart...)
	return string(strconv.AppendUint(b, e.idCount.Add(1), 10))
}

// call is one request.
type call struct {
	env      *env
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
	account  account       // of the budget
	zipped   bool          // the body is compressed
	queued   time.Duration // until there was a slot
	body     []byte
	out      []byte
	slot     bool
	class    class
	began    time.Time // of the work with a slot
}

var calls = sync.Pool{New: func() any { return &call{} }}

// Values of headers that every answer has. They are shared, so that they cost no allocation.
var (
	noSniff    = []string{"nosniff"}
	noStore    = []string{"no-store"}
	retryAfter = []string{"1"} // seconds
	noScript   = []string{"default-src 'none'"}
	closing    = []string{"close"}
	gzipped    = []string{"gzip"}
	varies     = []string{"Accept-Encoding"}
)

// keptBuffer is the largest buffer that a call keeps for the next one: kept buffers are not in the budget of
// bytes, and there may be two for each connection. firstRead is the first buffer of a body: it grows with
// what arrives and not with what the client announces.
//
// readPiece is what is read of a body before others run: a fast sender would keep the processor for 10 ms.
const (
	keptBuffer = 16 << 10
	firstRead  = 64 << 10
	readPiece  = 256 << 10
)

// newCall starts to answer a request at an endpoint. While the server drains, an answer ends its connection, so that
// the client goes elsewhere with the next request.
func newCall(e *env, w http.ResponseWriter, r *http.Request, at endpoint) *call {
	c := calls.Get().(*call)
	*c = call{env: e, w: w, r: r, start: time.Now(), at: at, body: c.body[:0], out: c.out[:0]}
	e.metrics.inflight.Add(1)
	h := w.Header()
	h["X-Content-Type-Options"], h["Cache-Control"], h["Content-Security-Policy"] = noSniff, noStore, noScript
	if e.draining.Load() {
		h["Connection"] = closing
	}
	c.identify(h)
	return c
}

// finish counts and logs the request.
func (c *call) finish() {
	e, mistake := c.env, recover()
	if mistake != nil {
		c.panicked(mistake)
	}
	c.freeSlot()
	e.admission.release(&c.account)
	e.metrics.inflight.Add(-1)
	took := time.Since(c.start)
	e.metrics.times[c.at].add(took)
	counts := &e.metrics.other
	if c.model != nil {
		counts = &c.model.counts.requests
	}
	counts.add(c.at, c.status)
	c.log(took)
	if cap(c.body) > keptBuffer {
		c.body = nil
	}
	if cap(c.out) > keptBuffer {
		c.out = nil
	}
	c.w, c.r, c.model, c.account = nil, nil, nil, account{}
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
		c.id = c.env.nextID()
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
	if !c.env.admission.reserve(&c.account, n) {
		return c.env.admission.refuse(c.shortage())
	}
	return nil
}

// shortage returns why the call has no more bytes.
func (c *call) shortage() shedReason {
	if c.account.stalled {
		return shedStalled
	}
	return shedBytes
}

// waitFor calls f, which waits for the client. It returns an error if the call's bytes were needed meanwhile.
func (c *call) waitFor(writes bool, f func()) error {
	if !c.env.admission.during(&c.account, writes, f) {
		return c.env.admission.refuse(shedStalled)
	}
	return nil
}

// readBody reads the body, of at most Options.MaxBody bytes, without a slot.
func (c *call) readBody() error {
	limit := c.env.options.MaxBody
	if c.r.ContentLength > limit {
		return tooLong(limit)
	}
	if err := c.readEncoding(); err != nil {
		return err
	}
	if !c.env.admission.hasRoom(&c.account, 2*c.r.ContentLength) { // rows and answer take about as much as the body
		return c.env.admission.refuse(shedBytes)
	}
	body, err := c.readAll(c.r.Body, c.body, int(c.r.ContentLength))
	c.body, c.received = body, int64(len(body))
	return err
}

// readEncoding reads the encoding of the body.
func (c *call) readEncoding() error {
	e := strings.Join(c.r.Header["Content-Encoding"], ", ")
	if c.zipped = e == "gzip"; c.zipped || e == "" || e == "identity" {
		return nil
	}
	return refused(http.StatusUnsupportedMediaType, diag.Usage, "Content-Encoding "+diag.Quote(e), "gzip, or none")
}

// unzip replaces a compressed body by its content, which has the same limit. It needs a slot.
func (c *call) unzip() error {
	if !c.zipped {
		return nil
	}
	z, err := gzip.NewReader(bytes.NewReader(c.body))
	if err == nil {
		c.body, err = c.readAll(z, nil, 0)
	}
	if p, ok := err.(*problem); err != nil && (!ok || p.status == 499) {
		return wrongRequest("a body that is not gzip, or not all of it", "what Content-Encoding names")
	}
	return err
}

// readAll appends what a reader returns, of at most Options.MaxBody bytes, and counts its memory. announced is the
// expected number of bytes, if it is known.
func (c *call) readAll(from io.Reader, body []byte, announced int) ([]byte, error) {
	limit, counted := c.env.options.MaxBody, int64(0)
	for {
		if n := len(body); n == cap(body) {
			grown := max(512, 4*n)
			if announced+1 > n { // with a byte for the end
				grown = min(max(firstRead, 4*n), announced+1)
			}
			body = slices.Grow(body, grown-n)
		}
		if n := int64(cap(body)); n > counted {
			if err := c.reserve(n - counted); err != nil {
				return body, err
			}
			counted = n
		}
		var n int
		var err error
		ended := c.waitFor(false, func() { n, err = from.Read(body[len(body):min(len(body)+readPiece, cap(body))]) })
		body = body[:len(body)+n]
		if letRead(n); c.slot { // it decompresses
			c.yield()
		}
		switch {
		case ended != nil:
			return body, ended
		case int64(len(body)) > limit:
			return body, tooLong(limit)
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			return body, readProblem(err)
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
	before := time.Now()
	if c.class = classOfBody(c.received); c.zipped {
		c.class = long
	}
	reason, ok := c.env.admission.take(&c.account, c.class, c.r.Context().Done())
	c.began = time.Now()
	c.queued = c.began.Sub(before)
	if !ok {
		return c.env.admission.refuse(reason)
	}
	c.slot = true
	return nil
}

func (c *call) freeSlot() {
	if c.slot {
		c.slot = false
		c.env.admission.worked(c.class, time.Since(c.began))
		c.env.admission.free()
	}
}

// yield gives the slot to a request that waits, and goes on when it has one again.
func (c *call) yield() error {
	before := time.Now()
	c.env.admission.yield(&c.account)
	c.began = c.began.Add(time.Since(before))
	return nil
}

// pause is yield, until Options.Timeout.
func (c *call) pause() error {
	c.yield()
	return c.inTime()
}

// inTime returns an error after Options.Timeout.
func (c *call) inTime() error {
	if time.Since(c.start) > c.env.options.Timeout {
		return c.env.admission.refuse(shedTime)
	}
	return nil
}

// answer sends an answer in one piece.
func (c *call) answer(status int, contentType []string, body []byte) {
	h := c.w.Header()
	h["Content-Type"] = contentType
	if len(body) >= shortestZipped && c.acceptsGzip() {
		body = c.zip(body)
	}
	c.freeSlot()           // the client may be slow
	if len(body) >= 2048 { // net/http counts shorter ones itself
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	c.status = status
	if status != http.StatusOK {
		c.w.WriteHeader(status)
	}
	if c.write(body) != nil {
		c.status = 499
	}
}

// write sends bytes, in pieces of which each is progress.
func (c *call) write(b []byte) error {
	for len(b) > 0 {
		var n int
		var err error
		ended := c.waitFor(true, func() { n, err = c.w.Write(b[:min(len(b), streamBuffer)]) })
		c.sent += int64(n)
		if err == nil {
			err = ended
		}
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// shortestZipped is the shortest answer that is compressed: in bytes about what a packet carries.
const shortestZipped = 1400

// acceptsGzip reports whether the client reads compressed answers.
func (c *call) acceptsGzip() bool {
	for part := range strings.SplitSeq(strings.Join(c.r.Header["Accept-Encoding"], ","), ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			return strings.Trim(strings.TrimPrefix(strings.ReplaceAll(weight, " ", ""), "q="), "0.") != "" || weight == ""
		}
	}
	return false
}

// zip returns a compressed answer, or the answer itself if all compressors are busy: each takes a megabyte.
func (c *call) zip(body []byte) []byte {
	select {
	case z := <-c.env.zippers:
		defer func() { c.env.zippers <- z }()
		var b bytes.Buffer
		z.Reset(&b)
		z.Write(body)
		if z.Close() != nil || b.Len() >= len(body) {
			return body
		}
		h := c.w.Header()
		h["Content-Encoding"], h["Vary"] = gzipped, varies
		return b.Bytes()
	default:
		return body
	}
}

// fail answers with an error.
func (c *call) fail(err error) {
	p := problemOf(err)
	h := c.w.Header()
	switch p.status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		h["Retry-After"] = retryAfter
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	}
	if p.status == http.StatusTooManyRequests {
		c.dropBody()
	}
	document := p.document(c.env.options.TerseErrors)
	if strings.HasPrefix(c.r.URL.Path, "/v2") { // the Open Inference Protocol has a text
		document = append(jsontext.AppendText([]byte(`{"error":`), p.shown(c.env.options.TerseErrors).Error()), "}\n"...)
	}
	c.answer(p.status, contentTypes[mediaJSON], document)
}

// dropBody reads a body of moderate length that nobody has read, so that the connection can go on. net/http would do
// it in smaller pieces, which costs more than the refusal.
func (c *call) dropBody() {
	n := c.r.ContentLength
	if c.received > 0 || n <= 0 || n > dropped || len(c.r.Header["Expect"]) > 0 { // that client waits for leave
		return
	}
	buffer := dropBuffers.Get().(*[dropped]byte)
	defer dropBuffers.Put(buffer)
	for {
		if _, err := c.r.Body.Read(buffer[:]); err != nil {
			return
		}
	}
}

// dropped is the longest body that is read at a refusal; with a longer one, net/http decides whether to close the
// connection.
const dropped = 64 << 10

var dropBuffers = sync.Pool{New: func() any { return new([dropped]byte) }}

// answerDocument answers with a value as JSON.
func (c *call) answerDocument(status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // the documents of this package can be encoded
	}
	c.answer(status, contentTypes[mediaJSON], append(jsontext.Printable(b), '\n'))
}

// panicked answers after a mistake in this program.
func (c *call) panicked(p any) {
	if p == http.ErrAbortHandler {
		return
	}
	c.env.log.Error("a mistake in the program", "request_id", c.id, "panic", fmt.Sprint(p), "stack",
		string(debug.Stack()))
	if c.status == 0 {
		c.fail(refused(http.StatusInternalServerError, diag.IO, "a mistake in the program",
			"a report of it with the request's id"))
	}
}

// media returns the forms of the body and of the answer.
func (c *call) media() (in, out media, err error) {
	if in, err = mediaOf(c.r.Header["Content-Type"]); err != nil {
		return 0, 0, err
	}
	accept := c.r.Header["Accept"]
	if len(accept) == 0 || len(accept) == 1 && accept[0] == "*/*" {
		return in, in, nil
	}
	out, err = acceptedMedia(strings.Join(accept, ","), in)
	return in, out, err
}

// log logs a request: no values of rows, no tokens, no queries.
func (c *call) log(took time.Duration) {
	a := c.env.access
	if a.log == nil || c.at == atHealth {
		return
	}
	skipped, ok := a.allow(c.start, c.status == 500)
	if !ok {
		return
	}
	attributes := make([]slog.Attr, 0, 12)
	attributes = append(attributes, slog.String("request_id", c.id), slog.String("method", c.r.Method),
		slog.String("path", pathOf(c)), slog.Int("status", c.status), slog.Int64("us", took.Microseconds()),
		slog.Int64("received", c.received), slog.Int64("sent", c.sent),
		slog.String("client", c.r.RemoteAddr))
	if c.model != nil {
		attributes = append(attributes, slog.String("model", c.model.name), slog.Int("rows", c.rows))
	}
	if c.trace != "" {
		attributes = append(attributes, slog.String("traceparent", c.trace))
	}
	if skipped > 0 {
		attributes = append(attributes, slog.Int("not_logged", skipped))
	}
	a.log.LogAttrs(c.r.Context(), slog.LevelInfo, "request", attributes...)
}

// pathOf returns the path for the log, cut if it is long.
func pathOf(c *call) string {
	path := c.r.URL.Path
	return path[:min(len(path), 200)]
}
