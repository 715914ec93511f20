package measure_test

import (
	"slices"
	"testing"

	"toptau"
	"toptau/internal/tests/trial"
	"toptau/measure"
	"toptau/schema"
)

func TestEvaluateMeasuresTheGoal(t *testing.T) {
	m := trial.SmallModel(t)
	d, err := trial.ReadLike(t, m, trial.WriteFile(t, "small.csv", trial.SmallTable), schema.Format{})
	if err != nil {
		t.Fatal(err)
	}
	goal := toptau.MaxFPR("20%")
	e := trial.Evaluate(t, d, m, measure.Options{Goal: goal, Replicates: 50, Curves: 4, Confidence: 0.9})
	if e.Rows != 8 || e.Positives != 3 || e.Prevalence != 0.375 {
		t.Errorf("%d rows, %d positive, prevalence %v", e.Rows, e.Positives, e.Prevalence)
	}
	v := e.Goal.Value
	if v.Criterion != "positives@np(0.2)" || v.Budget != 1 || v.Denominator != 3 || v.Interval.Confidence != 0.9 {
		t.Errorf("the goal is measured by %+v", v)
	}
	var names []string
	for _, c := range e.Criteria {
		names = append(names, c.Criterion)
	}
	if want := []string{"positives@top", "positives@np(0.2)", "positives@quantile(0.2)"}; !slices.Equal(names, want) {
		t.Errorf("criteria %q, want %q", names, want)
	}
	if len(e.Curves) != 3 {
		t.Errorf("%d curves", len(e.Curves))
	}
	for _, c := range e.Curves {
		if len(c.Points) > 4 || len(c.Points) < 2 {
			t.Errorf("%s has %d points, want at most 4", c.Name, len(c.Points))
		}
	}
}
