package certified

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"toptau/internal/core/certified/form"
	"toptau/internal/core/certified/linalg"
	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/method"
	"toptau/threshold"
)

// TestCollinearColumns has lambda = 0 on standardised one-hot columns. They are collinear up to the rounding
// of storage, and the inner solver's minimiser has norm 480,000. With the squared hinge the gradient cannot become small enough for a bound.
func TestCollinearColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	x := standardised(t, "a9a")
	for _, c := range []struct {
		h   method.Problem
		gap float64
	}{{hyper(0, "0.05", .01, 0, false), 1e-4}, {hyper(0, "0.01", 1, 0, true), 1e-6}} {
		r, err := Solve(t.Context(), bind(t, newProblem(t, "patmat-np", c.h), x), Options{Gap: c.gap})
		if err != nil {
			t.Fatal(err)
		}
		length := objective.Norm(r.W)
		t.Logf("|w| = %.4g, %s", length, describe(r))
		if !r.Converged || length > 1000 || length > r.BallRadius {
			t.Errorf("|w| = %g, %s", length, describe(r))
		}
	}
}

// nullColumns returns data whose fourth column is the sum of the first two, and a direction that changes no
// score.
func nullColumns(seed uint64) (d dataset, null []float64) {
	d = clouds(seed, 60, 600, 3, .8)
	for i, x := range d.x {
		d.x[i] = append(x, x[0]+x[1])
	}
	return d, []float64{1, 1, 0, -1}
}

// TestShorten lengthens a solution along a direction that changes no score, and shortens it.
func TestShorten(t *testing.T) {
	d, null := nullColumns(32)
	x := d.matrix(t, matrix.Float64)
	o := bind(t, newProblem(t, "patmat-np", hyper(0, "0.05", 1, 0, false)), x)
	f, err := form.Bind(o.Problem(), o.Threshold())
	if err != nil {
		t.Fatal(err)
	}
	s := newSolver(context.Background(), NewMemory(x, o.Problem().Definition().Population), f, Options{Gap: 1e-5})
	if err := s.solve(); err != nil || !s.done() {
		t.Fatal(err)
	}
	before, lower, value := objective.Norm(s.best.at.W), s.lower, s.upper
	long := slices.Clone(s.best.at.W)
	linalg.Axpy(1e4, null, long)
	s.best.at = newPoint(long)
	if err := s.shorten(); err != nil {
		t.Fatal(err)
	}
	after := objective.Norm(s.best.at.W)
	t.Logf("|w| %g, lengthened %g, shortened %g, bound %g; F %.12g, then %.12g, bound %.12g", before, objective.Norm(long), after,
		s.norm.Bound, value, s.upper, s.lower)
	if after > 1.01*s.norm.Bound || s.norm.Bound > after || s.lower != lower || s.upper-s.lower > s.target() ||
		math.Abs(o.At(s.best.at.W, nil).F-s.upper) > 1e-12*s.upper {
		t.Errorf("|w| %g, bound %g; F %g after %g, bound %g after %g", after, s.norm.Bound, s.upper, value, s.lower, lower)
	}
}

// TestShortest solves every method with lambda = 0. |w| is within 1 % of its bound, and no point that a search
// finds is as good and shorter than the bound.
func TestShortest(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: many solves with lambda = 0")
	}
	r := rand.New(rand.NewPCG(33, 1))
	d, null := nullColumns(33)
	x := d.matrix(t, matrix.Float64)
	for _, n := range everyMethod(0) {
		o := bind(t, newProblem(t, n.name, n.h), x)
		got, err := Solve(context.Background(), o, Options{})
		if err != nil {
			t.Fatal(err)
		}
		norm, bound := objective.Norm(got.W), got.Norm.Bound
		if !got.Converged || got.Zero != ZeroIsOptimal && norm > 1.01*bound || bound > norm {
			t.Errorf("%s: |w| %g, bound %g; %s", label(n), norm, bound, describe(got))
		}
		if got.Zero == ZeroIsOptimal {
			continue
		}
		// The part across the direction is as good, so it is no shorter than the bound.
		if along := linalg.Dot(null, got.W) / math.Sqrt(3); math.Abs(along) > .15*norm {
			t.Errorf("%s: %g of |w| = %g changes no score", label(n), along, norm)
		}
		w := make([]float64, len(got.W))
		for range 2000 {
			scale := 1 - math.Pow(10, -5*r.Float64())
			for j, v := range got.W {
				w[j] = float64(scale*v) + float64(math.Pow(10, -6*r.Float64())*norm*r.NormFloat64())
			}
			if f := o.At(w, nil).F; f <= got.Objective && objective.Norm(w) < bound*(1-1e-9) {
				t.Errorf("%s: |w| %g has F %.12g, the solution %.12g, and the bound is %g", label(n), objective.Norm(w), f, got.Objective, bound)
			}
		}
	}
}

// shortestPart measures solves with lambda = 0, and what they would return without shorten.
func shortestPart(t *testing.T, s *section) {
	s.paragraph(`Lambda 0, standardised columns, float32 storage, requested gap of the decrease 1e-6. "Before" is the point that
		reaches the gap, "after" the result: the shortest point that is as good as itself. The bound is proven: no weights with as
		small an F are shorter. The ratio is |w| after over the bound. Problems whose optimum is w = 0 are left out.`)
	s.paragraph("[certified-lambda0.csv](certified-lambda0.csv) has every problem.")
	lines := [][]string{{"set", "rule", "loss", "norm_before", "norm_after", "bound", "ratio", "f_before", "f_after", "gap_of_decrease",
		"passes_before", "passes_after", "systems_before", "systems_after", "seconds_before", "seconds_after"}}
	var ratios []float64
	var longer []string
	passes, problems, zeros := 0, 0, 0
	for _, set := range tableSets {
		x := standardised(t, set)
		for _, squared := range []bool{false, true} {
			for _, in := range shortestInstances(squared) {
				o := bind(t, newProblem(t, in.method, in.h), x)
				before, usedBefore := solveOnly(t, o)
				ctx, cancel := limited(instanceLimit)
				began := processor()
				after, err := Solve(ctx, o, Options{})
				used := processor() - began
				cancel()
				if err != nil {
					t.Fatal(err)
				}
				norm := objective.Norm(after.W)
				if norm == 0 {
					zeros++
					continue
				}
				loss := "hinge"
				if squared {
					loss = "squared"
				}
				problems, passes = problems+1, passes+after.Passes-before.Passes-1 // one pass verifies the result
				ratio, gap := norm/after.Norm.Bound, "w = 0"
				if part, some := after.GapOfDecrease(); some {
					gap = fmt.Sprintf("%.1e", part)
				}
				ratios = append(ratios, ratio)
				if !(ratio <= 1.01) {
					longer = append(longer, fmt.Sprintf("%s, %s, %s: %.4g", set, in.rule, loss, ratio))
				}
				lines = append(lines, []string{set, in.rule, loss, fmt.Sprintf("%.5g", objective.Norm(before.W)), fmt.Sprintf("%.5g", norm),
					fmt.Sprintf("%.5g", after.Norm.Bound), fmt.Sprintf("%.4f", ratio), fmt.Sprintf("%.9g", before.Objective),
					fmt.Sprintf("%.9g", after.Objective), gap, fmt.Sprint(before.Passes + 1), fmt.Sprint(after.Passes),
					fmt.Sprint(before.Iterations), fmt.Sprint(after.Iterations), seconds(usedBefore), seconds(used)})
				t.Logf("%s, %s, %s: |w| %.5g, after %.5g, ratio %.4f; passes %d, %d; systems %d, %d; %.2f s, %.2f s; F %.9g, %s", set, in.rule,
					loss, objective.Norm(before.W), norm, ratio, before.Passes+1, after.Passes, before.Iterations, after.Iterations,
					usedBefore.Seconds(), used.Seconds(), before.Objective, describe(after))
			}
		}
	}
	middle, most, _ := middleAndLargest(ratios)
	s.paragraph(fmt.Sprintf(`%d problems, and %d more whose optimum is w = 0. The ratio is %.4f in the median and %.4g at most, for %.1f more
		passes on average.`, problems, zeros, middle, most, float64(passes)/float64(problems)))
	s.list("Ratios above 1.01", longer)
	s.write(t, "Lambda 0")
	writeCSV(t, "certified-lambda0.csv", lines)
}

func shortestInstances(squared bool) []instance {
	return []instance{
		{"TopPush", "toppush", hyper(0, "", 0, 0, squared)},
		{"TopPushK 5", "toppushk", hyper(0, "", 0, 5, squared)},
		{"TopMean-NP 0.01", "topmean-np", hyper(0, "0.01", 0, 0, squared)},
		{"TopMean-NP 0.05", "topmean-np", hyper(0, "0.05", 0, 0, squared)},
		{"Pat&Mat-NP 0.01, beta 10", "patmat-np", hyper(0, "0.01", 10, 0, squared)},
		{"Pat&Mat-NP 0.01, beta 1", "patmat-np", hyper(0, "0.01", 1, 0, squared)},
		{"Pat&Mat-NP 0.05, beta 0.01", "patmat-np", hyper(0, "0.05", .01, 0, squared)},
	}
}

// solveOnly solves a problem without shorten, and without the pass that verifies.
func solveOnly(t *testing.T, o *objective.Objective) (Result, time.Duration) {
	t.Helper()
	f, err := form.Bind(o.Problem(), o.Threshold())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := limited(instanceLimit)
	defer cancel()
	began := processor()
	s := newSolver(ctx, NewMemory(o.Matrix(), o.Problem().Definition().Population), f, Options{})
	if small := thinned(o.Matrix()); small != nil {
		s.start.from, _ = startFromSample(ctx, o.Problem(), small, &f, s.source.Shape())
	}
	if err := s.solve(); err != nil && !isCancelled(err) {
		t.Fatal(err)
	}
	return s.result(), processor() - began
}

// TestSeparableRowsAreShortened solves problems whose descent ends at F = 0, before there is a bound above 0: no rows are held then. The
// neighbour with overlap has a bound.
func TestSeparableRowsAreShortened(t *testing.T) {
	for _, c := range []struct {
		tau  string
		far  float64
		zero bool
	}{{"0.05", 2.6, true}, {"0.2", 2.4, true}, {"0.05", 2.2, false}} {
		x := clouds(5, 3_000, 200_000, 2, c.far).matrix(t, matrix.Float32)
		o := bind(t, newProblem(t, "topmean-np", method.Problem{Tau: threshold.MustRate(c.tau)}), x)
		r, err := Solve(t.Context(), o, Options{})
		if err != nil || !r.Converged || (r.Objective <= 1e-6*r.AtZero) != c.zero {
			t.Errorf("tau %s, far %g: %s, %v", c.tau, c.far, describe(r), err)
		}
	}
}
