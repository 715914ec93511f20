package schema

import "toptau/diag"

// BadRows is what becomes of a row that has no score: text in a numeric column, a missing value that the model does not
// impute, a wrong number of fields, a quote that does not end.
type BadRows string

const (
	StopAtBadRows BadRows = "stop"  // the first one ends the stream with its error; the default
	SkipBadRows   BadRows = "skip"  // they are left out
	EmptyBadRows  BadRows = "empty" // they are yielded without a score, see result.Row.Err
)

// Check returns an error for an unknown value. "" is the default.
func (b BadRows) Check() error {
	switch b {
	case "", StopAtBadRows, SkipBadRows, EmptyBadRows:
		return nil
	}
	return &diag.Error{Kind: diag.Usage, Param: "on-error", Found: diag.Quote(string(b)), Expected: "stop, skip or empty"}
}

// Stop reports whether a bad row ends the stream.
func (b BadRows) Stop() bool { return b == "" || b == StopAtBadRows }
