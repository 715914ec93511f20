package certified

import (
	"context"
	"math"
	"runtime"
	"slices"

	"toptau/internal/matrix"
	"toptau/internal/objective"
)

// together solves several problems on one matrix side by side. Each runs as it would alone, on a goroutine of its own,
// until it needs a reading of the data; when all wait for one, it is made for all of them at once. What a problem gets
// depends on its own points alone, so its result has the bytes of a single solve, and since nobody goes on before all
// wait, the readings do not depend on threads either.
type together struct {
	direct
	events  chan event
	tokens  chan struct{} // so many problems compute at a time
	passes  int           // readings made
	classes [2][]float64  // the sums of the classes, once read
}

// event is what a problem says to the others: that it waits for a reading, of one of three kinds, or that it has ended.
type event struct {
	points []scored     // whose scores are wanted
	sums   bool         // the sums of the classes are wanted
	part   *matrix.Part // of the rows whose weighted sum is wanted
	sum    matrix.Sum

	served chan struct{} // closed after the reading; nil: the problem has ended
	ended  outcome
}

type outcome struct {
	problem int
	result  Result
	err     error
}

func newTogether(x *matrix.Matrix) *together {
	return &together{direct: direct{x}, events: make(chan event), tokens: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// scores waits for the next common reading.
func (t *together) scores(points []scored) { t.wait(event{points: points}) }

// sums waits for the next common reading, which reads nothing if there has been one for these sums.
func (t *together) sums() (positives, negatives []float64) {
	t.wait(event{sums: true})
	return t.classes[0], t.classes[1]
}

// add waits for the next common reading.
func (t *together) add(part *matrix.Part, _, z []float64, value func(i int, z float64) float64, g []float64) int {
	values := sparse(z, value)
	t.wait(event{part: part, sum: matrix.Sum{Rows: values.Rows, V: values.Values, G: g}})
	return len(values.Rows)
}

// wait lets others compute until the reading is made.
func (t *together) wait(e event) {
	e.served = make(chan struct{})
	<-t.tokens
	t.events <- e
	<-e.served
	t.tokens <- struct{}{}
}

// run solves the problems, at most so many at a time. It reports a problem before the reading that follows its end, and stops
// when Solved reports false.
func (t *together) run(ctx context.Context, list []*objective.Objective, most int, opt Options, watch Watch) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var waiting []event
	next, running, going := 0, 0, true
	for {
		for ; going && next < len(list) && running+len(waiting) < most; next++ {
			running++
			go t.solve(ctx, next, list[next], opt, watch.Progress)
		}
		var ended []outcome
		for ; running > 0; running-- {
			if e := <-t.events; e.served == nil {
				ended = append(ended, e.ended)
			} else {
				waiting = append(waiting, e)
			}
		}
		slices.SortFunc(ended, func(a, b outcome) int { return a.problem - b.problem })
		for _, o := range ended {
			if going = going && watch.Solved(o.problem, o.result, o.err); !going {
				stop()
			}
		}
		if len(ended) > 0 && going && next < len(list) {
			continue // those that take the free places join the reading
		}
		if len(waiting) == 0 {
			return
		}
		t.serve(waiting)
		running, waiting = len(waiting), nil
	}
}

func (t *together) solve(ctx context.Context, problem int, o *objective.Objective, opt Options, progress func(int, Progress)) {
	opt.Progress = nil
	if progress != nil {
		opt.Progress = func(p Progress) { progress(problem, p) }
	}
	t.tokens <- struct{}{}
	r, err := solveWith(ctx, o, opt, t)
	o.Release() // the space for many objectives would add up
	<-t.tokens
	t.events <- event{ended: outcome{problem, r, err}}
}

// serve makes one reading for all that wait for the same. Sums of some rows are no pass, as in a single solve.
func (t *together) serve(waiting []event) {
	var points []scored
	sums := false
	weighted := map[*matrix.Part][]matrix.Sum{}
	for _, e := range waiting {
		points = append(points, e.points...)
		sums = sums || e.sums
		if e.part != nil {
			weighted[e.part] = append(weighted[e.part], e.sum)
		}
	}
	if sums && t.classes[0] == nil {
		t.classes[0], t.classes[1] = t.direct.sums()
		t.passes++
	}
	if len(points) > 0 {
		t.score(points)
		t.passes++
	}
	for _, part := range []*matrix.Part{t.x.Positives, t.x.Negatives} {
		part.AddGradients(weighted[part])
	}
	for _, e := range waiting {
		close(e.served)
	}
}

// score scores equal points once.
func (t *together) score(points []scored) {
	var distinct []scored
	copies := make([][]scored, 0, len(points)) // beside distinct
	for _, p := range points {
		k := slices.IndexFunc(distinct, func(q scored) bool { return slices.Equal(p.w, q.w) })
		if k >= 0 {
			copies[k] = append(copies[k], p)
			continue
		}
		distinct, copies = append(distinct, p), append(copies, nil)
	}
	t.direct.scores(distinct)
	for k, list := range copies {
		for _, p := range list {
			copy(p.z, distinct[k].z)
		}
	}
}

// mostTogether is how many problems are solved at a time: as many as their scores and the rows that they hold fit into the
// memory of the matrix, or into 512 MB.
func mostTogether(x *matrix.Matrix) int {
	const least, most = 512 << 20, 128
	scores := float64(8 * (recentPoints + 1) * x.Rows())
	held := float64(8 * x.Cols() * min(x.Rows(), 2*mostHeld))
	return int(math.Max(1, math.Min(most, math.Max(least, float64(x.Bytes()))/(scores+held))))
}
