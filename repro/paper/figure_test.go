package paper

import (
	"bytes"
	"context"
	"errors"
	"math"
	"runtime"
	"testing"

	"toptau/internal/app/plot"
	"toptau/internal/app/report"
	"toptau/internal/core/objective"
	"toptau/internal/core/optim"
	"toptau/internal/core/ranking"
	"toptau/method"
	"toptau/surrogate"
	"toptau/threshold"
)

// A walk is a run with shifted points, and its last value is that of the objective.
func TestWalkStartsWhereItIsTold(t *testing.T) {
	x, err := exampleSample(100, 1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := grillMethods[0].With(method.Problem{Tau: threshold.MustRate("5%")})
	if err != nil {
		t.Fatal(err)
	}
	o, err := objective.New(p, x)
	if err != nil {
		t.Fatal(err)
	}
	w := newWalk(o, []float64{0.6, -0.7})
	r, err := optim.Adam(context.Background(), w, nil, optim.StepOptions{Iterations: 100})
	if err != nil {
		t.Fatal(err)
	}
	if first := w.points[0]; first[0] != 0.6 || first[1] != -0.7 {
		t.Errorf("starts at %v", first)
	}
	if f := o.At(w.from(r.Last.W), nil).F; math.Abs(f-r.Last.F) > 1e-12 {
		t.Errorf("ends at F = %g, but the run returned %g", f, r.Last.F)
	}
	for _, at := range w.points {
		if objective.Norm(at) > 1+1e-9 {
			t.Fatalf("%v is outside the unit ball", at)
		}
	}
}

func TestDescend(t *testing.T) {
	x, err := exampleSample(300, 2)
	if err != nil {
		t.Fatal(err)
	}
	p, err := patMatMethods[1].With(method.Problem{Tau: threshold.MustRate("5%"), Beta: 0.5, Lambda: 0.01,
		Surrogate: surrogate.Hinge.Name()})
	if err != nil {
		t.Fatal(err)
	}
	o, err := objective.New(p, x)
	if err != nil {
		t.Fatal(err)
	}
	for _, batches := range []int{0, 3} {
		runs, err := Descend(context.Background(), o, batches, 60, 1)
		if err != nil {
			t.Fatal(err)
		}
		adam, proved := runs[0], runs[1]
		if adam.Upper[0] != adam.AtZero {
			t.Errorf("ADAM starts at %g, not at F(0) = %g", adam.Upper[0], adam.AtZero)
		}
		if last, want := adam.Passes[len(adam.Passes)-1], 61/float64(max(1, batches)); last != want {
			t.Errorf("%d batches: ADAM ends after %g passes, want %g", batches, last, want)
		}
		last := len(proved.Upper) - 1
		if gap := proved.Upper[last] - proved.Lower[last]; gap < 0 || gap > 1e-5*proved.AtZero {
			t.Errorf("certified ends with a gap of %g", gap)
		}
		for i, f := range adam.Upper {
			if f < proved.Lower[last] {
				t.Errorf("ADAM is below the lower bound at point %d: %g < %g", i, f, proved.Lower[last])
			}
		}
		for _, chart := range []*plot.Plot{FigureDescent("objective", runs), FigureGap("gap", runs)} {
			if len(chart.Series) < 2 || len(plot.SVG(chart)) == 0 {
				t.Errorf("%s: %d series", chart.Text.Title, len(chart.Series))
			}
		}
	}
}

// A zoomed curve keeps the first point beyond the end, so the line leaves the figure.
func TestPTauZoom(t *testing.T) {
	var s ranking.Scores
	for i := range 500 {
		s.Positives = append(s.Positives, float64(i%50))
		s.Negatives = append(s.Negatives, float64(i%40))
	}
	r, err := ranking.Rank(s)
	if err != nil {
		t.Fatal(err)
	}
	curves := []NamedCurve{{"TopPushK", r.PTau()}}
	whole, zoomed := FigurePTau("a set", curves, 0), FigurePTau("a set", curves, 0.1)
	if x := zoomed.Series[0].X; x[0] != whole.Series[0].X[0] || x[len(x)-1] <= 0.1 || x[len(x)-2] > 0.1 {
		t.Errorf("the zoomed line runs from %g over %g to %g", x[0], x[len(x)-2], x[len(x)-1])
	}
	if x := whole.Series[0].X; x[len(x)-1] != 1 {
		t.Errorf("the whole line ends at %g", x[len(x)-1])
	}
	if y := FigurePR("a set", curves).Y; y.Label != "precision" {
		t.Error(y)
	}
}

// All results have the same bytes with any number of threads.
func TestSameBytesOnAnyNumberOfThreads(t *testing.T) {
	var first []byte
	for _, threads := range []int{1, 3} {
		before := runtime.GOMAXPROCS(threads)
		var b bytes.Buffer
		checks, err := Theorems(context.Background(), nil, 20, 7)
		if err != nil {
			t.Fatal(err)
		}
		o, err := CheckOrdering(context.Background(), nil, 20, 7)
		if err != nil {
			t.Fatal(err)
		}
		e, err := NewExample(context.Background(), ExampleOptions{Rows: 5000})
		if err != nil {
			t.Fatal(err)
		}
		page := report.Page{Title: "all", Sections: []report.Section{{Title: "tables", Figures: []plot.Figure{o.Figure()},
			Tables: []report.Table{TheoremTable(checks), o.Table(), e.Table()}, Paragraphs: e.Notes()}}}
		if _, err := page.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		runtime.GOMAXPROCS(before)
		if first == nil {
			first = b.Bytes()
		} else if !bytes.Equal(first, b.Bytes()) {
			t.Error("other bytes on other threads")
		}
	}
}

// A cancelled context ends every experiment with its error.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, theorems := Theorems(ctx, nil, 10, 1)
	_, ordering := CheckOrdering(ctx, nil, 10, 1)
	_, figures := ExampleFigures(ctx, 1)
	_, example := NewExample(ctx, ExampleOptions{Rows: 100})
	for _, err := range []error{theorems, ordering, figures, example} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
}

// A violation is counted, a NaN is a violation, and a refuted statement needs one.
func TestChecksCanFail(t *testing.T) {
	var c Check
	try := trial{check: &c}
	try.atMost(1, 1+1e-12, 1)
	try.holds(true)
	if !c.OK() || c.Worst >= 0 || c.Measured != 1 {
		t.Errorf("%+v", c)
	}
	try.atMost(math.NaN(), 1, 1)
	try.atMost(1+1e-9, 1, 1)
	if c.OK() || c.Violations != 2 || c.verdict() != "violated" {
		t.Errorf("%+v", c)
	}
	if c.Refuted = true; !c.OK() {
		t.Errorf("%+v", c)
	}
	if (&Check{}).OK() {
		t.Error("a check without a case is OK")
	}
}
