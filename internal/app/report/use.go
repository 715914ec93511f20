package report

import (
	"fmt"
	"slices"
	"strings"

	"toptau/internal/core/text"
	"toptau/internal/training/inspect"
	"toptau/metric"
	"toptau/model"
	"toptau/result"
)

// Use is for people who decide about the use of a model: what its owners state, and what follows from its file.
type Use struct {
	Statements    []result.Statement // nil: no section about the purpose
	Points        []model.Point
	Columns       []Moved
	Probabilities bool // the model has some
	Certificates  bool // an objective of its members has a lower bound
	Inspection    *inspect.Inspection
}

// Moved is a column with the direction in which the score moves with it.
type Moved struct {
	Column string
	// rises, falls or flat are proved for all values that are not missing; mixed: it may rise and fall; category
	Direction string
}

// Sections answer what the model is for, what it does not promise, how columns move its scores, and what the file contains.
func (u *Use) Sections() []Section {
	return []Section{u.purpose(), u.limits(), u.columns(), u.content()}
}

// purpose returns the statements of the owners: those of every report in their order, then the others.
func (u *Use) purpose() Section {
	s := Section{Title: "Purpose and use"}
	if u.Statements == nil {
		return s
	}
	titles, missing := StatementTitles(), []string(nil)
	for _, given := range u.Statements {
		if !slices.Contains(titles, given.Title) {
			titles = append(titles, given.Title)
		}
	}
	for _, title := range titles {
		fact := Fact{Name: title}
		for _, given := range u.Statements {
			if given.Title == title && given.Text != "" {
				fact.Value = given.Text
			}
		}
		if fact.Value == "" {
			missing = append(missing, title)
			continue
		}
		s.Facts = append(s.Facts, fact)
	}
	if missing != nil {
		s.Facts = append(s.Facts, Fact{Name: "not stated", Value: strings.Join(missing, ", "), Missed: true})
	}
	s.Paragraphs = []string{"Statements of the model's owners."}
	return s
}

// limits returns what the model does not promise, as it follows from the file.
func (u *Use) limits() Section {
	s := Section{Title: "What this model does not promise"}
	certified, segments := 0, false
	for i := range u.Points {
		if g := u.Points[i].Guarantee; g != nil && g.Certified {
			certified++
			segments = segments || len(u.Points[i].Segments) > 0
		}
	}
	add := func(format string, args ...any) { s.Warnings = append(s.Warnings, fmt.Sprintf(format, args...)) }
	if certified == 0 {
		add("No operating point has a guarantee: on new rows a plain threshold may exceed its budget.")
	} else {
		add("A guarantee holds for new rows from the distribution of the calibration rows. It fails with the stated probability over the draw " +
			"of these rows, and says nothing about rows that differ from them: another time, place, population or way of measuring.")
		if !segments {
			add("A guarantee is about all rows together. It is none for a group: error rates by group are measurements.")
		}
		if certified > 1 {
			add("The guarantees of %d points hold each on its own. That all of them hold has a lower probability.", certified)
		}
	}
	add("The model ranks rows. What a column adds to a score describes the model and is no cause.")
	if !u.Probabilities {
		add("Scores are not probabilities, and the model has no calibration that makes them so.")
	}
	if !u.Certificates {
		add("No certificate: nobody can recompute a lower bound of the objective.")
	}
	if len(u.Inspection.Personal) > 0 {
		add("The file may hold personal values; see What the file contains.")
	}
	return s
}

// columns returns the directions of the columns.
func (u *Use) columns() Section {
	s := Section{Title: "Directions of columns",
		Paragraphs: []string{"Directions are proved from the weights, for all values that are not missing while the other values stay."}}
	by := map[string][]string{}
	for _, c := range u.Columns {
		name, direction := ColumnName(c.Column), c.Direction
		if direction == "category" {
			name, direction = name+" (categories)", "mixed"
		}
		by[direction] = append(by[direction], name)
	}
	for _, line := range [][2]string{{"rises", "the score never falls with"}, {"falls", "the score never rises with"},
		{"flat", "the score does not depend on"}, {"mixed", "no direction is proved for"}} {
		s.Facts = append(s.Facts, Fact{Name: line[1], Value: strings.Join(by[line[0]], ", ")})
	}
	return s
}

// content returns what the file contains.
func (u *Use) content() Section {
	i := u.Inspection
	signed := "no"
	if i.Signed {
		signed = "yes; check it with a key from a trusted source"
	}
	s := Section{Title: "What the file contains", Facts: []Fact{{Name: "format", Value: fmt.Sprint(i.Format)},
		{Name: "size", Value: text.Count(i.Bytes) + " bytes"}, {Name: "weights", Value: text.Count(i.Weights)},
		{Name: "digest", Value: i.Digest, Code: true}, {Name: "signed", Value: signed}}}
	t := Table{Caption: "Values that may be personal, by their form", Header: []string{"place", "kind", "values", "of"}, Numbers: []int{2, 3}}
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

// differencesText returns the groups whose interval excludes the rate of all rows, if all intervals hold together; "" otherwise.
func differencesText(by []result.Breakdown, all *metric.Confusion) string {
	if len(by) == 0 || by[0].Together < 2 || all == nil {
		return ""
	}
	var apart []string
	for i := range by {
		column := ColumnName(by[i].Column)
		for k := range by[i].Values {
			v := &by[i].Values[k]
			for _, r := range []struct {
				what      string
				rate, all metric.Proportion
			}{{"positives found", v.Found, all.TruePositiveRate}, {"false alarms", v.FalseAlarms, all.FalsePositiveRate}} {
				if i := r.rate.Interval; i != nil && r.all.Defined() && (i.Low > r.all.Rate || r.all.Rate > i.High) {
					apart = append(apart, fmt.Sprintf("%s %s: %s %s, all rows %s", column, valueName(v), r.what,
						text.Percent(r.rate.Rate), text.Percent(r.all.Rate)))
				}
			}
		}
	}
	if len(apart) == 0 {
		return "No group's interval excludes the rate of all rows. Small groups have wide intervals, so this is no proof that the rates are equal."
	}
	return "Groups whose interval excludes the rate of all rows: " + strings.Join(apart, "; ") + "."
}

// StatementTitles are the statements that every report with statements has, in their order. Others may follow.
func StatementTitles() []string {
	return []string{"Purpose", "Not for", "Users", "Origin of the data", "Known limits and risks",
		"Human oversight", "Contact", "Licence"}
}
