package paper

import (
	"context"
	"fmt"
	"strings"

	"toptau/internal/app/report"
	"toptau/internal/core/text"
	"toptau/method"
)

// countsItem is Table "counts", from the rows that were read.
func countsItem(_ context.Context, st *study) (*Piece, error) {
	t := report.Table{Caption: "Structure of the sets, as read / in the paper.",
		Header: []string{"set", "m", "minibatches", "training n", "positive", "validation n", "positive",
			"test n", "positive"},
		Numbers: []int{1, 2, 3, 4, 5, 6, 7, 8}}
	for i := range st.sets {
		s := &st.sets[i]
		shape := st.shapes[s.Key]
		if shape == nil {
			t.Rows = append(t.Rows, absentRow(s, len(t.Header)))
			continue
		}
		p := s.printedCounts()
		row := []string{s.Name, withPrinted(text.Count(shape.Columns), p, func() string { return text.Count(p.Columns) }),
			withPrinted(text.Count(s.Minibatches), p, func() string { return text.Count(p.Minibatches) })}
		for k, part := range shape.Parts {
			row = append(row, withPrinted(text.Count(part.Rows), p, func() string { return text.Count(p.Parts[k].Rows) }),
				withPrinted(tenths(part.Share), p, func() string { return fmt.Sprintf("%.1f", p.Parts[k].Share) }))
		}
		t.Rows = append(t.Rows, row)
	}
	return &Piece{Title: "Table \"counts\": the sets", Tables: []NamedTable{{"counts", t}}, Text: st.countNotes()}, nil
}

// withPrinted returns our number with the paper's after it.
func withPrinted(ours string, p *printedSet, paper func() string) string {
	if p == nil {
		return ours
	}
	return ours + " / " + paper()
}

// absentRow returns the row of an absent set.
func absentRow(s *Set, n int) []string {
	row := make([]string, n)
	row[0] = s.Name + ": absent"
	return row
}

// countNotes names the sets whose sizes are not the paper's, and why.
func (st *study) countNotes() []string {
	notes := []string{"The splits of Ionosphere and Spambase are stratified by class, in the paper's sizes; " +
		"the paper's numbers of positives in validation and test differ by one row. Seeds are 1, 2, ...; this " +
		"table shows the first."}
	for _, s := range st.present(Original) {
		p, shape := s.printedCounts(), st.shapes[s.Key]
		for k, part := range shape.Parts {
			if part.Rows != p.Parts[k].Rows || shape.Columns != p.Columns {
				notes = append(notes, fmt.Sprintf("%s: %s rows of %s in the %s part, the paper has %s of %d. These are "+
					"other data, or the same data divided differently.",
					s.Name, text.Count(part.Rows), text.Plural(shape.Columns, "column"), [3]string{"training", "validation",
						"test"}[k], text.Count(p.Parts[k].Rows), p.Columns))
			}
		}
	}
	if len(st.present(StandIn)) > 0 {
		notes = append(notes, "Stand-ins have the sizes of their own data. The simulated Hepmass has the paper's "+
			"sizes. Its positives are drawn at random, so their fraction differs from 50 % and 10 % by a few per "+
			"mille.")
	}
	return notes
}

// methodsItem is Table "methods", from the methods as they are implemented.
func methodsItem(context.Context, *study) (*Piece, error) {
	t := report.Table{Caption: "The eight methods. Convex and robust agree with the paper's table in every cell.",
		Header: []string{"name", "source", "definition", "criterion", "hyperparameters", "convex", "robust",
			"w = 0 is optimal exactly when"}}
	agree := true
	for i, m := range method.All() {
		parameters := "λ"
		switch {
		case m.UsesK:
			parameters += ", k"
		case m.UsesBeta:
			parameters = "β, λ"
		}
		agree = agree && m.Convex == printedMethods[i].convex && m.CanCollapse != printedMethods[i].robust
		t.Rows = append(t.Rows, []string{m.Title, printedMethods[i].source, m.Equation, m.Criterion.String(), parameters, checkMark(m.Convex),
			checkMark(!m.CanCollapse), zeroRule(m)})
	}
	if !agree {
		t.Caption = "The eight methods. Convex or robust differ from the paper's table."
	}
	return &Piece{Title: "Table \"methods\"", Tables: []NamedTable{{"methods", t}}, Notes: []string{
		"Source is the paper's column with its footnote. \"Ours\" means the paper's authors.",
		"As in the paper, a method is robust if w = 0 does not become its global minimum. The last column is " +
			"stronger than the paper's Theorem \"large_t\" and its corollaries: it is an exact condition, for every " +
			"λ. The capped hull contains the combinations of the threshold's samples with weights that add up to 1 " +
			"and are at most 1/K (1/k for TopPushK, 1 for TopPush).",
		"The tables of results have 14 methods: six of the eight occur with tau 0.01 and with tau 0.03."}}, nil
}

// criteriaItem is Table "criteria", with the rule by which ties are counted here.
func criteriaItem(context.Context, *study) (*Piece, error) {
	t := report.Table{Caption: "The criteria for the three classes of methods.",
		Header: []string{"name", "description", "threshold in the paper's count", "threshold in the strict count", "criterion of"}}
	for _, c := range printedCriteria {
		var of []string
		for _, m := range method.All() {
			if m.Criterion == c.criterion {
				of = append(of, m.Title)
			}
		}
		t.Rows = append(t.Rows, []string{c.name, c.description, c.paper, c.strict, strings.Join(of, ", ")})
	}
	return &Piece{Title: "Table \"criteria\"", Tables: []NamedTable{{"criteria", t}}, Text: []string{
		"Name and description are the paper's. The other columns are the two rules for scores that equal the " +
			"threshold: in the paper's count such a positive counts, in the strict count it does not."}}, nil
}

// checkMark returns a check mark or a cross.
func checkMark(yes bool) string {
	if yes {
		return "✓"
	}
	return "✗"
}

// zeroRule returns the condition under which w = 0 is optimal.
func zeroRule(m method.Method) string {
	switch {
	case m.CanCollapse:
		return "mean of the positives in the capped hull"
	case m.UsesBeta:
		return "means of the positives and the samples equal"
	}
	return "unknown, not convex"
}
