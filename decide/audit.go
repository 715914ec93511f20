package decide

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"toptau/diag"
	"toptau/internal/core/binomial"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/internal/training/rowset"
	"toptau/method"
	"toptau/metric"
	"toptau/result"
)

// Calibration rows that count as negative although they are positives nobody found score high, so they push the threshold up and hide
// alerts. Threshold lists the best-scoring negatives for review, and leaves out those that a review found to be positive (Label-Trim:
// Bashari, Sesia and Romano, ICML 2025, arXiv 2502.04807).
//
// Let j be the number of scores that may reach the threshold, and n that of the negatives after the review. If the threshold is among the
// reviewed rows, the j best of them are the j best of the true negatives. Of these there are n - u if u rows that were not reviewed are
// positive, so the budget is exceeded with probability P(Bin(n - u, alpha) <= j - 1) and not P(Bin(n, alpha) <= j - 1).

// checkAudit returns an error if a review does not fit the goal or what is counted.
func (o *Options) checkAudit(g metric.Goal) error {
	param := "audit"
	switch {
	case o.Audit == 0 && o.Reviewed == nil:
		return nil
	case o.Audit < 0:
		return &diag.Error{Kind: diag.Usage, Param: param, Found: fmt.Sprint(o.Audit), Expected: "a number of rows above 0"}
	case o.Reviewed != nil:
		param = "audited"
	}
	if g.Population() != method.Negatives {
		return &diag.Error{Kind: diag.Usage, Param: param, Found: "with a goal that does not count negatives alone",
			Expected: "a budget of false alarms",
			Hint:     "of other goals, a review can only correct the labels in the data"}
	}
	if o.Entity != "" || o.Segments {
		return &diag.Error{Kind: diag.Usage, Param: param, Found: "together with entities or segments", Expected: "a threshold for rows"}
	}
	return nil
}

// auditRows returns the negatives with the highest scores, the best first.
func auditRows(d *rowset.Set, scores []float64, n int) []result.AuditRow {
	t := d.Table
	var rows []result.AuditRow
	for row, class := range t.Label {
		if class == table.Negative {
			rows = append(rows, result.AuditRow{Row: row + 1, Score: scores[row]})
		}
	}
	slices.SortFunc(rows, func(a, b result.AuditRow) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Row, b.Row))
	})
	rows = rows[:min(n, len(rows))]
	for i := range rows {
		for _, c := range t.ID {
			rows[i].ID = append(rows[i].ID, c.Values[rows[i].Row-1])
		}
		rows[i].Row = d.RowNumber(rows[i].Row - 1)
	}
	return rows
}

// trimmed returns the data without the labels of negatives that a review found to be positive, and of their copies.
func trimmed(d *rowset.Set, audited map[int]bool) (*rowset.Set, error) {
	if audited == nil {
		return d, nil
	}
	units, err := d.RowUnits()
	if err != nil {
		return nil, err
	}
	unitOf := func(row int) int {
		if units.Rows() {
			return row
		}
		return units.Of[row]
	}
	t := *d.Table
	positive := map[int]bool{}
	t.Label = slices.Clone(t.Label)
	for _, row := range slices.Sorted(maps.Keys(audited)) {
		if row < 1 || row > len(t.Label) || t.Label[row-1] != table.Negative {
			return nil, &diag.Error{Kind: diag.Data, Param: "audited", File: t.File, Found: fmt.Sprintf("row %d", row),
				Expected: "a negative of these rows",
				Hint:     "was the review written for other data?"}
		}
		if audited[row] {
			positive[unitOf(row-1)] = true
		}
	}
	view := d.OnTable(&t)
	for row := range t.Label {
		if positive[unitOf(row)] {
			t.Label[row] = table.Unknown
			view.Info.Negatives--
		}
	}
	return view, nil
}

// addAudit adds what the review did, and what it leaves open.
func (c *calibrating) addAudit(out *Calibrated) {
	if c.options.Reviewed == nil {
		return
	}
	a := &result.Audit{Reviewed: len(c.options.Reviewed)}
	for _, positive := range c.options.Reviewed {
		if positive {
			a.Removed++
		}
	}
	r := &out.Result
	r.Audit = a
	kept := a.Reviewed - a.Removed
	a.Unreviewed = r.Rows - kept
	out.Point.Source += fmt.Sprintf("; %s of %s reviewed negatives were positive and left out", text.Count(a.Removed), text.Count(a.Reviewed))
	if g := out.Point.Guarantee; g != nil {
		above := r.Rows - g.Order
		if g.Kind == metric.GoalMaxFPR {
			hidden := int(math.Ceil(float64(a.Unreviewed) * float64(a.Removed) / float64(max(1, a.Reviewed))))
			a.MaxTail = binomial.AtMost(r.Rows-hidden, above, g.Rate.Float64())
		}
		a.Reaches = above < kept
		line := fmt.Sprintf("the guarantee is not exact any more: it assumes that none of the %s negatives that were not reviewed is positive",
			text.Count(a.Unreviewed))
		switch {
		case !a.Reaches:
			line += fmt.Sprintf("; the threshold is below the reviewed rows, so review at least %s", text.Count(above+1+a.Removed))
		case a.MaxTail > 0:
			line += fmt.Sprintf("; if positives are as frequent among them as among the reviewed ones, it fails with a probability of at most "+
				"%s instead of %s", text.Percent(a.MaxTail), text.Percent(g.Bound))
		}
		r.Warnings = append(r.Warnings, diag.Warning{Code: "audited", Text: line})
	}
}
