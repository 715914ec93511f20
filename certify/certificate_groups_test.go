package certify_test

import (
	"bytes"
	"context"
	"math"
	"path/filepath"
	"testing"

	"toptau/certify"
	"toptau/dataset"
	"toptau/internal/core/simulate"
	"toptau/internal/tests/modeltest"
	"toptau/internal/tests/trial"
	"toptau/method"
	"toptau/model"
	"toptau/schema"
	"toptau/surrogate"
	"toptau/threshold"
)

// A fit in passes over a packed file writes a certificate, with groups of rows where many matter, and verify holds it
// both in passes and, without groups, in memory.
func TestCertificateOfAFitInPasses(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	ctx := context.Background()
	text, packed := trial.SimulatedFiles(t, simulate.Options{Kind: "hepmass", Rows: 210_000, Seed: 5})
	read := func(path string) *dataset.Data { return trial.ReadPacked(t, path, schema.Format{Label: "label"}) }
	problems := []method.Problem{
		{Method: method.TopMeanNP, Tau: threshold.MustRate("1%"), Lambda: 1e-3},
		{Method: method.PatMatNP, Tau: threshold.MustRate("40%"), Beta: 1, Lambda: 1e-3},
		{Method: method.PatMat, Tau: threshold.MustRate("40%"), Beta: 1, Lambda: 1e-3, Surrogate: surrogate.SquaredHinge.Name()},
	}
	for _, p := range problems[:modeltest.IfLong(1, 3)] {
		p.Surrogate = max(p.Surrogate, surrogate.Hinge.Name())
		inPasses := read(packed)
		inPasses.LimitMemory(1)
		fitted, err := certify.Fit(ctx, inPasses, p, certify.FitOptions{})
		if err != nil {
			t.Fatal(err)
		}
		c := fitted.Certificate
		if c == nil {
			t.Fatalf("%s: no certificate: %v", p.Method, fitted.Result.Warnings)
		}
		path := filepath.Join(t.TempDir(), "c.json")
		if err := c.Save(path); err != nil {
			t.Fatal(err)
		}
		if c, err = model.LoadCertificate(path); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		c.WriteTo(&b)
		t.Logf("%s %s: %d and %d groups, %d bytes", p.Method, p.Surrogate, len(c.P.Groups), len(c.A.Groups), b.Len())
		v, err := certify.Verify(ctx, fitted.Model, inPasses, c, nil)
		if err != nil {
			t.Errorf("%s %s: %v", p.Method, p.Surrogate, err)
			continue
		}
		if !v.Holds {
			t.Errorf("%s %s: %v", p.Method, p.Surrogate, v.Reasons)
		}
		t.Logf("  F %.12g (claimed %.12g) within %.2g, D %.12g (%.12g) within %.2g", v.Objective, v.ClaimedObjective, v.ObjectiveError, *v.Lower, v.ClaimedLowerBound, v.LowerBoundError)
		other, err := certify.Verify(ctx, fitted.Model, read(text), c, nil)
		if err != nil || other.Holds != v.Holds || math.Abs(other.Objective-v.Objective) > other.ObjectiveError+v.ObjectiveError ||
			math.Abs(*other.Lower-*v.Lower) > other.LowerBoundError+v.LowerBoundError {
			t.Errorf("%s %s: from the text %+v, in passes %+v, %v", p.Method, p.Surrogate, other, v, err)
		}
	}
}
