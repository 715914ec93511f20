package alertlimit

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"toptau/diag"
)

// Window is the time in which a limit counts.
type Window string

const (
	Hour Window = "hour"
	Day  Window = "day"
	Week Window = "week" // from Monday
)

// Limit is a number of alerts in each window, written "200/day".
type Limit struct {
	Alerts int
	Window Window
}

// String returns the limit as users write it, "" for the zero Limit.
func (l Limit) String() string {
	if l == (Limit{}) {
		return ""
	}
	return fmt.Sprintf("%d/%s", l.Alerts, l.Window)
}

// UnmarshalText reads a limit such as 200/day, 20/hour or 1000/week.
func (l *Limit) UnmarshalText(text []byte) error {
	number, window, _ := strings.Cut(string(text), "/")
	n, err := strconv.Atoi(strings.ReplaceAll(number, ",", ""))
	parsed := Limit{n, Window(window)}
	if err != nil || parsed.check() != nil {
		return &diag.Error{Kind: diag.Usage, Param: "alert-limit", Found: diag.Quote(string(text)),
			Expected: "a number of alerts per hour, day or week, such as 200/day"}
	}
	*l = parsed
	return nil
}

// MarshalText returns the text of String.
func (l Limit) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

func (l Limit) check() error {
	if l.Alerts >= 1 && (l.Window == Hour || l.Window == Day || l.Window == Week) {
		return nil
	}
	return &diag.Error{Kind: diag.Usage, Param: "alert-limit", Found: diag.Quote(fmt.Sprintf("%d/%s", l.Alerts, l.Window)),
		Expected: "at least one alert per hour, day or week"}
}

// length returns about the length of a window.
func (w Window) length() time.Duration {
	return map[Window]time.Duration{Hour: time.Hour, Day: 24 * time.Hour, Week: 7 * 24 * time.Hour}[w]
}

// span returns the start and the end of the window that contains a time. Hours are those of UTC. Days and weeks are
// those of the time's zone; where the clocks change they are longer or shorter than others. The start identifies the
// window, and windows follow one another without gaps.
func (w Window) span(t time.Time) (start, end time.Time) {
	if w == Hour {
		start = t.Truncate(time.Hour)
		return start, start.Add(time.Hour)
	}
	year, month, day := t.Date()
	days := 1
	if w == Week {
		days = 7
		day -= (int(t.Weekday()) + 6) % 7
	}
	midnight := func(day int) time.Time { return time.Date(year, month, day, 0, 0, 0, 0, t.Location()) }
	// A midnight may come twice or not at all. Then it is the instant that the library chooses.
	for midnight(day).After(t) {
		day -= days
	}
	for !midnight(day + days).After(t) {
		day += days
	}
	return midnight(day), midnight(day + days)
}
