// Package scan reads labelled rows that stay in a database. The database adds, counts and selects; single rows that it selects come
// over the connection and are encoded here, so that whatever is decided from them has the bits of a file's rows.
package scan

import (
	"context"
	"time"

	"toptau/schema"
)

// Table names the rows and the roles of their columns.
type Table struct {
	Name     []string       // parts of the table's name: schema, table
	Key      string         // a column with a different value in every row: whole numbers or texts
	Label    string         // its column
	Positive []string       // positive labels, or '!' before each of the others; none: 1 or true
	Trained  *schema.Schema // of the model that reads the rows; nil: none
	Again    bool           // Positive was given for these rows, and is not that of the model
	Weight   string         // a column of row weights; "": all 1
	Group    string         // rows with equal values are in one part; "": the key
	Drop     []string       // columns that no model reads
	// Columns are the columns that a model reads; nil: all without another role. Other columns may be missing, and may have
	// types that no model reads.
	Columns []string
	// Categorical are columns of numbers whose values are categories.
	Categorical []string
	Where       string // the user's own condition, in the engine's SQL; "": all rows
	Copy        Copy   // whether all rows are read into memory
	// Away is called before each pause in which a server that was lost may come back; nil: there is no notice.
	Away func(pause time.Duration)
}

// Copy is whether all rows of a table are read into memory where verbs need single rows.
type Copy int

const (
	CopySmall Copy = iota // of a table that is not larger than the sample of a larger one
	CopyAll               // of every table
	CopyNone              // of none
)

// Conn runs statements in one place. The rows of several places together are the table.
type Conn interface {
	// Query runs a statement that only reads. It scans each row of the answer to dest, as database/sql does, and calls each.
	Query(ctx context.Context, statement string, dest []any, each func() error) error
	// Steady reports whether all statements see the same rows, whatever is written meanwhile.
	Steady() bool
	// Lost reports whether an error of Query means that the connection or the server was lost.
	Lost(err error) bool
	// Reconnect connects again. Steady connections then see the rows of another moment.
	Reconnect(ctx context.Context) error
	// Compile lets the database compile the expressions of the next statements, or not. It is a matter of speed alone, and
	// nothing happens where there is no such choice.
	Compile(ctx context.Context, on bool) error
}

// Traffic counts what was asked.
type Traffic struct {
	Statements int           `json:"statements"` // all of them
	Retries    int           `json:"retries"`    // after a lost connection
	Scans      int           `json:"scans"`      // those that read all rows of the table
	Lookups    int           `json:"lookups"`    // those that fetch rows by their keys
	Rows       int           `json:"rows"`       // single rows fetched
	Scores     int           `json:"scores"`     // scores fetched, with their classes
	Waiting    time.Duration `json:"waiting"`    // for answers, rows included
	Sent       int64         `json:"sent"`       // bytes of statements
}
