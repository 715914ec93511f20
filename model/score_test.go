package model

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toptau/diag"
	"toptau/result"
)

// The training columns: bytes has mean 5, deviation sqrt(5) over the values that are there; weights are bytes
// 1/3, bytes missing -2, service=http 0.125, service=f<t>p "ü" 1e-17, service missing 0.5; offset -0.25.
func TestScoreByHand(t *testing.T) {
	m := trained(t)
	names := []string{"bytes", "bytes missing", "service=http", "service=f<t>p \"ü\"", "service missing"}
	if diff := cmp.Diff(names, m.parts.Features.Names()); diff != "" {
		t.Fatalf("names (-want +got):\n%s", diff)
	}
	scaled := func(x float64) float64 { return float64(float32((x-5)/math.Sqrt(5))) * (1.0 / 3) }
	tests := []struct {
		bytes, service string
		want           float64
	}{
		{"5", "http", 0.125 - 0.25},
		{"7.5", "http", scaled(7.5) + 0.125 - 0.25},
		{" +1e1\t", "http", scaled(10) + 0.125 - 0.25},
		{"5", "unheard of", -0.25},
		{"", "http", -2 + 0.125 - 0.25},
		{"NA", "http", -2 + 0.125 - 0.25},
		{"5", " NA ", 0.5 - 0.25},
		{"5", "f<t>p \"ü\"", 1e-17 - 0.25},
	}
	for _, test := range tests {
		got, err := m.Score(map[string]string{"bytes": test.bytes, "service": test.service, "zero": "", "label": "normal"})
		if err != nil || got != test.want {
			t.Errorf("bytes %q, service %q: %v, %v; want %v", test.bytes, test.service, got, err, test.want)
		}
		again, err := m.ScoreFields([]string{test.bytes, test.service, "0"})
		if err != nil || again != test.want {
			t.Errorf("fields %q, %q: %v, %v", test.bytes, test.service, again, err)
		}
	}
}

func TestScoreRefuses(t *testing.T) {
	m := trained(t)
	for _, test := range []struct {
		record map[string]string
		want   string
	}{
		{map[string]string{"service": "http"}, `a record without "bytes", expected the columns that the model needs`},
		{map[string]string{"bytes": "many", "service": "", "zero": "0"}, `column "bytes": "many", expected a number`},
		{map[string]string{"bytes": "-inf", "service": "", "zero": "0"}, `expected a finite number`},
		{map[string]string{"bytes": "0x1p3", "service": "", "zero": "0"}, `expected a number`},
		{map[string]string{"bytes": "1e999", "service": "", "zero": "0"}, `expected a number`},
		{map[string]string{"bytes": "1e300", "service": "", "zero": "0"}, `too large to be scored`},
	} {
		if _, err := m.Score(test.record); err == nil || !strings.Contains(err.Error(), test.want) || diag.Of(err) == nil {
			t.Errorf("%v: %v, want %q", test.record, err, test.want)
		}
	}
	if _, err := m.ScoreFields([]string{"1", "http"}); err == nil || !strings.Contains(err.Error(), "2 fields, expected 3") {
		t.Errorf("two fields: %v", err)
	}
}

func TestScoreSparse(t *testing.T) {
	m := sparse(t)
	for _, test := range []struct {
		record map[string]string
		want   float64
	}{
		{map[string]string{"1": "3", "17": "0.5"}, 5.5},
		{map[string]string{"index 17": "2", "5": "1"}, -2},
		{map[string]string{}, 0},
	} {
		if got, err := m.Score(test.record); err != nil || got != test.want {
			t.Errorf("%v: %v, %v; want %v", test.record, got, err, test.want)
		}
	}
	for _, fields := range [][]string{{"0:1"}, {"x:1"}, {"1"}, {"1:x"}, {"1:1", "1:2"}, {"-1:1"}} {
		if _, err := m.ScoreFields(fields); diag.Of(err) == nil {
			t.Errorf("%q: %v", fields, err)
		}
	}
}

func TestExplain(t *testing.T) {
	m := trained(t)
	record := map[string]string{"bytes": "7.5", "service": "http", "zero": "0"}
	e, err := m.Explain(record)
	if err != nil {
		t.Fatal(err)
	}
	sum := e.Offset
	for _, r := range e.Reasons {
		sum += r.Adds
	}
	if score, _ := m.Score(record); score != e.Score || sum+e.Rounding != score {
		t.Errorf("score %v, explained %v, reasons add up to %v and %v", score, e.Score, sum, e.Rounding)
	}
	bytes := e.Reasons[0].Adds
	want := []result.Reason{
		{Column: "bytes", Value: "7.5", Adds: bytes, AboveAverage: bytes},
		{Column: "service", Value: "http", Adds: 0.125, AboveAverage: 0.125},
	}
	if diff := cmp.Diff(want, e.Reasons); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

func TestMissingAndUnknownOfTheLastRecord(t *testing.T) {
	s := trained(t).NewScorer()
	for _, test := range []struct{ fields, missing, unknown []string }{
		{[]string{"", "http", ""}, []string{"bytes"}, nil},
		{[]string{"5", "?", "0"}, nil, []string{"service"}},
		{[]string{"NA", "", "0"}, []string{"bytes", "service"}, nil},
		{[]string{"5", "http", "0"}, nil, nil},
	} {
		if _, err := s.ScoreFields(test.fields); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(s.Missing(), test.missing) || !slices.Equal(s.Unknown(), test.unknown) {
			t.Errorf("%q: missing %q, unknown %q", test.fields, s.Missing(), s.Unknown())
		}
	}
}
