package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"toptau"
)

// progress is one line on standard error that is rewritten in place. It shows only on a terminal, and a nil one is silent.
type progress struct {
	mu      sync.Mutex
	w       io.Writer
	started time.Time
	last    time.Time
	shown   bool
}

// newProgress returns nil, which prints nothing, when it is not wanted or w is not a terminal.
func newProgress(w io.Writer, silent bool) *progress {
	if silent || !isTerminal(w) {
		return nil
	}
	return &progress{w: w}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// start begins a new piece of work: the time left is estimated from here.
func (p *progress) start() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started, p.last = time.Now(), time.Time{}
}

// show prints what is being done and, from the share done (0 to 1, negative when unknown), the time left. It prints at most
// five times a second.
func (p *progress) show(done float64, format string, args ...any) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Sub(p.last) < 200*time.Millisecond {
		return
	}
	p.last, p.shown = now, true
	left := ""
	if spent := now.Sub(p.started); done > 0 && done < 1 && spent > time.Second {
		left = ", " + remaining(time.Duration(float64(spent)*(1-done)/done)) + " left"
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s%s", fmt.Sprintf(format, showAll(args)...), left)
}

// clear removes the line.
func (p *progress) clear() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

// remaining rounds a duration to what a person wants to know.
func remaining(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds())+1)
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	}
}

// report shows what the library tells of its work.
func (p *progress) report(now toptau.Progress) { p.show(now.Share, "%s", now.Text) }
