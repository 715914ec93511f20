package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"toptau/bench/machine"
	"toptau/internal/training/tune"
	"toptau/threshold"
)

// Pairs of trainings with the same split and seed, one whose threshold is estimated from all rows and one that holds 15 % of the negatives
// out. Each split divides the rows of a set anew, and seeds of train differ in the folds and the trees.

// Rows of a set that are used, and of these the rows that train, at most. The rest tests.
const (
	pairRows  = 20_000
	pairTrain = 8_000
	pairSeeds = 2 // of train on each split
)

// pairBudgets are the rates of the thresholds.
var pairBudgets = rates("0.005", "0.01", "0.05")

// pairRules are the two thresholds of a pair, by the fraction held out.
var pairRules = []struct {
	name string
	held threshold.Rate
}{{"all-rows", threshold.Rate{}}, {"held-out", threshold.MustRate("15%")}}

// pairRun has the threshold of a training for a budget.
type pairRun struct {
	Set         string
	Split, Seed int
	Rule        string
	Negatives   int // of the training
	Seconds     float64
	Criteria    Criteria
	Chosen      string
	AtBudget
}

var pairColumns = []column[pairRun]{
	{"set", func(r *pairRun) any { return &r.Set }},
	{"split", func(r *pairRun) any { return &r.Split }},
	{"seed", func(r *pairRun) any { return &r.Seed }},
	{"rule", func(r *pairRun) any { return &r.Rule }},
	{"train_negatives", func(r *pairRun) any { return &r.Negatives }},
	{"scheme", func(r *pairRun) any { return &r.Scheme }},
	{"test_negatives", func(r *pairRun) any { return &r.AtBudget.Negatives }},
	{"budget", func(r *pairRun) any { return &r.Budget }},
	{"false_alarms", func(r *pairRun) any { return &r.FalseAlarms }},
	{"expected", func(r *pairRun) any { return &r.Expected }},
	{"low", func(r *pairRun) any { return &r.Low }},
	{"high", func(r *pairRun) any { return &r.High }},
	{"log_pauc", func(r *pairRun) any { return &r.Criteria.LogPAUC }},
	{"tpr_0.1%", func(r *pairRun) any { return &r.Criteria.TPRTenth }},
	{"tpr_1%", func(r *pairRun) any { return &r.Criteria.TPRPercent }},
	{"tpr_5%", func(r *pairRun) any { return &r.Criteria.TPRFive }},
	{"seconds_processor", func(r *pairRun) any { return &r.Seconds }},
	{"chosen", func(r *pairRun) any { return &r.Chosen }},
}

// runPairs adds the missing pairs of the sets to a CSV file.
func (h *harness) runPairs(ctx context.Context, only []string, splits [2]int, path string) error {
	kept, err := openLedger(path, pairColumns)
	if err != nil {
		return err
	}
	for place := range pairSeeds {
		for split := splits[0]; split <= min(splits[1], maxSeeds); split++ {
			for i := range sets {
				if len(only) > 0 && !slices.Contains(only, sets[i].name) {
					continue
				}
				if err := h.runSplit(ctx, &sets[i], split, split+place*maxSeeds, kept); err != nil || ctx.Err() != nil {
					return err
				}
			}
		}
	}
	return nil
}

// runSplit adds the trainings of a split and a seed of train that are missing.
func (h *harness) runSplit(ctx context.Context, s *set, split, seed int, kept *ledger[pairRun]) error {
	for _, rule := range pairRules {
		same := func(r *pairRun) bool {
			return r.Set == s.name && r.Split == split && r.Seed == seed && r.Rule == rule.name
		}
		if kept.find(same) != nil {
			continue
		}
		runs, err := h.runPair(ctx, s, split, seed, rule.name, rule.held)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s, split %d, seed %d, %s: %w", s.name, split, seed, rule.name, err)
		}
		if err := kept.put(same, runs...); err != nil {
			return err
		}
	}
	return nil
}

// runPair trains once and returns a result for each budget that enough negatives are within.
func (h *harness) runPair(ctx context.Context, s *set, split, seed int, rule string, held threshold.Rate) (runs []*pairRun, err error) {
	data, err := h.load(&thresholdSet{name: s.name, of: s.name, rows: pairRows}, split)
	if err != nil {
		return nil, err
	}
	if err := divided(&data, split); err != nil {
		return nil, err
	}
	o := tune.SearchOptions{Goal: maxFPR(mainBudget), Seed: uint64(seed), CalibrationFraction: held}
	negatives := float64(tune.CountRows(data.Table.Label, data.Table.Labelled()).Negatives)
	if !within(negatives, mainBudget) {
		o.Goal = maxFPR(budgets[2])
	}
	start := machine.ProcessorTime()
	f, err := tune.Search(ctx, data, o)
	if err != nil {
		return nil, err
	}
	seconds := (machine.ProcessorTime() - start).Seconds()
	c, err := measureRanking(f.Test.Ranking)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(os.Stderr, "%s, split %d, seed %d, %s: log-pAUC %.1f, TPR at 1 %% %.1f, %.1f s\n", s.name, split, seed, rule, 100*c.LogPAUC, 100*c.TPRPercent, seconds)
	for _, rate := range pairBudgets {
		b, err := atBudget(f, rate)
		if err != nil {
			return nil, err
		}
		if within(negatives, rate) {
			runs = append(runs, &pairRun{s.name, split, seed, rule, f.Training.Negatives, seconds, c, chosenBy(f), b})
		}
	}
	return runs, nil
}

// divided moves the rows that test to their own table, as a search with this seed would choose them.
func divided(d *tune.Data, split int) error {
	units, err := tune.RowUnits(d.Table.Frame())
	if err != nil {
		return err
	}
	train := min(float64(pairTrain)/float64(d.Table.Rows()), 0.65)
	parts, err := tune.Cut{Shares: []float64{train, 1 - train}, Seed: uint64(split), Copies: units.Of}.Divide(d.Table.Label)
	if err == nil {
		d.Table, d.Test = d.Table.Select(parts[0]), d.Table.Select(parts[1])
	}
	return err
}

// within reports whether 15 % of the negatives contain enough within a budget for a plain threshold.
func within(negatives float64, rate threshold.Rate) bool { return 0.15*negatives*rate.Float64() >= 2.3 }

// chosenBy names what was chosen.
func chosenBy(f *tune.Found) string {
	var names []string
	for _, m := range f.Members {
		names = append(names, f.Candidates[m.Candidate].String())
	}
	return strings.Join(names, " + ")
}
