package table

import (
	"math/rand/v2"
	"strings"
	"testing"

	"toptau/internal/core/text"
)

// Whole numbers give their text back if and only if that is the shortest decimal of the number.
func TestNumbersGiveTheirTextBack(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	fields := []string{"0", "-0", "00", "+1", "-1", " 1", "1 ", "- 1", "-", "", "1.0", "1e3", "999999999999999", "9007199254740993", "-007", "1234567890123456"}
	for range 2000 {
		var b strings.Builder
		b.WriteString([]string{"", "", "-", "+", " "}[r.IntN(5)])
		for range r.IntN(20) {
			b.WriteByte("0123456789"[r.IntN(10)])
		}
		fields = append(fields, b.String())
	}
	for _, f := range fields {
		digits := strings.Trim(strings.TrimLeft(strings.Trim(f, " \t"), "+-"), "0123456789") == "" && strings.ContainsAny(f, "0123456789")
		v, what := parseNumber([]byte(f))
		want := digits && what == number && text.Decimal(v) == f
		if whole, given := givesBack([]byte(f)); given != want || given && !whole {
			t.Errorf("%q: whole %v, given back %v, want %v", f, whole, given, want)
		}
	}
}
