package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
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
	lines   bool      // each is a line of JSON instead

	remaining remaining
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
	p.started, p.last, p.remaining = time.Now(), time.Time{}, remaining{}
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
	p.last = now
	if p.lines {
		line, _ := json.Marshal(progressLine{done, fmt.Sprintf(format, args...)}) // of a number and a text: no error
		fmt.Fprintf(p.w, "%s\n", line)
		return
	}
	p.shown = true
	left := ""
	if d, known := p.remaining.estimate(now.Sub(p.started), done); known {
		left = ", about " + timeLeft(d) + " left"
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s%s", fmt.Sprintf(format, printableArgs(args)...), left)
}

// progressLine is a line of progress for programs.
type progressLine struct {
	Done float64 `json:"progress"` // 0 to 1, negative if unknown
	Text string  `json:"text"`
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

// remaining estimates the time left. The raw estimate is the time spent times the open fraction over the done one. It
// jumps, because parts of the work take longer than expected. So the estimate counts down by the clock and moves
// to the raw one with a time constant.
type remaining struct {
	at   time.Duration // time spent at the last estimate
	left float64       // seconds; 0: no estimate yet
}

// Chosen by hand: earlier estimates are guesses, and a jump of a minute is spread over half a minute.
const (
	firstEstimate    = 3 * time.Second
	firstFraction    = 0.02
	estimateConstant = 12.0 // seconds
)

// estimate returns the time left, and whether it is known.
func (r *remaining) estimate(spent time.Duration, done float64) (time.Duration, bool) {
	if !(done > firstFraction) || done >= 1 || spent < firstEstimate {
		return 0, false
	}
	raw := spent.Seconds() * (1 - done) / done
	if r.left == 0 {
		r.left = raw
	} else {
		step := (spent - r.at).Seconds()
		r.left = max(0, r.left-step)
		r.left += float64((raw - r.left) * (1 - math.Exp(-step/estimateConstant)))
	}
	r.at = spent
	return time.Duration(r.left * float64(time.Second)), true
}

// timeLeft writes a duration in steps that suit an estimate: "35 s", "3 min 20 s", "1 h 05 min".
func timeLeft(d time.Duration) string {
	up := func(unit time.Duration) time.Duration { return (d + unit - 1) / unit * unit }
	switch {
	case d <= 10*time.Second:
		return fmt.Sprintf("%d s", max(1, int(up(time.Second).Seconds())))
	case up(5*time.Second) < time.Minute:
		return fmt.Sprintf("%d s", int(up(5*time.Second).Seconds()))
	case up(20*time.Second) < 10*time.Minute:
		d = up(20 * time.Second)
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	case up(time.Minute) < time.Hour:
		return fmt.Sprintf("%d min", int(up(time.Minute).Minutes()))
	default:
		d = up(5 * time.Minute)
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	}
}
