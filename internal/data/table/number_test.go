package table

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"toptau/internal/data/jsontext"
)

// TestParseNumber compares the bits with strconv.ParseFloat for numbers written in many ways.
func TestParseNumber(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	texts := []string{"0", "-0", "+1", ".5", "5.", "1e3", "1E+3", "1e-3", "9007199254740993", "9007199254740992e22",
		"0.1", "123456789012345678", "1234567890123456789012", "0.000000000000000000000000000001", "1e22", "1e23",
		"4.9e-324", "1e-400", "1.7976931348623157e308", "00000000000000000000000012", "0e999999999", "1e-999999999",
		"999999999999999999.5", "1000000000000000000", "0.30000000000000004", "2.2250738585072011e-308"}
	for range 20_000 {
		bits := math.Float64frombits(random.Uint64())
		decimals := float64(random.IntN(1e6)) / math.Pow10(random.IntN(7))
		digits := fmt.Sprintf("%d.%0*d", random.IntN(1e9), 1+random.IntN(15), random.IntN(10))
		exponent := fmt.Sprintf("%de%d", random.Int64(), random.IntN(600)-330)
		for _, v := range []float64{bits, decimals} {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				texts = append(texts, strconv.FormatFloat(v, 'g', -1, 64), strconv.FormatFloat(v, 'f', 4, 64))
			}
		}
		texts = append(texts, digits, exponent)
	}
	for _, s := range texts {
		want, err := strconv.ParseFloat(s, 64)
		got, what := parseNumber([]byte(" " + s + "\t"))
		switch {
		case err != nil && what != tooLarge:
			t.Errorf("%s: %v is not too large", s, what)
		case err == nil && (what != number || math.Float64bits(got) != math.Float64bits(want)):
			t.Errorf("%s: %v (%v), want %v", s, got, what, want)
		}
	}
}

func TestNotNumbers(t *testing.T) {
	for _, s := range []string{"", " ", ".", "+", "-", "e5", "1e", "1e+", "1.2.3", "0x10", "1_000", "1,5", "1 2", "--1",
		"1e5.", "nano", "infinite", "1f", "१"} {
		if _, what := parseNumber([]byte(s)); what != notNumber {
			t.Errorf("%q: %v", s, what)
		}
	}
	for _, s := range []string{"Inf", "-inf", "+Infinity"} {
		if _, what := parseNumber([]byte(s)); what != notFinite {
			t.Errorf("%q: %v", s, what)
		}
	}
	for _, s := range []string{"NaN", "nan", " -NAN"} {
		if _, what := parseNumber([]byte(s)); what != notANumber {
			t.Errorf("%q: %v", s, what)
		}
	}
	for s, want := range map[string]float64{"true": 1, "FALSE": 0, "t": 1, " F\t": 0, "True": 1} {
		if v, what := parseNumber([]byte(s)); what != boolean || v != want {
			t.Errorf("%q: %v %v", s, v, what)
		}
	}
	if _, what := parseNumber([]byte(strings.Repeat("9", 400))); what != tooLarge {
		t.Error(what)
	}
}

// A number of megabytes is refused before its value is computed. All digits of any float64 are read.
func TestLongNumber(t *testing.T) {
	tiny := strconv.FormatFloat(5e-324, 'f', 1074, 64)
	if v, ok := ParseNumber([]byte(tiny)); !ok || v != 5e-324 {
		t.Errorf("%d digits: %g, %t", len(tiny), v, ok)
	}
	long := []byte("1." + strings.Repeat("0", jsontext.MaxNumber-3) + "1")
	if v, ok := ParseNumber(long); !ok || v != 1 {
		t.Errorf("%d bytes: %g, %t", len(long), v, ok)
	}
	if _, what := parseNumber(append(long, '0')); what != tooLong {
		t.Errorf("one more: %d", what)
	}
	for _, zeros := range []int{4090, jsontext.MaxNumber - 1} {
		if v, what := parseNumber([]byte(strings.Repeat("0", zeros) + "7")); what != number || v != 7 {
			t.Errorf("%d zeros before a digit: %v, %d", zeros, v, what)
		}
	}
	if _, what := parseNumber([]byte(strings.Repeat("0", jsontext.MaxNumber) + "7")); what != tooLong {
		t.Errorf("many zeros before a digit: %d", what)
	}
}
