package paper

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"toptau/schema"

	"toptau/internal/data/table"
	"toptau/internal/models/feature"
)

// realSamples returns the two public sets of the paper, unscaled, if TOPTAU_DATA contains them.
func realSamples(t testing.TB) []Sample {
	t.Helper()
	root := os.Getenv("TOPTAU_DATA")
	if root == "" {
		t.Log("TOPTAU_DATA is not set: only random data")
		return nil
	}
	var samples []Sample
	for _, set := range []struct{ name, file, positive string }{
		{"Ionosphere", "ionosphere/ionosphere.data", "b"}, {"Spambase", "spambase/spambase.data", "1"},
	} {
		data, info, err := table.Read(filepath.Join(root, set.file),
			table.Options{Format: schema.Format{Label: "last", Positive: []string{set.positive}, Header: "no"}})
		if err != nil {
			t.Logf("%s: %v", set.name, err)
			continue
		}
		columns, _, err := feature.Fit(data, info.Schema, nil, feature.Options{Scale: schema.ScaleNone})
		if err != nil {
			t.Fatal(err)
		}
		x, err := columns.Matrix(data, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		samples = append(samples, Sample{set.name, x})
	}
	return samples
}

func TestTheorems(t *testing.T) {
	checks, err := Theorems(context.Background(), realSamples(t), 50, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range checks {
		c := &checks[i]
		t.Logf("%-28s %6d cases, %6d on real data, %5d violations, worst %.1e %s",
			c.Name, c.Cases, c.Real, c.Violations, c.Worst, c.Note)
		if !c.OK() {
			t.Errorf("%s (%s): %s: %d violations in %d cases, worst %g", c.Name, c.Paper, c.Statement, c.Violations, c.Cases, c.Worst)
		}
	}
}

// The committed table has a row for every check.
func TestPageNamesEveryTheorem(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(committed, "theorems.csv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range claimsOfPaper() {
		if !strings.Contains(string(page), "\n"+c.Name+",") {
			t.Errorf("repro/pages/theorems.csv has no row for %s", c.Name)
		}
	}
}
