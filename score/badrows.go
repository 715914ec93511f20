package score

import (
	"fmt"

	"toptau/diag"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/result"
	"toptau/schema"
)

// imputeMap lets the stream impute values that are missing where the model refuses them.
func (s *Stream) imputeMap() error {
	if s.options.Impute == "" {
		return nil
	}
	var err error
	s.scorer.Map, err = s.scorer.Map.Imputing(s.options.Impute)
	s.imputes = err == nil && feature.MapOf(s.model.Features()).Impute == schema.ImputeError
	return err
}

// fillImputed lists the columns of the row that was scored last whose values the stream imputed.
func (s *Stream) fillImputed() {
	s.row.Imputed = s.row.Imputed[:0]
	if !s.imputes {
		return
	}
	for _, k := range s.scorer.Row.Absent() {
		s.row.Imputed = append(s.row.Imputed, s.scorer.Map.Inputs[k].Name)
	}
	if len(s.row.Imputed) > 0 {
		s.totals.Imputed++
	}
}

// passBadRow handles a row that has no score. more is false if the caller left the loop.
func (s *Stream) passBadRow(file string, bad table.BadRow, yield func(*result.Row, error) bool) (more bool, err error) {
	err = diag.At(bad.Err, diag.Error{File: file})
	s.totals.Rows++
	s.totals.Failed++
	if s.firstBad == nil {
		s.firstBad = err
	}
	if s.options.OnReject != nil {
		if err := s.options.OnReject(result.Rejected{Row: s.totals.Rows, Line: bad.Line, Err: err, Text: bad.Text}); err != nil {
			return true, err
		}
	}
	if s.options.OnError != schema.EmptyBadRows || s.options.Best > 0 {
		return true, nil
	}
	r := result.Row{Number: s.totals.Rows, Err: err, ID: bad.ID, Input: make([]string, len(s.kept)), Decisions: make([]bool, len(s.points))}
	if len(r.ID) < len(s.ID) {
		r.ID = make([]string, len(s.ID))
	}
	for k, i := range s.kept {
		if i < len(bad.Raw) {
			r.Input[k] = bad.Raw[i]
		}
	}
	return yield(&r, nil), nil
}

// unscored describes a row of the table that was read but has no score.
func unscored(t *table.Table, row int, err error) table.BadRow {
	bad := table.BadRow{Line: t.LineOf(row), Err: err}
	if t.Text != nil {
		bad.Text = t.Text[row]
	}
	for _, c := range t.ID {
		bad.ID = append(bad.ID, c.Values[row])
	}
	if t.Raw != nil {
		bad.Raw = t.Raw[row]
	}
	return bad
}

// rejectedWarning returns the warning about n rows without a score.
func rejectedWarning(n int, first error) diag.Warning {
	first = diag.At(first, diag.Error{})
	if e := diag.Of(first); e != nil {
		e.Fixes, e.Hint = nil, ""
	}
	return diag.Warning{Code: "rejected-rows", Text: fmt.Sprintf("%s without a score, the first: %v", text.Plural(n, "row"), first)}
}

// badRowWarnings counts the rows without a score, with imputed values, and held back by a limit.
func (s *Stream) badRowWarnings() []diag.Warning {
	var list []diag.Warning
	if n := s.totals.Failed; n > 0 {
		list = append(list, rejectedWarning(n, s.firstBad))
	}
	if n := s.totals.Imputed; n > 0 {
		list = append(list, diag.Warning{Code: "imputed-rows",
			Text: fmt.Sprintf("%s with imputed values: no guarantee covers their decisions", text.Plural(n, "row"))})
	}
	if n := s.totals.HeldBack; n > 0 {
		list = append(list, diag.Warning{Code: "held-back",
			Text: fmt.Sprintf("%s above the threshold held back by the alert limit", text.Plural(n, "row"))})
	}
	return list
}
