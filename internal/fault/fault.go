// Package fault is the one form in which every room reports what a user can mend: where, what was found, what was
// expected and what to do. Its text is what people read, its fields are what --json prints, its Kind decides the
// exit code.
package fault

import (
	"errors"
	"fmt"
	"strings"
)

// Kind says whose mistake it is, and with it the exit code of the command line.
type Kind string

const (
	Data      Kind = "data"      // the content of a file: exit code 1
	IO        Kind = "io"        // a file that cannot be read or written: exit code 1
	Model     Kind = "model"     // a model file that is damaged, edited, newer, or does not fit the data: exit code 1
	Usage     Kind = "usage"     // flags, hyperparameters, or a goal impossible in itself: exit code 2
	Guarantee Kind = "guarantee" // done, but the guarantee asked for cannot be given: exit code 3
)

// Error is a mistake that a user can mend. Zero fields are unknown and are left out of the text.
type Error struct {
	Kind     Kind
	File     string // as the user wrote it; "-" is standard input
	Line     int    // 1-based
	Column   string // the column's name, or its 1-based number in decimal
	Found    string // what stands there, ready to print: quote text with Quote
	Expected string // what should stand there
	Hint     string // what to do; printed in parentheses
	Err      error  // the cause, when there is one
}

// Error returns one line of printable text: file:line: column "name": found FOUND, expected EXPECTED (HINT).
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d", e.Line)
		}
		b.WriteString(": ")
	}
	if e.Column != "" {
		fmt.Fprintf(&b, "column %q: ", e.Column)
	}
	switch {
	case e.Found != "" && e.Expected != "":
		fmt.Fprintf(&b, "%s, expected %s", e.Found, e.Expected)
	case e.Found != "":
		b.WriteString(e.Found)
	case e.Expected != "":
		fmt.Fprintf(&b, "expected %s", e.Expected)
	case e.Err != nil:
		b.WriteString(e.Err.Error())
	}
	if e.Err != nil && (e.Found != "" || e.Expected != "") {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	if e.Hint != "" {
		fmt.Fprintf(&b, " (%s)", e.Hint)
	}
	return Printable(b.String())
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Of returns the Error in err's chain, or nil.
func Of(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// Quote makes text from a file printable: quoted, escaped, and cut at 60 bytes so that a binary file cannot flood a terminal.
func Quote(text string) string {
	const limit = 60
	if len(text) > limit {
		return fmt.Sprintf("%q...", text[:limit])
	}
	return fmt.Sprintf("%q", text)
}
