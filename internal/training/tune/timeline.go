package tune

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"toptau/diag"
	"toptau/internal/data/table"
)

// Timeline returns the rank of each row by the time column of a table, 0 for the earliest; equal times have
// equal ranks. A column has either numbers of any unit or dates such as 2024-05-31, 2024-05-31 23:59:59 or
// 2024-05-31T23:59:59Z (without a zone: UTC). Anything else is an error with its line. Without a time column
// Timeline returns nil.
func Timeline(t *table.Table) ([]int, error) {
	moments, _, err := momentsOf(t)
	if moments == nil {
		return nil, err
	}
	slices.SortStableFunc(moments, func(a, b moment) int {
		return cmp.Or(cmp.Compare(a.seconds, b.seconds), cmp.Compare(a.nanos, b.nanos))
	})
	ranks := make([]int, len(moments))
	rank := 0
	for i, m := range moments {
		if i > 0 && (m.seconds != moments[i-1].seconds || m.nanos != moments[i-1].nanos) {
			rank++
		}
		ranks[m.row] = rank
	}
	return ranks, nil
}

// moment is the time of a row.
type moment struct {
	row     int
	seconds float64 // the number, or the whole seconds of a date
	nanos   int     // the fraction of a date's second
}

// momentsOf returns the times of the rows in their order, and whether they are numbers; nil without a time
// column.
func momentsOf(t *table.Table) (moments []moment, numbers bool, err error) {
	if t.Time == nil {
		return nil, false, nil
	}
	moments = make([]moment, len(t.Time.Values))
	for row, text := range t.Time.Values {
		number, err := strconv.ParseFloat(text, 64)
		isNumber := err == nil && !math.IsNaN(number) && !math.IsInf(number, 0)
		if row == 0 {
			numbers = isNumber
		}
		m := moment{row: row, seconds: number}
		if !isNumber || !numbers {
			seconds, nanos, ok := table.ParseDate(text)
			if numbers || !ok {
				return nil, false, timeError(t, row, numbers)
			}
			m.seconds, m.nanos = float64(seconds), nanos
		}
		moments[row] = m
	}
	return moments, numbers, nil
}

// minEpoch is the least number of a time column that is read as seconds since 1970 where a unit matters: a
// day in 1973. Smaller numbers count something else.
const minEpoch = 1e8

// secondsOf returns the times of the rows in seconds since 1970.
func secondsOf(t *table.Table) ([]float64, error) {
	moments, numbers, err := momentsOf(t)
	if err != nil {
		return nil, err
	}
	seconds := make([]float64, len(moments))
	for row, m := range moments {
		if seconds[row] = m.seconds + float64(m.nanos)/1e9; !numbers {
			continue
		}
		if m.seconds < minEpoch {
			e := diag.Of(timeError(t, row, false))
			e.Expected = "a date, or seconds since 1970, for the label delay"
			return nil, e
		}
		seconds[row] = table.EpochSeconds(m.seconds)
	}
	return seconds, nil
}

func timeError(t *table.Table, row int, numbers bool) error {
	e := &diag.Error{Kind: diag.Data, File: t.FileOf(row), Column: t.Time.Name, Found: diag.Quote(t.Time.Values[row]),
		Expected: "a number, or a date such as 2024-05-31 23:59:59"}
	if numbers {
		e.Expected = fmt.Sprintf("a number, as %s in the first row", diag.Quote(t.Time.Values[0]))
	}
	if row < t.Rows() {
		e.Line = t.LineOf(row)
	}
	return e
}
