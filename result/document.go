package result

import (
	"encoding/json"
	"fmt"
	"time"

	"toptau/diag"
)

// version is the version of all documents. It grows if a field changes its meaning or is removed.
const version = 2

// Version is the version of a document. It is an empty struct that marshals as a constant, so no document can
// lack it.
type Version struct{}

// MarshalJSON returns the version of all documents.
func (Version) MarshalJSON() ([]byte, error) { return json.Marshal(version) }

// UnmarshalJSON returns an error for any other version.
func (*Version) UnmarshalJSON(data []byte) error {
	if string(data) != fmt.Sprint(version) {
		return fmt.Errorf("schema_version %s, expected %d", data, version)
	}
	return nil
}

// Document holds the fields that every result begins with.
type Document struct {
	SchemaVersion Version  `json:"schema_version"` // 2
	Warnings      Warnings `json:"warnings"`       // {code, text, fixes}; codes are stable
	// toptau-sql: what the database was asked
	Database *Database `json:"database,omitempty"`
}

// Database counts what a database was asked for a result, and what left it.
type Database struct {
	Engine     string `json:"engine"`       // kind of database: postgres, clickhouse, trino, spark or duckdb
	Table      string `json:"table"`        // name of the table, as it was given
	Servers    int    `json:"servers"`      // number of servers, each with a part of the rows
	Statements int    `json:"statements"`   // number of statements
	Scans      int    `json:"scans"`        // those of them that read all rows of a server
	Lookups    int    `json:"lookups"`      // those that fetched single rows by their keys
	Rows       int    `json:"rows_fetched"` // number of single rows that left the database
	// number of scores that left it, each with its class and without its row; absent: none
	Scores   int   `json:"scores_fetched,omitempty"`
	Received int64 `json:"bytes_received"` // bytes that came from the database, with those of the protocol
	Sent     int64 `json:"bytes_sent"`     // bytes that went to it
	// bytes that DuckDB, which has no server, read from its files; 0 where the system does not count them
	Read int64 `json:"bytes_read,omitempty"`
	// time during which at least one statement was not answered
	SecondsWaiting float64 `json:"seconds_database"`
	SecondsOwn     float64 `json:"seconds_own"` // the rest of the time
	// how the verb knows that the key differs in every row: index, counted, or unchecked if the database refused to count; empty: the
	// verb needs no such key
	KeyCheck string `json:"key_check,omitempty"`
}

// Warnings are warnings in the order in which they occurred. None are an empty list in JSON.
type Warnings []diag.Warning

// MarshalJSON returns an empty list for nil.
func (w Warnings) MarshalJSON() ([]byte, error) {
	if w == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]diag.Warning(w))
}

// Counts are the numbers of rows in a part of the data.
type Counts struct {
	Rows      int `json:"n"`     // number of rows
	Positives int `json:"n_pos"` // number of positive rows
}

// Estimate is a mean over the folds of a cross-validation.
type Estimate struct {
	Mean          float64   `json:"mean"`            // mean of the folds
	StandardError float64   `json:"standard_error"`  // standard error of the mean
	Folds         []float64 `json:"folds,omitempty"` // the value in each fold
}

// Bounds enclose the minimum of an objective F.
type Bounds struct {
	Objective     float64  `json:"objective"`         // F(w)
	AtZero        float64  `json:"objective_at_zero"` // F(0)
	Lower         *float64 `json:"lower_bound"`       // D, at most the minimum of F; null: not known
	RelativeGap   *float64 `json:"relative_gap"`      // (F(w) - D) / max(F(w), 0.01)
	GapOfDecrease *float64 `json:"gap_of_decrease"`   // (F(w) - D) / (F(0) - D); null: w = 0 is optimal
}

// Stop is the reason why a computation ended early.
type Stop string

const (
	NotStopped Stop = ""          // it did not end early
	Cancelled  Stop = "cancelled" // the context was cancelled; the result is the best so far
	TimeUp     Stop = "time-up"   // MaxTime had passed; the result is the best so far
)

// Progress describes how much of a long computation is done. Functions report it from one goroutine, at most
// ten times a second.
type Progress struct {
	Stage    string        // the current work, in words
	Done, Of int           // units of work; Of is 0 if not known
	Fraction float64       // fraction of all work, 0 to 1; negative: not known
	Left     time.Duration // estimated time left; 0: not known
	Usable   bool          // cancelling from now on still gives a result
}
