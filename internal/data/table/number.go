package table

import (
	"strconv"

	"toptau/internal/data/jsontext"
)

// numeral classifies a field that is read as a number.
type numeral int8

const (
	notNumber  numeral = iota // any other text
	number                    // a finite decimal number
	notANumber                // NaN in any case
	notFinite                 // a spelling of infinity
	tooLarge                  // a decimal number beyond the range of float64
	tooLong                   // a decimal number of more than jsontext.MaxNumber bytes
	boolean                   // true, false, t or f in any case, whose number is 1 or 0
)

// parseNumber parses a decimal number as strconv.ParseFloat does, to the nearest float64, halves to even, but
// accepts neither hexadecimal numbers nor underscores. Blanks and tabs around it are ignored. readNumber
// rounds most numbers; strconv rounds the others after their grammar has been checked.
func parseNumber(text []byte) (float64, numeral) {
	b := trimBlanks(text)
	if v, end := readNumber(b, 0); end == len(b) && end > 0 {
		return v, number
	}
	if isDecimal(b) {
		return parseSlowly(b)
	}
	what, v := wordOf(b)
	return v, what
}

func parseSlowly(b []byte) (float64, numeral) {
	if len(b) > jsontext.MaxNumber {
		return 0, tooLong
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil { // the grammar holds already, so only the range can fail
		return 0, tooLarge
	}
	return v, number
}

// looksNumber reports whether a field is a number of any kind, NaN and infinity included.
func looksNumber(field []byte) bool {
	b := trimBlanks(field)
	what, _ := wordOf(b)
	return isDecimal(b) || what == notANumber || what == notFinite
}

// isDecimal reports whether b is [+-] digits [. digits] [e [+-] digits] with at least one digit before the
// exponent.
func isDecimal(b []byte) bool {
	b = afterSign(b)
	whole := afterDigits(b)
	digits := len(b) - len(whole)
	b = whole
	if len(b) > 0 && b[0] == '.' {
		b = afterDigits(whole[1:])
		digits += len(whole) - 1 - len(b)
	}
	if digits == 0 || len(b) == 0 {
		return digits > 0
	}
	exponent := afterSign(b[1:])
	return b[0]|0x20 == 'e' && len(exponent) > 0 && len(afterDigits(exponent)) == 0
}

func afterSign(b []byte) []byte {
	if len(b) > 0 && (b[0] == '+' || b[0] == '-') {
		return b[1:]
	}
	return b
}

func afterDigits(b []byte) []byte {
	i := 0
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return b[i:]
}

// wordOf classifies a text without digits, in any case, and returns the number of a boolean.
func wordOf(b []byte) (numeral, float64) {
	switch {
	case foldEqual(b, "true") || foldEqual(b, "t"):
		return boolean, 1
	case foldEqual(b, "false") || foldEqual(b, "f"):
		return boolean, 0
	}
	switch b = afterSign(b); {
	case foldEqual(b, "nan"):
		return notANumber, 0
	case foldEqual(b, "inf") || foldEqual(b, "infinity"):
		return notFinite, 0
	}
	return notNumber, 0
}

// foldEqual compares ASCII text with a lower-case word.
func foldEqual(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

// trimBlanks removes blanks and tabs at both ends.
func trimBlanks(b []byte) []byte {
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isBlank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// blanks are the characters around a value that are not part of it.
const blanks = " \t"

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// ParseNumber parses a field as the readers of files do and reports whether it is a finite decimal number.
func ParseNumber(text []byte) (float64, bool) {
	x, what := parseNumber(text)
	return x, what == number
}
