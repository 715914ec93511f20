package text

import (
	"math"
	"strconv"
	"strings"
)

// Confidence writes a confidence of 1 - miss for people: "95 %", "99.9 %". It never rounds to 100 %,
// which no sample can give: it shows as many digits as the miss needs, and "over 99.9999999 %" for a miss
// below 1e-9.
func Confidence(miss float64) string {
	switch {
	case miss >= 1:
		return "0 %"
	case miss > 0.5:
		return strconv.FormatFloat(100*(1-miss), 'g', 3, 64) + " %"
	case !(miss >= 1e-9):
		return "over 99.9999999 %"
	}
	percent := 100 * miss
	digits := strconv.FormatFloat(percent, 'e', 2, 64) // three digits of the miss
	rounded, _ := strconv.ParseFloat(digits, 64)
	exponent := int(math.Floor(math.Log10(rounded)))
	written := strconv.FormatFloat(100-rounded, 'f', max(0, 2-exponent), 64)
	if strings.Contains(written, ".") {
		written = strings.TrimSuffix(strings.TrimRight(written, "0"), ".")
	}
	return written + " %"
}
