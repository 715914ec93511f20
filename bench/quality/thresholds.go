package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"toptau/bench/machine"
	"toptau/diag"
	"toptau/internal/core/parallel"
	"toptau/internal/data/atomicfile"
	"toptau/internal/tests/provenance"
	"toptau/internal/training/tune"
	"toptau/metric"
	"toptau/schema"
	"toptau/threshold"
)

// budgets are the false positive rates of the page.
var budgets = rates("0.001", "0.01", "0.05")

// mainBudget is that of a training that serves all budgets.
var mainBudget = budgets[1]

func maxFPR(rate threshold.Rate) metric.Goal { return metric.Goal{Kind: metric.GoalMaxFPR, Rate: rate} }

// ThresholdRun measures the thresholds of a cell on the test part of a set for one seed.
type ThresholdRun struct {
	Set     string
	Cell    string
	Seed    int
	Probe   string      // of the cell
	Commit  string      // of this program's source
	Seconds float64     // of the processor
	Failed  string      // why there is no model
	Budgets [3]AtBudget // of budgets; empty if it failed
}

// AtBudget is a threshold with its decisions on the test part.
type AtBudget struct {
	Budget      string
	Members     int     // of the average
	Scheme      string  // of the threshold
	Calibration int     // negatives whose scores gave it
	Expected    float64 // false positive rate on new rows, and the ends of its interval, as train reports them
	Low, High   float64 // pairs alone keep them
	Covers      bool    // the interval contains the rate on the test part
	Negatives   float64 // of the test part
	FalseAlarms float64 // of them
	Tied        float64 // of them, with the score of the threshold itself: no alarms
	TPR         float64
	ExactTPR    float64 // the threshold taken from the test part
}

// thresholdColumns are those of the file of kept runs.
func thresholdColumns() []column[ThresholdRun] {
	list := []column[ThresholdRun]{
		{"set", func(r *ThresholdRun) any { return &r.Set }},
		{"cell", func(r *ThresholdRun) any { return &r.Cell }},
		{"seed", func(r *ThresholdRun) any { return &r.Seed }},
		{"probe", func(r *ThresholdRun) any { return &r.Probe }},
		{"commit", func(r *ThresholdRun) any { return &r.Commit }},
		{"seconds_processor", func(r *ThresholdRun) any { return &r.Seconds }},
		{"failed", func(r *ThresholdRun) any { return &r.Failed }},
	}
	for i, rate := range budgets {
		for _, c := range []column[AtBudget]{
			{"members", func(b *AtBudget) any { return &b.Members }},
			{"scheme", func(b *AtBudget) any { return &b.Scheme }},
			{"calibration", func(b *AtBudget) any { return &b.Calibration }},
			{"expected", func(b *AtBudget) any { return &b.Expected }},
			{"covers", func(b *AtBudget) any { return &b.Covers }},
			{"negatives", func(b *AtBudget) any { return &b.Negatives }},
			{"false_alarms", func(b *AtBudget) any { return &b.FalseAlarms }},
			{"tied", func(b *AtBudget) any { return &b.Tied }},
			{"tpr", func(b *AtBudget) any { return &b.TPR }},
			{"tpr_at_budget", func(b *AtBudget) any { return &b.ExactTPR }},
		} {
			list = append(list, column[ThresholdRun]{c.name + "_" + rate.String(), func(r *ThresholdRun) any { return c.of(&r.Budgets[i]) }})
		}
	}
	return list
}

// thresholdJob is a ThresholdRun that may still have to be computed.
type thresholdJob struct {
	set  *thresholdSet
	cell *cell
	seed int
}

func (j thresholdJob) String() string {
	return fmt.Sprintf("%s, %s, seed %d", j.set.name, j.cell.name, j.seed)
}

// slow reports whether a run takes minutes: patmat-np with thousands of weights.
func (j thresholdJob) slow() bool {
	wide := j.set.names != noNames || slices.Contains(j.cell.encodings, schema.Leaves)
	return wide && slices.Contains(j.cell.learners, "patmat-np")
}

// gave reports whether a run is one of the job.
func (j thresholdJob) gave(r *ThresholdRun) bool {
	return r.Set == j.set.name && r.Cell == j.cell.name && r.Seed == j.seed
}

// thresholdJobs lists what to compute: the first seed of every cell, then the others so that all cells
// progress at the same rate. Slow runs come last.
func thresholdJobs(only, chosen []string, seeds [2]int) []thresholdJob {
	var list []thresholdJob
	for k := range cells {
		c := &cells[k]
		for i := range thresholdSets {
			s := &thresholdSets[i]
			if len(only) > 0 && !slices.Contains(only, s.name) || len(chosen) > 0 && !slices.Contains(chosen, c.name) {
				continue
			}
			for seed := seeds[0]; seed <= min(seeds[1], c.seedsOf(s)); seed++ {
				list = append(list, thresholdJob{s, c, seed})
			}
		}
	}
	share := func(j thresholdJob) float64 {
		share := float64(j.seed-1) / float64(j.cell.seedsOf(j.set))
		if j.slow() {
			share++
		}
		return share
	}
	slices.SortStableFunc(list, func(a, b thresholdJob) int { return cmp.Compare(share(a), share(b)) })
	return list
}

// runThresholds computes the missing runs and writes the page and the figures, if they have a path.
func (h *harness) runThresholds(ctx context.Context, only, chosen []string, seeds [2]int, figures, out string) error {
	if h.data == "" && !h.idle {
		return errNoData
	}
	list := thresholdJobs(only, chosen, seeds)
	if len(list) == 0 {
		return errors.New("no such set or cell")
	}
	var err error
	if h.commit, err = provenance.Commit(); err != nil {
		return err
	}
	if h.runs, err = openThresholds(h.dir); err != nil {
		return err
	}
	runs := make([]*ThresholdRun, len(list))
	var waiting []int
	for i, j := range list {
		probe, err := h.cellProbe(ctx, j.cell)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		runs[i] = h.runs.find(j.gave)
		other := runs[i] != nil && runs[i].Probe != probe
		if other && h.keep {
			h.others++
		} else if other || runs[i] == nil {
			runs[i] = nil
			waiting = append(waiting, i)
		}
	}
	if !h.idle {
		if err := h.computeThresholds(ctx, list, runs, waiting); err != nil {
			return err
		}
	}
	p := &thresholdPage{runs: slices.DeleteFunc(runs, func(r *ThresholdRun) bool { return r == nil })}
	p.missing = len(list) - len(p.runs)
	if figures != "" {
		text, err := json.MarshalIndent(figuresOf(p.runs), "", "\t")
		if err != nil {
			return err
		}
		if err := atomicfile.Write(figures, append(text, '\n')); err != nil {
			return err
		}
	}
	if out == "" || ctx.Err() != nil {
		return nil
	}
	var commits []string
	for _, r := range p.runs {
		commits = append(commits, r.Commit)
	}
	commit, note, err := sourceOf(commits, h.others)
	if err != nil {
		return err
	}
	text, err := p.page(note)
	if err != nil {
		return err
	}
	cells, err := p.csv()
	if err != nil {
		return err
	}
	if err := atomicfile.Write(strings.TrimSuffix(out, ".md")+".csv", cells); err != nil {
		return err
	}
	return provenance.WritePageOf(commit, out, []byte(text), "make measure WHAT=thresholds")
}

// computeThresholds computes the runs that wait, as many at a time as there are processors. It ends early
// with ctx.
func (h *harness) computeThresholds(ctx context.Context, list []thresholdJob, runs []*ThresholdRun, waiting []int) error {
	var mu sync.Mutex
	start, computed, done := time.Now(), 0.0, 0
	return parallel.ForErr(len(waiting), func(k int) error {
		if ctx.Err() != nil {
			return nil
		}
		j := list[waiting[k]]
		r, err := h.runCell(ctx, j)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case ctx.Err() != nil:
		case err != nil:
			return fmt.Errorf("%s: %w", j, err)
		default:
			if err := h.runs.put(j.gave, r); err != nil {
				return err
			}
			runs[waiting[k]] = r
			computed += r.Seconds
			done++
			fmt.Fprintf(os.Stderr, "%d/%d, about %s left: %s: %s\n", done, len(waiting), timeLeft(list, runs, start, computed), j, r.line())
		}
		return nil
	})
}

// timeLeft estimates the time until the missing runs are there: the processor time of each is that of its
// cell on its set, or the mean, and passes as quickly as that of the runs computed since start.
func timeLeft(list []thresholdJob, runs []*ThresholdRun, start time.Time, computed float64) time.Duration {
	type place struct {
		set  *thresholdSet
		cell *cell
	}
	seconds, counts := map[place]float64{}, map[place]float64{}
	total, known := 0.0, 0.0
	for i, r := range runs {
		if r != nil {
			at := place{list[i].set, list[i].cell}
			seconds[at] += r.Seconds
			counts[at]++
			total += r.Seconds
			known++
		}
	}
	left := 0.0
	for i, r := range runs {
		if at := (place{list[i].set, list[i].cell}); r == nil && counts[at] > 0 {
			left += seconds[at] / counts[at]
		} else if r == nil {
			left += total / known
		}
	}
	return time.Duration(left / computed * float64(time.Since(start))).Round(time.Minute)
}

// line summarises a run for the progress.
func (r *ThresholdRun) line() string {
	if r.Failed != "" {
		return r.Failed
	}
	var parts []string
	for _, b := range r.Budgets {
		parts = append(parts, fmt.Sprintf("R %.2f", b.ratio()))
	}
	return fmt.Sprintf("%s, %.1f s", strings.Join(parts, ", "), r.Seconds)
}

// ratio is the false alarms over those that the budget allows on average.
func (b *AtBudget) ratio() float64 { return b.FalseAlarms / (b.rate() * b.Negatives) }

func (b *AtBudget) rate() float64 { return threshold.MustRate(b.Budget).Float64() }

// openThresholds reads the kept runs.
func openThresholds(dir string) (*ledger[ThresholdRun], error) {
	l, err := openLedger(filepath.Join(dir, "thresholds-results.csv"), thresholdColumns())
	if err != nil {
		return nil, err
	}
	for _, r := range l.list {
		for i := range r.Budgets {
			if r.Failed == "" {
				r.Budgets[i].Budget = budgets[i].String()
			}
		}
	}
	return l, nil
}

// runCell trains and measures a cell for a seed.
func (h *harness) runCell(ctx context.Context, j thresholdJob) (*ThresholdRun, error) {
	start := machine.ProcessorTime()
	data, err := h.load(j.set, j.seed)
	if err != nil {
		return nil, err
	}
	r := &ThresholdRun{Set: j.set.name, Cell: j.cell.name, Seed: j.seed, Probe: h.probes[j.cell.name], Commit: h.commit}
	r.Budgets, r.Failed, err = j.measured(ctx, data)
	if err != nil || ctx.Err() != nil {
		return nil, cmp.Or(err, ctx.Err())
	}
	// Other runs use the processors at the same time, so this run gets its share.
	r.Seconds = (machine.ProcessorTime() - start).Seconds() / float64(runtime.GOMAXPROCS(0))
	return r, nil
}

// measured returns what measure does, or why there is no model.
func (j thresholdJob) measured(ctx context.Context, data tune.Data) (list [3]AtBudget, failed string, err error) {
	list, err = j.measure(ctx, data)
	if known := diag.Of(err); known != nil && ctx.Err() == nil {
		return [3]AtBudget{}, known.Found, nil
	}
	return list, "", err
}

// measure trains and applies the threshold of every budget to the test part.
func (j thresholdJob) measure(ctx context.Context, data tune.Data) (list [3]AtBudget, err error) {
	search := func(rate threshold.Rate) (*tune.Found, error) {
		return tune.Search(ctx, data, j.cell.options(j.set, j.seed, rate))
	}
	var shared *tune.Found
	for i, rate := range budgets {
		f, err := shared, error(nil)
		switch {
		case slices.Contains(j.cell.own, rate):
			f, err = search(rate)
		case shared == nil:
			shared, err = search(mainBudget)
			f = shared
		}
		if err != nil {
			return list, err
		}
		if list[i], err = atBudget(f, rate); err != nil {
			return list, err
		}
	}
	return list, nil
}

// atBudget applies the plain threshold of a found model for a budget to the model's test part.
func atBudget(f *tune.Found, rate threshold.Rate) (AtBudget, error) {
	t, err := f.PlainThreshold(maxFPR(rate))
	if err != nil {
		return AtBudget{}, err
	}
	b := AtBudget{Budget: rate.String(), Members: len(f.Members), Scheme: string(t.Scheme), Calibration: t.Rows,
		Expected: t.Expected.Rate, Low: t.Expected.Low, High: t.Expected.High}
	test := f.Test.Ranking
	at, err := test.At(t.Value, 0)
	if err != nil {
		return b, err
	}
	orTied, err := test.At(math.Nextafter(t.Value, math.Inf(-1)), 0)
	if err != nil {
		return b, err
	}
	b.Negatives, b.FalseAlarms, b.Tied = test.NegativeMass(), at.FalsePositives, orTied.FalsePositives-at.FalsePositives
	realised := b.FalseAlarms / b.Negatives
	b.Covers = b.Low <= realised && realised <= b.High
	b.TPR = at.TruePositiveRate.Rate
	b.ExactTPR, err = truePositiveRate(test, rate)
	return b, err
}
