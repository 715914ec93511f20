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
