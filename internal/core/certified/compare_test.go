package certified

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"toptau/internal/core/certified/linalg"
	"toptau/internal/core/matrix"
	"toptau/internal/core/optim"
	"toptau/internal/core/simulate"
	"toptau/threshold"
)

// compared returns the problems that ADAM runs for comparison.
func compared() []instance {
	return []instance{
		{"TopPushK 5", "toppushk", hyper(1e-3, "", 0, 5, false)},
		{"TopMean-NP 0.01", "topmean-np", hyper(1e-3, "0.01", 0, 0, false)},
		{"Pat&Mat-NP 0.01, beta 1", "patmat-np", hyper(1e-3, "0.01", 1, 0, false)},
	}
}

// middleAndLargest returns the median, the largest value and the sum.
func middleAndLargest(values []float64) (middle, largest, total float64) {
	if len(values) == 0 {
		return 0, 0, 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2], sorted[len(sorted)-1], linalg.Sum(sorted)
}

// adamPart compares with 1,000 full-batch steps of ADAM on every set above 10,000 rows.
func adamPart(t *testing.T, s *section) {
	s.paragraph(`On every set above 10,000 rows: the best objective of 1,000 full-batch steps of ADAM (step 0.01, from w = 0), and the
		passes and seconds until the certified solver is at or below it, at the end of a round. Lambda is 0.001. Times are without
		packing. Processor seconds are those of both cores, and are the better measure on a shared machine; seconds by the clock
		follow them. Target: no slower anywhere, and at least 10 times fewer passes.`)
	lines := [][]string{{"set", "rule", "F(0)", "ADAM best F", "ADAM passes", "ADAM processor s", "ADAM s", "certified F",
		"passes until below", "processor s until below", "s until below", "times fewer passes", "passes to the end",
		"processor s to the end", "s to the end"}}
	var slower, more []string
	count := 0
	for _, name := range []string{"mammography", "magic04", "a9a", "w8a", "covtype_2vs4", "nsl_kdd", "kddcup99"} {
		x := standardised(t, name)
		for _, in := range compared() {
			o := bind(t, newProblem(t, in.method, in.h), x)
			begin, used := time.Now(), processor()
			adam, err := optim.Adam(context.Background(), o, nil, optim.StepOptions{})
			if err != nil {
				t.Fatal(err)
			}
			slow, slowUsed := time.Since(begin), processor()-used
			begin, used = time.Now(), processor()
			var below, belowUsed time.Duration
			passes := 0
			m := measure(t, name, x, in, Options{Progress: func(p Progress) {
				if passes == 0 && p.Upper <= adam.Best.F {
					below, belowUsed, passes = time.Since(begin), processor()-used, p.Passes
				}
			}})
			allUsed := processor() - used
			if passes == 0 {
				below, belowUsed, passes = m.took, allUsed, m.Passes
			}
			count++
			never := m.Objective > adam.Best.F
			if fewer := float64(adam.Passes) / float64(passes); never || fewer < 10 {
				more = append(more, fmt.Sprintf("%s, %s (%.0f times fewer)", name, in.rule, fewer))
			}
			if never || belowUsed > slowUsed {
				slower = append(slower, against(name, in, belowUsed, slowUsed))
			}
			t.Logf("%s %s: ADAM %g in %.2fs, below after %d passes, %.2fs", name, in.rule, adam.Best.F, slow.Seconds(),
				passes, below.Seconds())
			lines = append(lines, []string{name, in.rule, fmt.Sprintf("%.4g", m.AtZero), fmt.Sprintf("%.6g", adam.Best.F), fmt.Sprint(adam.Passes),
				seconds(slowUsed), seconds(slow), fmt.Sprintf("%.6g", m.Objective), fmt.Sprint(passes), seconds(belowUsed), seconds(below),
				fmt.Sprintf("%.0f", float64(adam.Passes)/float64(passes)), fmt.Sprint(m.Passes), seconds(allUsed), seconds(m.took)})
		}
	}
	s.paragraph(fmt.Sprintf(`No slower by processor time in %d of %d. At least 10 times fewer passes in %d of %d.
		[certified-adam.csv](certified-adam.csv) has every problem.`, count-len(slower), count, count-len(more), count))
	s.list("Not 10 times fewer passes", more)
	s.write(t, "Compared with ADAM")
	writeCSV(t, "certified-adam.csv", lines)
}

func against(set string, in instance, a, b time.Duration) string {
	return fmt.Sprintf("%s, %s (%s s against %s s)", set, in.rule, seconds(a), seconds(b))
}

const hepmassRows = 5_250_000

// hepmassPart solves problems of the size of the paper's largest set. The page is written after every
// problem.
func hepmassPart(t *testing.T, _ *section) {
	r := &millions{}
	for _, fraction := range []string{"50%", "10%"} {
		r.simulate(t, fraction)
		for _, in := range compared() {
			r.solve(t, in)
			r.section().write(t, "Five million rows")
		}
	}
	for _, fraction := range []string{"10%", "50%"} {
		r.simulate(t, fraction)
		for _, in := range compared() {
			r.descend(t, in)
			r.section().write(t, "Five million rows")
		}
	}
}

// millions has the results of hepmassPart so far.
type millions struct {
	x                *matrix.Matrix
	fraction         string
	solved, descents [][]string
	missed           []string
	lower            map[string]float64 // certified bounds
}

func (r *millions) simulate(t *testing.T, fraction string) {
	if r.fraction != fraction {
		r.x = nil
		r.x, r.fraction = hepmass(t, fraction), fraction
	}
}

func (r *millions) solve(t *testing.T, in instance) {
	t.Helper()
	o := bind(t, newProblem(t, in.method, in.h), r.x)
	forgetPeak()
	defer debug.SetGCPercent(debug.SetGCPercent(25))
	begin, before := time.Now(), processor()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	result, err := Solve(ctx, o, Options{Progress: func(p Progress) {
		if p.Upper-p.Lower <= 1e-4*math.Max(p.Upper, .01) {
			cancel()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	used, memory := processor()-before, peak()/float64(r.x.Bytes())
	m := measured{"hepmass " + r.fraction, in, result, time.Since(begin), used}
	t.Logf("%s: %.2fs, %.2fs used, %.2f x the matrix, %s", m.name(), m.took.Seconds(), used.Seconds(), memory, describe(result))
	if r.lower == nil {
		r.lower = map[string]float64{}
	}
	r.lower[r.fraction+in.rule] = result.LowerBound
	r.solved = append(r.solved, []string{r.fraction, in.rule, fmt.Sprintf("%.6g", m.Objective), fmt.Sprintf("%.1e", m.RelativeGap()),
		m.decrease(), fmt.Sprint(m.Passes), fmt.Sprintf("%.1f", m.RowReads), seconds(used), seconds(m.took),
		fmt.Sprintf("%.2f", memory)})
	if m.RelativeGap() > 1e-4 || used > 10*time.Second || memory > 2 {
		r.missed = append(r.missed, fmt.Sprintf("%s: relative gap %.1e, %s s (%s processor s), %.2f x the matrix", m.name(),
			m.RelativeGap(), seconds(m.took), seconds(used), memory))
	}
}

// descend runs ADAM on minibatches.
func (r *millions) descend(t *testing.T, in instance) {
	t.Helper()
	o := bind(t, newProblem(t, in.method, in.h), r.x)
	parts, err := o.Minibatches(40, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	begin, before := time.Now(), processor()
	adam, err := optim.Adam(context.Background(), o, optim.Batches(parts), optim.StepOptions{})
	if err != nil {
		t.Fatal(err)
	}
	lower := r.lower[r.fraction+in.rule]
	gap := func(f float64) string { return fmt.Sprintf("%.1e", (f-lower)/max(f, .01)) }
	r.descents = append(r.descents, []string{r.fraction, in.rule, fmt.Sprintf("%.6g", adam.Best.F), gap(adam.Best.F),
		fmt.Sprintf("%.6g", adam.Last.F), gap(adam.Last.F), seconds(processor() - before), seconds(time.Since(begin))})
	t.Logf("%s", r.descents[len(r.descents)-1])
}

func (r *millions) section() *section {
	s := &section{}
	s.paragraph(`5,250,000 rows of 28 columns, simulated (generate hepmass, seed 1), scaled by the means and deviations of the first
		100,000 rows, float32 storage, lambda 0.001. A solve is stopped after the round that reaches a relative gap of 1e-4. Memory is
		the peak of the process, with the matrix, over the bytes of the matrix, with GOGC=25. Target: a relative gap of 1e-4 within
		10 s (goal: 3 s) on two cores, in less than twice the memory of the matrix. The time is the processor time of all threads,
		because the machine was shared.`)
	s.table([]string{"positives", "rule", "F", "relative gap", "gap of the decrease", "passes", "row reads", "processor s",
		"seconds", "memory"})
	for _, row := range r.solved {
		s.row(row...)
	}
	s.list("Missed", r.missed)
	s.paragraph(`For comparison 1,000 steps of ADAM on 40 minibatches, with the evaluations of all rows after every tenth of the steps and
		without packing. The gaps are those of its best and its last iterate to the certified bound.`)
	if len(r.descents) == 0 {
		s.paragraph("Not measured in this run.")
		return s
	}
	s.table([]string{"positives", "rule", "best F", "best gap", "last F", "last gap", "processor s", "seconds"})
	for _, row := range r.descents {
		s.row(row...)
	}
	if missing := 2*len(compared()) - len(r.descents); missing > 0 {
		s.paragraph(fmt.Sprintf("Not measured in this run: the other %d.", missing))
	}
	return s
}

// hepmass simulates a set and scales it.
func hepmass(t *testing.T, fraction string) *matrix.Matrix {
	t.Helper()
	data, err := simulate.New(simulate.Options{Kind: "hepmass", Rows: hepmassRows, Seed: 1, Positives: threshold.MustRate(fraction)})
	if err != nil {
		t.Fatal(err)
	}
	d := len(data.Names())
	mean, scale := make([]float64, d), make([]float64, d)
	const first = 100_000
	var sample dataset
	data.Each(func(i int, row *simulate.Row) bool {
		sample.x = append(sample.x, slices.Clone(row.Values))
		return i+1 < first
	})
	for j := range d {
		for _, x := range sample.x {
			mean[j] += x[j] / first
		}
		for _, x := range sample.x {
			scale[j] += (x[j] - mean[j]) * (x[j] - mean[j]) / first
		}
		scale[j] = math.Sqrt(scale[j])
	}
	b := matrix.NewBuilder(matrix.Layout{{Kind: matrix.Dense, Cols: d}}, matrix.Float32)
	data.Each(func(i int, row *simulate.Row) bool {
		for j, v := range row.Values {
			row.Values[j] = (v - mean[j]) / scale[j]
		}
		b.Add(row.Positive, row.Values, nil, nil, 1, i)
		return true
	})
	x, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// processor returns the processor time of all threads of the process so far; 0 if the system has no /proc.
func processor() time.Duration {
	stat, _ := os.ReadFile("/proc/self/stat")
	_, after, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(after)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// limited returns a context that ends when the process has used that much processor time, or after ten times
// as long.
func limited(limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*limit)
	end := processor() + limit
	go func() {
		for ctx.Err() == nil && processor() < end {
			time.Sleep(50 * time.Millisecond)
		}
		cancel()
	}()
	return ctx, cancel
}

// forgetPeak and peak measure the largest resident memory between their calls, in bytes; 0 if the system has
// no /proc.
func forgetPeak() {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

func peak() float64 {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmHWM:" {
			kilobytes, _ := strconv.ParseFloat(fields[1], 64)
			return kilobytes * 1024
		}
	}
	return 0
}

// widePart solves problems with more columns than rows.
func widePart(t *testing.T, s *section) {
	x := standardised(t, "basehock")
	s.paragraph(fmt.Sprintf(`basehock: %d rows of text, %d columns, standardised. Target: a gap of the decrease of 1e-6 within 30 s each.`,
		x.Rows(), x.Cols()))
	s.table([]string{"rule", "lambda", "F(0)", "F", "relative gap", "gap of the decrease", "passes", "row reads", "Newton systems", "processor s", "seconds"})
	var missed []string
	for _, lambda := range []float64{.1, 1e-3} {
		for _, in := range instances(lambda) {
			if in.rule != "TopPush" && in.rule != "TopMean-NP 0.01" && in.rule != "Pat&Mat-NP 0.01, beta 1" {
				continue
			}
			before := processor()
			m := measure(t, "basehock", x, in, Options{})
			used := processor() - before
			s.row(m.rule, fmt.Sprint(lambda), fmt.Sprintf("%.4g", m.AtZero), fmt.Sprintf("%.6g", m.Objective), fmt.Sprintf("%.1e", m.RelativeGap()),
				m.decrease(), fmt.Sprint(m.Passes), fmt.Sprintf("%.1f", m.RowReads), fmt.Sprint(m.Iterations), seconds(used), seconds(m.took))
			if !m.reached() || m.took > 30*time.Second {
				missed = append(missed, fmt.Sprintf("%s: gap of the decrease %s, %s s (%s processor s)", m.name(), m.decrease(),
					seconds(m.took), seconds(used)))
			}
		}
	}
	s.list("Missed", missed)
	s.write(t, "More columns than rows")
}
