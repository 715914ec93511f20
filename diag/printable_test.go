package diag

import "testing"

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "",
		"age, größe, 年齢, 😀":        "age, größe, 年齢, 😀",
		`a\b "c"`:                  `a\b "c"`,
		"\x1b[31mred\x1b[0m":       `\x1b[31mred\x1b[0m`,
		"a\nb\r\tc\x00\x7f":        `a\nb\r\tc\x00\x7f`,
		"x\u202etxt.exe\u2069":     `x\u202etxt.exe\u2069`,
		"\u009b2J\u2028":           `\u009b2J\u2028`,
		"\xff\xfe latin \xe9t\xe9": `\xff\xfe latin \xe9t\xe9`,
		"\ufffd is a character":    "\ufffd is a character",
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if got := PrintableLines("a\nb\tc\x1b\n"); got != "a\nb\tc\\x1b\n" {
		t.Errorf("lines: %q", got)
	}
}

// An error is one line of printable text for any name of a file and any value.
func TestErrorsArePrintable(t *testing.T) {
	e := Error{File: "a\x1b]0;b\x07.csv", Line: 3, Column: "c\u202e", Found: "d\ne", Hint: "f\x9b"}
	if got, want := e.Error(), `a\x1b]0;b\x07.csv:3: column "c\u202e": d\ne (f\x9b)`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
