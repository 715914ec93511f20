package main

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"toptau/internal/app/plot"
)

// The README's chart shows the committed results.
func TestChartIsDrawnFromItsData(t *testing.T) {
	content, err := os.ReadFile("../../docs/results/quality.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []chartRow
	if err := json.Unmarshal(content, &rows); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../docs/results/quality.svg")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, plot.SVG(newChart(rows))) {
		t.Error("docs/results/quality.svg is out of date (go run -C bench ./quality -chart ../docs/results/quality.json)")
	}
}
