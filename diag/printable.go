package diag

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Printable makes text that comes from data safe for a terminal and a page: control characters, line ends among them,
// characters that change the direction of writing, and bytes that are not UTF-8 become visible escapes as Go writes them.
// Other text comes back unchanged.
func Printable(text string) string { return escape(text, "") }

// PrintableLines is Printable for text of several lines: LF and tab stay.
func PrintableLines(text string) string { return escape(text, "\n\t") }

func escape(text, kept string) string {
	var b strings.Builder
	done := 0 // bytes of text that are in b
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

// Unprintable reports whether a character controls a terminal, ends a line, or changes the direction of writing.
func Unprintable(c rune) bool {
	switch {
	case c < ' ', 0x7f <= c && c <= 0x9f:
		return true
	case c == 0x61c, 0x200e <= c && c <= 0x200f, 0x2028 <= c && c <= 0x202e, 0x2066 <= c && c <= 0x2069:
		return true
	}
	return false
}
