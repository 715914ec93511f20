package printed

import (
	"toptau/diag"
	"toptau/result"
)

// Failure is printed by `--json` instead of a result.
type Failure struct {
	SchemaVersion result.Version `json:"schema_version"` // 2
	Error         Problem        `json:"error"`          // the error
}

// Problem is an error that the user can fix.
type Problem struct {
	// data, io, model (exit code 1), usage (2), guarantee (3), limit (1)
	Kind     diag.Kind  `json:"kind"`
	File     string     `json:"file,omitempty"`     // as the user wrote it; "-" is standard input
	Line     int        `json:"line,omitempty"`     // 1-based
	Row      int        `json:"row,omitempty"`      // 1-based, for rows without a line
	Column   string     `json:"column,omitempty"`   // the column's name, or its number
	Param    string     `json:"param,omitempty"`    // the parameter concerned, without dashes
	Found    string     `json:"found,omitempty"`    // the offending value
	Expected string     `json:"expected,omitempty"` // what would be valid
	Fixes    []diag.Fix `json:"fixes,omitempty"`    // parameters to set: {param, value, when}
	Hint     string     `json:"hint,omitempty"`     // other advice
	Message  string     `json:"message"`            // the line that is printed without --json
}

// NewFailure returns the document for an error. message is the line that is printed without --json.
func NewFailure(e *diag.Error, message string) Failure {
	e = e.Short()
	return Failure{Error: Problem{Kind: e.Kind, File: e.File, Line: e.Line, Row: e.Row, Column: e.Column, Param: e.Param, Found: e.Found,
		Expected: e.Expected, Fixes: e.Fixes, Hint: e.Hint, Message: message}}
}
