package table

import (
	"strconv"
)

// numeral says what a field is when it is read as a number.
type numeral int8

const (
	notNumber numeral = iota // anything that does not look like a number
	number                   // a finite decimal number
	notFinite                // a spelling of NaN or infinity
	tooLarge                 // a decimal number beyond the range of float64
)

// powers holds the powers of ten that float64 has exactly.
var powers = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// parseNumber reads a decimal number as strconv.ParseFloat does (the nearest float64, halves to even), but neither
// hexadecimal nor underscores. Blanks and tabs around it are ignored. Numbers of up to 15 digits or so with a small
// exponent are one exact integer times or divided by one exact power of ten, hence rounded once; all others go to
// strconv.
func parseNumber(text []byte) (float64, numeral) {
	b := trimBlanks(text)
	d, ok := scanDecimal(b)
	if !ok {
		if isNotFinite(b) {
			return 0, notFinite
		}
		return 0, notNumber
	}
	if d.exact && d.mantissa <= 1<<53 {
		v := float64(d.mantissa)
		switch {
		case d.mantissa == 0 || d.exponent == 0:
		case 0 < d.exponent && d.exponent < len(powers):
			v *= powers[d.exponent]
		case d.exponent < 0 && -d.exponent < len(powers):
			v /= powers[-d.exponent]
		default:
			return parseSlowly(b)
		}
		if d.negative {
			v = -v
		}
		return v, number
	}
	return parseSlowly(b)
}

func parseSlowly(b []byte) (float64, numeral) {
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil { // the grammar holds already, so only the range can fail
		return 0, tooLarge
	}
	return v, number
}

// decimal is a number as written: mantissa times ten to the exponent.
type decimal struct {
	mantissa uint64
	exponent int
	negative bool
	exact    bool // mantissa holds all digits
}

// scanDecimal reads [+-] digits [. digits] [e [+-] digits] with at least one digit before the exponent.
func scanDecimal(b []byte) (decimal, bool) {
	d := decimal{exact: true}
	i := 0
	if i < len(b) && (b[i] == '+' || b[i] == '-') {
		d.negative = b[i] == '-'
		i++
	}
	digits, point := 0, false
	for ; i < len(b); i++ {
		c := b[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if c -= '0'; c > 9 {
			break
		}
		digits++
		if d.mantissa < 1e18 {
			d.mantissa = d.mantissa*10 + uint64(c)
		} else {
			d.exact = false
		}
		if point {
			d.exponent--
		}
	}
	if digits == 0 {
		return d, false
	}
	if i == len(b) {
		return d, true
	}
	if b[i]|0x20 != 'e' {
		return d, false
	}
	e, ok := scanExponent(b[i+1:])
	d.exponent += e
	return d, ok
}

// scanExponent reads [+-] digits and stops adding where the number is far out of float64's range anyway.
func scanExponent(b []byte) (int, bool) {
	negative := false
	if len(b) > 0 && (b[0] == '+' || b[0] == '-') {
		negative = b[0] == '-'
		b = b[1:]
	}
	if len(b) == 0 {
		return 0, false
	}
	e := 0
	for _, c := range b {
		if c -= '0'; c > 9 {
			return 0, false
		}
		if e < 1e6 {
			e = e*10 + int(c)
		}
	}
	if negative {
		e = -e
	}
	return e, true
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

// trimBlanks cuts blanks and tabs at both ends.
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
