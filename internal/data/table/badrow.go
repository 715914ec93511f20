package table

// BadRowPolicy is what a Reader does with a row that cannot be read: text in a numeric column, a wrong number
// of fields, bytes that are not text, a quote that does not end.
type BadRowPolicy uint8

const (
	StopAtBadRow BadRowPolicy = iota // Next returns the error
	KeepBadRow                       // the row goes to Table.Bad, and reading goes on with the next line
)

// BadRow is a row that could not be read.
type BadRow struct {
	Before int      // it comes before this row of the table
	Line   int      // on which it begins
	Err    error    // a *diag.Error
	Text   string   // the text of the row
	ID     []string // of the columns Options.ID, if the row has all its fields; otherwise empty
	Raw    []string // with Options.Raw: all its fields, or nil
}

// maxBadLines and maxBadBytes bound a quoted field if bad rows are kept: a quote that does not end must not
// take the rest of the file with it. Chosen by hand.
const (
	maxBadLines = 100
	maxBadBytes = 1 << 20
)
