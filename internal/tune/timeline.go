package tune

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"toptau/diag"
	"toptau/internal/table"
)

// Timeline returns the rank of each row by the time column of a table, 0 for the earliest; equal times have
// equal ranks. A column has either numbers of any unit or dates such as 2024-05-31, 2024-05-31 23:59:59 or
// 2024-05-31T23:59:59Z (without a zone: UTC). Anything else is an error with its line. Without a time column
// Timeline returns nil.
func Timeline(t *table.Table) ([]int, error) {
	if t.Time == nil {
		return nil, nil
	}
	type moment struct {
		row     int
		seconds float64 // the number, or the whole seconds of a date
		nanos   int     // the fraction of a date's second
	}
	moments := make([]moment, len(t.Time.Values))
	numbers := false
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
				return nil, timeError(t, row, numbers)
			}
			m.seconds, m.nanos = float64(seconds), nanos
		}
		moments[row] = m
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
