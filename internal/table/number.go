package table

import (
	"strconv"
)

// numeral classifies a field that is read as a number.
type numeral int8

const (
	notNumber numeral = iota // any other text
	number                   // a finite decimal number
	notFinite                // a spelling of NaN or infinity
	tooLarge                 // a decimal number beyond the range of float64
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
	if isNotFinite(b) {
		return 0, notFinite
	}
	return 0, notNumber
}

func parseSlowly(b []byte) (float64, numeral) {
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil { // the grammar holds already, so only the range can fail
		return 0, tooLarge
	}
	return v, number
}

// looksNumber reports whether a field is a number of any kind, NaN and infinity included.
func looksNumber(field []byte) bool {
	b := trimBlanks(field)
	return isDecimal(b) || isNotFinite(b)
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

// isNotFinite reports whether b is a spelling of NaN or infinity, in any case.
func isNotFinite(b []byte) bool {
	if len(b) > 0 && (b[0] == '+' || b[0] == '-') {
		b = b[1:]
	}
	return foldEqual(b, "nan") || foldEqual(b, "inf") || foldEqual(b, "infinity")
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

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// ParseNumber parses a field as the readers of files do and reports whether it is a finite decimal number.
func ParseNumber(text []byte) (float64, bool) {
	x, what := parseNumber(text)
	return x, what == number
}
