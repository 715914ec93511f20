package report

import (
	"fmt"
	"strconv"
	"strings"

	"toptau/internal/app/plot"
	"toptau/internal/core/text"
	"toptau/metric"
	"toptau/result"
)

// UnitRule describes units.
func UnitRule(u *result.Unit) string {
	rule := "one alert per " + u.Entity
	if u.Per != "" {
		rule += " and " + u.Per
	}
	return fmt.Sprintf("%s, from %s; it is positive if one of its rows is", rule, text.Plural(u.Rows, "row"))
}

// BreakdownCells returns the lines of a table of a breakdown. The first is the header.
func BreakdownCells(b *result.Breakdown) [][]string {
	lines := [][]string{{ColumnName(b.Column), "rows", "positive", "found", "interval", "false alarms", "interval"}}
	for i := range b.Values {
		v := &b.Values[i]
		line := []string{valueName(v), text.Count(v.Rows), text.Count(v.Positives)}
		lines = append(lines, append(append(line, rateCells(&v.Found)...), rateCells(&v.FalseAlarms)...))
	}
	return lines
}

// ColumnName returns a column's name, "column 7" in a file without a header.
func ColumnName(name string) string {
	if _, err := strconv.Atoi(name); err == nil {
		return "column " + name
	}
	return name
}

// valueName names a line of a breakdown.
func valueName(v *result.BreakdownValue) string {
	switch {
	case v.Others > 0:
		return fmt.Sprintf("%s others", text.Count(v.Others))
	case v.Value == "":
		return "(empty)"
	}
	return v.Value
}

// rateCells returns "12.1 % (149)" and its interval, or "-" without rows.
func rateCells(p *metric.Proportion) []string {
	if !p.Defined() {
		return []string{"-", ""}
	}
	cells := []string{fmt.Sprintf("%s (%s)", text.Percent(p.Rate), text.Number(p.Numerator)), ""}
	if i := p.Interval; i != nil {
		cells[1] = text.Percent(i.Low) + " to " + text.Percent(i.High)
	}
	return cells
}

// ExampleTitle names a list of rows.
func ExampleTitle(kind result.ExampleKind) string {
	switch kind {
	case result.FalseAlarm:
		return "False alarms with the highest scores"
	case result.FoundRow:
		return "Positives found with the highest scores"
	}
	return "Missed positives with the lowest scores"
}

// ReasonText returns "src_bytes = 1032: +1.25", or "service missing: -0.3".
func ReasonText(r *result.Reason) string {
	value := " = " + r.Value
	if r.Value == "" {
		value = " missing"
	} else if x, err := strconv.ParseFloat(r.Value, 64); err == nil {
		value = fmt.Sprintf(" = %.6g", x)
	}
	return fmt.Sprintf("%s%s: %+.4g", ColumnName(r.Column), value, r.AboveAverage)
}

// ReasonsText lists reasons.
func ReasonsText(list []result.Reason) string {
	parts := make([]string, len(list))
	for i := range list {
		parts[i] = ReasonText(&list[i])
	}
	return strings.Join(parts, ", ")
}

// TogetherText describes the intervals of breakdowns that hold together; "" if each has its own confidence.
func TogetherText(list []result.Breakdown) string {
	if len(list) == 0 || list[0].Together < 2 {
		return ""
	}
	for i := range list {
		for _, v := range list[i].Values {
			for _, p := range []metric.Proportion{v.Found, v.FalseAlarms} {
				if p.Interval != nil {
					n := float64(list[0].Together)
					miss := 1 - p.Interval.Confidence
					return fmt.Sprintf("All %d intervals hold together with a confidence of %s (Bonferroni: each has %s)", list[0].Together,
						text.Confidence(miss*n), text.Confidence(miss))
				}
			}
		}
	}
	return ""
}

// breakdownDots is the number of values that the figure of a breakdown shows. Chosen by hand.
const breakdownDots = 12

// breakdownSection returns the section of found positives by the values of columns.
func breakdownSection(list []result.Breakdown) Section {
	s := Section{Title: "Which positives are missed"}
	if words := TogetherText(list); words != "" {
		s.Paragraphs = []string{words + "."}
	}
	for i := range list {
		b := &list[i]
		d := &plot.DotPlot{X: plot.Axis{Label: "positives found", Unit: plot.Percent, Min: 0, Max: 1},
			Text: plot.Caption{Title: "Found by " + ColumnName(b.Column),
				Description: "Fraction of the positives found for values of " + b.Column + ", with intervals. The table has the numbers."}}
		for k := range b.Values {
			if v := &b.Values[k]; v.Found.Defined() && len(d.Rows) < breakdownDots {
				d.Rows = append(d.Rows, newDot(valueName(v), v.Found))
			}
		}
		if len(d.Rows) > 0 {
			s.Figures = append(s.Figures, d)
		}
		cells := BreakdownCells(b)
		s.Tables = append(s.Tables, Table{Caption: "By " + ColumnName(b.Column), Header: cells[0], Rows: cells[1:],
			Numbers: []int{1, 2, 3, 4, 5, 6},
			Tall:    len(cells) > 15})
	}
	return s
}

// exampleSection returns the section of rows that deserve a look.
func exampleSection(list []result.Example) Section {
	s := Section{Title: "Rows to look at"}
	for _, kind := range []result.ExampleKind{result.FalseAlarm, result.FoundRow, result.MissedRow} {
		t := Table{Caption: ExampleTitle(kind), Header: []string{"row", "score", "main reasons, against the average training row"},
			Numbers: []int{1}, Tall: true}
		for i := range list {
			x := &list[i]
			if x.Kind != kind {
				continue
			}
			name := "row " + text.Count(x.Row)
			if len(x.ID) > 0 {
				name = strings.Join(x.ID, " ")
			}
			t.Rows = append(t.Rows, []string{name, text.Significant(x.Score, 4), ReasonsText(x.Reasons)})
		}
		if t.Rows != nil {
			s.Tables = append(s.Tables, t)
		}
	}
	return s
}
