package certified

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
)

// grid is a list of problems on one matrix, like that of a search over hyperparameters.
type grid struct {
	name   string
	points []instance
}

// newGrid returns the problems for all lambdas: TopPushK for all k, TopMean-NP for all taus, and Pat&Mat-NP for
// all pairs of a beta and one of two taus.
func newGrid(lambdas []float64, ks []int, taus []string, betas []float64) (g grid) {
	for _, lambda := range lambdas {
		for _, k := range ks {
			g.points = append(g.points, instance{"", "toppushk", hyper(lambda, "", 0, k, false)})
		}
		for _, tau := range taus {
			g.points = append(g.points, instance{"", "topmean-np", hyper(lambda, tau, 0, 0, false)})
		}
		for _, beta := range betas {
			for _, tau := range []string{"0.01", "0.05"} {
				g.points = append(g.points, instance{"", "patmat-np", hyper(lambda, tau, beta, 0, false)})
			}
		}
	}
	g.name = fmt.Sprint(len(g.points))
	return g
}

// grids returns the grids of the table, of 16 and of 64 problems.
func grids() []grid {
	return []grid{
		newGrid([]float64{.1, 1e-3}, []int{1, 5}, []string{"0.01", "0.05"}, []float64{1, .01}),
		newGrid([]float64{.1, .01, 1e-3, 1e-4}, []int{1, 5, 10, 20}, []string{"0.01", "0.02", "0.05", "0.1"}, []float64{1, .1, .01, 1e-3}),
	}
}

// gridCost is the cost of a grid.
type gridCost struct {
	passes, reached int
	used            time.Duration
}

// gridPart solves grids in a batch and one by one. The page has the ranges over the sets.
func gridPart(t *testing.T, s *section) {
	s.paragraph(`Grids of 16 problems: lambda 0.1 and 0.001; TopPushK with k 1 and 5, TopMean-NP with tau 0.01 and 0.05, Pat&Mat-NP with
		tau 0.01 and 0.05 and beta 1 and 0.01. Grids of 64: lambda 0.1, 0.01, 0.001 and 1e-4; k 1, 5, 10 and 20; tau 0.01, 0.02, 0.05
		and 0.1 for TopMean-NP; beta 1, 0.1, 0.01 and 0.001. "Together" is SolveAll: each pass serves all problems that wait for one,
		and every result has the bytes of the single solve (checked). All passes include those that verify the results. Train solves
		folds at a gap of 1e-2. The table has the range over the sets. [certified-grids.csv](certified-grids.csv) has every grid.`)
	lines := [][]string{{"set", "problems", "gap", "passes_together", "passes_alone", "processor_s_together", "processor_s_alone", "reached_together", "reached_alone"}}
	var measured []gridOutcome
	for _, set := range []string{"ionosphere", "spambase", "mammography", "magic04", "a9a", "nsl_kdd"} {
		x := standardised(t, set)
		for _, g := range grids() {
			for _, gap := range []float64{1e-6, 1e-2} {
				together, alone := measureGrid(t, x, g, gap)
				measured = append(measured, gridOutcome{g.name, gap, together, alone})
				lines = append(lines, []string{set, g.name, fmt.Sprint(gap), fmt.Sprint(together.passes), fmt.Sprint(alone.passes),
					seconds(together.used), seconds(alone.used), fmt.Sprint(together.reached), fmt.Sprint(alone.reached)})
				t.Logf("%s, %s problems, gap %g: together %+v, alone %+v", set, g.name, gap, together, alone)
			}
		}
	}
	s.table([]string{"problems", "gap", "passes together", "alone", "processor time together over alone", "not solved"})
	for _, g := range grids() {
		for _, gap := range []float64{1e-6, 1e-2} {
			var together, alone, ratio []float64
			left := 0
			for _, m := range measured {
				if m.grid == g.name && m.gap == gap {
					together, alone = append(together, float64(m.together.passes)), append(alone, float64(m.alone.passes))
					ratio = append(ratio, m.together.used.Seconds()/m.alone.used.Seconds())
					left += 2*len(g.points) - m.together.reached - m.alone.reached
				}
			}
			s.row(g.name, fmt.Sprint(gap), span("%.0f", together), span("%.0f", alone), span("%.2f", ratio), fmt.Sprint(left))
		}
	}
	s.write(t, "Grids")
	writeCSV(t, "certified-grids.csv", lines)
}

// gridOutcome is the cost of a grid of one set, in a batch and one by one.
type gridOutcome struct {
	grid            string
	gap             float64
	together, alone gridCost
}

// span returns the smallest and the largest number of a list.
func span(format string, list []float64) string {
	return fmt.Sprintf(format+" to "+format, slices.Min(list), slices.Max(list))
}

// measureGrid solves a grid in a batch and one by one, and compares the results.
func measureGrid(t *testing.T, x *matrix.Matrix, g grid, gap float64) (together, alone gridCost) {
	t.Helper()
	var list []*objective.Objective
	for _, in := range g.points {
		list = append(list, bind(t, newProblem(t, in.method, in.h), x))
	}
	results := make([]string, len(list))
	before := processor()
	for i, o := range list {
		r, err := Solve(context.Background(), o, Options{Gap: gap})
		if err != nil {
			t.Fatal(err)
		}
		alone.passes += r.Passes
		if r.Converged {
			alone.reached++
		}
		results[i] = fmt.Sprint(r)
	}
	alone.used = processor() - before
	before = processor()
	cost, err := SolveAll(context.Background(), list, Options{Gap: gap}, Watch{Solved: func(i int, r Result, err error) bool {
		if r.Converged {
			together.reached++
		}
		if fmt.Sprint(r) != results[i] || err != nil {
			t.Errorf("problem %d: together %s, not what it is alone; %v", i, describe(r), err)
		}
		return true
	}})
	if err != nil {
		t.Fatal(err)
	}
	together.passes, together.used = cost.Passes, processor()-before
	return together, alone
}
