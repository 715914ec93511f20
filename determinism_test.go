package toptau_test

import (
	"encoding/json"
	"testing"

	"toptau/threshold"
)

// marshal is a report as --json prints it.
func marshal(t *testing.T, report any) []byte {
	t.Helper()
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func mustRate(t *testing.T, text string) threshold.Rate {
	t.Helper()
	r, err := threshold.ParseRate(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
