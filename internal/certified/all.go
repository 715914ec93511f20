package certified

import (
	"context"
	"fmt"

	"toptau/internal/objective"
)

// Cost is what a list of problems took together.
type Cost struct {
	Passes   int     // readings of the population, one for any number of problems
	RowReads float64 // visits to rows, those of each problem counted, over the number of rows
}

// Watch is how SolveAll reports.
type Watch struct {
	// Solved is called by the caller's goroutine when a problem is solved, cancelled or found to have no solution (err says
	// why), with its place in the list; those that end at the same reading come in the list's order. It reports whether to go on.
	Solved func(i int, r Result, err error) bool
	// Progress is called after every round of a problem, by several goroutines; nil: not.
	Progress func(i int, p Progress)
}

// SolveAll solves problems on one matrix side by side, so that one reading of the data serves all of them. Each result has the
// bytes of a single solve, whatever the list; its Passes are those that it would have made alone. opt.Progress is not used.
//
// All begin cold: a warm start would wait for another point's result, hence for its readings, and would make the result depend
// on the list. A path whose points are asked for one after the other is a Chain's.
func SolveAll(ctx context.Context, list []*objective.Objective, opt Options, watch Watch) (Cost, error) {
	var cost Cost
	if len(list) == 0 {
		return cost, nil
	}
	x := list[0].Matrix()
	for i, o := range list {
		if o.Matrix() != x {
			return cost, fmt.Errorf("certified: problem %d lies on another matrix than the first", i+1)
		}
	}
	t := newTogether(x)
	t.run(ctx, list, mostTogether(x), opt, Watch{Progress: watch.Progress, Solved: func(i int, r Result, err error) bool {
		cost.RowReads += r.RowReads
		return watch.Solved(i, r, err)
	}})
	cost.Passes = t.passes
	return cost, nil
}
