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

// plainRule names the rule for thresholds without a guarantee: where it can, train estimates them from all rows. It is part of the
// path of kept results, so a new rule needs a new name.
const plainRule = string(tune.SchemeAllRows)

// budgets are the false positive rates of the page.
var budgets = rates("0.001", "0.01", "0.05")

// mainBudget is that of a training that serves all budgets.
var mainBudget = budgets[1]

func maxFPR(rate threshold.Rate) metric.Goal { return metric.Goal{Kind: metric.GoalMaxFPR, Rate: rate} }

// ThresholdRun measures the thresholds of a cell on the test part of a set for one seed.
type ThresholdRun struct {
	Set     string     `json:"set"`
	Cell    string     `json:"cell"`
	Seed    int        `json:"seed"`
	Rule    string     `json:"rule"`
	Commit  string     `json:"commit"` // of this program's source
	Budgets []AtBudget `json:"budgets"`
	Failed  string     `json:"failed,omitempty"` // why there is no model
	Seconds float64    `json:"seconds_processor"`
}

// AtBudget is a threshold with its decisions on the test part.
type AtBudget struct {
	Budget      string  `json:"budget"`
	Members     int     `json:"members"`     // of the average
	Scheme      string  `json:"scheme"`      // of the threshold
	Calibration int     `json:"calibration"` // negatives whose scores gave it
	Threshold   float64 `json:"threshold"`
	Expected    float64 `json:"expected"` // false positive rate on new rows, and the ends of its interval, as train reports them
	Low         float64 `json:"low"`
	High        float64 `json:"high"`
	Negatives   float64 `json:"negatives"`    // of the test part
	FalseAlarms float64 `json:"false_alarms"` // of them
	Tied        float64 `json:"tied"`         // of them, with the score of the threshold itself: no alarms
	TPR         float64 `json:"tpr"`
	ExactTPR    float64 `json:"tpr_at_exactly_the_budget"` // the threshold taken from the test part
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

func (j thresholdJob) path(h *harness) string {
	return filepath.Join(h.cache, "thresholds", h.rule, j.set.name,
		fmt.Sprintf("%s-%d.json", strings.ReplaceAll(j.cell.name, " ", "-"), j.seed))
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
	runs := make([]*ThresholdRun, len(list))
	var waiting []int
	for i, j := range list {
		if runs[i] = h.keptThresholds(j); runs[i] == nil {
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
	commit, note, err := sourceOf(commits)
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

// runCell trains and measures a cell for a seed, and keeps the result.
func (h *harness) runCell(ctx context.Context, j thresholdJob) (*ThresholdRun, error) {
	start := machine.ProcessorTime()
	data, err := h.load(j.set, j.seed)
	if err != nil {
		return nil, err
	}
	r := &ThresholdRun{Set: j.set.name, Cell: j.cell.name, Seed: j.seed, Rule: h.rule, Commit: h.commit}
	r.Budgets, err = j.measure(ctx, data)
	if known := diag.Of(err); known != nil && ctx.Err() == nil {
		r.Failed, err = known.Found, nil
	}
	if err != nil || ctx.Err() != nil {
		return nil, cmp.Or(err, ctx.Err())
	}
	// Other runs use the processors at the same time, so this run gets its share.
	r.Seconds = (machine.ProcessorTime() - start).Seconds() / float64(runtime.GOMAXPROCS(0))
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return nil, err
	}
	path := j.path(h)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	return r, atomicfile.Write(path, append(text, '\n'))
}

// keptThresholds returns the run of a job if it was computed before, or nil.
func (h *harness) keptThresholds(j thresholdJob) *ThresholdRun {
	text, err := os.ReadFile(j.path(h))
	if err != nil {
		return nil
	}
	r := &ThresholdRun{}
	if json.Unmarshal(text, r) != nil || r.Rule != h.rule {
		return nil
	}
	return r
}

// measure trains and applies the threshold of every budget to the test part.
func (j thresholdJob) measure(ctx context.Context, data tune.Data) ([]AtBudget, error) {
	search := func(rate threshold.Rate) (*tune.Found, error) {
		return tune.Search(ctx, data, j.cell.options(j.set, j.seed, rate))
	}
	var list []AtBudget
	var shared *tune.Found
	for _, rate := range budgets {
		f, err := shared, error(nil)
		switch {
		case slices.Contains(j.cell.own, rate):
			f, err = search(rate)
		case shared == nil:
			shared, err = search(mainBudget)
			f = shared
		}
		if err != nil {
			return nil, err
		}
		b, err := atBudget(f, rate)
		if err != nil {
			return nil, err
		}
		list = append(list, b)
	}
	return list, nil
}

// atBudget applies the plain threshold of a found model for a budget to the model's test part.
func atBudget(f *tune.Found, rate threshold.Rate) (AtBudget, error) {
	t, err := f.PlainThreshold(maxFPR(rate))
	if err != nil {
		return AtBudget{}, err
	}
	b := AtBudget{Budget: rate.String(), Members: len(f.Members), Scheme: string(t.Scheme), Calibration: t.Rows, Threshold: t.Value,
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
	b.TPR = at.TruePositiveRate.Rate
	b.ExactTPR, err = truePositiveRate(test, rate)
	return b, err
}
