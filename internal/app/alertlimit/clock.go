package alertlimit

import (
	"fmt"
	"time"

	"toptau/diag"
)

// clock compares the readings of a machine's clock with monotonic time. A reading that is ahead of it by more than
// two windows is replaced by the first reading plus the monotonic time since. Times of rows have no monotonic part, so
// they are never corrected.
type clock struct {
	passed func(first, now time.Time) time.Duration // nil: the difference of the monotonic parts
	first  time.Time                                // the first reading

	steps int   // readings that were not followed
	err   error // why the last reading was not followed; nil: it was
}

// read returns the time of a reading.
func (c *clock) read(now time.Time, most time.Duration) time.Time {
	if c.first.IsZero() {
		return now
	}
	passed := now.Sub(c.first)
	if c.passed != nil {
		passed = c.passed(c.first, now)
	}
	if expected := c.first.Round(0).Add(passed); now.Round(0).Sub(expected) > most { // Round(0) removes the monotonic part
		return expected
	}
	return now
}

// correct is read for a row: a reading that is not followed is counted.
func (c *clock) correct(now time.Time, most time.Duration) time.Time {
	c.err = nil
	if c.first.IsZero() {
		c.first = now
	}
	corrected := c.read(now, most)
	if !corrected.Equal(now) {
		c.refuse(now, fmt.Sprintf("%s ahead of the time that has passed", now.Round(0).Sub(corrected).Round(time.Minute)), corrected,
			"the limit counts on from there; start the program again if the clock is right")
	}
	return corrected
}

// early counts a reading that is before the window that is counted by more than its length.
func (c *clock) early(now, start time.Time, window time.Duration) {
	if start.Sub(now) > window {
		c.refuse(now, "before the window that is counted", start, "if it is right now it was wrong before: remove the state file and start again")
	}
}

func (c *clock) refuse(now time.Time, found string, expected time.Time, hint string) {
	c.steps++
	c.err = &diag.Error{Kind: diag.IO, Found: "the clock of this machine at " + now.Format(time.RFC3339) + ", " + found,
		Expected: expected.Format(time.RFC3339), Hint: hint}
}
