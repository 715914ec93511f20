package verbs

import (
	"toptau"
	"toptau/internal/cli"
	"toptau/internal/text"
	"toptau/result"
)

// Diagnose reports what can work before anything is fitted.
type Diagnose[S Source] struct {
	toptau.DiagnoseOptions
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
	d, err := toptau.Diagnose(s, rows.Data(), c.DiagnoseOptions)
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

// PrintDiagnosis prints what the methods can achieve.
func PrintDiagnosis(s *cli.Session, d *result.Diagnosis) {
	s.Printf("%s rows, %s positive, %s negative, %s features\n", text.Count(d.Rows), text.Count(d.Positives), text.Count(d.Negatives), text.Count(d.Features))
	switch {
	case d.Separable == nil:
		s.Printf("separable at the top: not decided\n")
	case *d.Separable:
		s.Printf("separable at the top: yes, a linear score puts every positive above every negative\n")
	default:
		s.Printf("separable at the top: no (mean hinge loss is at least %s for any |w| <= %s)\n", text.Number(*d.TopBound), text.Number(*d.TopRadius))
	}
	s.Printf("Is w = 0 optimal for every lambda?\n")
	for _, v := range d.Methods {
		answer := "-"
		if v.ZeroIsOptimal != nil {
			answer = map[bool]string{true: "yes", false: "no"}[*v.ZeroIsOptimal]
		}
		name := string(v.Method)
		if v.K != 0 {
			name += " k " + text.Count(v.K)
		}
		if !v.Tau.IsZero() {
			name += " tau " + v.Tau.String()
		}
		s.Printf("  %-22s %-4s %s\n", name, answer, v.Evidence)
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
