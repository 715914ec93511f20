package serve

import (
	"io"
	"log/slog"
	"sync"
	"time"
)

// accessPerSecond is the number of requests that are logged in a second; others are counted in a line. Errors
// of the server are always logged.
const accessPerSecond = 100

// accessLog writes a line for each request.
type accessLog struct {
	log *slog.Logger // nil: none

	mu      sync.Mutex
	second  int64
	lines   int // in this second
	skipped int
}

// newLogs returns the log of events and that of requests.
func newLogs(w io.Writer) (*slog.Logger, *accessLog) {
	if w == nil {
		return slog.New(slog.DiscardHandler), &accessLog{}
	}
	log := slog.New(slog.NewJSONHandler(w, nil))
	return log, &accessLog{log: log}
}

// allow reports whether a request may be logged, and how many were not since the last one.
func (a *accessLog) allow(now time.Time, always bool) (skipped int, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if second := now.Unix(); second != a.second {
		a.second, a.lines = second, 0
	}
	if a.lines >= accessPerSecond && !always {
		a.skipped++
		return 0, false
	}
	a.lines++
	skipped, a.skipped = a.skipped, 0
	return skipped, true
}

// write logs a request: no values of rows, no tokens, no queries.
func (a *accessLog) write(c *call, took time.Duration) {
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
