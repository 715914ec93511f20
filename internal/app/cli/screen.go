package cli

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"toptau/internal/core/text"
	"toptau/internal/data/jsontext"
)

// Printable is text that may come from data and goes to a terminal. Every verb of fmt escapes it.
type Printable string

// Format implements fmt.Formatter.
func (t Printable) Format(f fmt.State, verb rune) {
	s := string(t)
	if verb != 'q' {
		s = text.Printable(s)
	}
	fmt.Fprintf(f, fmt.FormatString(f, verb), s)
}

// printableArgs returns the arguments of a format with every string made Printable.
func printableArgs(args []any) []any {
	list := make([]any, len(args))
	for i, a := range args {
		if text, ok := a.(string); ok {
			a = Printable(text)
		}
		list[i] = a
	}
	return list
}

// JSONLines escapes the JSON written to W. Every Write must contain whole values.
type JSONLines struct{ W io.Writer }

// Write implements io.Writer.
func (j JSONLines) Write(p []byte) (int, error) {
	if _, err := j.W.Write(jsontext.Printable(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// screen escapes what is written to a terminal: control characters other than line feed and tab. Files and
// pipes get the bytes unchanged.
type screen struct {
	w    io.Writer
	rest []byte // the first bytes of a character whose other bytes have not come yet
}

// Write implements io.Writer.
func (s *screen) Write(p []byte) (int, error) {
	all := append(s.rest, p...)
	end := len(all)
	for back := 1; back < utf8.UTFMax && back <= len(all); back++ {
		if c := all[len(all)-back]; utf8.RuneStart(c) {
			if !utf8.FullRune(all[len(all)-back:]) {
				end = len(all) - back
			}
			break
		}
	}
	s.rest = bytes.Clone(all[end:])
	if _, err := io.WriteString(s.w, text.PrintableLines(string(all[:end]))); err != nil {
		return 0, err
	}
	return len(p), nil
}
