package serve

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// appendText appends a text as JSON. Texts are valid UTF-8.
func appendText(b []byte, text string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	done := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < 0x7f {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[i:])
			if r == utf8.RuneError && size == 1 {
				b = append(append(b, text[done:i]...), `\ufffd`...)
				i++
				done = i
				continue
			}
			i += size
			continue
		}
		b = append(b, text[done:i]...)
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
	return append(append(b, text[done:]...), '"')
}

func appendNumber(b []byte, x float64) []byte { return strconv.AppendFloat(b, x, 'g', -1, 64) }

// appendField appends a field of CSV, in quotes where encoding/csv writes them.
func appendField(b []byte, field string) []byte {
	if field == "" {
		return b
	}
	quoted := field == `\.` || strings.ContainsAny(field, ",\"\r\n")
	if r, _ := utf8.DecodeRuneInString(field); !quoted && (r == ' ' || r == '\t' || r == 0x85 || r == 0xa0) {
		quoted = true
	}
	if !quoted {
		return append(b, field...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(field, `"`, `""`)...)
	return append(b, '"')
}
