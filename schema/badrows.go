package schema

// BadRows is what becomes of a row that has no score: text in a numeric column, a missing value that the model does not
// impute, a wrong number of fields, a quote that does not end.
type BadRows string

const (
	StopAtBadRows BadRows = "stop"  // the first one ends the stream with its error; the default
	SkipBadRows   BadRows = "skip"  // they are left out
	EmptyBadRows  BadRows = "empty" // they are yielded without a score, see result.Row.Err
)
