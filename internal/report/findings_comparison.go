package report

import (
	"fmt"

	"toptau/internal/plot"
	"toptau/internal/text"
	"toptau/metric"
)

// Comparison puts several models beside each other, measured on the same rows.
type Comparison struct {
	Criterion string // what is compared: "true positive rate at a false positive rate of at most 1 %"
	Verdict   string // in words; "": none
	Baseline  string // the name of the row that differences are taken from
	Rows      []Compared
}

// Compared is one model of a comparison.
type Compared struct {
	Name       string
	Value      metric.Proportion
	Difference *Difference // from the baseline, paired; nil: none
	Seconds    *float64    // to train; nil: unknown
	Chosen     bool
}

// Difference is a paired difference of rates with its interval.
type Difference struct{ Value, Low, High float64 }

func (c *Comparison) section() Section {
	s := Section{Title: "Comparison"}
	if len(c.Rows) == 0 {
		return s
	}
	if c.Verdict != "" {
		s.Paragraphs = []string{c.Verdict}
	}
	values := &plot.DotPlot{X: plot.Axis{Label: c.Criterion, Unit: plot.Percent}, Text: plot.Caption{Title: "Compared on the same rows",
		Description: "Values with intervals of " + text.Plural(len(c.Rows), "model") + "; the numbers stand in the table."}}
	differences := &plot.DotPlot{X: plot.Axis{Label: "difference in percentage points", Unit: plot.PercentagePoints},
		Rules: []plot.Rule{{Name: "no difference", At: 0}},
		Text: plot.Caption{Title: "Difference from " + c.Baseline, Note: "Paired on the same rows: an interval that leaves out 0 " +
			"tells more than two intervals that do not overlap.",
			Description: "Paired differences with intervals; the numbers stand in the table."}}
	for _, r := range c.Rows {
		row := dot(r.Name, r.Value)
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

func (c *Comparison) table() Table {
	t := Table{Header: []string{"model", "value", "counts", "interval"}, Numbers: []int{1, 2}}
	differences, seconds := false, false
	for _, r := range c.Rows {
		differences = differences || r.Difference != nil
		seconds = seconds || r.Seconds != nil
	}
	if differences {
		t.Header = append(t.Header, "points more than "+c.Baseline)
	}
	if seconds {
		t.Numbers = append(t.Numbers, len(t.Header))
		t.Header = append(t.Header, "seconds")
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
		t.Rows = append(t.Rows, row)
		if r.Chosen {
			t.Strong = append(t.Strong, i)
		}
	}
	return t
}
