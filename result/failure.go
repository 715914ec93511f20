package result

import "toptau/diag"

// Failure is what `--json` prints instead of a result.
type Failure struct {
	SchemaVersion Version `json:"schema_version"` // 2
	Error         Problem `json:"error"`          // what went wrong
}

// Problem is an error that the user can fix.
type Problem struct {
	Kind     diag.Kind  `json:"kind"`               // data, io, model (exit code 1), usage (2), guarantee (3), limit (1)
	File     string     `json:"file,omitempty"`     // as the user wrote it; "-" is standard input
	Line     int        `json:"line,omitempty"`     // from 1
	Row      int        `json:"row,omitempty"`      // from 1, for rows without a line
	Column   string     `json:"column,omitempty"`   // the column's name, or its number
	Param    string     `json:"param,omitempty"`    // the parameter concerned, without dashes
	Found    string     `json:"found,omitempty"`    // the offending value
	Expected string     `json:"expected,omitempty"` // what would be valid
	Fixes    []diag.Fix `json:"fixes,omitempty"`    // parameters to set: {param, value}
	Hint     string     `json:"hint,omitempty"`     // other advice
	Message  string     `json:"message"`            // all of it in one line, as printed without --json
}

// NewFailure returns the object for an error whose line is message.
func NewFailure(e *diag.Error, message string) Failure {
	return Failure{Error: Problem{Kind: e.Kind, File: e.File, Line: e.Line, Row: e.Row, Column: e.Column, Param: e.Param, Found: e.Found,
		Expected: e.Expected, Fixes: e.Fixes, Hint: e.Hint, Message: message}}
}
