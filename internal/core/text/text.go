// Package text formats numbers for people: three significant digits, commas between thousands, percentages and plurals.
// Every sentence of the command line, of reports and of warnings takes them from here.
package text

import (
	"math"
	"strconv"
	"strings"
)

// Count returns a whole number with commas between thousands: 12,345.
func Count[N int | int64 | uint64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	return sign + Commas(digits)
}

// Commas sets commas between the thousands of a string of digits, which may have decimals.
func Commas(digits string) string {
	whole, fraction, _ := strings.Cut(digits, ".")
	var b strings.Builder
	for i := range len(whole) {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(whole[i])
	}
	if fraction != "" {
		b.WriteByte('.')
		b.WriteString(fraction)
	}
	return b.String()
}

// Plural returns a count with its noun: "no rows", "1 row", "2,000 rows", "3 classes", "2 queries".
func Plural(n int, noun string) string {
	switch n {
	case 0:
		return "no " + plural(noun)
	case 1:
		return "1 " + noun
	}
	return Count(n) + " " + plural(noun)
}

func plural(noun string) string {
	switch {
	case strings.HasSuffix(noun, "s"), strings.HasSuffix(noun, "x"), strings.HasSuffix(noun, "ch"), strings.HasSuffix(noun, "sh"):
		return noun + "es"
	case strings.HasSuffix(noun, "y") && len(noun) > 1 && !strings.ContainsRune("aeiou", rune(noun[len(noun)-2])):
		return noun[:len(noun)-1] + "ies"
	}
	return noun + "s"
}

// digits is the number of significant digits that people read.
const digits = 3

// Number returns x with three significant digits: 0.0123, 4,560, 1.2e-09. Whole numbers are written in full.
func Number(x float64) string { return Significant(x, digits) }

// Amount returns a number of rows or a total weight. From 10 on it is rounded to a whole number.
func Amount(x float64) string {
	if x >= 10 {
		x = math.Round(x)
	}
	return Number(x)
}

// Significant returns x with a number of significant digits. Whole numbers are written in full, and zeros at the end of a
// decimal are left out.
func Significant(x float64, digits int) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return strconv.FormatFloat(x, 'g', -1, 64)
	case x == 0:
		return "0"
	case x < 0:
		return "-" + Significant(-x, digits)
	case x == math.Trunc(x) && x < 1e15:
		return Commas(strconv.FormatFloat(x, 'f', 0, 64))
	case x < 1e-4 || x >= 1e15:
		return strconv.FormatFloat(x, 'g', digits, 64)
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', digits-1, 64), 64)
	decimals := max(0, digits-1-int(math.Floor(math.Log10(rounded))))
	fixed := strconv.FormatFloat(rounded, 'f', decimals, 64)
	if strings.Contains(fixed, ".") {
		fixed = strings.TrimRight(strings.TrimRight(fixed, "0"), ".")
	}
	return Commas(fixed)
}

// Exact returns the shortest text that is read as x again, without commas: for a threshold that people copy, because a
// rounded one gives another number of alerts.
func Exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// Decimal returns the shortest decimal text of a number, without an exponent: 1000000 is an id, and 1e+06 is not. Categories, ids,
// groups and columns that are kept have it wherever a value is a number and not a text. A zero has no sign.
func Decimal(x float64) string { return strconv.FormatFloat(x+0, 'f', -1, 64) }

// AppendDecimal appends Decimal.
func AppendDecimal(b []byte, x float64) []byte { return strconv.AppendFloat(b, x+0, 'f', -1, 64) }

// Fixed returns x with a number of decimals and commas between thousands. A zero has no sign.
func Fixed(x float64, decimals int) string {
	written := strconv.FormatFloat(math.Abs(x), 'f', decimals, 64)
	if x < 0 && strings.Trim(written, "0.") != "" {
		return "-" + Commas(written)
	}
	return Commas(written)
}

// Percent returns a fraction as a percentage with three significant digits: 0.12345 is "12.3 %". A fraction that is not 1
// is never written as 100 %, and one that is not 0 never as 0 %.
func Percent(fraction float64) string {
	written := Number(100 * fraction)
	if written == "100" && fraction < 1 {
		return "more than 99.9 %"
	}
	return written + " %"
}

// SmallProbability returns an upper bound on a probability as odds with one digit, because it is only a bound: "1 in 4,000". It returns
// "1 in 1,000,000,000" for smaller ones, and a decimal from 0.1 on.
func SmallProbability(p float64) string {
	if p >= 0.1 {
		return Significant(p, 1)
	}
	rows := 1 / max(p, 1e-9)
	unit := math.Pow(10, math.Floor(math.Log10(rows*(1+1e-12))))
	return "1 in " + Number(unit*math.Floor(rows/unit*(1+1e-12)))
}

// PlusMinus returns a fraction with its standard error, both in percent, to the same decimals: "63.8 % ± 1.6".
func PlusMinus(fraction, standardError float64) string {
	decimals := 1
	if e := 100 * standardError; e > 0 && e < 0.1 {
		decimals = 2
	}
	return strconv.FormatFloat(100*fraction, 'f', decimals, 64) + " % ± " + strconv.FormatFloat(100*standardError, 'f', decimals, 64)
}

// Points returns a difference of fractions in percentage points with its sign: "+9.1", "-0.6".
func Points(difference float64) string {
	written := strconv.FormatFloat(100*difference, 'f', 1, 64)
	if written == "-0.0" {
		written = "0.0"
	}
	if difference > 0 && written != "0.0" {
		return "+" + written
	}
	return written
}

// Strings returns the values of a string type as strings.
func Strings[S ~string](values []S) []string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = string(v)
	}
	return words
}

// List joins words: "a", "a and b", "a, b and c".
func List(words []string, conjunction string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}
