package solver

import (
	"testing"

	"toptau/method"
	"toptau/threshold"
)

// TestWideProblemsHaveACertificate chooses solvers around the limits of wide data.
func TestWideProblemsHaveACertificate(t *testing.T) {
	tau, err := threshold.RateOf(.1)
	if err != nil {
		t.Fatal(err)
	}
	topPush := method.Problem{Method: "toppush", Lambda: 1e-3}
	topMean := method.Problem{Method: "topmean", Lambda: 1e-3, Tau: tau}
	patMat := method.Problem{Method: "patmat-np", Lambda: 1e-3, Tau: tau, Beta: 1}
	squared := patMat
	squared.Surrogate = "squared-hinge"
	for _, c := range []struct {
		problem        method.Problem
		rows, features int
		want           method.Solver
	}{
		{topPush, 1_000_000, 2000, method.CertifiedSolver},
		{topPush, 6000, 2001, method.CertifiedSolver},
		{topPush, 6001, 2001, method.Adam},
		{topPush, 10_000, 8000, method.CertifiedSolver},
		{topPush, 10_001, 80_000, method.Adam},
		{patMat, 6000, 5000, method.CertifiedSolver},
		{squared, 1500, 5000, method.CertifiedSolver},
		{squared, 1501, 5000, method.Adam},
		{topMean, 1500, 60_000, method.CertifiedSolver},
		{topMean, 1501, 60_000, method.Adam},
	} {
		p, err := c.problem.Complete()
		if err != nil {
			t.Fatal(err)
		}
		s := method.Settings{Solver: method.AutoSolver}
		if got := Choose(&s, p, c.rows, c.features); got != c.want {
			t.Errorf("%s, %s, %d x %d: %s, want %s", p.Method, p.Surrogate, c.rows, c.features, got, c.want)
		}
	}
}
