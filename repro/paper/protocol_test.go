package paper

import (
	"context"
	"runtime"
	"testing"

	"toptau/internal/core/optim"
)

// TestFingerprintsNameTheRules changes each rule once.
func TestFingerprintsNameTheRules(t *testing.T) {
	base, err := declaredRules(solverCertified)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for name, change := range map[string]func(r *rules){
		"nothing":   func(*rules) {},
		"version":   func(r *rules) { r.Version++ },
		"decay":     func(r *rules) { r.Adam = map[string]float64{"decay 1": 0.8} },
		"grid":      func(r *rules) { r.Grids = map[string][][3]float64{"toppush": {{1, 2, 3}}} },
		"criterion": func(r *rules) { r.Criteria = r.Criteria[1:] },
		"gap":       func(r *rules) { r.Certified = []float64{certifiedRows, 10 * certifiedGap, certifiedSystems} },
	} {
		r := base
		change(&r)
		text, err := digestJSON(r, []string{"probe"})
		if err != nil {
			t.Fatal(err)
		}
		if before := seen[text]; before != "" {
			t.Errorf("%s and %s have the same fingerprint", name, before)
		}
		seen[text] = name
	}
	if _, ok := base.Adam["decay 1"]; !ok || base.Adam["decay 1"] != optim.Constants()["decay 1"] {
		t.Errorf("the rules have the constants %v", base.Adam)
	}
}

func TestTheProbeIsTheSameOnAnyThreads(t *testing.T) {
	var results [2][]string
	for i, threads := range []int{1, 2} {
		before := runtime.GOMAXPROCS(threads)
		var err error
		if results[i], err = probe(solverAdam); err != nil {
			t.Fatal(err)
		}
		runtime.GOMAXPROCS(before)
	}
	if len(results[0]) != 2*len(tableEntries()) {
		t.Fatalf("the probe has %d results", len(results[0]))
	}
	distinct := map[string]bool{}
	for i, r := range results[0] {
		if r != results[1][i] {
			t.Errorf("result %d of the probe depends on the threads", i)
		}
		distinct[r] = true
	}
	if len(distinct) != len(results[0]) {
		t.Errorf("%d of %d results of the probe are distinct", len(distinct), len(results[0]))
	}
}

// TestOtherCodeDoesNotUseOldCells changes the fingerprint of ADAM between two runs.
func TestOtherCodeDoesNotUseOldCells(t *testing.T) {
	options := Options{Items: []string{"curves"}, Sets: []string{"ionosphere"}, Data: dataDirectory(t), Seeds: 1,
		Solver: solverAdam, Out: t.TempDir()}
	made := func() int {
		t.Helper()
		if _, err := Run(context.Background(), options); err != nil {
			t.Fatal(err)
		}
		var history record
		s := store{dir: options.Out + "/cache"}
		if _, err := s.load("record", recordKey, &history); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, one := range history.Sessions {
			n += one.Parts
		}
		return n
	}
	cells := made()
	if cells < len(tableEntries()) {
		t.Fatalf("the first run made %d parts", cells)
	}
	if n := made(); n != cells {
		t.Errorf("a second run of the same code made %d parts", n-cells)
	}
	before := codeFingerprints
	defer func() { codeFingerprints = before }()
	codeFingerprints = func() (fingerprints, error) {
		return fingerprints{solverAdam: "another", solverCertified: "another"}, nil
	}
	if n := made(); n != 2*cells {
		t.Errorf("a run of other code made %d parts, want all %d", n-cells, cells)
	}
}
