package main

import (
	"cmp"
	"fmt"
	"math"
	"sync"
	"time"
	_ "time/tzdata" // zones on systems and in images that have none; 450 kB

	"toptau/calibrate"
	"toptau/diag"
	"toptau/internal/app/alertlimit"
	"toptau/internal/app/cli"
	"toptau/internal/app/serve"
	"toptau/internal/data/table"
	"toptau/model"
	"toptau/result"
	"toptau/score"
)

// alertFlags limit the number of alerts.
type alertFlags struct {
	AlertLimit alertlimit.Limit `group:"Alert limit" name:"alert-limit" placeholder:"N/TIME" help:"At most N alerts in each hour, day or week, such as 200/day: the highest scores above the operating point, as far as that can be known when a row comes. Others are held back. Replicas get a part of N each."`
	Expect     int              `group:"Alert limit" needs:"alert-limit" placeholder:"ROWS" help:"With --alert-limit: about how many rows come in an hour, day or week. It is corrected as rows come."`
	State      string           `group:"Alert limit" needs:"alert-limit" file:"out" placeholder:"FILE" help:"With --alert-limit: keep count here, also over restarts and crashes. Each process needs a file of its own."`
}

// zoneFlag is the flag of verbs without the format of a file, which has it too.
type zoneFlag struct {
	Timezone string `group:"Alert limit" placeholder:"ZONE" help:"With --alert-limit: whose days and weeks count, such as Europe/Prague (default UTC)."`
}

// limited reports whether there is a limit.
func (f *alertFlags) limited() bool { return f.AlertLimit.Alerts > 0 }

// options checks the flags and returns the options of a budget without model and reference.
func (f *alertFlags) options(timezone string) (alertlimit.Options, error) {
	zone, err := time.LoadLocation(timezone)
	switch {
	case !f.limited():
		return alertlimit.Options{}, nil
	case f.State == "" || f.State == "-":
		return alertlimit.Options{}, &diag.Error{Kind: diag.Usage, Param: "state", Fixes: []diag.Fix{{Param: "state", Value: "alerts.state"}}}
	case err != nil:
		return alertlimit.Options{}, &diag.Error{Kind: diag.Usage, Param: "timezone", Found: diag.Quote(timezone),
			Expected: "a zone such as UTC or Europe/Prague"}
	}
	if err := checkState(f.State); err != nil {
		return alertlimit.Options{}, err
	}
	return alertlimit.Options{Limit: f.AlertLimit, Expect: f.Expect, Zone: zone}, nil
}

// open opens the budget of a stream of rows and sets the option that uses it. The caller closes it.
func (f *alertFlags) open(s *cli.Session, m *model.Model, score *score.Options) (*streamLimit, error) {
	l := &streamLimit{session: s, reported: map[alertlimit.Reason]bool{}}
	o, err := f.options(cmp.Or(score.Format.Timezone, m.Schema().Timezone))
	if err != nil || !f.limited() {
		return l, err
	}
	if o.Model, err = m.Digest(); err != nil {
		return nil, err
	}
	o.Reference = referenceOf(m, score.At)
	l.budget, err = alertlimit.Open(f.State, o)
	score.HoldBack = l.decide
	return l, err
}

// referenceOf returns scores of rows like those to come: the model's reference, otherwise the negatives that an
// operating point was calibrated with, because positives are few and soon counted. It returns nil if the model keeps
// neither.
func referenceOf(m *model.Model, at string) *calibrate.Sample {
	if r := m.Reference(); r != nil {
		return &r.Sample
	}
	point, found := m.Point(at)
	if !found || point.Guarantee == nil {
		return nil
	}
	return point.Guarantee.Calibration
}

// serve opens the budget of a server and sets the options that use it. The caller closes it.
func (f *alertFlags) serve(server *serve.Options, timezone string) (*serverLimit, error) {
	l := &serverLimit{}
	o, err := f.options(timezone)
	if err != nil || !f.limited() {
		return l, err
	}
	if n := len(server.Models) + len(server.Canaries); n > 1 {
		return l, &diag.Error{Kind: diag.Usage, Param: "alert-limit", Found: fmt.Sprintf("with %d models", n), Expected: "one model",
			Hint: "scores of different models cannot be compared; start a server for each"}
	}
	server.Limit = l
	m, err := server.Load(server.Models[0].Path) // the server loads it again, but must not start without a budget
	if err != nil {
		return l, err
	}
	if l.digest, err = m.Digest(); err != nil {
		return l, err
	}
	o.Model, o.Reference = l.digest, referenceOf(m, "")
	l.budget, err = alertlimit.Open(f.State, o)
	return l, err
}

// serverLimit decides on the rows of requests.
type serverLimit struct {
	budget *alertlimit.Budget // nil: no limit

	mutex   sync.Mutex
	digest  string    // of the model that the budget knows
	changed time.Time // when it began to
}

// follow tells the budget that the model was replaced. Requests that began before may still have the former model.
func (l *serverLimit) follow(r serve.Request, now time.Time) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if r.Digest != l.digest && r.Time.After(l.changed) {
		l.budget.Replace(r.Digest, referenceOf(r.Model, ""))
		l.digest, l.changed = r.Digest, now
	}
}

// Decide implements serve.Limit.
func (l *serverLimit) Decide(r serve.Request, rows []serve.Verdict) error {
	now := time.Now()
	l.follow(r, now)
	for i := range rows {
		if v := &rows[i]; !math.IsNaN(v.Score) { // it is for a row without a score
			v.HeldBack = string(l.budget.Decide(now, v.Score, v.Alert).HeldBack)
		}
	}
	return l.budget.Status(now).Err
}

// Status implements serve.Limit.
func (l *serverLimit) Status() serve.LimitStatus {
	s := l.budget.Status(time.Now())
	return serve.LimitStatus{Remaining: s.Remaining, ClockSteps: s.ClockSteps}
}

// Close closes the budget, if there is one.
func (l *serverLimit) Close() error {
	if l.budget == nil {
		return nil
	}
	return l.budget.Close()
}

// streamLimit decides on the rows of a stream, by their own time if they have one.
type streamLimit struct {
	session  *cli.Session
	budget   *alertlimit.Budget // nil: no limit
	last     time.Time          // of the last row with a time
	reported map[alertlimit.Reason]bool
}

// decide returns why a row is held back, "" if it is not.
func (l *streamLimit) decide(stream *score.Stream, r *result.Row) (string, error) {
	now, err := l.timeOf(stream.Time, r)
	if err != nil {
		return "", err
	}
	held := l.budget.Decide(now, r.Score, r.Decisions[0]).HeldBack
	if held != "" && held != alertlimit.ByBudget && !l.reported[held] {
		l.reported[held] = true
		l.session.PrintError("note: " + l.explain(held, now))
	}
	return string(held), nil
}

// explain describes the first row that is held back for a reason other than the limit.
func (l *streamLimit) explain(held alertlimit.Reason, now time.Time) string {
	status := l.budget.Status(now)
	if held == alertlimit.ByState {
		return fmt.Sprintf("alerts are held back because they cannot be counted: %v", status.Err)
	}
	return fmt.Sprintf("rows before %s are held back: the alert limit already counts a later %s", status.Window.Format(time.RFC3339),
		status.Limit.Window)
}

// timeOf returns the time of a row. One without a readable time has that of the row before it.
func (l *streamLimit) timeOf(column string, r *result.Row) (time.Time, error) {
	if column == "" {
		return time.Now(), nil
	}
	t, ok := table.ParseTime(r.Time)
	if ok && t.Unix() >= minTime {
		l.last = t
	}
	if l.last.IsZero() {
		return t, &diag.Error{Kind: diag.Data, Row: r.Number, Column: column, Found: diag.Quote(r.Time),
			Expected: "a date such as 2024-05-31 23:59:59, or seconds since 1970, for the alert limit"}
	}
	return l.last, nil
}

// minTime is the least number that is read as seconds since 1970, a day in 1973. Smaller numbers count something
// else.
const minTime = 1e8

// Close closes the budget, if there is one.
func (l *streamLimit) Close() error {
	if l.budget == nil {
		return nil
	}
	return l.budget.Close()
}
