package certified

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
)

// Cost is the cost of a list of problems.
type Cost struct {
	Passes   int     // passes over the population, one for any number of problems
	RowReads float64 // rows read, counted for each problem, over the number of rows
}

// Watch has the callbacks of SolveAll.
type Watch struct {
	// Solved is called on the caller's goroutine when a problem has ended, with its index in the list. The
	// error explains why it has no solution. Problems that end at the same pass come in the order of the
	// list. It returns false to stop.
	Solved func(i int, r Result, err error) bool
	// Progress is called after every round of a problem, from several goroutines; nil: not.
	Progress func(i int, p Progress)
}

// SolveAll solves problems on one matrix at the same time, so that one pass over the data serves all of them.
// Each result has the bytes of a single solve and does not depend on the list. Its Passes are those of a
// single solve. opt.Progress is not used.
//
// All start cold. A warm start would have to wait for another problem's result, and so for its passes, and
// would make results depend on the list. It would save no time either: problems that start from each other
// need fewer Newton systems, of more rows (docs/results/certified.md, Grids).
func SolveAll(ctx context.Context, list []*objective.Objective, opt Options, watch Watch) (Cost, error) {
	var cost Cost
	if len(list) == 0 {
		return cost, nil
	}
	x := list[0].Matrix()
	for i, o := range list {
		if o.Matrix() != x {
			return cost, fmt.Errorf("certified: problem %d is on another matrix than the first", i+1)
		}
	}
	b := newBatch(x)
	solved := func(i int, r Result, err error) bool {
		cost.RowReads += r.RowReads
		return watch.Solved(i, r, err)
	}
	b.run(ctx, list, batchSize(x), opt, Watch{Solved: solved, Progress: watch.Progress})
	cost.Passes = b.passes
	return cost, nil
}

// batch solves several problems on one matrix at the same time. Each runs on a goroutine of its own until it
// needs a pass. When all wait for one, it is made for all of them at once. A problem's answers depend only on
// its own points, so its result has the bytes of a single solve. No problem continues before all wait, so the
// number of passes does not depend on the threads.
type batch struct {
	direct
	requests chan request
	tokens   chan struct{} // one for each problem that may compute at a time
	passes   int
	classes  [2][]float64 // the sums of the classes, once they are read
}

// request is a problem's request for a pass, of one of two kinds, or the news that it has ended.
type request struct {
	points []*Point // compute their scores
	sums   bool     // sum the classes

	served chan struct{} // closed after the pass; nil: the problem has ended
	ended  outcome
}

// outcome is the end of a problem.
type outcome struct {
	problem int
	result  Result
	err     error
}

func newBatch(x *matrix.Matrix) *batch {
	return &batch{direct: direct{x}, requests: make(chan request), tokens: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// computeScores waits for the next common pass.
func (b *batch) computeScores(points []*Point) { b.wait(request{points: points}) }

// sumClasses waits for the next common pass. The sums are read once for all problems.
func (b *batch) sumClasses() (positives, negatives []float64) {
	b.wait(request{sums: true})
	return b.classes[0], b.classes[1]
}

// wait lets others compute until the request is served.
func (b *batch) wait(r request) {
	r.served = make(chan struct{})
	<-b.tokens
	b.requests <- r
	<-r.served
	b.tokens <- struct{}{}
}

// run solves the problems, at most size at a time. It reports a problem before the pass that follows its end,
// and stops when Solved returns false.
func (b *batch) run(ctx context.Context, list []*objective.Objective, size int, opt Options, watch Watch) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var waiting []request
	next, running, going := 0, 0, true
	for {
		for ; going && next < len(list) && running+len(waiting) < size; next++ {
			running++
			go b.solveOne(ctx, next, list[next], opt, watch.Progress)
		}
		var ended []outcome
		for ; running > 0; running-- {
			if r := <-b.requests; r.served == nil {
				ended = append(ended, r.ended)
			} else {
				waiting = append(waiting, r)
			}
		}
		slices.SortFunc(ended, func(x, y outcome) int { return x.problem - y.problem })
		for _, o := range ended {
			if going = going && watch.Solved(o.problem, o.result, o.err); !going {
				stop()
			}
		}
		if len(ended) > 0 && going && next < len(list) {
			continue // the problems that take the free places join the pass
		}
		if len(waiting) == 0 {
			return
		}
		b.serve(waiting)
		running, waiting = len(waiting), nil
	}
}

// solveOne solves a problem on its own goroutine.
func (b *batch) solveOne(ctx context.Context, problem int, o *objective.Objective, opt Options,
	progress func(int, Progress)) {
	opt.Progress = nil
	if progress != nil {
		opt.Progress = func(p Progress) { progress(problem, p) }
	}
	b.tokens <- struct{}{}
	r, err := solveWith(ctx, o, opt, b)
	o.Release() // the scratch of many objectives would add up
	<-b.tokens
	b.requests <- request{ended: outcome{problem, r, err}}
}

// serve makes one pass for all requests of a kind.
func (b *batch) serve(waiting []request) {
	var points []*Point
	sums := false
	for _, r := range waiting {
		points = append(points, r.points...)
		sums = sums || r.sums
	}
	if sums && b.classes[0] == nil {
		b.classes[0], b.classes[1] = b.direct.sumClasses()
		b.passes++
	}
	if len(points) > 0 {
		b.scorePoints(points)
		b.passes++
	}
	for _, r := range waiting {
		close(r.served)
	}
}

// scorePoints computes the scores of equal points of several problems once. Many start at the same points.
func (b *batch) scorePoints(points []*Point) {
	var distinct []*Point
	copies := make([][]*Point, 0, len(points)) // of each distinct point
	for _, p := range points {
		k := slices.IndexFunc(distinct, func(q *Point) bool { return slices.Equal(p.W, q.W) })
		if k >= 0 {
			copies[k] = append(copies[k], p)
			continue
		}
		distinct, copies = append(distinct, p), append(copies, nil)
	}
	b.direct.computeScores(distinct)
	for k, list := range copies {
		for _, p := range list {
			copy(p.scores, distinct[k].scores)
		}
	}
}

// batchSize returns the number of problems that are solved at a time: as many as their scores and held rows
// fit into the memory of the matrix or into 512 MB, at most 128. Chosen by hand.
func batchSize(x *matrix.Matrix) int {
	const least, most = 512 << 20, 128
	scores := float64(8 * (recentPoints + 1) * x.Rows())
	held := float64(8 * x.Cols() * min(x.Rows(), 2*maxHeld))
	return int(math.Max(1, math.Min(most, math.Max(least, float64(x.Bytes()))/(scores+held))))
}
