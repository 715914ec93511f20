package text_test

import (
	"testing"

	"toptau/internal/core/text"
)

func TestPrintable(t *testing.T) {
	for s, want := range map[string]string{
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
		if got := text.Printable(s); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
	if got := text.PrintableLines("a\nb\tc\x1b\n"); got != "a\nb\tc\\x1b\n" {
		t.Errorf("lines: %q", got)
	}
}
