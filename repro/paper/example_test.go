package paper

import (
	"context"
	"math"
	"math/big"
	"strings"
	"testing"

	"toptau/internal/app/plot"
	"toptau/internal/core/objective"
	"toptau/surrogate"
	"toptau/threshold"
)

// The exact values must equal those that the rules compute from evenly spaced scores.
func TestExampleFormulasAreThoseOfEvenScores(t *testing.T) {
	tau := threshold.MustRate("4%")
	const n = 20_000
	var s scored
	for i := range n {
		z := (float64(i) + 0.5) / n
		s.positives = append(s.positives, z)
		s.negatives = append(s.negatives, -z)
	}
	s.all = append(append(s.all, s.positives...), s.negatives...)
	for _, row := range exampleRows(tau) {
		if row.Method.Name == "toppush" || row.Method.Name == "toppushk" { // their t depends on the outlier alone and is exact
			continue
		}
		p, err := row.problem(tau)
		if err != nil {
			t.Fatal(err)
		}
		at, err := s.threshold(p)
		if err != nil {
			t.Fatal(err)
		}
		f := surrogateSum(surrogate.Hinge, s.positives, at, -1) / n
		if p.Definition().FalsePositives {
			f += surrogateSum(surrogate.Hinge, s.negatives, at, 1) / n
		}
		if want := row.At[1]; math.Abs(at-want.T.Value) > 1e-3 || math.Abs(f-want.F.Value) > 1e-3 {
			t.Errorf("%s %s: t %g and f %g, formulas %g and %g", row.Method.Title, row.With, at, f, want.T.Value, want.F.Value)
		}
	}
}

func TestExampleTable(t *testing.T) {
	e, err := NewExample(context.Background(), ExampleOptions{Rows: 20_000, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	better := ""
	for _, r := range e.Rows {
		for i, at := range r.At {
			for _, c := range []ExampleCell{at.T, at.F} {
				// twenty thousand rows: means to about 0.005, and the outlier's 2/K with K = 200
				if math.Abs(c.Measured-c.Value) > 0.02 {
					t.Errorf("%s %s, w%d: measured %g, %s is %g", r.Method.Title, r.With, i+1, c.Measured, c.Formula, c.Value)
				}
			}
		}
		better += string(r.Method.Name) + string(rune('0'+r.Better())) + " "
		if one, two := r.At[0].F, r.At[1].F; one.Exact == nil || two.Exact == nil {
			t.Errorf("%s %s: irrational, but its hyperparameters were chosen to make roots rational", r.Method.Title, r.With)
		}
	}
	const want = "toppush1 toppushk1 toppushk0 toppushk2 grill2 patmat2 patmat2 patmat1 topmean1 " +
		"grill-np2 patmat-np2 patmat-np2 topmean-np2 "
	if strings.TrimSpace(better) != strings.TrimSpace(want) {
		t.Errorf("the lower objective is at\n%s, want\n%s", better, want)
	}
	table := e.Table()
	for _, row := range table.Rows {
		t.Log(strings.Join(row, " | "))
		if len(row) != len(table.Header) {
			t.Errorf("%d cells under %d headers", len(row), len(table.Header))
		}
	}
}

// For Pat&Mat, w2 is better than w1 if and only if beta < (6 + 4 sqrt 2) tau.
func TestExamplePatMatBorder(t *testing.T) {
	const tau = 0.01
	border := (6 + 4*math.Sqrt2) * tau
	for beta, better := range map[float64]int{border * 0.999: 2, border * 1.001: 1} {
		row := ExampleRow{At: patMatExample(quantity{r: new(big.Rat).SetFloat64(tau)}, quantity{r: new(big.Rat).SetFloat64(beta)})}
		if row.Better() != better {
			t.Errorf("beta %g: w%d is better, want w%d", beta, row.Better(), better)
		}
	}
}

// TopPush and TopMean end at zero from every start. TopPushK and Pat&Mat do not.
func TestExampleTrajectories(t *testing.T) {
	figures, err := exampleFigures(context.Background(), 200, 1)
	if err != nil {
		t.Fatal(err)
	}
	ends := map[string]bool{"example-toppush": true, "example-topmean": true, "example-toppushk": false, "example-patmat": false}
	for _, f := range figures[1:] {
		atZero, known := ends[f.Name]
		chart, ok := f.Figure.(*plot.Plot)
		if !known || !ok || len(chart.Series) != 13 {
			t.Fatalf("%s: %T", f.Name, f.Figure)
		}
		t.Logf("%s: %s", f.Name, chart.Text.Note)
		for _, s := range chart.Series[:12] {
			end := objective.Norm([]float64{s.X[len(s.X)-1], s.Y[len(s.Y)-1]})
			if atZero && end > 0.02 || !atZero && end < 0.5 {
				t.Errorf("%s: from (%.2f, %.2f) to %g from zero", f.Name, s.X[0], s.Y[0], end)
			}
		}
	}
}
