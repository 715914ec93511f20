package diag

import "testing"

// An error is one line of printable text for any name of a file and any value.
func TestErrorsArePrintable(t *testing.T) {
	e := Error{File: "a\x1b]0;b\x07.csv", Line: 3, Column: "c\u202e", Found: "d\ne", Hint: "f\x9b"}
	if got, want := e.Error(), `a\x1b]0;b\x07.csv:3: column "c\u202e": d\ne (f\x9b)`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
