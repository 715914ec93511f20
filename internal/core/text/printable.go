package text

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Printable returns text that is safe for a terminal and a page. It replaces control characters (including
// line ends), characters that change the direction of writing, and bytes that are not UTF-8 by escapes in
// Go's syntax.
func Printable(text string) string { return escapeExcept(text, "") }

// PrintableLines is Printable for text of several lines. It keeps LF and tab.
func PrintableLines(text string) string { return escapeExcept(text, "\n\t") }

func escapeExcept(text, kept string) string {
	var b strings.Builder
	done := 0 // number of bytes of text that are already in b
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRuneInString(text[i:])
		bad := c == utf8.RuneError && size == 1
		if bad || Unprintable(c) && !strings.ContainsRune(kept, c) {
			b.WriteString(text[done:i])
			switch {
			case bad:
				fmt.Fprintf(&b, `\x%02x`, text[i])
			case c == '\n':
				b.WriteString(`\n`)
			case c == '\r':
				b.WriteString(`\r`)
			case c == '\t':
				b.WriteString(`\t`)
			case c < utf8.RuneSelf:
				fmt.Fprintf(&b, `\x%02x`, c)
			default:
				fmt.Fprintf(&b, `\u%04x`, c)
			}
			done = i + size
		}
		i += size
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// Unprintable reports whether a character controls a terminal, ends a line, or changes the direction of
// writing.
func Unprintable(c rune) bool {
	switch {
	case c < ' ', 0x7f <= c && c <= 0x9f:
		return true
	case c == 0x61c, 0x200e <= c && c <= 0x200f, 0x2028 <= c && c <= 0x202e, 0x2066 <= c && c <= 0x2069:
		return true
	}
	return false
}
