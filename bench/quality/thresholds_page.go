package main

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// thresholdPage writes docs/results/thresholds.md.
type thresholdPage struct {
	strings.Builder
	runs    []*ThresholdRun
	missing int
	figures []*Figures
	before  []*Figures
}

// thresholdsBefore holds the figures of an earlier rule, which this program measured at an earlier commit.
//
//go:embed thresholds-before.json
var thresholdsBefore []byte

func (p *thresholdPage) page(note string) (string, error) {
	p.figures = figuresOf(p.runs)
	if err := json.Unmarshal(thresholdsBefore, &p.before); err != nil {
		return "", err
	}
	p.WriteString(thresholdHead)
	p.summary()
	p.WriteString(thresholdMethod + note)
	p.failing()
	p.means()
	p.described()
	p.WriteString(thresholdTail)
	return p.String(), nil
}

const thresholdHead = `# How thresholds without a guarantee keep their budget

Without ` + "`--delta`, `train --max-fpr`" + ` sets a threshold whose expected rate of false alarms on new rows is the budget.
This page measures it on rows that took no part in training, choosing or calibrating.

R is the number of false alarms divided by budget x test negatives. R = 1 is exactly the budget. [thresholds.csv](thresholds.csv)
has every cell, on simulated sets with the range of the true rate over draws, and where it was measured R of the earlier rule, which mapped
the threshold of out-of-fold scores to a model of all rows.

## Summary

`

const thresholdMethod = `
## How it is measured

* A cell is a set, a learner with an encoding, and a budget (0.1 %, 1 %, 5 %). In **average** ` + "`train`" + ` may average logistic regression and the ramp on
  scorecard and leaves; only trainings with several members count. **default** is ` + "`train`" + ` without restrictions.
* Real sets: each seed divides the rows anew, with one half of each class for the test. Simulated sets: each seed draws fresh
  rows for training and 20,000 others for the test, so the true rate is known up to their sampling error.
* On raw columns each budget has its own training, and so does 5 % on scorecards. Otherwise the model that was trained for 1 %
  also gives the thresholds for the other budgets, from the same rows.
* R is pooled over seeds, ± its standard error over seeds (for one seed that of the count). The halves of different seeds share rows.
* A cell passes if R <= 1.05 + 2 standard errors. It must also have R >= 0.85 - 2 standard errors if its rows can resolve that: budget x
  calibration negatives >= 20, budget x test negatives of all seeds >= 100, and less than a tenth of the budget tied with the threshold.
* The scheme is which rows gave the threshold, as ` + "`train`" + ` reports it.
`

const thresholdTail = `
## Running it again

    make measure WHAT=thresholds                                     # everything; needs TOPTAU_DATA
    go run -C bench ./quality -thresholds -sets pima -cells default  # a part, to standard error

[thresholds-results.csv](thresholds-results.csv) has every training with its commit and a probe: a digest of what its cell gives on a small simulated
set. A run adds the trainings that are missing or have another probe, so a campaign continues where it stopped.
`

func ofBudget(budget string) func(f *Figures) bool {
	return func(f *Figures) bool { return f.Budget == budget }
}

// share writes a count of a total with its percentage.
func share(n, of int) string {
	if of == 0 {
		return "none of 0"
	}
	return fmt.Sprintf("%d of %d (%.1f %%)", n, of, 100*float64(n)/float64(of))
}

// percentBudget writes "0.001" as "0.1 %".
func percentBudget(f *Figures) string { return fmt.Sprintf("%g %%", math.Round(1e5*f.rate())/1e3) }

func budgetTitles() []string {
	var titles []string
	for _, rate := range budgets {
		titles = append(titles, percentBudget(&Figures{Budget: rate.String()}))
	}
	return titles
}

// byBudget writes a figure of the cells of each budget: "0.98 at 0.1 %, ...".
func byBudget(list []*Figures, figure func(list []*Figures) string) string {
	var parts []string
	for i, rate := range budgets {
		if of := selected(list, ofBudget(rate.String())); len(of) > 0 {
			parts = append(parts, figure(of)+" at "+budgetTitles()[i])
		}
	}
	return strings.Join(parts, ", ")
}

func ratioText(list []*Figures) string { return fmt.Sprintf("%.2f", meanRatio(list)) }

func (p *thresholdPage) summary() {
	list := p.figures
	p.line("%d trainings with thresholds for three budgets on %d sets; %d cells.", len(p.runs)-p.failures(), p.sets(), len(list))
	if p.missing > 0 {
		p.line("**%d of %d trainings are missing.**", p.missing, p.missing+len(p.runs))
	}
	kept := count(list, func(f *Figures) bool { return !f.high() })
	p.line("R <= 1.05 + 2 standard errors in %s, goal 95 %%: %s.", share(kept, len(list)), passing(kept, len(list)))
	resolved := selected(list, (*Figures).resolved)
	used := count(resolved, func(f *Figures) bool { return !f.low() })
	p.line("R >= 0.85 - 2 standard errors in %s of the cells whose rows can resolve it, goal 95 %%: %s.", share(used, len(resolved)),
		passing(used, len(resolved)))
	p.line("Mean R over cells: %s; in the cells whose rows can resolve it: %s.", byBudget(list, ratioText), byBudget(resolved, ratioText))
	p.line("True positives at the threshold minus those at exactly the budget, in points: %s.",
		byBudget(list, func(of []*Figures) string { return fmt.Sprintf("%+.2f", meanLoss(of)) }))
	for _, scheme := range p.schemes() {
		of := selected(list, func(f *Figures) bool { return f.Scheme == scheme })
		p.line("Scheme \"%s\", %d cells: mean R %s.", scheme, len(of), byBudget(of, ratioText))
	}
	simulated := selected(list, func(f *Figures) bool { return isSimulated(f.Set) })
	draws, covering := coverage(simulated)
	p.line("Simulated sets with known true rate: mean R %s; the 95 %% interval contains the true rate in %s of the fresh draws.",
		byBudget(simulated, ratioText), share(covering, draws))
	refitted := selected(simulated, (*Figures).refitted)
	draws, covering = coverage(refitted)
	p.line("Of these, models with trees that are fitted again to all rows: it contains the true rate in %s. `train` prints no interval for them.", share(covering, draws))
	if named := selected(list, func(f *Figures) bool { return namesOf(f.Set) != noNames }); len(named) > 0 {
		p.line("With an artificial column of 6,000 names: mean R %s; highest cell %s.", byBudget(named, ratioText), highest(named))
	}
	now, then := p.both()
	if len(now) > 0 {
		p.line("The earlier rule, in the %d cells measured with both: mean R %s; highest %s. Now there: %s; highest %s.", len(now),
			byBudget(then, ratioText), highest(then), byBudget(now, ratioText), highest(now))
	}
}

func (p *thresholdPage) line(format string, args ...any) { fmt.Fprintf(p, "* "+format+"\n", args...) }

func passing(n, of int) string {
	if float64(n) >= passingAim*float64(of) {
		return "met"
	}
	return "**missed**"
}

// failures is the number of trainings without a model.
func (p *thresholdPage) failures() int {
	n := 0
	for _, r := range p.runs {
		if r.Failed != "" {
			n++
		}
	}
	return n
}

func (p *thresholdPage) sets() int {
	seen := map[string]bool{}
	for _, r := range p.runs {
		seen[r.Set] = true
	}
	return len(seen)
}

// schemes are those of the cells, in the order of the page.
func (p *thresholdPage) schemes() []string {
	var list []string
	for _, f := range p.figures {
		if !slices.Contains(list, f.Scheme) {
			list = append(list, f.Scheme)
		}
	}
	return list
}

func setNamed(name string) *thresholdSet {
	i := slices.IndexFunc(thresholdSets, func(s thresholdSet) bool { return s.name == name })
	if i < 0 {
		return nil
	}
	return &thresholdSets[i]
}

func isSimulated(name string) bool { s := setNamed(name); return s != nil && s.of == "" }

func namesOf(set string) names {
	if s := setNamed(set); s != nil {
		return s.names
	}
	return noNames
}

// meanLoss is in points.
func meanLoss(list []*Figures) float64 {
	sum := 0.0
	for _, f := range list {
		sum += 100 * (f.TPR - f.ExactTPR)
	}
	return sum / float64(len(list))
}

func coverage(list []*Figures) (draws, covering int) {
	for _, f := range list {
		draws += f.Seeds
		covering += f.Covering
	}
	return draws, covering
}

// highest names the cell with the largest R.
func highest(list []*Figures) string {
	f := slices.MaxFunc(list, func(a, b *Figures) int {
		if a.Ratio > b.Ratio {
			return 1
		}
		return -1
	})
	return fmt.Sprintf("%.2f (%s, %s, %s)", f.Ratio, f.Set, f.Cell, percentBudget(f))
}

func (f *Figures) ratioText() string { return fmt.Sprintf("%.2f ± %.2f", f.Ratio, f.Error) }

const cellColumns = "| set | cell | budget | R | seeds | false alarms | budget x calibration | scheme | tied / budget | TPR | TPR at the budget |"

// row is a line of a table of cells, without an end.
func (f *Figures) row() string {
	return fmt.Sprintf("| %s | %s | %s | %s | %d | %.0f | %.3g | %s | %.2f | %.1f | %.1f |", f.Set, f.Cell, percentBudget(f), f.ratioText(),
		f.Seeds, f.FalseAlarms, f.rate()*f.Calibration, f.Scheme, f.Tied/f.rate(), 100*f.TPR, 100*f.ExactTPR)
}

const cellRule = "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: |"

// failing lists the cells that do not pass.
func (p *thresholdPage) failing() {
	p.WriteString("\n## Cells that fail\n\n")
	list := selected(p.figures, func(f *Figures) bool { return f.high() || f.low() })
	if len(list) == 0 {
		p.WriteString("None.\n")
		return
	}
	p.WriteString(cellColumns + " |\n" + cellRule + " --- |\n")
	for _, f := range list {
		why := "low"
		if f.high() {
			why = "**high**"
		}
		if reason := f.reason(); reason != "" {
			why += ": " + reason
		}
		fmt.Fprintf(p, "%s %s |\n", f.row(), why)
	}
}

// means are those of R by scheme, learner and encoding.
func (p *thresholdPage) means() {
	p.WriteString("\n## Mean R over cells\n\n| cells | n | R, " + strings.Join(budgetTitles(), " | n | R, ") + " |\n| --- |" +
		strings.Repeat(" ---: | ---: |", len(budgets)) + "\n")
	groups := []struct {
		name  string
		value func(f *Figures) string
	}{{"", func(*Figures) string { return "all" }}, {"scheme: ", func(f *Figures) string { return f.Scheme }},
		{"", (*Figures).learner}, {"", (*Figures).encoding}}
	for _, g := range groups {
		var seen []string
		for _, f := range p.figures {
			value := g.value(f)
			if value == "" || slices.Contains(seen, value) {
				continue
			}
			seen = append(seen, value)
			p.WriteString("| " + g.name + value + " |")
			of := selected(p.figures, func(f *Figures) bool { return g.value(f) == value })
			for _, rate := range budgets {
				at := selected(of, ofBudget(rate.String()))
				text := "–"
				if len(at) > 0 {
					text = ratioText(at)
				}
				fmt.Fprintf(p, " %d | %s |", len(at), text)
			}
			p.WriteString("\n")
		}
	}
}

// both are the cells that were measured under this rule and the earlier one.
func (p *thresholdPage) both() (now, then []*Figures) {
	for _, f := range p.figures {
		if b := p.earlier(f); b != nil {
			now, then = append(now, f), append(then, b)
		}
	}
	return now, then
}

// earlier returns the figures of a cell under the earlier rule, nil if it was not measured.
func (p *thresholdPage) earlier(f *Figures) *Figures {
	i := slices.IndexFunc(p.before, func(b *Figures) bool { return b.Set == f.Set && b.Cell == f.Cell && b.Budget == f.Budget })
	if i < 0 {
		return nil
	}
	return p.before[i]
}

// csv writes docs/results/thresholds.csv: a line for each cell. What was not measured in a cell is empty: the range of the
// true rate and the coverage on real sets, and the earlier rule in most cells.
func (p *thresholdPage) csv() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(strings.Split("set,cell,budget,ratio,standard_error,seeds,false_alarms,budget_x_calibration,scheme,tied_over_budget,tpr,tpr_at_budget,"+
		"ratio_10,ratio_90,intervals_that_cover,earlier_ratio,earlier_standard_error,earlier_seeds", ","))
	for _, f := range p.figures {
		line := []string{f.Set, f.Cell, f.Budget, fmt.Sprintf("%.2f", f.Ratio), fmt.Sprintf("%.2f", f.Error), fmt.Sprint(f.Seeds),
			fmt.Sprintf("%.0f", f.FalseAlarms), fmt.Sprintf("%.3g", f.rate()*f.Calibration), f.Scheme, fmt.Sprintf("%.2f", f.Tied/f.rate()),
			fmt.Sprintf("%.3f", f.TPR), fmt.Sprintf("%.3f", f.ExactTPR), "", "", "", "", "", ""}
		if isSimulated(f.Set) {
			sorted := slices.Sorted(slices.Values(f.ratios))
			last := len(sorted) - 1
			line[12], line[13] = fmt.Sprintf("%.2f", sorted[last/10]), fmt.Sprintf("%.2f", sorted[last-last/10])
			line[14] = fmt.Sprintf("%.3f", float64(f.Covering)/float64(f.Seeds))
		}
		if b := p.earlier(f); b != nil {
			line[15], line[16], line[17] = fmt.Sprintf("%.2f", b.Ratio), fmt.Sprintf("%.2f", b.Error), fmt.Sprint(b.Seeds)
		}
		w.Write(line)
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// described lists the sets and the trainings that failed.
func (p *thresholdPage) described() {
	p.WriteString("\n## Sets\n\n")
	for i := range thresholdSets {
		s := &thresholdSets[i]
		text := "all rows of the training file"
		if s.kind != "" {
			text = s.kind
		}
		p.line("%s: %s.", s.name, text)
	}
	for _, r := range p.runs {
		if r.Failed != "" {
			p.line("%s, %s, seed %d: no model, %s.", r.Set, r.Cell, r.Seed, r.Failed)
		}
	}
}
