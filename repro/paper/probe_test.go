package paper

import (
	"flag"
	"testing"

	"toptau/internal/tests/provenance"
)

var update = flag.Bool("update", false, "TestProbes: write the probes of the pages on the paper")

// TestProbes compares the probes of the pages on the paper with those of this code: the fingerprints by which the
// cells of its tables are kept, and the statements on two random samples.
func TestProbes(t *testing.T) {
	const command = "go test -C repro ./paper -run TestProbes"
	var cells, theorems provenance.Probe
	prints, err := codeFingerprints()
	if err != nil {
		t.Fatal(err)
	}
	cells.Add(prints)
	checks, err := Theorems(t.Context(), nil, 2*casesOfSample, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range checks {
		c := &checks[i]
		theorems.Add(c.Name, c.Cases, c.Violations, c.Measured)
	}
	for page, p := range map[string]*provenance.Probe{"paper.md": &cells, "theorems.md": &theorems} {
		if err := p.Check("../../docs/results/"+page, command, *update); err != nil {
			t.Error(err)
		}
	}
}
