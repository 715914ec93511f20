package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"toptau/internal/core/detmath"
	"toptau/internal/training/tune"
	"toptau/schema"
	"toptau/threshold"
)

// Figures pools over seeds how the thresholds of a cell on a set keep a budget.
type Figures struct {
	Set         string  `json:"set"`
	Cell        string  `json:"cell"`
	Budget      string  `json:"budget"`
	Seeds       int     `json:"seeds"`
	Ratio       float64 `json:"ratio"` // R: false alarms / (budget x test negatives)
	Error       float64 `json:"error"` // the standard error of Ratio over seeds
	FalseAlarms float64 `json:"false_alarms"`
	Negatives   float64 `json:"negatives"`   // of the test parts
	Calibration float64 `json:"calibration"` // mean number of negatives whose scores gave a threshold
	Scheme      string  `json:"scheme"`      // the most frequent
	Tied        float64 `json:"tied"`        // fraction of the test negatives whose score is the threshold
	TPR         float64 `json:"tpr"`         // mean
	ExactTPR    float64 `json:"tpr_at_exactly_the_budget"`
	Expected    float64 `json:"expected"` // R to be expected by the rule, as train reports it; mean
	Covering    int     `json:"covering"` // seeds whose reported interval contains the rate on the test part

	ratios []float64 // by seed
}

// figuresOf pools the runs of every set, cell and budget, in the order of the page. An average of one member
// does not count for the cell of averages.
func figuresOf(runs []*ThresholdRun) []*Figures {
	var list []*Figures
	for i := range thresholdSets {
		for k := range cells {
			for _, rate := range budgets {
				var of []AtBudget
				for _, r := range runs {
					if r.Set != thresholdSets[i].name || r.Cell != cells[k].name {
						continue
					}
					for _, b := range r.Budgets {
						if b.Budget == rate.String() && (cells[k].name != averageCell || b.Members > 1) {
							of = append(of, b)
						}
					}
				}
				if len(of) > 0 {
					list = append(list, pooledFigures(thresholdSets[i].name, cells[k].name, rate, of))
				}
			}
		}
	}
	return list
}

func pooledFigures(set, cell string, rate threshold.Rate, of []AtBudget) *Figures {
	f := &Figures{Set: set, Cell: cell, Budget: rate.String(), Seeds: len(of)}
	schemes := map[string]int{}
	for i := range of {
		b, n := &of[i], float64(len(of))
		f.ratios = append(f.ratios, b.ratio())
		f.FalseAlarms += b.FalseAlarms
		f.Negatives += b.Negatives
		f.Calibration += float64(b.Calibration) / n
		f.Tied += b.Tied
		f.TPR += b.TPR / n
		f.ExactTPR += b.ExactTPR / n
		schemes[b.Scheme]++
		if schemes[b.Scheme] > schemes[f.Scheme] {
			f.Scheme = b.Scheme
		}
		f.Expected += b.Expected / rate.Float64() / n
		if b.Covers {
			f.Covering++
		}
	}
	f.Tied /= f.Negatives
	f.Ratio = f.FalseAlarms / (rate.Float64() * f.Negatives)
	_, f.Error = detmath.MeanAndError(f.ratios)
	if len(of) == 1 { // that of a count
		f.Error = math.Sqrt(max(1, f.FalseAlarms)) / (rate.Float64() * f.Negatives)
	}
	return f
}

// The rules by which a cell passes, R with its standard error.
const (
	maxRatio       = 1.05 // + 2 standard errors
	minRatio       = 0.85 // - 2 standard errors, where the rows can resolve it:
	minCalibration = 20   // budget x negatives that calibrate
	minExpected    = 100  // budget x negatives of all test parts
	maxTied        = 0.1  // of the budget
	passingAim     = 0.95 // of the cells
)

func (f *Figures) rate() float64 { return threshold.MustRate(f.Budget).Float64() }

// high reports whether the budget is exceeded.
func (f *Figures) high() bool { return f.Ratio > maxRatio+2*f.Error }

// resolved reports whether the lower rule applies.
func (f *Figures) resolved() bool {
	return f.rate()*f.Calibration >= minCalibration && f.rate()*f.Negatives >= minExpected && f.Tied < maxTied*f.rate()
}

// low reports whether too much of the budget is left.
func (f *Figures) low() bool { return f.resolved() && f.Ratio < minRatio-2*f.Error }

// reason returns the known reasons why R differs from 1, "" if there are none.
func (f *Figures) reason() string {
	var why []string
	switch {
	case f.Expected > 1:
		why = append(why, fmt.Sprintf("the rows cannot resolve the budget: the expected R is %.2f", f.Expected))
	case f.rate()*f.Calibration < minCalibration:
		why = append(why, "few calibration negatives")
	}
	if f.rate()*f.Negatives < minExpected {
		why = append(why, "few test negatives")
	}
	if f.Tied >= maxTied*f.rate() {
		why = append(why, "ties")
	}
	return strings.Join(why, ", ")
}

// learner and encoding are the parts of the cell's name; "" for a cell of several.
func (f *Figures) learner() string { name, _, _ := strings.Cut(f.Cell, " "); return name }

func (f *Figures) encoding() string { _, name, _ := strings.Cut(f.Cell, " "); return name }

// refitted reports whether the models of a cell have trees, or may have them, and were fitted again to all rows.
func (f *Figures) refitted() bool {
	return f.Scheme == string(tune.SchemeCrossFitted) &&
		(f.Cell == averageCell || f.Cell == defaultCell || f.encoding() == string(schema.Leaves))
}

// selected are the figures for which all conditions hold.
func selected(list []*Figures, conditions ...func(f *Figures) bool) []*Figures {
	return slices.DeleteFunc(slices.Clone(list), func(f *Figures) bool {
		return slices.ContainsFunc(conditions, func(c func(f *Figures) bool) bool { return !c(f) })
	})
}

// count is the number of figures for which a condition holds.
func count(list []*Figures, condition func(f *Figures) bool) int {
	return len(selected(list, condition))
}

// meanRatio is the mean of R over cells; NaN without any.
func meanRatio(list []*Figures) float64 {
	sum := 0.0
	for _, f := range list {
		sum += f.Ratio
	}
	return sum / float64(len(list))
}
