package text_test

import (
	"math"
	"strings"
	"testing"

	"toptau/internal/core/text"
)

func TestConfidenceText(t *testing.T) {
	for miss, want := range map[float64]string{
		0.05: "95 %", 0.01: "99 %", 1.0 / 3: "66.7 %", 0.5: "50 %", 0.025: "97.5 %", 0.001: "99.9 %",
		1e-4: "99.99 %", 5e-6: "99.9995 %", 1.234e-7: "99.9999877 %", 1e-9: "99.9999999 %", 1e-10: "over 99.9999999 %",
		0: "over 99.9999999 %", math.NaN(): "over 99.9999999 %", -1: "over 99.9999999 %", 1: "0 %", 1.5: "0 %", 0.9999: "0.01 %",
	} {
		if got := text.Confidence(miss); got != want {
			t.Errorf("%v: %q, want %q", miss, got, want)
		}
	}
	for miss := 0.9; miss > 1e-30; miss *= 0.91 {
		if got := text.Confidence(miss); strings.HasPrefix(got, "100") {
			t.Errorf("%v: %q", miss, got)
		}
	}
}
