package monitor

import (
	"math"
	"slices"

	"toptau/internal/core/evidence"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
)

// valueCounts counts rows in events by their values, for people. An event of the evidence is fixed by ranks: a row whose value is that of a
// kept order statistic is in it or not by its tie-breaker, because only then does the evidence hold for every distribution. For people
// "above an order statistic" becomes "its value or more", or "more than its value", whichever has the number of reference rows nearer
// to that by rank (evidence.LevelCounts), and a cell becomes its categories.
type valueCounts struct {
	reference []int  // by event: reference rows in it by value
	tied      []int  // by event: rows that arrived and are in it by value, less those by rank
	more      []bool // by event of numbers: more than the value
	at        []int  // by order statistic or gap: its event, -1 if there is none
	cells     []int  // categorical, by cell: the event that it is in, -1 if there is none
}

// newLevelCounts returns the counts of events above order statistics before the first row. counts is that of the reference, and
// ranked its rows from the j-th order statistic on, by rank.
func newLevelCounts(keys []float64, events []evidence.Event, counts []int, ranked func(j int) int) valueCounts {
	v := valueCounts{tied: make([]int, len(events)), at: slices.Repeat([]int{-1}, len(keys))}
	for e, event := range events {
		j := event.First - 1
		n := ranked(j)
		more := counts != nil && counts[j] < n && !math.IsInf(keys[j], 1)
		if counts != nil {
			n = counts[j]
		}
		v.at[j], v.more, v.reference = e, append(v.more, more), append(v.reference, n)
	}
	return v
}

// newCellCounts does so for categories. The last event has all cells after the order statistics.
func newCellCounts(c *model.ProfiledColumn, events []evidence.Event) valueCounts {
	v := valueCounts{tied: make([]int, len(events)), at: slices.Repeat([]int{-1}, len(c.Rank)+1), reference: make([]int, len(events))}
	for e, event := range events {
		v.at[event.First] = e
	}
	for cell, n := range c.Counts {
		e := v.at[min(cell, len(c.Rank))]
		if v.cells = append(v.cells, e); e >= 0 {
			v.reference[e] += n
		}
	}
	return v
}

// countLevel corrects for a row of a gap whose key is that of the order statistic low, the first with this key.
func (v *valueCounts) countLevel(keys []uint64, low, gap int) {
	for j := low; j < len(keys) && keys[j] == keys[low]; j++ {
		switch e := v.at[j]; {
		case e < 0:
		case v.more[e] && gap > j:
			v.tied[e]--
		case !v.more[e] && gap <= j:
			v.tied[e]++
		}
	}
}

// countCell corrects for a row of a gap and a cell.
func (v *valueCounts) countCell(cell, gap int) {
	ranked, valued := v.at[gap], v.cells[cell]
	if ranked == valued {
		return
	}
	if ranked >= 0 {
		v.tied[ranked]--
	}
	if valued >= 0 {
		v.tied[valued]++
	}
}

// rates returns the fractions of rows in an event by their values: up to the start of a change, with rows of the reference, and since then.
func (v *valueCounts) rates(e int, u *evidence.UrnEvidence, rows int) (before, since float64) {
	tied, in := 0, 0
	if u.Kept != nil {
		tied = u.Kept[e]
	}
	if rows > 0 {
		in = v.reference[e]
	}
	old, new := tied, v.tied[e]-tied
	if e < len(u.Ins) { // the others are counted by value alone
		old, new = old+u.Before[e], new+u.Ins[e]
	}
	return fraction(in+old, rows+u.Since), fraction(new, u.Rows)
}

// missing returns the number of missing values that arrived.
func (c *columnWatch) missing() int { return c.values.tied[len(c.events)] }

// rates returns the fractions of rows in an event of a column, or of missing values for the event after the last.
func (c *columnWatch) rates(e int) (before, since float64) { return c.values.rates(e, &c.now, c.rows) }

// describe sets what changed, and from which to which fraction of rows: the event with the most capital, or missing values if they explain it.
func (c *columnWatch) describe(x *result.MonitorColumn) {
	event, n := c.events[c.now.Event], len(c.profile.Rank)
	x.Expected, x.Seen = c.rates(c.now.Event)
	if c.input.Kind == schema.Categorical {
		cells := c.profile.Cells
		if event.First == n && len(cells) > n+1 {
			x.Kind = result.NewValues
		} else if x.Kind = kindOfCell(cells[event.First]); x.Kind == result.InCategory {
			x.Category = c.input.Categories[cells[event.First]]
		}
		return
	}
	j, expected, seen := event.First-1, 0., 0.
	if j < len(c.profile.Values) {
		expected, seen = c.rates(len(c.events))
		if moved := math.Abs(seen - expected); moved == 0 || moved < math.Abs(x.Seen-x.Expected) {
			x.AtLeast, x.Kind = &c.profile.Values[j], kindOfLevel(c.values.more[c.now.Event], len(c.profile.Values) < n || c.missing() > 0)
			return
		}
		x.Expected, x.Seen = expected, seen
	}
	x.Kind = result.MissingValue
}

func kindOfLevel(more, missing bool) result.ShiftKind {
	switch {
	case more && missing:
		return result.MoreThanMissing
	case more:
		return result.MoreThanValue
	case missing:
		return result.AtLeastMissing
	}
	return result.AtLeastValue
}

func kindOfCell(cell int) result.ShiftKind {
	switch cell {
	case model.MissingCell:
		return result.MissingValue
	case model.OtherCell:
		return result.OtherValues
	}
	return result.InCategory
}
