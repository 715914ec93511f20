package paper

import (
	"strconv"

	"toptau/internal/core/text"
)

// tenths returns a fraction as a percentage with one decimal, as in the paper's tables: "36.0 %".
func tenths(f float64) string { return text.Fixed(100*f, 1) + " %" }

// number returns the shortest text that is read back as the same number.
func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
