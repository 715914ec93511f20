package plot

import (
	"math"
	"strconv"
	"strings"

	"toptau/internal/core/text"
)

// Unit is how values are written.
type Unit int

const (
	Number           Unit = iota // 0.25, 1,500
	Percent                      // a fraction: 0.25 is written 25 %
	PercentagePoints             // a difference of fractions: 0.25 is written +25
)

// noBreak is a space that keeps a number and its unit on one line.
const noBreak = "\u00a0"

// Write returns a value with a number of significant digits and its unit.
func (u Unit) Write(x float64, digits int) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "not finite"
	}
	switch u {
	case Percent:
		return typographic(text.Significant(100*x, digits)) + noBreak + "%"
	case PercentagePoints:
		points := typographic(text.Significant(100*x, digits))
		if x > 0 {
			return "+" + points
		}
		return points
	}
	return typographic(text.Significant(x, digits))
}

// writeFixed returns a value with a number of decimals, counted before a percentage's factor of 100.
func (u Unit) writeFixed(x float64, decimals int) string {
	switch u {
	case Percent:
		return typographic(text.Fixed(100*x, max(0, decimals-2))) + noBreak + "%"
	case PercentagePoints:
		return typographic(text.Fixed(100*x, max(0, decimals-2)))
	}
	return typographic(text.Fixed(x, max(0, decimals)))
}

// typographic returns a number with a real minus sign, and with a power of ten for an exponent: 1.5e-09 is
// 1.5·10⁻⁹.
func typographic(number string) string {
	mantissa, exponent, found := strings.Cut(number, "e")
	mantissa = strings.Replace(mantissa, "-", "−", 1)
	if !found {
		return mantissa
	}
	e, _ := strconv.Atoi(exponent)
	switch mantissa {
	case "1":
		return powerOfTen(e)
	case "−1":
		return "−" + powerOfTen(e)
	}
	return mantissa + "·" + powerOfTen(e)
}

// powerOfTen returns 10^e with raised digits.
func powerOfTen(e int) string {
	raised := map[rune]rune{'-': '⁻', '0': '⁰', '1': '¹', '2': '²', '3': '³', '4': '⁴', '5': '⁵', '6': '⁶',
		'7': '⁷', '8': '⁸', '9': '⁹'}
	return "10" + strings.Map(func(r rune) rune { return raised[r] }, strconv.Itoa(e))
}
