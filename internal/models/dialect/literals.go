package dialect

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"toptau/internal/core/text"
)

// float writes a double with an exponent, so that no database reads it as a decimal.
func float(x float64) string { return strconv.FormatFloat(x, 'e', -1, 64) }

// normalFloat is float, but writes a subnormal number as a fraction: older versions of ClickHouse refuse such a decimal.
func normalFloat(x float64) string {
	if x != 0 && math.Abs(x) < 0x1p-1022 {
		return exactNumber(x)
	}
	return float(x)
}

// exactNumber writes a double for SQLite, whose versions differ in how they round decimals: a decimal that all of them read exactly,
// or else a fraction of whole numbers, m / 2^k or m * 2^k with k up to 62, several times where that is not enough. Fractions
// everywhere would be exact too, but take much longer to prepare: SQLite compares every constant with all before it.
func exactNumber(x float64) string {
	if x == 0 {
		return "0.0" // no negative zero
	}
	if decimal, safe := safeDecimal(x); safe {
		return decimal
	}
	fraction, exponent := math.Frexp(x)
	m, k := int64(fraction*(1<<53)), exponent-53
	for m%2 == 0 {
		m, k = m/2, k+1
	}
	var b strings.Builder
	fmt.Fprintf(&b, "(%d.0", m)
	for ; k < 0; k += min(-k, 62) {
		b.WriteString("/" + powerOfTwo(min(-k, 62)))
	}
	for ; k > 0; k -= min(k, 62) {
		b.WriteString("*" + powerOfTwo(min(k, 62)))
	}
	return b.String() + ")"
}

// safeDecimal returns the shortest decimal of a number, and whether SQLite reads it exactly. With at most 15 digits s and a power of
// ten up to 22 both are exact doubles, so s times or over the power is rounded once. Older versions round first to the 64 bits of
// long double where there is such a type, which may give another double.
func safeDecimal(x float64) (decimal string, safe bool) {
	digits, power, _ := strings.Cut(strconv.FormatFloat(math.Abs(x), 'e', -1, 64), "e")
	digits = strings.Replace(digits, ".", "", 1)
	ten, err := strconv.Atoi(power)
	if ten -= len(digits) - 1; err != nil || len(digits) > 15 || ten < -22 || ten > 22 {
		return "", false
	}
	s, _ := new(big.Float).SetPrec(64).SetString(digits)
	scale := new(big.Float).SetPrec(80).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(ten, -ten))), nil))
	if ten < 0 {
		s.Quo(s, scale)
	} else {
		s.Mul(s, scale)
	}
	if y, _ := s.Float64(); y != math.Abs(x) {
		return "", false
	}
	decimal = strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.Contains(decimal, ".") {
		decimal += ".0"
	}
	return decimal, true
}

func powerOfTwo(k int) string { return new(big.Int).Lsh(big.NewInt(1), uint(k)).String() + ".0" }

// doubleQuotes quotes a name as the standard does.
func doubleQuotes(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// unicodeQuotes is doubleQuotes with escapes for what text.Unprintable lists.
func unicodeQuotes(name string) string {
	if !control(name) {
		return doubleQuotes(name)
	}
	return "U&" + doubleQuotes(replaced(name, standardEscape, `\`, `\\`))
}

func backticks(name string) string {
	return "`" + replaced(name, hexBytes, `\`, `\\`, "`", "\\`", "'", `\'`) + "`"
}

// doubleBackticks quotes a name in backticks, in which nothing else is special.
func doubleBackticks(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// control reports whether a text has characters that text.Unprintable lists. In literals they are never written as such: terminals
// obey them, and editors and shells change line ends.
func control(s string) bool { return strings.ContainsFunc(s, text.Unprintable) }

// replaced returns a text with a form of its own for each character that text.Unprintable lists, and pairs of further replacements.
func replaced(s string, form func(r rune) string, pairs ...string) string {
	others := strings.NewReplacer(pairs...)
	var b strings.Builder
	for _, r := range s {
		if text.Unprintable(r) {
			b.WriteString(form(r))
		} else {
			others.WriteString(&b, string(r))
		}
	}
	return b.String()
}

// hexBytes writes a character as the bytes that databases with backslashes read.
func hexBytes(r rune) string {
	var b strings.Builder
	for _, c := range []byte(string(r)) {
		fmt.Fprintf(&b, `\x%02x`, c)
	}
	return b.String()
}

// unicodeEscape writes a character as four hexadecimal digits of its code point.
func unicodeEscape(r rune) string { return fmt.Sprintf(`\u%04x`, r) }

// standardEscape writes a character as literals and names with the prefix U& do.
func standardEscape(r rune) string { return fmt.Sprintf(`\%04x`, r) }

// standardText is a literal of the standard.
func standardText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// postgresText is a literal with escapes if it needs them. PostgreSQL has no text with U+0000.
func postgresText(s string) (string, bool) {
	if !control(s) {
		return standardText(s), true
	}
	return "E" + escaped(s, unicodeEscape), !strings.Contains(s, "\x00")
}

// escaped is a literal with backslashes.
func escaped(s string, form func(r rune) string) string {
	return "'" + replaced(s, form, `\`, `\\`, "'", `\'`) + "'"
}

// backslashText is a literal of a database that reads backslashes in every literal.
func backslashText(s string) (string, bool) { return escaped(s, hexBytes), true }

// sqliteText writes a text with control characters as bytes.
func sqliteText(s string) (string, bool) {
	if control(s) {
		return fmt.Sprintf("CAST(x'%x' AS TEXT)", s), true
	}
	return standardText(s), true
}

// duckText writes control characters as numbers.
func duckText(s string) (string, bool) {
	return "('" + replaced(s, func(r rune) string { return fmt.Sprintf("' || chr(%d) || '", r) }, "'", "''") + "')", true
}

// trinoText writes control characters as Unicode escapes.
func trinoText(s string) (string, bool) {
	if !control(s) {
		return standardText(s), true
	}
	return "U&'" + replaced(s, standardEscape, `\`, `\\`, "'", "''") + "'", true
}

// sparkText is a literal with backslashes. Spark replaces variables such as ${env:HOME} everywhere in a statement before it reads it.
func sparkText(s string) (string, bool) {
	return strings.ReplaceAll(escaped(s, unicodeEscape), "${", `\u0024{`), true
}
