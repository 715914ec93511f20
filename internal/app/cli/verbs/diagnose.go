package verbs

import (
	"strings"

	"toptau/certify"
	"toptau/internal/app/cli"
	"toptau/internal/core/text"
	"toptau/result"
)

// Diagnose reports what can work before anything is fitted.
type Diagnose[S Source] struct {
	certify.DiagnoseOptions
	GoalFlags
	Rows S `embed:""`
}

// Run diagnoses and prints.
func (c *Diagnose[S]) Run(s *cli.Session) error {
	var err error
	if c.Goal, err = c.Optional(); err != nil {
		return err
	}
	rows, err := c.Rows.Open(s, Use{Verb: "diagnose", Impute: c.Impute})
	if err != nil {
		return err
	}
	defer rows.Close()
	c.ReleaseData, c.Progress = true, rows.Show
	d, err := certify.Diagnose(s, rows.Data(), c.DiagnoseOptions)
	if err != nil {
		return err
	}
	if d.Database, err = rows.Finish(s); err != nil {
		return err
	}
	if s.JSON {
		return s.Emit(d)
	}
	PrintDiagnosis(s, d)
	rows.Print(s)
	return nil
}

// PrintDiagnosis prints what the methods can achieve: first in words, then the evidence.
func PrintDiagnosis(s *cli.Session, d *result.Diagnosis) {
	s.Printf("%s rows, %s positive, %s negative, %s features\n", text.Count(d.Rows), text.Count(d.Positives), text.Count(d.Negatives),
		text.Count(d.Features))
	s.Printf("what this means:\n")
	for _, line := range diagnosisWords(d) {
		s.Printf("  %s\n", line)
	}
	switch {
	case d.Separable == nil:
		s.Printf("separable at the top: not decided\n")
	case *d.Separable:
		s.Printf("separable at the top: yes\n")
	default:
		s.Printf("separable at the top: no (mean hinge loss is at least %s for any |w| <= %s)\n", text.Number(*d.TopBound),
			text.Number(*d.TopRadius))
	}
	s.Printf("is w = 0, the same score for all rows, optimal for every lambda?\n")
	for _, g := range groupVerdicts(d.Methods) {
		s.Printf("  %-34s %-4s %s\n", g.names, g.answer, g.evidence)
	}
	s.Printf("budgets\n")
	for _, b := range d.Budgets {
		s.Printf("  %-8s %s\n", b.Tau, b.Text)
	}
	for _, line := range d.Advice {
		s.Printf("advice: %s\n", line)
	}
	PrintWarnings(s, d.Warnings)
}

// diagnosisWords returns the conclusions as sentences.
func diagnosisWords(d *result.Diagnosis) []string {
	lines := []string{"Whether a linear score can put every positive above every negative was not decided."}
	if d.Separable != nil {
		lines[0] = map[bool]string{true: "A linear score can put every positive above every negative of these rows. On new rows that may fail.",
			false: "No linear score puts every positive above every negative. That is usual: finding more positives costs false alarms."}[*d.Separable]
	}
	kinds := map[string][]string{}
	for _, g := range groupVerdicts(d.Methods) {
		kinds[g.answer] = append(kinds[g.answer], g.names)
	}
	if list := kinds["no"]; list != nil {
		lines = append(lines, "fit can rank these rows with "+strings.Join(list, "; ")+".")
	}
	if list := kinds["yes"]; list != nil {
		lines = append(lines, "It cannot with "+strings.Join(list, "; ")+": their best model gives all rows the same score.")
	}
	if list := kinds["-"]; list != nil {
		lines = append(lines, "Nothing is proven about "+strings.Join(list, "; ")+".")
	}
	var enough, few []string
	for _, b := range d.Budgets {
		if b.Enough {
			enough = append(enough, b.Tau)
		} else {
			few = append(few, b.Tau)
		}
	}
	if enough != nil {
		lines = append(lines, "There are enough negatives for a guarantee (--delta) at a budget of "+text.List(enough, "and")+".")
	}
	if few != nil {
		lines = append(lines, "There are too few negatives for a guarantee at "+text.List(few, "and")+".")
	}
	return append(lines, "train, which chooses a model for you, tries logistic regression and boosted trees and does not depend on this.")
}

// verdictGroup is a method's settings with the same answer.
type verdictGroup struct{ names, answer, evidence string }

// groupVerdicts joins the settings of a method that have the same answer for the same reason.
func groupVerdicts(list []result.MethodVerdict) (groups []verdictGroup) {
	last := ""
	for _, v := range list {
		g := verdictGroup{string(v.Method), "-", v.Evidence}
		if v.ZeroIsOptimal != nil {
			g.answer = map[bool]string{true: "yes", false: "no"}[*v.ZeroIsOptimal]
		}
		key := g.names + g.answer + g.evidence
		switch {
		case key == last && !v.Tau.IsZero():
			groups[len(groups)-1].names += ", " + v.Tau.String()
			continue
		case v.K != 0:
			g.names += " k " + text.Count(v.K)
		case !v.Tau.IsZero():
			g.names += " tau " + v.Tau.String()
		}
		groups, last = append(groups, g), key
	}
	return groups
}
