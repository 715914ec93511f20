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
	visits  float64       // of rows outside of readings
	classes [2][]float64  // the sums of the classes, once read
}

// event is what a problem says to the others: that it waits for a reading, or that it has ended.
type event struct {
	points []scored      // whose scores are wanted; none: the sums of the classes are
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
func (t *together) scores(points []scored) { t.wait(points) }

// sums waits for the next common reading, unless there has been one.
func (t *together) sums() (positives, negatives []float64) {
	t.wait(nil)
	return t.classes[0], t.classes[1]
}

func (t *together) wait(points []scored) {
	served := make(chan struct{})
	<-t.tokens
	t.events <- event{points: points, served: served}
	<-served
	t.tokens <- struct{}{}
}

// run solves the problems, most at a time, and reports each one after the reading in which it ended, in the order of the
// list. It stops when solved reports false.
func (t *together) run(ctx context.Context, list []*objective.Objective, most int, opt Options, solved func(outcome) bool) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	next, running, going := 0, 0, true
	var waiting []event
	for {
		for ; going && next < len(list) && running+len(waiting) < most; next++ {
			running++
			go t.solve(ctx, next, list[next], opt)
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
			if going = going && solved(o); !going {
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

func (t *together) solve(ctx context.Context, problem int, o *objective.Objective, opt Options) {
	t.tokens <- struct{}{}
	r, err := solveWith(ctx, o, opt, t)
	<-t.tokens
	t.events <- event{ended: outcome{problem, r, err}}
}

// serve makes one reading for all that wait. Equal points are scored once.
func (t *together) serve(waiting []event) {
	var points []scored
	copies := map[int][]scored{} // by index in points
	sums := false
	for _, e := range waiting {
		sums = sums || len(e.points) == 0
		for _, p := range e.points {
			same := func(q scored) bool { return slices.Equal(p.w, q.w) }
			if k := slices.IndexFunc(points, same); k >= 0 {
				copies[k] = append(copies[k], p)
			} else {
				points = append(points, p)
			}
		}
	}
	if sums && t.classes[0] == nil {
		t.classes[0], t.classes[1] = t.direct.sums()
		t.passes++
	}
	if len(points) > 0 {
		t.direct.scores(points)
		t.passes++
	}
	for k, list := range copies {
		for _, p := range list {
			copy(p.z, points[k].z)
		}
	}
	for _, e := range waiting {
		close(e.served)
	}
}

// mostTogether is how many problems are solved at a time: as many as their scores and the rows that they hold fit into the
// memory of the matrix, or into 512 MB.
func mostTogether(x *matrix.Matrix) int {
	const least, most = 512 << 20, 128
	scores := 8 * float64(recentPoints+1) * float64(x.Rows())
	held := 8 * float64(x.Cols()) * math.Min(float64(x.Rows()), 2*mostHeld)
	return int(math.Max(1, math.Min(most, math.Max(least, float64(x.Bytes()))/(scores+held))))
}
