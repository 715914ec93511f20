package threshold

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"toptau/diag"
)

func TestParseRate(t *testing.T) {
	for _, c := range []struct {
		text, want string
		value      float64
	}{
		{"0.1%", "0.001", 0.001},
		{"0.1 %", "0.001", 0.001},
		{" 1% ", "0.01", 0.01},
		{"0.001", "0.001", 0.001},
		{"1e-3", "0.001", 0.001},
		{"1E-4", "0.0001", 1e-4},
		{"10e-4", "0.001", 0.001},
		{".5", "0.5", 0.5},
		{"5.e-1", "0.5", 0.5},
		{"+0.25", "0.25", 0.25},
		{"1/3", "1/3", 1.0 / 3},
		{"2/6", "1/3", 1.0 / 3},
		{"1/1000", "0.001", 0.001},
		{"1/3%", "1/300", 1.0 / 300},
		{"99.9%", "0.999", 0.999},
		{"0.07", "0.07", 0.07},
		{"12.5e-30", "1.25e-29", 1.25e-29},
		{"1e-300", "1e-300", 1e-300},
		{"0.30000000000000004", "0.30000000000000004", 0.30000000000000004},
	} {
		r, err := ParseRate(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if r.String() != c.want || r.Float64() != c.value {
			t.Errorf("%q is %s, %v; want %s, %v", c.text, r, r.Float64(), c.want, c.value)
		}
		if again, err := ParseRate(r.String()); err != nil || again != r {
			t.Errorf("%q: its text %q reads back as %v, %v", c.text, r, again, err)
		}
	}
}

func TestParseRateErrors(t *testing.T) {
	const expected = "expected a rate between 0 and 1 such as 0.1% or 0.001"
	for _, c := range []struct{ text, hint string }{
		{"1", "did you mean 1%?"},
		{"5", "did you mean 5%?"},
		{"+2.5", "did you mean 2.5%?"},
		{"1.0", "did you mean 1.0%?"},
		{"99", "did you mean 99%?"},
		{"100", ""},
		{"100%", ""},
		{"250%", ""},
		{"0", ""},
		{"0%", ""},
		{"0.0e5", ""},
		{"-0.1", ""},
		{"-1", ""},
		{"1/0", ""},
		{"0/0", ""},
		{"3/2", "did you mean 3/2%?"},
		{"1/2/3", ""},
		{"0.5/3", ""},
		{"", ""},
		{"%", ""},
		{"1%%", ""},
		{"one", ""},
		{"nan", ""},
		{"inf", ""},
		{"0x1p-3", ""},
		{"1_0e-3", ""},
		{"0b1/11", ""},
		{"0,1%", "write the decimal point as a point: 0.1%"},
		{"0,05", "write the decimal point as a point: 0.05"},
		{"1,000,5", ""},
		{"1e-999999999", ""},
		{"1e-999", ""},
		{"0." + strings.Repeat("9", 50), ""},
		{"0." + strings.Repeat("1", 500), ""},
	} {
		_, err := ParseRate(c.text)
		f := diag.Of(err)
		if f == nil || f.Kind != diag.Usage {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if f.Hint != c.hint || !strings.Contains(err.Error(), expected) {
			t.Errorf("%q: %v; want hint %q", c.text, err, c.hint)
		}
	}
	_, err := ParseRate("1")
	if want := `rate "1", ` + expected + ` (did you mean 1%?)`; err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestRateCountsExactly(t *testing.T) {
	for _, c := range []struct {
		rate        string
		m           int
		ceil, floor int
	}{
		{"0.07", 100, 7, 7},   // 0.07*100 = 7.000000000000001
		{"0.29", 100, 29, 29}, // 0.29*100 = 28.999999999999996
		{"0.1", 30, 3, 3},
		{"0.01", 50, 1, 0},
		{"0.01", 0, 1, 0},
		{"0.01", 101, 2, 1},
		{"1/3", 9, 3, 3},
		{"1/3", 10, 4, 3},
		{"99.9%", 1000, 999, 999},
		{"1e-4", 10_000_001, 1001, 1000},
		{"0.999999999999999", math.MaxInt, 9223372036854766584, 9223372036854766583},
		{"1e-300", math.MaxInt, 1, 0},
		{"0.5", -3, 1, -2},
	} {
		r := MustRate(c.rate)
		if got := r.Ceil(c.m); got != c.ceil {
			t.Errorf("%s of %d: Ceil = %d, want %d", c.rate, c.m, got, c.ceil)
		}
		if got := r.Floor(c.m); got != c.floor {
			t.Errorf("%s of %d: Floor = %d, want %d", c.rate, c.m, got, c.floor)
		}
		if c.m > 0 && c.m < 1<<53 {
			if got := r.ceilMass(float64(c.m)); got != float64(c.ceil) {
				t.Errorf("%s of mass %d: %v, want %d", c.rate, c.m, got, c.ceil)
			}
		}
	}
}

func TestRateTimes(t *testing.T) {
	for _, c := range []struct {
		rate string
		m    float64
		want float64
	}{
		{"0.07", 100, 7},
		{"0.29", 100, 29},
		{"1/3", 1, 1.0 / 3},
		{"1/3", 0.3, 0.09999999999999999}, // float64(0.3) is below 3/10
		{"0.5", math.MaxFloat64, math.MaxFloat64 / 2},
		{"0.5", math.Inf(1), math.Inf(1)},
		{"0.5", 0, 0},
	} {
		if got := MustRate(c.rate).Times(c.m); got != c.want {
			t.Errorf("%s of %v = %v, want %v", c.rate, c.m, got, c.want)
		}
	}
}

func TestRateIsComparable(t *testing.T) {
	if MustRate("0.1%") != MustRate("1e-3") || MustRate("2/6") != MustRate("1/3") {
		t.Error("equal fractions differ")
	}
	if MustRate("0.1") == MustRate("0.10000000000000001") {
		t.Error("different fractions of one float64 are equal")
	}
	var unset Rate
	if !unset.IsZero() || unset.Float64() != 0 || unset.String() != "" || MustRate("1/2").IsZero() {
		t.Error("the zero value is not the unset rate")
	}
	if unset.Ceil(5) != 1 || unset.Floor(5) != 0 || unset.Times(5) != 0 {
		t.Error("the unset rate does not act as 0")
	}
}

func TestRateOfReadsTheShortestDecimal(t *testing.T) {
	for _, f := range []float64{0.07, 0.29, 1e-4, 0.1 + 0.2, 5e-324, 1 - 0x1p-53, 1e-22} {
		r, err := RateOf(f)
		if err != nil || r.Float64() != f {
			t.Errorf("RateOf(%v) = %v, %v", f, r, err)
		}
	}
	if r, _ := RateOf(0.07); r != MustRate("7/100") {
		t.Errorf("RateOf(0.07) = %v", r)
	}
	for _, f := range []float64{0, 1, -0.1, 2, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if r, err := RateOf(f); err == nil {
			t.Errorf("RateOf(%v) = %v", f, r)
		}
	}
}

func TestRateInJSON(t *testing.T) {
	type settings struct {
		Tau Rate `json:"tau,omitzero"`
	}
	for _, c := range []struct {
		rate Rate
		want string
	}{
		{MustRate("0.1%"), `{"tau":"0.001"}`},
		{MustRate("1/3"), `{"tau":"1/3"}`},
		{Rate{}, `{}`},
	} {
		text, err := json.Marshal(settings{c.rate})
		if err != nil || string(text) != c.want {
			t.Errorf("%v: %s, %v", c.rate, text, err)
		}
		var back settings
		if err := json.Unmarshal(text, &back); err != nil || back.Tau != c.rate {
			t.Errorf("%s reads back as %v, %v", text, back.Tau, err)
		}
	}
	var s settings
	if err := json.Unmarshal([]byte(`{"tau":"2"}`), &s); diag.Of(err) == nil {
		t.Errorf("tau 2 was accepted: %v", err)
	}
	if err := json.Unmarshal([]byte(`{"tau":""}`), &s); err != nil || !s.Tau.IsZero() {
		t.Errorf("empty text: %v, %v", s.Tau, err)
	}
}

// Ceil and Floor against each other and against whole-number arithmetic, for every decimal of four digits.
func TestRateProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9999).Draw(t, "n")
		m := rapid.IntRange(0, 1<<40).Draw(t, "m")
		r, err := RateOf(float64(n) / 10000)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := r.Floor(m), m*n/10000; got != want {
			t.Errorf("Floor = %d, want %d", got, want)
		}
		if got, want := r.Ceil(m), max(1, (m*n+9999)/10000); got != want {
			t.Errorf("Ceil = %d, want %d", got, want)
		}
		if back := MustRate(r.String()); back != r {
			t.Errorf("%v reads back as %v", r, back)
		}
	})
}

func FuzzParseRate(f *testing.F) {
	for _, text := range []string{"0.1%", "1e-4", "1/3", "1", "0,1", "1e-999", "", "0x1p-3", "9/10%", "1/0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRate(text)
		if err != nil {
			if diag.Of(err) == nil || !r.IsZero() {
				t.Fatalf("%q: %v, %v", text, r, err)
			}
			return
		}
		if !(r.Float64() > 0 && r.Float64() < 1) {
			t.Fatalf("%q is %v", text, r.Float64())
		}
		if back, err := ParseRate(r.String()); err != nil || back != r {
			t.Fatalf("%q: %q reads back as %v, %v", text, r, back, err)
		}
	})
}
