package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
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

var pairHead = []string{"set", "split", "seed", "rule", "train_negatives", "scheme", "test_negatives", "budget", "rate", "expected", "low", "high",
	"log_pauc", "tpr_0.1%", "tpr_1%", "tpr_5%", "seconds_processor", "chosen"}

// runPairs appends the missing pairs of the sets to a CSV file.
func (h *harness) runPairs(ctx context.Context, only []string, splits [2]int, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		text = []byte(csvLine(pairHead))
		if err = os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	known, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return err
	}
	for place := range pairSeeds {
		for split := splits[0]; split <= min(splits[1], maxSeeds); split++ {
			for i := range sets {
				if len(only) > 0 && !slices.Contains(only, sets[i].name) {
					continue
				}
				if err := h.runSplit(ctx, &sets[i], split, split+place*maxSeeds, known, path); err != nil || ctx.Err() != nil {
					return err
				}
			}
		}
	}
	return nil
}

// runSplit appends the lines of a split and a seed of train that are not known.
func (h *harness) runSplit(ctx context.Context, s *set, split, seed int, known [][]string, path string) error {
	for _, rule := range pairRules {
		key := []string{s.name, strconv.Itoa(split), strconv.Itoa(seed), rule.name}
		if slices.ContainsFunc(known, func(line []string) bool { return slices.Equal(line[:len(key)], key) }) {
			continue
		}
		lines, err := h.runPair(ctx, s, split, seed, rule.name, rule.held)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", strings.Join(key, ", "), err)
		}
		if err := appendText(path, lines); err != nil {
			return err
		}
	}
	return nil
}

// runPair trains once and returns a line for each budget that enough negatives are within.
func (h *harness) runPair(ctx context.Context, s *set, split, seed int, rule string, held threshold.Rate) (string, error) {
	data, err := h.load(&thresholdSet{name: s.name, of: s.name, rows: pairRows}, split)
	if err != nil {
		return "", err
	}
	if err := divided(&data, split); err != nil {
		return "", err
	}
	o := tune.SearchOptions{Goal: maxFPR(mainBudget), Seed: uint64(seed), CalibrationFraction: held}
	negatives := float64(tune.CountRows(data.Table.Label, data.Table.Labelled()).Negatives)
	if !within(negatives, mainBudget) {
		o.Goal = maxFPR(budgets[2])
	}
	start := machine.ProcessorTime()
	f, err := tune.Search(ctx, data, o)
	if err != nil {
		return "", err
	}
	seconds := (machine.ProcessorTime() - start).Seconds()
	c, err := measureRanking(f.Test.Ranking)
	if err != nil {
		return "", err
	}
	lines := ""
	for _, rate := range pairBudgets {
		b, err := atBudget(f, rate)
		if err != nil {
			return "", err
		}
		if !within(negatives, rate) {
			continue
		}
		line := []string{s.name, strconv.Itoa(split), strconv.Itoa(seed), rule, strconv.Itoa(f.Training.Negatives), b.Scheme, fmt.Sprint(b.Negatives), b.Budget}
		for _, v := range []float64{b.FalseAlarms / b.Negatives, b.Expected, b.Low, b.High, c.LogPAUC, c.TPRTenth, c.TPRPercent, c.TPRFive, seconds} {
			line = append(line, strconv.FormatFloat(v, 'g', 6, 64))
		}
		lines += csvLine(append(line, chosenBy(f)))
	}
	fmt.Fprint(os.Stderr, lines)
	return lines, nil
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

// csvLine returns a line with its end.
func csvLine(fields []string) string {
	var text strings.Builder
	w := csv.NewWriter(&text)
	if w.Write(fields) == nil {
		w.Flush()
	}
	return text.String()
}

func appendText(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
