// Package alertlimit keeps the alerts of a stream of rows to at most N in each hour, day or week, and spends them
// on the highest scores.
//
// With r alerts left and m rows expected in the rest of a window, a row is an alert if fewer than r of m rows are
// expected to score higher: if the fraction of scores above its own is below r/m. This is the budget-ratio rule
// (Arlotto and Gurvich 2019; Bray 2019), whose loss against the best N rows in hindsight stays bounded where a
// fixed threshold loses the square root of their number. Scores are compared with those of former windows, each
// weighted by half of the one after it, and of this window; the first window starts with a sample from the model.
//
// The rules that hold under every sequence of times, crashes and failures of the disk:
//
//  1. Only rows above an operating point are alerts. The alerts are a subset of the point's, so that a bound on its
//     false alarms also holds for them.
//  2. A window by the clock has at most N alerts. Alerts are reserved in a file, in blocks of max(1, N/100),
//     and the block is on the disk before any of them is issued. A crash forfeits the rest of a block.
//  3. A clock that steps back reopens no window: rows before the current window are no alerts.
//  4. A clock that steps ahead of monotonic time by more than two windows is not followed: one wrong reading would
//     otherwise silence the limit until that time.
//  5. One process has the file. Replicas have files of their own and a part of the limit each.
package alertlimit

import (
	"cmp"
	"math"
	"sync"
	"time"

	"toptau/calibrate"
	"toptau/diag"
)

// Options are the options of Open.
type Options struct {
	Limit     Limit
	Zone      *time.Location    // whose clocks tell the hour, day or week; nil: UTC
	Expect    int               // rows in a window; 0: not known, and the first window paces itself
	Model     string            // identifies the model, whose scores cannot be compared with those of another
	Reference *calibrate.Sample // scores of rows like those to come; nil: not known
}

// Reason is why a row above the operating point is no alert.
type Reason string

const (
	ByBudget Reason = "budget" // the limit is reached, or alerts are kept for higher scores
	ByClock  Reason = "clock"  // the time is before the current window
	ByState  Reason = "state"  // the alerts could not be reserved on the disk
)

// Verdict is the decision on a row.
type Verdict struct {
	Alert    bool
	HeldBack Reason // "" if the row is an alert, or not above the point
}

// Status is the state of a budget for metrics and messages.
type Status struct {
	Limit     Limit
	Window    time.Time // the start of the current window; zero before the first row
	Remaining int       // alerts left in it
	Rows      int       // rows in it
	HeldBack  int       // rows above the point in it that were no alerts
	Err       error     // why alerts are not counted as they should be: the file, or the clock; nil: they are

	ClockSteps int // readings of the clock that were not followed
}

// keepHistory is the weight of a window against the one after it. With 0.25 and 0.9 the positives found in TestSimulation differ
// by at most 0.5 %.
const keepHistory = 0.5

// retryAfter is the time between attempts to write a file that could not be written.
const retryAfter = time.Second

// Budget decides which rows are alerts. It is safe for use by many goroutines.
type Budget struct {
	mutex  sync.Mutex
	limit  Limit
	zone   *time.Location
	file   *stateFile // nil after Close
	state  state
	start  time.Time // of the window of the state
	end    time.Time
	tokens int       // reserved on the disk and not issued
	opened time.Time // time of the first row
	failed time.Time // when a write failed; zero: the last one succeeded
	err    error     // of the last write
	saved  int       // rows at the last write
	clock  clock
}

// Open opens or creates the state file of a budget. It returns an error of kind io if another process has it open,
// if it is damaged, or if it belongs to windows of another kind.
func Open(path string, o Options) (*Budget, error) {
	if err := o.Limit.check(); err != nil {
		return nil, err
	}
	if o.Expect < 0 {
		return nil, &diag.Error{Kind: diag.Usage, Param: "expect", Found: "negative", Expected: "the rows of a window"}
	}
	file, stored, err := openState(path)
	if err != nil {
		return nil, err
	}
	b, err := newBudget(file, stored, o)
	if err != nil {
		file.Close()
		return nil, diag.At(err, diag.Error{File: path})
	}
	return b, nil
}

// newBudget continues with a state, nil for none.
func newBudget(file *stateFile, stored *state, o Options) (*Budget, error) {
	b := &Budget{limit: o.Limit, zone: cmp.Or(o.Zone, time.UTC), file: file}
	if stored != nil {
		b.state = *stored
	}
	if err := b.adopt(o); err != nil {
		return nil, err
	}
	if stored == nil {
		return b, b.file.initialise(&b.state)
	}
	return b, nil
}

// adopt fits the state to the options.
func (b *Budget) adopt(o Options) error {
	s := &b.state
	if s.Window != "" && (s.Window != o.Limit.Window || s.Zone != b.zone.String()) {
		return &diag.Error{Kind: diag.Usage, Found: "the state of a limit for each " + string(s.Window) + " in " + s.Zone,
			Expected: "one for each " + string(o.Limit.Window) + " in " + b.zone.String(), Hint: "choose another file"}
	}
	s.Window, s.Zone = o.Limit.Window, b.zone.String()
	if s.Start != nil {
		b.start, b.end = s.Window.span(s.Start.In(b.zone))
	}
	if s.Expect != o.Expect && o.Expect > 0 {
		s.Pace.Windows, s.Pace.Rows = 1, float64(o.Expect)
	}
	s.Expect = o.Expect
	b.replace(o.Model, o.Reference)
	return nil
}

// Replace continues with another model. The scores of the former one are forgotten, and the counts are kept.
func (b *Budget) Replace(model string, reference *calibrate.Sample) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.replace(model, reference)
}

func (b *Budget) replace(model string, reference *calibrate.Sample) {
	s := &b.state
	if s.Model == model && s.History.Rows > 0 {
		return
	}
	if s.Model != model {
		s.Model, s.Today = model, tail{}
	}
	s.History = tailOf(reference)
	if rows := s.Pace.expected(); rows > 0 && s.History.Rows > 0 {
		s.History.scale(rows / s.History.Rows) // it counts as one window
	}
}

// Decide counts a row and decides whether it is an alert. above reports whether its score is above the operating
// point; only then can the row be an alert.
func (b *Budget) Decide(now time.Time, score float64, above bool) Verdict {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	now = b.clock.correct(now, 2*b.state.Window.length()).In(b.zone)
	if b.opened.IsZero() {
		b.opened = now
	}
	if !b.roll(now) {
		b.clock.early(now, b.start, b.state.Window.length())
		if above {
			return Verdict{HeldBack: ByClock}
		}
		return Verdict{}
	}
	verdict := b.decide(now, score, above)
	if verdict.HeldBack != "" {
		b.state.HeldBack++
	}
	b.count(now, score, above)
	return verdict
}

// roll begins the window that contains now, unless it is the current one. It returns false if now is before the
// current window.
func (b *Budget) roll(now time.Time) bool {
	s := &b.state
	if s.Start != nil && !now.Before(b.start) && now.Before(b.end) {
		return true
	}
	start, end := s.Window.span(now)
	if s.Start != nil {
		if start.Before(b.start) {
			return false
		}
		s.close()
	}
	b.start, b.end = start, end
	s.Start = &start
	s.Rows, s.Charged, s.HeldBack = 0, 0, 0
	s.Whole = !b.opened.After(start)
	b.tokens, b.saved = 0, 0
	return true
}

// decide decides on a row of the current window.
func (b *Budget) decide(now time.Time, score float64, above bool) Verdict {
	if !above {
		return Verdict{}
	}
	s := &b.state
	left := b.limit.Alerts - s.Charged + b.tokens
	if left <= 0 {
		return Verdict{HeldBack: ByBudget}
	}
	higher, equal := s.History.rank(score)
	h, e := s.Today.rank(score)
	// Of equal scores, a part chosen at random passes. The numbers depend on the place in the stream alone.
	higher += h + float64(s.tieBreaker()*(equal+e))
	to := s.Pace.left(float64(s.Rows+1), b.fraction(now))
	if rows := s.History.Rows + s.Today.Rows; higher*to >= float64(left)*rows && higher > 0 {
		return Verdict{HeldBack: ByBudget}
	}
	if b.tokens == 0 && !b.reserve(now) {
		return Verdict{HeldBack: ByState}
	}
	b.tokens--
	return Verdict{Alert: true}
}

// fraction returns the fraction of the window's time that has passed.
func (b *Budget) fraction(now time.Time) float64 {
	return min(max(float64(now.Sub(b.start))/float64(b.end.Sub(b.start)), 0), 1)
}

// reserve takes a block of alerts from the window's budget. It returns false if that is not on the disk.
func (b *Budget) reserve(now time.Time) bool {
	s := &b.state
	block := min(max(1, b.limit.Alerts/100), b.limit.Alerts-s.Charged)
	s.Charged += block
	if !b.save(now) {
		s.Charged -= block
		return false
	}
	b.tokens = block
	return true
}

// save writes the state to the disk, but not at once after a failure.
func (b *Budget) save(now time.Time) bool {
	if wait := now.Sub(b.failed); !b.failed.IsZero() && wait >= 0 && wait < retryAfter || b.file == nil {
		return false
	}
	b.saved = b.state.Rows
	b.err = b.file.write(&b.state)
	b.failed = time.Time{}
	if b.err != nil {
		b.failed = now
	}
	return b.err == nil
}

// count adds a row to those of the window, and writes them to the disk now and then, so that a crash forgets few.
func (b *Budget) count(now time.Time, score float64, above bool) {
	s := &b.state
	s.Rows++
	s.Today.Rows++
	s.Arrived[part(b.fraction(now))]++
	if above && !math.IsNaN(score) {
		s.Today.add(score)
	}
	if s.Rows-b.saved >= max(1000, int(s.Pace.expected())/100) {
		b.save(now)
	}
}

// Status returns the state of the budget. A window is over at its end, even if no row has come since.
func (b *Budget) Status(now time.Time) Status {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	s := Status{Limit: b.limit, Window: b.start, Remaining: b.limit.Alerts, Err: cmp.Or(b.err, b.clock.err), ClockSteps: b.clock.steps}
	now = b.clock.read(now, 2*b.state.Window.length())
	if b.state.Start != nil && now.Before(b.end) {
		s.Remaining = max(0, b.limit.Alerts-b.state.Charged+b.tokens)
		s.Rows, s.HeldBack = b.state.Rows, b.state.HeldBack
	}
	return s
}

// Close writes the state, returns the alerts that were reserved and not issued, and releases the file. Decide
// holds all rows back afterwards.
func (b *Budget) Close() error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.file == nil {
		return nil
	}
	b.state.Charged -= b.tokens
	b.tokens = 0
	err := b.file.write(&b.state)
	if closed := b.file.Close(); err == nil {
		err = closed
	}
	b.file = nil
	return err
}
