package main

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"toptau/diag"
)

// printable is text that may come from data, on its way to a terminal: %q escapes it, and so does every other verb.
type printable string

// Format implements fmt.Formatter.
func (t printable) Format(f fmt.State, verb rune) {
	text := string(t)
	if verb != 'q' {
		text = diag.Printable(text)
	}
	fmt.Fprintf(f, fmt.FormatString(f, verb), text)
}

// showAll makes every string among the arguments of a format printable.
func showAll(args []any) []any {
	list := make([]any, len(args))
	for i, a := range args {
		if text, ok := a.(string); ok {
			a = printable(text)
		}
		list[i] = a
	}
	return list
}

// printableJSON escapes what a terminal would obey in JSON text, where it can only be part of a string: the value is the same.
func printableJSON(text []byte) []byte {
	if !bytes.ContainsFunc(text, func(c rune) bool { return c >= 0x7f && diag.Unprintable(c) }) {
		return text
	}
	var b bytes.Buffer
	for _, c := range string(text) {
		if c >= 0x7f && diag.Unprintable(c) {
			fmt.Fprintf(&b, `\u%04x`, c)
		} else {
			b.WriteRune(c)
		}
	}
	return b.Bytes()
}

// jsonLines makes JSON printable that is written in whole values.
type jsonLines struct{ w io.Writer }

// Write implements io.Writer.
func (j jsonLines) Write(p []byte) (int, error) {
	if _, err := j.w.Write(printableJSON(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// screen is a terminal to which rows of data are written: what a terminal would obey is escaped, apart from LF and tab. Files
// and pipes get the bytes of the data.
type screen struct {
	w    io.Writer
	rest []byte // the begin of a character
}

// Write implements io.Writer.
func (s *screen) Write(p []byte) (int, error) {
	text := append(s.rest, p...)
	end := len(text)
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		if c := text[len(text)-back]; utf8.RuneStart(c) {
			if !utf8.FullRune(text[len(text)-back:]) {
				end = len(text) - back
			}
			break
		}
	}
	s.rest = bytes.Clone(text[end:])
	if _, err := io.WriteString(s.w, diag.PrintableLines(string(text[:end]))); err != nil {
		return 0, err
	}
	return len(p), nil
}
