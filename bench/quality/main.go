// Command quality compares toptau's default at the top of the list with logistic regression and gradient
// boosting on the benchmark data (TOPTAU_DATA) and writes docs/results/quality.md. Run it with "make measure WHAT=quality" at the
// root of the repository. Every result is a line of a committed file, so an interrupted run continues where it stopped, here or elsewhere.
//
// With -thresholds it measures how well thresholds without a guarantee keep their budget on rows that took no
// part in training, and writes docs/results/thresholds.md ("make measure WHAT=thresholds").
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"toptau/bench/machine"
	"toptau/internal/tests/provenance"
	"toptau/internal/training/tune"
)

// harness holds the settings and results of a run.
type harness struct {
	data   string // the benchmark data
	cache  string // parts of the sets
	dir    string // kept results
	commit string // of this program's source
	keep   bool
	idle   bool   // compute nothing
	first  bool   // train for the first goal of each set only
	models string // directory for the models; "": they are not kept

	mu     sync.Mutex
	loaded map[string]tune.Data // real sets for thresholds

	probes  map[string]string // by entry, or cell of thresholds
	kept    *ledger[Result]
	runs    *ledger[ThresholdRun]
	results []*Result
	missing int // results that were not computed
	others  int // results with another probe
}

func main() {
	h := &harness{}
	flag.StringVar(&h.data, "data", os.Getenv("TOPTAU_DATA"), "directory of the benchmark data; default TOPTAU_DATA")
	flag.StringVar(&h.cache, "cache", filepath.Join(os.TempDir(), "toptau-quality"), "keep the parts of the sets here")
	flag.StringVar(&h.dir, "results", "../docs/results", "directory of the files of kept results")
	flag.BoolVar(&h.keep, "keep", false, "also use results whose probe is not that of this source")
	flag.StringVar(&h.models, "models", "", "keep the models and the reports of their trainings here")
	out := flag.String("o", "", "write the page here")
	only := flag.String("sets", "", "these sets, separated by commas")
	chosen := flag.String("entries", "lr,gbdt,xgboost,toptau,toptau-raw,toptau-scorecard", "these entries")
	first := flag.Int("from", 1, "first seed")
	last := flag.Int("to", math.MaxInt, "last seed")
	flag.BoolVar(&h.idle, "page", false, "compute nothing and write the page from kept results")
	flag.BoolVar(&h.first, "first", false, "train for the first goal of each set only")
	plain := flag.Bool("thresholds", false, "measure thresholds without a guarantee instead")
	some := flag.String("cells", "", "with -thresholds: these cells, separated by commas")
	figures := flag.String("figures", "", "with -thresholds: write the figures of the cells here, as JSON")
	pairs := flag.String("pairs", "", "train with and without held-out rows, with two seeds on each split (-from, -to), add the results to this CSV file, and do nothing else")
	split := flag.String("split", "", "write the parts for gbdt.py into this directory, and do nothing else")
	draw := flag.String("chart", "", "draw the chart of this JSON file next to it, and do nothing else")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if seeds := [2]int{*first, *last}; *draw != "" {
		err = drawChart(*draw)
	} else if *pairs != "" {
		err = h.runPairs(ctx, listed(*only), seeds, *pairs)
	} else if *plain {
		err = h.runThresholds(ctx, listed(*only), listed(*some), seeds, *figures, *out)
	} else {
		err = h.run(ctx, listed(*only), listed(*chosen), seeds, *split, *out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "quality:", err)
		os.Exit(1)
	}
}

var errNoData = errors.New("no data: set TOPTAU_DATA to the directory of the benchmark data")

func listed(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

func (h *harness) run(ctx context.Context, only, chosen []string, seeds [2]int, split, out string) error {
	if h.data == "" && !h.idle {
		return errNoData
	}
	if len(only) == 0 {
		for _, s := range sets {
			only = append(only, s.name)
		}
	}
	for _, name := range only {
		if setOf(name) == nil {
			return fmt.Errorf("no set %q", name)
		}
	}
	if split != "" {
		for _, name := range only {
			if err := h.export(setOf(name), split); err != nil {
				return err
			}
		}
		return nil
	}
	var err error
	if h.kept, err = openLedger(filepath.Join(h.dir, "quality-results.csv"), resultColumns); err != nil {
		return err
	}
	if h.commit, err = provenance.Commit(); err != nil {
		return err
	}
	list := jobs(only, chosen, seeds)
	if h.first {
		list = slices.DeleteFunc(list, func(j job) bool { return j.goal != "" && j.goal != j.set.goals[0] })
	}
	if err := h.compute(ctx, list); err != nil {
		return err
	}
	if out == "" || ctx.Err() != nil && !h.idle {
		return nil
	}
	if err := writeChart(out, h.chartRows()); err != nil {
		return err
	}
	commit, note, err := sourceOf(h.commits(), h.others)
	if err != nil {
		return err
	}
	return provenance.WritePageOf(commit, out, []byte(h.page(note)), "make measure WHAT=quality")
}

// jobs lists what to compute from the first to the last seed: the first seed of every set, then the second.
// So a run that is cut short has results for every set.
func jobs(only, chosen []string, seeds [2]int) []job {
	var list []job
	for seed := seeds[0]; seed <= min(seeds[1], maxSeeds); seed++ {
		for i := range sets {
			s := &sets[i]
			if seed > s.seeds || !slices.Contains(only, s.name) {
				continue
			}
			for _, e := range entries {
				if !slices.Contains(chosen, e.name) {
					continue
				}
				for _, goal := range e.trainings(s) {
					list = append(list, job{s, seed, e, goal})
				}
			}
		}
	}
	return list
}

// compute fills h.results, from kept results if possible. When ctx ends it leaves out unfinished jobs.
func (h *harness) compute(ctx context.Context, list []job) error {
	start, first := time.Now(), -1
	var p *parts
	var of job
	for i, j := range list {
		r := h.kept.find(j.gave)
		probe, err := "", ctx.Err()
		if err == nil {
			probe, err = h.probe(ctx, &j.entry)
		}
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("probe of %s: %w", j.entry.name, err)
		}
		other := r != nil && r.Probe != probe
		if r == nil || other && !h.keep {
			if h.idle || ctx.Err() != nil {
				h.missing++
				continue
			}
			if first < 0 {
				first = i
			}
			if p == nil || of.set != j.set || of.seed != j.seed {
				p, of = nil, j // so that the old parts can be freed before the new ones are read
				var err error
				if p, err = h.read(j.set, j.seed); err != nil {
					return err
				}
			}
			switch r, err = h.computeJob(ctx, j, p); {
			case ctx.Err() != nil:
				h.missing++
				continue
			case err != nil:
				return fmt.Errorf("%s: %w", j, err)
			}
			r.Probe, other = probe, false
			if err := h.kept.put(j.gave, r); err != nil {
				return err
			}
			done := float64(i+1-first) / float64(len(list)-first)
			left := time.Duration(float64(time.Since(start)) * (1 - done) / done)
			c := r.Criteria
			fmt.Fprintf(os.Stderr, "%d/%d, about %s left: %s: log-pAUC %.1f, TPR %.1f %.1f %.1f, %.1f s; %s\n", i+1, len(list),
				left.Round(time.Minute), j, 100*c.LogPAUC, 100*c.TPRTenth, 100*c.TPRPercent, 100*c.TPRFive, r.Seconds, r.Note)
		}
		if other {
			h.others++
		}
		h.results = append(h.results, r)
	}
	return nil
}

// computeJob computes one result.
func (h *harness) computeJob(ctx context.Context, j job, p *parts) (*Result, error) {
	start := machine.ProcessorTime()
	s, err := j.entry.score(ctx, h, j, p)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := &Result{Set: j.set.name, Seed: j.seed, Entry: j.entry.name, Goal: j.goal, Commit: h.commit, Rows: p.train.Rows(),
		Seconds: (machine.ProcessorTime() - start).Seconds(), Size: s.size, Note: s.note}
	r.Criteria, err = measured(s.scores, positive(p.test))
	return r, err
}
