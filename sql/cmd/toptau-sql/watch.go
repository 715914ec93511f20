package main

import (
	"context"
	"sync"
	"time"

	"toptau/internal/app/cli"
	"toptau/sql/engine"
	"toptau/sql/scan"
)

// watcher shows the statement that the database works on.
type watcher struct {
	s     *cli.Session
	limit chan struct{} // has an element for each statement that runs; nil: no limit

	mutex   sync.Mutex
	begun   int           // statements
	open    int           // those without an answer
	since   time.Time     // when the last one began
	longest time.Duration // of the statements so far
	stage   string        // what the library is at
	done    float64       // fraction of all work; negative: not known
	stop    chan struct{} // closed when no statement is open
}

// watch lets the progress of a session show the statements of an engine. At most that number run at a time; 0: no limit.
func watch(s *cli.Session, e *engine.Engine, most int) *watcher {
	w := &watcher{s: s, done: -1}
	if most > 0 {
		w.limit = make(chan struct{}, most)
	}
	for i, c := range e.Shards {
		e.Shards[i] = &watched{c, w}
	}
	return w
}

// watched is a connection whose statements are shown.
type watched struct {
	scan.Conn
	w *watcher
}

func (c *watched) Query(ctx context.Context, statement string, dest []any, each func() error) error {
	if c.w.limit != nil {
		select {
		case c.w.limit <- struct{}{}:
			defer func() { <-c.w.limit }()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	c.w.begin()
	defer c.w.end()
	return c.Conn.Query(ctx, statement, dest, each)
}

// shown is the time between two lines of progress.
const shown = time.Second / 4

func (w *watcher) begin() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.begun++
	w.open++
	w.since = time.Now()
	w.show()
	if w.open > 1 || w.s.Progress == nil {
		return
	}
	stop := make(chan struct{})
	w.stop = stop
	go func() {
		for tick := time.NewTicker(shown); ; {
			select {
			case <-stop:
				tick.Stop()
				return
			case <-tick.C:
				w.mutex.Lock()
				w.show()
				w.mutex.Unlock()
			}
		}
	}()
}

func (w *watcher) end() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.longest = max(w.longest, time.Since(w.since))
	if w.open--; w.open == 0 && w.stop != nil {
		close(w.stop)
		w.stop = nil
	}
}

// show prints the line. The lock must be held.
func (w *watcher) show() {
	before := ""
	if w.stage != "" {
		before = w.stage + ": "
	}
	w.s.Progress.Show(w.done, "%sstatement %d, %.0f s (the longest so far took %.1f s)", before, w.begun, time.Since(w.since).Seconds(), w.longest.Seconds())
}

// at sets what the library is at.
func (w *watcher) at(stage string, done float64) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.stage, w.done = stage, done
	w.show()
}
