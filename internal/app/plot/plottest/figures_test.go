package plottest_test

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toptau/internal/app/plot"
	"toptau/internal/app/plot/plottest"
	"toptau/internal/core/ranking"
)

var update = flag.Bool("update", false, "write the golden files")

func TestGoldenFigures(t *testing.T) {
	for _, e := range plottest.Examples() {
		t.Run(e.Name, func(t *testing.T) {
			got := plot.SVG(e.Figure)
			path := filepath.Join("testdata", e.Name+".svg")
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("differs from %s; look at it as an image, then run with -update", path)
			}
			if again := plot.SVG(e.Figure); !bytes.Equal(got, again) {
				t.Error("a second drawing has other bytes")
			}
		})
	}
}

func TestFiguresAreWellFormed(t *testing.T) {
	for _, e := range plottest.Examples() {
		plottest.Check(t, e.Figure)
	}
}

func TestTextIsEscaped(t *testing.T) {
	const evil = "<script>alert('x')</script> & \"q\""
	chart := &plot.Plot{Text: plot.Caption{Title: evil, Description: evil}, X: plot.Axis{Label: evil}, Y: plot.Axis{Label: evil},
		Series: []plot.Series{{Name: evil, X: []float64{1}, Y: []float64{1}}, {Name: "b\x00\x1b", X: []float64{2}, Y: []float64{2}}},
		Rules:  []plot.Rule{{Name: evil, At: 1}}}
	figures := []plot.Figure{chart, &plot.DotPlot{Rows: []plot.Dot{{Name: evil}}, X: plot.Axis{Label: evil}, Rules: []plot.Rule{{Name: evil}}},
		&plot.Histogram{Classes: []plot.Class{{Name: evil}}, Threshold: new(1.0), Rule: evil}}
	for _, f := range figures {
		texts := strings.Join(plottest.Check(t, f), "|")
		if !strings.Contains(texts, "<script>") {
			t.Errorf("%T lost the text: %s", f, texts)
		}
		if bytes.Contains(plot.SVG(f), []byte("<script")) {
			t.Errorf("%T has a script element", f)
		}
	}
	if texts := strings.Join(plottest.Check(t, chart), "|"); !strings.Contains(texts, "b\\x00\\x1b") {
		t.Errorf("control characters became %q", texts)
	}
}

func TestEmptyAndSinglePoints(t *testing.T) {
	nan := []float64{math.NaN(), math.Inf(1)}
	for name, f := range map[string]plot.Figure{
		"plot": &plot.Plot{}, "series": &plot.Plot{Series: []plot.Series{{Name: "a"}}}, "not finite": &plot.Plot{Series: []plot.Series{{X: nan, Y: nan}}},
		"negative on a log axis": &plot.Plot{X: plot.Axis{Scale: plot.Logarithmic}, Series: []plot.Series{{X: []float64{-1}, Y: []float64{1}}}},
		"histogram":              &plot.Histogram{}, "dots": &plot.DotPlot{}, "of nothing": plot.HistogramOf(ranking.Scores{}, nil, 0),
	} {
		if texts := plottest.Check(t, f); !strings.Contains(strings.Join(texts, "|"), "no data") {
			t.Errorf("%s: does not say that there is no data: %q", name, texts)
		}
	}
	one := string(plot.SVG(&plot.Plot{Series: []plot.Series{{X: []float64{3}, Y: []float64{0.4}}}}))
	if strings.Contains(one, "no data") || !strings.Contains(one, `class="mark c1"`) {
		t.Error("a single point is not marked")
	}
	plottest.Check(t, &plot.Plot{X: plot.Axis{Scale: plot.Logarithmic}, Y: plot.Axis{Scale: plot.Logarithmic}, Series: []plot.Series{{X: []float64{0}, Y: []float64{0}}}})
}

// A figure of arbitrary numbers must be drawn without panic, as valid SVG.
func TestArbitraryNumbers(t *testing.T) {
	odd := []float64{0, 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e308, -1e308, 5e-324, 1e-300, 0.1, 1e15, 1e300, math.Copysign(0, -1)}
	for seed := range uint64(120) {
		random := rand.New(rand.NewPCG(seed, 1))
		value := func() float64 {
			if random.IntN(2) == 0 {
				return odd[random.IntN(len(odd))]
			}
			return random.Float64()*4 - 1
		}
		values := func() []float64 {
			out := make([]float64, random.IntN(8))
			for i := range out {
				out[i] = value()
			}
			return out
		}
		axis := func() plot.Axis {
			return plot.Axis{Scale: plot.Scale(random.IntN(2)), Unit: plot.Unit(random.IntN(3)), Min: value(), Max: value()}
		}
		chart := &plot.Plot{X: axis(), Y: axis(), Square: random.IntN(2) == 0, Rules: []plot.Rule{{Name: "r", At: value()},
			{At: value(), Horizontal: true}}}
		for i := range random.IntN(4) {
			chart.Series = append(chart.Series, plot.Series{Name: fmt.Sprint(i), X: values(), Y: values(), Low: values(), High: values(),
				Draw: plot.Draw(random.IntN(4)), Style: random.IntN(12) - 3})
		}
		plottest.Check(t, chart)
		dots := &plot.DotPlot{X: axis(), Rules: chart.Rules}
		for range random.IntN(4) {
			dots.Rows = append(dots.Rows, plot.Dot{Name: "a", Value: value(), Interval: &[2]float64{value(), value()}})
		}
		plottest.Check(t, dots)
		plottest.Check(t, &plot.Histogram{X: axis(), Edges: values(), Classes: []plot.Class{{Name: "a", Counts: values()}}, Threshold: new(value())})
		s := ranking.Scores{Positives: values(), Negatives: values(), PositiveWeights: values()}
		plottest.Check(t, plot.HistogramOf(s, new(value()), random.IntN(60)))
	}
}

func TestHistogramCountsEveryScore(t *testing.T) {
	s := plottest.Scores(5000, 200)
	s.Positives = append(s.Positives, 1e9, math.Inf(1), math.Inf(-1))
	s.NegativeWeights = make([]float64, len(s.Negatives))
	for i := range s.NegativeWeights {
		s.NegativeWeights[i] = 2
	}
	h := plot.HistogramOf(s, new(2.5), 40)
	sums := []float64{0, 0}
	for i, class := range h.Classes {
		for _, n := range class.Counts {
			sums[i] += n
		}
	}
	if sums[0] != 10_000 || sums[1] != 203 {
		t.Errorf("masses are %v, want 10000 and 203", sums)
	}
	if bins := len(h.Edges) - 1; bins < 20 || bins > 80 {
		t.Errorf("%d bins, want about 40", bins)
	}
	if h.Edges[0] > 2.5 || h.Edges[len(h.Edges)-1] < 2.5 {
		t.Errorf("the threshold lies outside %v to %v", h.Edges[0], h.Edges[len(h.Edges)-1])
	}
	if !strings.Contains(h.Text.Note, "are outside the bins") {
		t.Errorf("note: %q", h.Text.Note)
	}
	one := plot.HistogramOf(ranking.Scores{Negatives: []float64{7, 7, 7}}, nil, 10)
	if sum := one.Classes[0].Counts; len(sum) == 0 {
		t.Error("a constant score has no bins")
	}
	plottest.Check(t, one)
}
