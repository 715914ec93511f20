package report

import (
	"fmt"
	"strings"

	"toptau/internal/text"
	"toptau/metric"
	"toptau/result"
)

// CardFindings are the content of a model card.
type CardFindings struct {
	*result.Card
	Points []OperatingPoint
	Model  []Fact // about the training
	Data   []Fact // about the measured rows; nil without them
	Date   string // "" for none
}

// notStated stands for a statement that nobody made.
const notStated = "not stated"

// Page returns the card as a page. The sections answer, in this order: what is it for, what does it promise and what does
// it not, what was measured, for whom it errs more, how it was made, what the file contains.
func (f *CardFindings) Page() Page {
	p := Page{Title: "Model card", Summary: f.summary(),
		Footer: "Made by toptau from the model file. Statements under Purpose and use are those of its owners."}
	if f.Name != "" {
		p.Title += ": " + f.Name
	}
	p.About = []string{f.Inspection.Digest}
	if f.Card.Data != nil {
		p.About = append(p.About, "measured on "+f.Card.Data.File)
	}
	if f.Date != "" {
		p.About = append(p.About, f.Date)
	}
	warnings := Section{Title: "Warnings"}
	for _, w := range f.Warnings {
		warnings.Warnings = append(warnings.Warnings, w.Text)
	}
	p.Sections = []Section{warnings, f.purpose(), f.limits()}
	for i := range f.Points {
		p.Sections = append(p.Sections, f.Points[i].section(len(f.Points) > 1))
	}
	if d := f.Card.Data; d != nil {
		groups := breakdownSection(d.Evaluation.By)
		groups.Title = "Error rates by group"
		groups.Paragraphs = append(groups.Paragraphs, f.differences()...)
		p.Sections = append(p.Sections, groups, f.probability(), Section{Title: "Measured rows", Facts: f.Data})
	} else {
		p.Sections = append(p.Sections, Section{Title: "Error rates by group",
			Paragraphs: []string{"Not measured: no labelled rows were given."}}, f.probability())
	}
	p.Sections = append(p.Sections, f.columns(), f.training(), f.content())
	return p
}

// summary returns the card in a few lines.
func (f *CardFindings) summary() []string {
	lines := []string{"Purpose: " + f.stated("Purpose") + ".", "Not for: " + f.stated("Not for") + "."}
	for i := range f.Points {
		o := &f.Points[i]
		line := fmt.Sprintf("Operating point %s: %s", o.Name, GoalText(o.Goal))
		if g := o.Guarantee; g != nil && g.Certified {
			line += fmt.Sprintf("; guaranteed with a confidence of %s", metric.ConfidenceText(g.Delta.Float64()))
		} else {
			line += "; without a guarantee"
		}
		if o.Decisions != nil {
			line += fmt.Sprintf("; measured: %s of the positives found, %s of the negatives are false alarms",
				rateOrNone(o.Decisions.TruePositiveRate), rateOrNone(o.Decisions.FalsePositiveRate))
		}
		lines = append(lines, line+".")
	}
	if f.Card.Data == nil {
		lines = append(lines, "Nothing was measured for this card.")
	}
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], "..", ".")
	}
	return lines
}

func rateOrNone(p metric.Proportion) string {
	if !p.Defined() {
		return "none"
	}
	return text.Percent(p.Rate)
}

// stated returns the text of a statement.
func (f *CardFindings) stated(title string) string {
	for _, s := range f.Statements {
		if s.Title == title && s.Text != "" {
			return s.Text
		}
	}
	return notStated
}

// purpose returns the statements of the owners.
func (f *CardFindings) purpose() Section {
	s := Section{Title: "Purpose and use"}
	for _, statement := range f.Statements {
		s.Facts = append(s.Facts, Fact{Name: statement.Title, Value: f.stated(statement.Title)})
	}
	return s
}

// limits returns what the model does not promise, as it follows from the file.
func (f *CardFindings) limits() Section {
	s := Section{Title: "What this model does not promise"}
	certified, segments := 0, false
	for i := range f.Points {
		if g := f.Points[i].Guarantee; g != nil && g.Certified {
			certified++
			segments = segments || len(f.Points[i].Segments) > 0
		}
	}
	add := func(format string, args ...any) { s.Warnings = append(s.Warnings, fmt.Sprintf(format, args...)) }
	if certified == 0 {
		add("No operating point has a guarantee: on new rows a plain threshold may exceed its budget.")
	} else {
		add("A guarantee holds for new rows from the distribution of the calibration rows. It fails with the stated probability over the draw of these rows, and " +
			"says nothing about rows that differ from them: another time, place, population or way of measuring.")
		if !segments {
			add("A guarantee is about all rows together. It is none for a group: the error rates by group below are measurements.")
		}
		if certified > 1 {
			add("The guarantees of %d points hold each on its own. That all of them hold has a lower probability.",
				certified)
		}
	}
	add("The model ranks rows. What a column adds to a score describes the model and is no cause.")
	if f.Probability == "" {
		add("Scores are not probabilities, and the model has no calibration that makes them so.")
	}
	if len(f.Inspection.Personal) > 0 {
		add("The file may hold personal values; see What the file contains.")
	}
	return s
}

// differences returns the groups whose interval excludes the rate of all rows.
func (f *CardFindings) differences() []string {
	e := f.Card.Data.Evaluation
	if len(e.By) == 0 {
		return []string{"Not measured: no column of groups was named."}
	}
	if len(e.Points) == 0 {
		return nil
	}
	all := e.Points[0].Decisions
	var apart []string
	for i := range e.By {
		for k := range e.By[i].Values {
			v := &e.By[i].Values[k]
			for _, r := range []struct {
				what      string
				rate, all metric.Proportion
			}{{"positives found", v.Found, all.TruePositiveRate}, {"false alarms", v.FalseAlarms,
				all.FalsePositiveRate}} {
				if r.rate.Interval == nil || !r.all.Defined() || r.rate.Interval.Low <= r.all.Rate &&
					r.all.Rate <= r.rate.Interval.High {
					continue
				}
				apart = append(apart, fmt.Sprintf("%s %s: %s %s, all rows %s", ColumnName(e.By[i].Column), valueName(v),
					r.what, text.Percent(r.rate.Rate),
					text.Percent(r.all.Rate)))
			}
		}
	}
	if len(apart) == 0 {
		return []string{"No group's interval excludes the rate of all rows. Small groups have wide intervals, so this is no proof that the rates are equal."}
	}
	return []string{"Groups whose interval excludes the rate of all rows: " + strings.Join(apart, "; ") + "."}
}

// probability returns the section of probabilities.
func (f *CardFindings) probability() Section {
	list := f.Reliability
	where := "on held-out rows of the training"
	if d := f.Card.Data; d != nil && len(d.Evaluation.Reliability) > 0 {
		list, where = d.Evaluation.Reliability, "on the measured rows"
	}
	s := reliabilitySection(list)
	if f.Probability == "" {
		return Section{Title: s.Title, Paragraphs: []string{"The model has none."}}
	}
	s.Paragraphs = []string{fmt.Sprintf("Scores become probabilities by %s calibration. Predicted and observed fractions %s:", f.Probability, where)}
	return s
}

// columns returns the directions of the columns.
func (f *CardFindings) columns() Section {
	s := Section{Title: "Columns"}
	var proved [3][]string
	mixed := []string{}
	for _, c := range f.Columns {
		name := ColumnName(c.Column)
		switch c.Direction {
		case "rises":
			proved[0] = append(proved[0], name)
		case "falls":
			proved[1] = append(proved[1], name)
		case "flat":
			proved[2] = append(proved[2], name)
		case "category":
			mixed = append(mixed, name+" (categories)")
		default:
			mixed = append(mixed, name)
		}
	}
	s.Paragraphs = []string{"Directions are proved from the weights, for all values that are not missing while the other values stay."}
	for i, name := range []string{"the score never falls with", "the score never rises with",
		"the score does not depend on"} {
		s.Facts = append(s.Facts, Fact{Name: name, Value: strings.Join(proved[i], ", ")})
	}
	s.Facts = append(s.Facts, Fact{Name: "no direction is proved for", Value: strings.Join(mixed, ", ")})
	return s
}

// training returns how the model was made.
func (f *CardFindings) training() Section {
	s := Section{Title: "How the model was made", Facts: f.Model}
	if len(f.Certificates) == 0 {
		s.Facts = append(s.Facts, Fact{Name: "certificate",
			Value: "none: nobody can recompute a lower bound of the objective"})
	}
	s.Paragraphs = []string{"The file records the fits that it is made of. Which other candidates were compared is in the report of the training."}
	return s
}

// content returns what the file contains.
func (f *CardFindings) content() Section {
	i := &f.Inspection
	signed := "no"
	if i.Signed {
		signed = "yes; check it with a key from a trusted source"
	}
	s := Section{Title: "What the file contains", Facts: []Fact{{Name: "format", Value: fmt.Sprint(i.Format)},
		{Name: "size", Value: text.Count(i.Bytes) + " bytes"}, {Name: "weights", Value: text.Count(i.Weights)},
		{Name: "digest", Value: i.Digest, Code: true}, {Name: "signed", Value: signed}}}
	t := Table{Caption: "Values that may be personal, by their form", Header: []string{"place", "kind", "values",
		"of"}, Numbers: []int{2, 3}}
	for _, p := range i.Personal {
		t.Rows = append(t.Rows, []string{p.Place, p.Kind, text.Count(p.Values), text.Count(p.Of)})
	}
	if t.Rows == nil {
		s.Facts = append(s.Facts, Fact{Name: "personal values", Value: "none noticed, by their form"})
		return s
	}
	s.Tables = []Table{t}
	return s
}
