package report

import (
	"math"
	"strconv"
	"strings"

	"toptau/metric"
)

// Unit says how values are written.
type Unit int

const (
	Number           Unit = iota // as they are: 0.25, 1,500
	Percent                      // a share: 0.25 is written 25 %
	PercentagePoints             // a difference of shares: 0.25 is written +25, in percentage points
)

// noBreak keeps a number and its unit on one line.
const noBreak = "\u00a0"

// write rounds a value to significant digits and writes it with its unit.
func (u Unit) write(x float64, digits int) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "not finite"
	}
	switch u {
	case Percent:
		return significant(100*x, digits) + noBreak + "%"
	case PercentagePoints:
		if text := significant(100*x, digits); x > 0 {
			return "+" + text
		} else {
			return text
		}
	}
	return significant(x, digits)
}

// fixed writes a value with the given number of decimals, counted before a percent's factor of 100.
func (u Unit) fixed(x float64, decimals int) string {
	switch u {
	case Percent:
		return group(strconv.FormatFloat(float64(100*x)+0, 'f', max(0, decimals-2), 64)) + noBreak + "%"
	case PercentagePoints:
		return group(strconv.FormatFloat(float64(100*x)+0, 'f', max(0, decimals-2), 64))
	}
	return group(strconv.FormatFloat(x+0, 'f', max(0, decimals), 64))
}

// significant writes x with so many significant digits, as a decimal where that is short and as a power of ten where not.
// Whole numbers below 10^15 are written in full.
func significant(x float64, digits int) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return group(strconv.FormatFloat(x+0, 'f', 0, 64))
	}
	scientific := strconv.FormatFloat(x, 'e', digits-1, 64)
	mantissa, after, _ := strings.Cut(scientific, "e")
	exponent, _ := strconv.Atoi(after)
	if exponent < -5 || exponent >= 15 {
		return strings.TrimPrefix(trimZeros(mantissa)+"·", "1·") + powerOfTen(exponent)
	}
	rounded, _ := strconv.ParseFloat(scientific, 64)
	return group(trimZeros(strconv.FormatFloat(rounded, 'f', max(0, digits-1-exponent), 64)))
}

// trimZeros drops zeros at the end of a decimal.
func trimZeros(text string) string {
	if !strings.Contains(text, ".") {
		return text
	}
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// group sets commas between thousands; a minus becomes a real minus sign.
func group(text string) string {
	text, negative := strings.CutPrefix(text, "-")
	whole, fraction, hasFraction := strings.Cut(text, ".")
	if len(whole) > 3 {
		var b strings.Builder
		for i, digit := range whole {
			if i > 0 && (len(whole)-i)%3 == 0 {
				b.WriteByte(',')
			}
			b.WriteRune(digit)
		}
		whole = b.String()
	}
	if hasFraction {
		whole += "." + fraction
	}
	if negative && strings.Trim(text, "0.") != "" {
		return "−" + whole
	}
	return whole
}

// powerOfTen writes 10^e with raised digits.
func powerOfTen(e int) string {
	raised := map[rune]rune{'-': '⁻', '0': '⁰', '1': '¹', '2': '²', '3': '³', '4': '⁴', '5': '⁵', '6': '⁶',
		'7': '⁷', '8': '⁸', '9': '⁹'}
	return "10" + strings.Map(func(r rune) rune { return raised[r] }, strconv.Itoa(e))
}

// confidenceText writes a confidence of 1 - miss, with its unit on the same line.
func confidenceText(miss float64) string {
	return strings.ReplaceAll(metric.ConfidenceText(miss), " ", noBreak)
}
