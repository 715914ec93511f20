package serve

import (
	"strings"
	"unicode/utf8"
)

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
