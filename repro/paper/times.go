package paper

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"toptau/internal/app/report"
	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/internal/core/optim"
	"toptau/internal/core/simulate"
	"toptau/internal/core/text"
	"toptau/method"
	"toptau/threshold"
)

// Timing contains the times of an iteration of the four methods of the paper's table, on training data of the
// paper's size.
type Timing struct {
	Key     string    `json:"key"`
	Set     string    `json:"set"`
	Rows    int       `json:"rows"`
	Columns int       `json:"columns"`
	Batches int       `json:"minibatches"`
	Threads int       `json:"threads"`
	Seconds []float64 `json:"seconds_iteration"` // by method, as in printedTimes
}

// sized is a training set of the paper's size. The time depends on the shape of the data and on the active
// rows, not on the source. Only Ionosphere and Spambase are the paper's own.
type sized struct {
	name string
	data string // the source in words; part of the key of stored times
	load func(c catalogue) (*matrix.Matrix, error)
	// needs returns the missing file, "" if there is none. It is nil if the set needs no file.
	needs func(c catalogue) string
}

// sizedSets returns the columns of the table of times.
func sizedSets() []sized {
	return []sized{
		{"Ionosphere", "the set itself", func(c catalogue) (*matrix.Matrix, error) { return trainingOf(c.ionosphere()) },
			func(c catalogue) string { s := c.ionosphere(); return s.missing() }},
		{"Spambase", "the set itself", func(c catalogue) (*matrix.Matrix, error) { return trainingOf(c.spambase()) },
			func(c catalogue) string { s := c.spambase(); return s.missing() }},
		{"Gisette", "simulated kind gisette with a constant column", func(catalogue) (*matrix.Matrix, error) {
			return simulated(simulate.Options{Kind: "gisette", Rows: 6000, Seed: 1}, 1)
		}, nil},
		{"Hepmass", "simulated kind hepmass", func(c catalogue) (*matrix.Matrix, error) {
			rows := hepmassSizes[0]
			if c.quick {
				rows /= quickBatches
			}
			return simulated(simulate.Options{Kind: "hepmass", Rows: rows, Seed: 1}, 0)
		}, nil},
		{"CTA", "simulated kind detectors", func(catalogue) (*matrix.Matrix, error) {
			return simulated(simulate.Options{Kind: "detectors", Rows: 263_796, Seed: 1, Columns: 34,
				Positives: threshold.MustRate("2.1%")}, 0)
		}, nil},
		{"NetFlow", "simulated kind detectors", func(catalogue) (*matrix.Matrix, error) {
			return simulated(simulate.Options{Kind: "detectors", Rows: 142_676, Seed: 1, Columns: 25,
				Positives: threshold.MustRate("8.7%")}, 0)
		}, nil},
	}
}

// quickBatches divides the rows and the minibatches of Hepmass in a quick run. A minibatch keeps its size.
const quickBatches = 10

// trainingOf returns the training part of the first split.
func trainingOf(s Set) (*matrix.Matrix, error) {
	p, err := s.load(division{seed: first})
	if err != nil {
		return nil, err
	}
	return p.Training, nil
}

// simulated packs a simulated set, with some columns of ones after its own.
func simulated(o simulate.Options, constants int) (*matrix.Matrix, error) {
	data, err := simulate.New(o)
	if err != nil {
		return nil, err
	}
	columns := len(data.Names()) + constants
	b := newBuilder(columns)
	values := ones(columns)
	data.Each(func(i int, row *simulate.Row) bool {
		copy(values, row.Values)
		b.Add(row.Positive, values, nil, nil, 1, i)
		return true
	})
	return b.Build()
}

// measureTimes measures the times that are not stored yet.
func (st *study) measureTimes(ctx context.Context) error {
	c := catalogue{dir: st.o.Data, quick: st.o.Quick}
	for _, s := range sizedSets() {
		if s.needs != nil && s.needs(c) != "" {
			continue
		}
		batches := printedSets[0].Minibatches
		for _, p := range printedSets {
			if p.Name == s.name {
				batches = p.Minibatches
			}
		}
		if s.name == "Hepmass" && st.o.Quick {
			batches /= quickBatches
		}
		threads := runtime.GOMAXPROCS(0)
		k, err := partKey(thisProgram(), "times", s.name, s.data, batches, threads, st.o.Quick)
		if err != nil {
			return err
		}
		t := new(Timing)
		name := "times/" + s.name
		found, err := st.store.load(name, k, t)
		if err != nil {
			return err
		}
		var x *matrix.Matrix
		get := func() (*matrix.Matrix, error) {
			if x == nil {
				x, err = s.load(c)
			}
			return x, err
		}
		if s.name == convergenceSet {
			if err := st.measureConvergence(ctx, &s, batches, get); err != nil {
				return err
			}
		}
		if !found {
			st.work.showText("time of an iteration, " + s.name)
			x, err := get()
			if err != nil {
				return err
			}
			*t = Timing{Key: k, Set: s.name, Rows: x.Rows(), Columns: x.Cols(), Batches: batches, Threads: threads}
			if t.Seconds, err = timeIterations(ctx, x, batches); err != nil {
				return err
			}
			if err := st.savePart(name, t); err != nil {
				return err
			}
		}
		st.timed[s.name] = t
	}
	return nil
}

// measureConvergence follows ADAM on a set, if that is not stored yet.
func (st *study) measureConvergence(ctx context.Context, s *sized, batches int, get func() (*matrix.Matrix, error)) error {
	threads := runtime.GOMAXPROCS(0)
	k, err := partKey(thisProgram(), "convergence", s.name, s.data, batches, threads, st.o.Quick, convergenceGap, certifiedSystems)
	if err != nil {
		return err
	}
	c := new(Convergence)
	found, err := st.store.load("times/convergence", k, c)
	if err != nil {
		return err
	}
	if !found {
		st.work.showText("convergence on the shape of " + s.name)
		x, err := get()
		if err != nil {
			return err
		}
		*c = Convergence{Key: k, Rows: x.Rows(), Columns: x.Cols(), Batches: batches, Threads: threads}
		for _, name := range convergenceMethods {
			o, err := timedObjective(name, x)
			if err != nil {
				return err
			}
			parts, err := o.Minibatches(batches, first, false)
			if err != nil {
				return err
			}
			run, err := followConvergence(ctx, o, parts)
			if err != nil {
				return err
			}
			seconds, err := timeOne(ctx, o, parts)
			if err != nil {
				return err
			}
			c.Runs, c.Seconds = append(c.Runs, run), append(c.Seconds, seconds)
		}
		if err := st.savePart("times/convergence", c); err != nil {
			return err
		}
	}
	st.convergence = c
	return nil
}

// timeIterations returns the seconds per iteration of each method.
func timeIterations(ctx context.Context, x *matrix.Matrix, batches int) ([]float64, error) {
	var seconds []float64
	for _, p := range printedTimes {
		o, err := timedObjective(p.Method, x)
		if err != nil {
			return nil, err
		}
		var parts []*objective.Objective
		if batches > 1 {
			if parts, err = o.Minibatches(batches, first, false); err != nil {
				return nil, err
			}
		}
		s, err := timeOne(ctx, o, parts)
		if err != nil {
			return nil, err
		}
		seconds = append(seconds, s)
	}
	return seconds, nil
}

// timedObjective returns the objective of a method with lambda 0.001, k 5, beta 0.1 and tau 0.01, from the
// middle of the grids.
func timedObjective(name string, x *matrix.Matrix) (*objective.Objective, error) {
	m, err := method.ByName(name)
	if err != nil {
		return nil, err
	}
	h := method.Problem{Lambda: 0.001}
	if m.UsesTau {
		h.Tau = taus[0]
	}
	if m.UsesK {
		h.K = 5
	}
	if m.UsesBeta {
		h.Beta = 0.1
	}
	p, err := m.With(h)
	if err != nil {
		return nil, err
	}
	return objective.New(p, x)
}

// timeOne returns the seconds of a step within a run of ADAM from w = 0. It takes the smallest mean of
// several runs, because other processes can only make a run longer. Evaluations of the full objective before
// and after the steps are not counted.
func timeOne(ctx context.Context, o *objective.Objective, batches []*objective.Objective) (float64, error) {
	const runs, enough = 5, 300 * time.Millisecond
	steps := 10
	for best, run := time.Duration(-1), 0; ; {
		var start, end time.Time
		_, err := optim.Adam(ctx, o, optim.Batches(batches), optim.StepOptions{Iterations: steps + 1, TraceEvery: steps + 1,
			Progress: func(p optim.StepProgress) {
				if p.Iteration == 1 {
					start = time.Now()
				}
				if p.Iteration == steps+1 {
					end = time.Now()
				}
			}})
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return 0, err
		}
		took := end.Sub(start)
		if took < enough && steps < optim.DefaultIterations {
			steps = min(optim.DefaultIterations, 2*steps)
			continue
		}
		if best < 0 || took < best {
			best = took
		}
		if run++; run == runs {
			return best.Seconds() / float64(steps), nil
		}
	}
}

// timesItem is the table of times, ours and the paper's. It is the only table that differs between runs and
// machines.
func timesItem(_ context.Context, st *study) (*Piece, error) {
	t := report.Table{Caption: "Milliseconds per iteration: ours / the paper's.", Header: []string{"method"}}
	for i, p := range printedTimes {
		m, err := method.ByName(p.Method)
		if err != nil {
			return nil, err
		}
		row := []string{m.Title}
		for k, s := range sizedSets() {
			if i == 0 {
				t.Header = append(t.Header, s.name)
				t.Numbers = append(t.Numbers, k+1)
			}
			row = append(row, timeCell(st.timed[s.name], i, p.Times[k]))
		}
		t.Rows = append(t.Rows, row)
	}
	threads, sizes := 0, ""
	for _, s := range sizedSets() {
		timing := st.timed[s.name]
		if timing == nil {
			continue
		}
		threads = timing.Threads
		sizes += fmt.Sprintf(" %s: %s rows, %d columns, %s (%s).",
			s.name, text.Count(timing.Rows), timing.Columns, batchesText(timing.Batches), s.data)
	}
	within, cells := st.timesWithin()
	p := &Piece{Title: "Time of an iteration", Tables: []NamedTable{{"times", t}}, Text: []string{
		fmt.Sprintf("At most the paper's printed time in %d of %d cells; its 0.0 means less than 0.05 ms.", within, cells)},
		Notes: []string{
			fmt.Sprintf("On %s, training data of the paper's sizes:%s", text.Plural(threads, "thread"), sizes),
			"The paper's machine is unknown. Each time is the smallest of five means over up to 1,000 steps from w = 0."}}
	if st.convergence != nil {
		c, summary, err := convergenceTable(st.convergence)
		if err != nil {
			return nil, err
		}
		p.Tables = append(p.Tables, NamedTable{"convergence", c})
		p.Text = append(p.Text, summary)
	}
	return p, nil
}

// timesWithin returns the number of measured cells that are at most the paper's, and of all measured ones.
func (st *study) timesWithin() (within, cells int) {
	for k, s := range sizedSets() {
		timing := st.timed[s.name]
		if timing == nil {
			continue
		}
		for i, seconds := range timing.Seconds {
			cells++
			if 1000*seconds <= printedLimit(printedTimes[i].Times[k]) {
				within++
			}
		}
	}
	return within, cells
}

// batchesText returns a number of minibatches in words.
func batchesText(n int) string {
	if n == 1 {
		return "full batches"
	}
	return fmt.Sprintf("%d minibatches", n)
}

// printedLimit returns the largest time that agrees with a printed one.
func printedLimit(printed float64) float64 {
	if printed == 0 {
		return 0.05
	}
	return printed
}

// timeCell returns our time and the paper's.
func timeCell(t *Timing, method int, printed float64) string {
	if t == nil {
		return fmt.Sprintf("- / %.1f", printed)
	}
	ms := 1000 * t.Seconds[method]
	text := fmt.Sprintf("%.2f", ms)
	if ms < 0.1 {
		text = fmt.Sprintf("%.3f", ms)
	}
	if ms > printedLimit(printed) {
		text += " (slower)"
	}
	return text + fmt.Sprintf(" / %.1f", printed)
}
