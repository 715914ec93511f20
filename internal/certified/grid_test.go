package certified

import (
	"context"
	"fmt"
	"testing"
	"time"

	"toptau/internal/objective"
)

// gridInstances is a grid over lambda, K, tau and beta, like those of a search over hyperparameters.
func gridInstances() (list []instance) {
	for _, lambda := range []float64{.1, 1e-3} {
		for _, k := range []int{1, 5} {
			list = append(list, instance{"", "toppushk", hyper(lambda, "", 0, k, false)})
		}
		for _, tau := range []string{"0.01", "0.05"} {
			list = append(list, instance{"", "topmean-np", hyper(lambda, tau, 0, 0, false)})
		}
		for _, beta := range []float64{1, .01} {
			for _, tau := range []string{"0.01", "0.05"} {
				list = append(list, instance{"", "patmat-np", hyper(lambda, tau, beta, 0, false)})
			}
		}
	}
	return list
}

// gridCost is the cost of a grid in one of three ways.
type gridCost struct {
	passes, reached int
	used            time.Duration
}

func (e *gridCost) addResult(r Result) {
	e.passes += r.Passes
	if r.Converged {
		e.reached++
	}
}

// gridPart solves a grid in a batch, in a chain and one by one.
func gridPart(t *testing.T, s *section) {
	grid := gridInstances()
	s.paragraph(fmt.Sprintf(`A grid of %d problems: lambda 0.1 and 0.001; TopPushK with k 1 and 5, TopMean-NP with tau 0.01 and 0.05, Pat&Mat-NP with
		tau 0.01 and 0.05 and beta 1 and 0.01. "Together" is SolveAll: each pass serves all problems that wait for one, and every
		result has the bytes of the single solve (checked). In a chain each problem starts where the one before it ended. All
		passes include those that verify the results.`, len(grid)))
	s.table([]string{"set", "passes together", "in a chain", "alone", "processor s together", "in a chain", "alone", "points reached together",
		"in a chain", "alone"})
	for _, set := range []string{"spambase", "mammography", "a9a", "nsl_kdd"} {
		x := standardised(t, set)
		var list []*objective.Objective
		for _, in := range grid {
			list = append(list, bind(t, newProblem(t, in.method, in.h), x))
		}
		var together, chained, alone gridCost
		results := make([]string, len(list))
		before := processor()
		for i, o := range list {
			r, err := Solve(context.Background(), o, Options{})
			if err != nil {
				t.Fatal(err)
			}
			alone.addResult(r)
			results[i] = fmt.Sprint(r)
		}
		alone.used = processor() - before
		before = processor()
		cost, err := SolveAll(context.Background(), list, Options{}, Watch{Solved: func(i int, r Result, err error) bool {
			together.addResult(r)
			if fmt.Sprint(r) != results[i] || err != nil {
				t.Errorf("%s, problem %d: together %s, not what it is alone; %v", set, i, describe(r), err)
			}
			return true
		}})
		if err != nil {
			t.Fatal(err)
		}
		together.passes, together.used = cost.Passes, processor()-before
		before = processor()
		var chain Chain
		for _, o := range list {
			r, err := chain.Solve(context.Background(), o, Options{})
			if err != nil {
				t.Fatal(err)
			}
			chained.addResult(r)
		}
		chained.used = processor() - before
		s.row(set, fmt.Sprint(together.passes), fmt.Sprint(chained.passes), fmt.Sprint(alone.passes), seconds(together.used),
			seconds(chained.used), seconds(alone.used), fmt.Sprint(together.reached), fmt.Sprint(chained.reached), fmt.Sprint(alone.reached))
		t.Logf("%s: together %+v, chain %+v, alone %+v", set, together, chained, alone)
	}
	s.write(t, "Grids")
}
