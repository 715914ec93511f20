package certified

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/method"
)

// gridOf binds every method, with two lambdas.
func gridOf(t testing.TB, x *matrix.Matrix) (list []*objective.Objective) {
	for _, lambda := range []float64{1e-4, .1} {
		for _, n := range everyMethod(lambda) {
			list = append(list, bind(t, newProblem(t, n.name, n.h), x))
		}
	}
	return list
}

// TestSolveAll solves a grid in one batch, on one thread and on several, and each of its problems alone. All
// bytes agree, and the passes are about those of the longest solve, not the sum.
func TestSolveAll(t *testing.T) {
	if testing.Short() {
		t.Skip("solves many problems")
	}
	x := clouds(13, 60, 900, 4, 1).matrix(t, matrix.Float32)
	list := gridOf(t, x)
	alone, sum, longest, visits := make([]string, len(list)), 0, 0, 0.
	for i, o := range list {
		r, err := Solve(context.Background(), o, Options{})
		if err != nil {
			t.Fatal(err)
		}
		alone[i], sum, longest = fmt.Sprint(r), sum+r.Passes, max(longest, r.Passes)
		visits += r.RowReads
	}
	for _, threads := range []int{1, 3} {
		before := runtime.GOMAXPROCS(threads)
		seen := make([]int, len(list))
		cost, err := SolveAll(context.Background(), list, Options{}, Watch{Solved: func(i int, r Result, err error) bool {
			if got := fmt.Sprint(r); got != alone[i] {
				t.Errorf("problem %d, %d threads: %s\nalone: %s", i, threads, got, alone[i])
			}
			seen[i]++
			return err == nil
		}})
		runtime.GOMAXPROCS(before)
		t.Logf("%d problems: %d passes together, %d alone, longest %d; row reads %.1f", len(list), cost.Passes, sum, longest, cost.RowReads)
		if err != nil || slices.Min(seen) != 1 || slices.Max(seen) != 1 {
			t.Errorf("%v; solved %v", err, seen)
		}
		// A solve may skip a pass where another needs one, so their rounds shift.
		if cost.Passes < longest || cost.Passes > 2*longest || math.Abs(cost.RowReads-visits) > 1e-9*visits {
			t.Errorf("%d passes, the longest solve %d; %g row reads, alone %g", cost.Passes, longest, cost.RowReads, visits)
		}
	}
}

// TestFewAtATime runs few problems at a time. The results stay, and the passes are the same on every run.
func TestFewAtATime(t *testing.T) {
	if testing.Short() {
		t.Skip("solves many problems")
	}
	x := clouds(14, 40, 500, 3, 1).matrix(t, matrix.Float32)
	list := gridOf(t, x)[:10]
	run := func(most int) (report string, passes int) {
		all := newBatch(x)
		all.run(context.Background(), list, most, Options{}, Watch{Solved: func(i int, r Result, err error) bool {
			report += fmt.Sprintln(i, r, err)
			return true
		}})
		return report, all.passes
	}
	sorted := func(report string) []string { // one line a problem
		lines := strings.Split(report, "\n")
		slices.Sort(lines)
		return lines
	}
	whole, passes := run(len(list))
	for _, most := range []int{1, 3} {
		report, more := run(most)
		again, same := run(most)
		if report != again || more != same {
			t.Errorf("%d at a time: %d passes, then %d, or another order", most, more, same)
		}
		if !slices.Equal(sorted(report), sorted(whole)) || more <= passes {
			t.Errorf("%d at a time: other results than together, or %d passes and together %d", most, more, passes)
		}
	}
}

// TestSolveAllEnds stops a list early, cancels one, and passes problems that cannot be solved.
func TestSolveAllEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("solves many problems")
	}
	x := clouds(15, 40, 500, 3, 1).matrix(t, matrix.Float32)
	list := gridOf(t, x)
	stops := 0
	first := Watch{Solved: func(int, Result, error) bool { stops++; return stops < 3 }}
	if _, err := SolveAll(context.Background(), list, Options{}, first); err != nil || stops != 3 {
		t.Errorf("stopped after %d: %v", stops, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	cancelled := 0
	_, err := SolveAll(ctx, list, Options{}, Watch{Solved: func(_ int, r Result, err error) bool {
		if r.Cancelled && err == nil {
			cancelled++
		}
		return true
	}})
	if err != nil || cancelled != len(list) {
		t.Errorf("%d of %d cancelled: %v", cancelled, len(list), err)
	}
	bad := append([]*objective.Objective{bind(t, newProblem(t, "grill", hyper(.1, "0.05", 0, 0, false)), x)}, list...)
	var refused, solved []int
	_, err = SolveAll(context.Background(), bad, Options{}, Watch{Solved: func(i int, _ Result, err error) bool {
		if err != nil {
			refused = append(refused, i)
		} else {
			solved = append(solved, i)
		}
		return true
	}})
	if err != nil || !slices.Equal(refused, []int{0}) || len(solved) != len(list) {
		t.Errorf("a method without a certificate: refused %v, solved %v, %v", refused, solved, err)
	}
	other := append(slices.Clone(list), gridOf(t, clouds(16, 40, 500, 3, 1).matrix(t, matrix.Float32))...)
	if _, err := SolveAll(context.Background(), other, Options{}, Watch{}); err == nil {
		t.Error("problems on two matrices were solved")
	}
	if cost, err := SolveAll(context.Background(), nil, Options{}, Watch{}); err != nil || cost.Passes != 0 {
		t.Errorf("nothing to solve: %d passes, %v", cost.Passes, err)
	}
}

// TestManyRowsTogether solves problems large enough for the smoothed problem. Its sums over rows share passes
// too.
func TestManyRowsTogether(t *testing.T) {
	if testing.Short() {
		t.Skip("large")
	}
	x := clouds(17, 30_000, 171_000, 3, .7).matrix(t, matrix.Float32)
	var list []*objective.Objective
	for _, lambda := range []float64{.01, 1e-3} {
		list = append(list, bind(t, newProblem(t, "topmean-np", hyper(lambda, "0.05", 0, 0, false)), x),
			bind(t, newProblem(t, "patmat", hyper(lambda, "0.01", 1, 0, false)), x))
	}
	opt := Options{Gap: 1e-4}
	alone, longest := make([]string, len(list)), 0
	for i, o := range list {
		r, err := Solve(context.Background(), o, opt)
		if err != nil || !r.Converged {
			t.Fatal(err, describe(r))
		}
		alone[i], longest = fmt.Sprint(r), max(longest, r.Passes)
	}
	cost, err := SolveAll(context.Background(), list, opt, Watch{Solved: func(i int, r Result, err error) bool {
		if got := fmt.Sprint(r); got != alone[i] || err != nil {
			t.Errorf("problem %d: not the bytes of the single solve; %v", i, err)
		}
		return true
	}})
	if err != nil || cost.Passes < longest || cost.Passes > 2*longest {
		t.Errorf("%d passes, the longest solve %d; %v", cost.Passes, longest, err)
	}
}

// countingReader counts its passes.
type countingReader struct {
	direct
	passes int
}

func (c *countingReader) computeScores(points []*Point) {
	c.passes++
	c.direct.computeScores(points)
}

// TestScanReadsOnce asks about several points, one of them twice. One pass answers all, with the answers of
// single scans, and a second scan needs none.
func TestScanReadsOnce(t *testing.T) {
	x := clouds(18, 40, 500, 3, 1).matrix(t, matrix.Float32)
	var queries []Query
	var points []*Point
	for k := range 5 {
		points = append(points, newPoint([]float64{float64(k) - 1.5, .5, 1}))
	}
	for k := range 6 {
		queries = append(queries, Query{At: points[k%5], Population: Request{Cuts: []float64{.1, .3}, Want: everyScore(Highest, 5)},
			Positives: Request{Want: nearest(1+.1*float64(k), 3, nil)}})
	}
	read := &countingReader{direct: direct{x}}
	memory := newMemory(x, read, method.Negatives)
	show := func(a Answer) string {
		for _, rows := range slices.Concat(a.Population.Rows, a.Positives.Rows) {
			for k := range rows {
				rows[k].Features = nil
			}
		}
		return fmt.Sprint(a)
	}
	for again := range 2 {
		answers, err := memory.Scan(context.Background(), queries)
		if err != nil {
			t.Fatal(err)
		}
		for k, q := range queries {
			q.At = newPoint(q.At.W) // a point belongs to one source
			single, err := NewMemory(x, method.Negatives).Scan(context.Background(), []Query{q})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := show(answers[k]), show(single[0]); got != want {
				t.Errorf("query %d: %s, alone %s", k, got, want)
			}
		}
		passes, visits := memory.Readings()
		if read.passes != 1 || passes != 1 || visits != 5 {
			t.Errorf("scan %d: %d passes, counted %d, %g rows read a row for 5 points", again+1, read.passes, passes, visits)
		}
	}
}
