package jsontext

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"

	"toptau/internal/core/text"
)

// AppendText appends a text as JSON, with escapes for what text.Unprintable lists. Bytes that are not UTF-8 become U+FFFD.
func AppendText[T string | []byte](b []byte, s T) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < 0x7f {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(string(s[i:min(len(s), i+utf8.UTFMax)]))
			if r == utf8.RuneError && size == 1 {
				b = append(append(b, s[done:i]...), `\ufffd`...)
				i++
				done = i
				continue
			}
			if text.Unprintable(r) {
				b = fmt.Appendf(append(b, s[done:i]...), `\u%04x`, r)
				done = i + size
			}
			i += size
			continue
		}
		b = append(b, s[done:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		done = i
	}
	return append(append(b, s[done:]...), '"')
}

// AppendNumber appends the shortest decimal that is read as x, which must be finite.
func AppendNumber(b []byte, x float64) []byte { return strconv.AppendFloat(b, x, 'g', -1, 64) }

// Printable escapes what text.Unprintable lists in JSON. It can only be part of a text, so the value stays the same; encoding/json
// escapes the characters below U+0020 itself.
func Printable(json []byte) []byte {
	bad := func(c rune) bool { return c >= 0x7f && text.Unprintable(c) }
	if !bytes.ContainsFunc(json, bad) {
		return json
	}
	var b bytes.Buffer
	for _, c := range string(json) {
		if bad(c) {
			fmt.Fprintf(&b, `\u%04x`, c)
		} else {
			b.WriteRune(c)
		}
	}
	return b.Bytes()
}
