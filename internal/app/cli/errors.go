package cli

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"toptau/diag"
	"toptau/internal/app/printed"
)

// Exit is an error that a verb has already reported in its output: it sets the exit code, and nothing else is
// printed.
type Exit struct {
	Code   int
	Reason string
}

// Error implements error.
func (e *Exit) Error() string { return e.Reason }

// reportError prints an error as text or JSON and returns the exit code.
func (s *Session) reportError(err error) int {
	var exit *Exit
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.Code
	case errors.Is(err, syscall.EPIPE):
		return 0 // the reader needs no more
	case isInterrupted(err):
		s.reportInterruption(err)
		return 130
	}
	found := diag.Of(err)
	if found == nil {
		found = &diag.Error{Kind: diag.IO, Err: err}
	}
	if s.JSON {
		s.emitFailure(found, err)
	} else {
		fmt.Fprintf(s.Stderr, "%s: %s\n", s.app.Name, Printable(errorText(err)))
	}
	switch found.Kind {
	case diag.Usage:
		return 2
	case diag.Guarantee:
		return 3
	}
	return 1
}

// Spell returns the flag that sets a parameter of the library.
func Spell(param string) string { return "--" + param }

// errorText returns the text of an error with its parameters written as flags.
func errorText(err error) string {
	if e := diag.Of(err); e != nil {
		return strings.Replace(err.Error(), e.Error(), e.Text(Spell), 1)
	}
	return err.Error()
}

// emitFailure prints the object that stands for a failure.
func (s *Session) emitFailure(e *diag.Error, err error) {
	s.Emit(printed.NewFailure(e, errorText(err)))
}
