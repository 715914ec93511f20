package certify_test

import (
	"bytes"
	"context"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"toptau/certify"
	"toptau/dataset"
	"toptau/internal/core/simulate"
	"toptau/internal/tests/modeltest"
	"toptau/internal/tests/trial"
	"toptau/method"
	"toptau/result"
	"toptau/schema"
	"toptau/score"
	"toptau/threshold"
)

// A packed file gives the bytes of its source: of a fitted model with its certificate, of scores, and of a model that
// was trained. A fit that encodes the rows in every pass has bounds and a certificate that hold on the source.
func TestPackedFileGivesTheSameResults(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	ctx := context.Background()
	text, packed := trial.SimulatedFiles(t, simulate.Options{Kind: "detectors", Rows: modeltest.IfLong(12_000, 30_000), Seed: 3, Context: true})
	format := schema.Format{Label: "label", ID: []string{"flow"}, Time: "time", Group: "host"}
	read := func(path string) *dataset.Data {
		d, err := dataset.Read(ctx, path, format)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	problem := method.Problem{Method: method.TopMeanNP, Tau: threshold.MustRate("1%"), Lambda: 1e-3}
	fit := func(path string, memory int64) *certify.Fitted {
		d := read(path)
		d.LimitMemory(memory)
		fitted, err := certify.Fit(ctx, d, problem, certify.FitOptions{Encoding: schema.Scorecard})
		if err != nil {
			t.Fatal(err)
		}
		return fitted
	}
	bytesOf := func(w io.WriterTo) string {
		var b bytes.Buffer
		if _, err := w.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	whole, other := fit(text, 0), fit(packed, 0)
	if bytesOf(whole.Model) != bytesOf(other.Model) || bytesOf(whole.Certificate) != bytesOf(other.Certificate) {
		t.Error("the packed file gives another model or certificate")
	}
	scores := func(path string) string {
		f, err := dataset.OpenFiles(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := score.Open(ctx, whole.Model, f, score.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for row, err := range s.Rows() {
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString(row.ID[0] + " " + strconv.FormatFloat(row.Score, 'g', -1, 64) + "\n")
		}
		return b.String()
	}
	if scores(text) != scores(packed) {
		t.Error("the packed file gives other scores")
	}

	blocks := fit(packed, 1)
	f, g := &blocks.Result, &whole.Result
	if *f.Converged != true || math.Abs(f.Objective-g.Objective) > 1e-6*g.AtZero || *f.Lower > g.Objective*(1+1e-12) {
		t.Errorf("bounds %.15g and %.15g, in memory %.15g and %.15g", f.Objective, *f.Lower, g.Objective, *g.Lower)
	}
	if blocks.Certificate == nil {
		t.Fatalf("no certificate: %v", f.Warnings)
	}
	v, err := certify.Verify(ctx, blocks.Model, read(text), blocks.Certificate, nil)
	if err != nil {
		t.Fatal(err)
	}
	// F of blocks is the upper end of an interval that is much narrower than the gap.
	if !v.Holds || math.Abs(v.Objective-f.Objective) > 1e-9*g.AtZero {
		t.Errorf("verified: %v %v, F is %.15g instead of %.15g", v.Holds, v.Reasons, v.Objective, f.Objective)
	}
	// Both bounds are the same whether verify reads the rows in passes or holds them.
	for name, c := range map[string]*certify.Fitted{"in passes": blocks, "in memory": whole} {
		var bounds [2]*result.Verification
		for k, memory := range []int64{0, 1} {
			d := read(packed)
			d.LimitMemory(memory)
			v, err := certify.Verify(ctx, c.Model, d, c.Certificate, nil)
			if err != nil || !v.Holds {
				t.Fatalf("fitted %s, memory %d: %v, %v", name, memory, v, err)
			}
			bounds[k] = v
		}
		a, b := bounds[0], bounds[1]
		if math.Abs(a.Objective-b.Objective) > 1e-12*a.Objective || math.Abs(*a.Lower-*b.Lower) > 1e-12**a.Lower {
			t.Errorf("fitted %s: bounds %.17g and %.17g, in passes %.17g and %.17g", name, a.Objective, *a.Lower, b.Objective, *b.Lower)
		}
	}
	t.Logf("%d passes, in memory %d", f.Passes, g.Passes)
}

// A packed file that is damaged is an error of every verb, with the block and the column.
func TestDamagedPackedFile(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: 21 commands")
	}
	ctx := context.Background()
	_, packed := trial.SimulatedFiles(t, simulate.Options{Kind: "detectors", Rows: 30_000, Seed: 4})
	d, err := dataset.Read(ctx, packed, schema.Format{Label: "label"})
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(packed)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 4
	if err := os.WriteFile(packed, content, 0o600); err != nil {
		t.Fatal(err)
	}
	problem := method.Problem{Method: method.TopMeanNP, Tau: threshold.MustRate("1%"), Lambda: 1e-3}
	for name, memory := range map[string]int64{"in memory": 0, "in blocks": 1} {
		d.LimitMemory(memory)
		if _, err := certify.Fit(ctx, d, problem, certify.FitOptions{}); err == nil || !strings.Contains(err.Error(), "block 1 of 2") {
			t.Errorf("fit %s: %v", name, err)
		}
	}
	if _, err := certify.Diagnose(ctx, d, certify.DiagnoseOptions{}); err == nil || !strings.Contains(err.Error(), "block 1 of 2") {
		t.Errorf("diagnose: %v", err)
	}
}
