package scoredrow

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// AppendField appends a field of CSV, in quotes where encoding/csv writes them.
func AppendField(b []byte, field string) []byte {
	first, _ := utf8.DecodeRuneInString(field)
	if field != `\.` && !unicode.IsSpace(first) && !strings.ContainsAny(field, ",\"\r\n") {
		return append(b, field...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(field, `"`, `""`)...)
	return append(b, '"')
}
