package paper

import (
	"math"
	"strings"
	"testing"
)

// A run converges when it stays within the fraction of the optimum, not when it passes through it.
func TestConvergedMeansToStay(t *testing.T) {
	bound := 1.0
	run := ConvergenceRun{AtZero: 2, Bound: &bound, Steps: []int{0, 50, 100, 150, 200}}
	for _, c := range []struct {
		values []float64
		at     int
		ok     bool
	}{
		{[]float64{2, 1.5, 1.005, 1.004, 1.001}, 100, true},
		{[]float64{2, 1.005, 1.5, 1.009, 1.001}, 150, true},
		{[]float64{2, 1.001, 1.001, 1.001, 1.02}, 0, false},
	} {
		run.Values = c.values
		if at, ok := run.converged(); at != c.at || ok != c.ok {
			t.Errorf("%v: %d, %v; want %d, %v", c.values, at, ok, c.at, c.ok)
		}
	}
	if m := run.missing(1.25); m != 0.25 {
		t.Errorf("a quarter is missing, not %v", m)
	}
	if run.Zero = true; !math.IsNaN(run.missing(1.25)) {
		t.Error("something is missing although w = 0 is optimal")
	}
	if f := run.valueAfter(100); f != 1.001 {
		t.Errorf("after 100 iterations: %v", f)
	}
}

func TestConvergenceTable(t *testing.T) {
	bound := 1.0
	c := &Convergence{Rows: 4000, Columns: 3, Batches: 40, Seconds: []float64{0.001, 0.002, 0.003, 0.002, 0.004}}
	for range convergenceMethods {
		c.Runs = append(c.Runs, ConvergenceRun{AtZero: 2, Bound: &bound, Steps: []int{0, 1000}, Values: []float64{2, 1.005}})
	}
	c.Runs[0].Zero, c.Runs[1].Bound, c.Runs[4].Values = true, nil, []float64{2, 1.5}
	table, summary, err := convergenceTable(c)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"it ends above F(0)", "unknown", "1,000 iterations, 3 s", "1,000 iterations, 2 s", "not in 1,000 iterations"} {
		if row := strings.Join(table.Rows[i], " | "); !strings.Contains(row, want) {
			t.Errorf("%q does not contain %q", row, want)
		}
	}
	for _, want := range []string{"at most 4 s", "1 have w = 0 as optimum", "of the others, 2 of 3 come"} {
		if !strings.Contains(summary, want) {
			t.Errorf("%s", summary)
		}
	}
}
