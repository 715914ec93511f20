package toptau

import (
	"fmt"
	"io"
	"strconv"

	"toptau/internal/report"
	"toptau/internal/tune"
	"toptau/metric"
)

// WriteReport writes the comparison as one self-contained HTML page. It needs no network.
func (r *CompareReport) WriteReport(w io.Writer) error {
	f := report.Findings{Title: "Does top-focused training help?", Lead: r.Goal.String(),
		Comparison: r.comparison(), Data: r.parts(),
		Sections: []report.Section{{Title: "Settings", Tables: []report.Table{r.settings()}}}}
	for i := range r.Verdicts {
		f.Summary = append(f.Summary, r.Verdicts[i].Words()+".")
	}
	for _, e := range r.Entries {
		if e.Joined != nil {
			f.Data = append(f.Data, report.Fact{Name: "scores of " + e.Name, Value: e.Joined.Words()})
		}
	}
	for _, warning := range r.Warnings {
		f.Warnings = append(f.Warnings, warning.Text)
	}
	_, err := f.Page().WriteTo(w)
	return err
}

func (r *CompareReport) comparison() *report.Comparison {
	c := &report.Comparison{Criterion: r.Criterion, Baseline: r.Against}
	for i := range r.Entries {
		e := &r.Entries[i]
		row := report.Compared{Name: e.Name, Chosen: r.Preferred != nil && e.Name == *r.Preferred}
		if e.Test == nil {
			row.Value = metric.Proportion{Undefined: e.Status}
		} else {
			row.Value = e.Test.Proportion
		}
		if e.Kind != tune.KindScores {
			row.Seconds = &e.SecondsGrid
		}
		if d := e.Difference; d != nil && d.Interval != nil && e.Name != r.Against {
			row.Difference = &report.Difference{Value: d.Rate, Low: d.Interval.Low, High: d.Interval.High}
		}
		c.Rows = append(c.Rows, row)
	}
	return c
}

// settings are what the validation part chose.
func (r *CompareReport) settings() report.Table {
	t := report.Table{Header: []string{"model", "features", "setting", "fitted"}, Numbers: []int{1, 3}}
	for i := range r.Entries {
		if e := &r.Entries[i]; e.Setting != nil {
			t.Rows = append(t.Rows, []string{e.Name, commas(float64(*e.Features)), *e.Setting,
				fmt.Sprintf("%d of %d", e.Fitted, e.Tried)})
		}
	}
	return t
}

// parts are the rows and where they come from.
func (r *CompareReport) parts() []report.Fact {
	facts := []report.Fact{}
	for _, p := range []struct {
		name string
		PartReport
	}{{"training part", r.Training}, {"validation part", r.Validation}, {"test part", r.Test}} {
		facts = append(facts, report.Fact{Name: p.name,
			Value: fmt.Sprintf("%s rows, %s positive", commas(float64(p.Rows)), commas(float64(p.Positives)))})
	}
	if r.Entities != nil {
		facts = append(facts, report.Fact{Name: "entities of the test part", Value: commas(float64(*r.Entities))})
	}
	return append(facts, report.Fact{Name: "seed", Value: strconv.FormatUint(r.Seed, 10)},
		report.Fact{Name: "digest", Value: r.data.digest(), Code: true})
}
