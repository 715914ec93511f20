package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Progress is one line on standard error that is rewritten in place. A nil *Progress prints nothing.
type Progress struct {
	mu      sync.Mutex
	w       io.Writer
	started time.Time
	last    time.Time // when the line was last written
	shown   bool      // the line is on the screen
}

// newProgress returns nil if silent is set or w is not a terminal.
func newProgress(w io.Writer, silent bool) *Progress {
	if silent || !isTerminal(w) {
		return nil
	}
	return &Progress{w: w}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// Start begins a task. The time left is estimated from here on.
func (p *Progress) Start() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started, p.last = time.Now(), time.Time{}
}

// Show prints a text and the time left, estimated from the fraction done (0 to 1, negative if unknown). It
// prints at most five times a second.
func (p *Progress) Show(done float64, format string, args ...any) {
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
		left = ", " + timeLeft(time.Duration(float64(spent)*(1-done)/done)) + " left"
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s%s", fmt.Sprintf(format, printableArgs(args)...), left)
}

// Clear removes the line.
func (p *Progress) Clear() {
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

// timeLeft writes a duration in two units: "3 min 05 s".
func timeLeft(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds())+1)
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	}
}
