package report

import (
	"fmt"

	"toptau/internal/app/plot"
	"toptau/internal/core/text"
	"toptau/metric"
	"toptau/result"
)

// Comparison shows several rankings of the same rows.
type Comparison struct {
	Criterion string   // what is compared: "true positive rate at a false positive rate of at most 1 %"
	Verdicts  []string // conclusions
	Baseline  string   // the name of the row that differences are taken from
	Rows      []Compared
}

// Compared is one ranking of a comparison.
type Compared struct {
	Name       string
	Value      metric.Proportion
	Difference *Difference // from the baseline, paired; nil if there is none
	Seconds    *float64    // of training; nil if unknown
	Setting    string      // hyperparameters; "" if unknown
	Chosen     bool
}

// Difference is a paired difference of rates with its interval.
type Difference struct{ Value, Low, High float64 }

// Compare adds the comparison of several entries to the findings.
func Compare(f *Findings, e *result.Evaluation) {
	if len(e.Entries) < 2 {
		return
	}
	c := &Comparison{Criterion: CriterionText(e.Entries[0].Goal.Goal, counted(e)), Baseline: e.Against}
	for i := range e.Verdicts {
		conclusion, evidence := VerdictText(&e.Verdicts[i], e)
		if evidence != "" {
			conclusion += ": " + evidence
		}
		c.Verdicts = append(c.Verdicts, conclusion+".")
	}
	for i := range e.Entries {
		entry := &e.Entries[i]
		row := Compared{Name: entry.Name, Chosen: entry.Kind == result.ChosenEntry, Value: entry.Goal.Value.Proportion, Setting: entry.Setting}
		if d := entry.Difference; d != nil && d.Interval != nil {
			row.Difference = &Difference{Value: d.Rate, Low: d.Interval.Low, High: d.Interval.High}
		}
		c.Rows = append(c.Rows, row)
	}
	f.Comparison = c
}

// section returns the section of the comparison.
func (c *Comparison) section() Section {
	s := Section{Title: "Comparison"}
	if len(c.Rows) == 0 {
		return s
	}
	s.Paragraphs = c.Verdicts
	values := &plot.DotPlot{X: plot.Axis{Label: c.Criterion, Unit: plot.Percent}, Text: plot.Caption{Title: "Compared on the same rows",
		Description: "Values with intervals of " + text.Plural(len(c.Rows), "model") + ". The table has the numbers."}}
	differences := &plot.DotPlot{X: plot.Axis{Label: "difference in percentage points", Unit: plot.PercentagePoints},
		Rules: []plot.Rule{{Name: "no difference", At: 0}},
		Text: plot.Caption{Title: "Difference from " + c.Baseline,
			Note: "Differences are paired on the same rows. An interval without 0 is stronger " +
				"evidence than two intervals that do not overlap.",
			Description: "Paired differences with intervals. The table has the numbers."}}
	for _, r := range c.Rows {
		row := newDot(r.Name, r.Value)
		row.Chosen, row.Baseline = r.Chosen, r.Name == c.Baseline
		values.Rows = append(values.Rows, row)
		if d := r.Difference; d != nil {
			differences.Rows = append(differences.Rows, plot.Dot{Name: r.Name, Value: d.Value, Chosen: r.Chosen,
				Interval: &[2]float64{d.Low, d.High}})
		}
	}
	s.Figures = []plot.Figure{values}
	if len(differences.Rows) > 0 {
		s.Figures = append(s.Figures, differences)
	}
	s.Tables = []Table{c.table()}
	return s
}

// table returns the table of the comparison.
func (c *Comparison) table() Table {
	t := Table{Header: []string{"model", "value", "counts", "interval"}, Numbers: []int{1, 2}}
	differences, seconds, settings := false, false, false
	for _, r := range c.Rows {
		differences = differences || r.Difference != nil
		seconds = seconds || r.Seconds != nil
		settings = settings || r.Setting != ""
	}
	if differences {
		t.Header = append(t.Header, "points above "+c.Baseline)
	}
	if seconds {
		t.Numbers = append(t.Numbers, len(t.Header))
		t.Header = append(t.Header, "seconds")
	}
	if settings {
		t.Header = append(t.Header, "setting")
	}
	for i, r := range c.Rows {
		row := append([]string{r.Name}, proportionCells(r.Value)...)
		if differences {
			cell := ""
			if d := r.Difference; d != nil {
				cell = fmt.Sprintf("%s (%s to %s)", text.Points(d.Value), text.Points(d.Low),
					text.Points(d.High))
			}
			row = append(row, cell)
		}
		if seconds {
			cell := ""
			if r.Seconds != nil {
				cell = text.Number(*r.Seconds)
			}
			row = append(row, cell)
		}
		if settings {
			row = append(row, r.Setting)
		}
		t.Rows = append(t.Rows, row)
		if r.Chosen {
			t.Strong = append(t.Strong, i)
		}
	}
	return t
}
