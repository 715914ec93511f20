package main

import (
	"fmt"

	"toptau"
	"toptau/internal/cli"
)

// diagnoseCommand says what can work before anything is fitted.
type diagnoseCommand struct {
	Data  string `file:"in" arg:"" help:"Labelled data; - is standard input."`
	Delta string `default:"5%" placeholder:"RATE" help:"Count the negatives that a guarantee needs at confidence 1 - RATE (default ${default})."`
	goalFlags
	featureFlags
	dataFlags
}

func (c *diagnoseCommand) Run(s *cli.Session) error {
	goal, err := c.optional()
	if err != nil {
		return err
	}
	delta, err := deltaRate(c.Delta)
	if err != nil {
		return err
	}
	data, err := toptau.Read(c.Data, c.format())
	if err != nil {
		return err
	}
	data.Spend()
	s.Progress.Start()
	d, err := toptau.Diagnose(s, data, toptau.DiagnoseOptions{Goal: goal, Delta: delta, Features: c.Features, Scale: c.Scale, Impute: c.Impute,
		Progress: func(now toptau.Progress) { showProgress(s, now) }})
	if err != nil {
		return err
	}
	s.Progress.Clear()
	if s.JSON {
		return s.Emit(d)
	}
	printDiagnosis(s, d)
	return nil
}

func printDiagnosis(s *cli.Session, d *toptau.Diagnosis) {
	s.Printf("%s rows, %s positive, %s negative, %s features\n", group(d.N), group(d.NPos), group(d.NNeg), group(d.D))
	switch {
	case d.Separable == nil:
		s.Printf("separable at the top: not decided\n")
	case *d.Separable:
		s.Printf("separable at the top: yes, a linear score puts every positive above every negative\n")
	default:
		s.Printf("separable at the top: no, a mean hinge loss of at least %.4g remains for every w with |w| <= %.3g\n",
			*d.TopBound, *d.TopRadius)
	}
	s.Printf("is w = 0 optimal, whatever lambda?\n")
	for _, v := range d.Methods {
		name := v.Method
		if v.K != nil {
			name += fmt.Sprintf(" k %d", *v.K)
		}
		if v.Tau != nil {
			name += " tau " + *v.Tau
		}
		answer := "-"
		if v.ZeroIsOptimal != nil {
			answer = map[bool]string{true: "yes", false: "no"}[*v.ZeroIsOptimal]
		}
		s.Printf("  %-22s %-4s %s\n", name, answer, v.Evidence)
	}
	s.Printf("budgets\n")
	for _, b := range d.Budgets {
		s.Printf("  %-8s %s\n", b.Tau, b.Text)
	}
	for _, text := range d.Advice {
		s.Printf("advice: %s\n", text)
	}
	printWarnings(s, d.Warnings)
}
