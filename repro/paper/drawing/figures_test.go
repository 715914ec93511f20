package drawing_test

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
	"toptau/repro/paper/drawing"
)

var update = flag.Bool("update", false, "write the golden files")

// examples are figures that are small enough to read as SVG. Their values are exact, so the files are the same on every
// platform.
func examples() []plottest.Example {
	return []plottest.Example{
		{Name: "contours", Figure: &plot.Plot{Text: plot.Caption{Title: "Contours and a trajectory"}, Square: true,
			X: plot.Axis{Label: "w1", Min: -1, Max: 1}, Y: plot.Axis{Label: "w2", Min: -1, Max: 1},
			Layer: &drawing.Field{X0: -1, X1: 1, Y0: -1, Y1: 1, Columns: 5, Rows: 5, Values: bowl(5), Levels: []float64{0.25, 0.8}},
			Series: []plot.Series{{Name: "from a start", Draw: plot.Trajectory,
				X: []float64{0.9, 0.5, 0.2, 0}, Y: []float64{-0.8, -0.5, -0.1, 0}}}}},
		{Name: "diagram", Figure: ordering()},
	}
}

func bowl(n int) []float64 {
	var values []float64
	for j := range n {
		for i := range n {
			x, y := float64(2*float64(i)/float64(n-1))-1, float64(2*float64(j)/float64(n-1))-1
			values = append(values, float64(x*x)+float64(float64(y*y)/2))
		}
	}
	return values
}

func ordering() *drawing.Diagram {
	return &drawing.Diagram{Text: plot.Caption{Title: "Which threshold is above which"}, Kinds: []string{"plain", "washed", "double"},
		Solid: "always", Dashed: "on these data",
		Boxes: []drawing.Box{{Key: "push", Label: "TopPush", Kind: 1}, {Key: "push-k", Label: "TopPushK", Row: 1, Kind: 1},
			{Key: "mean-np", Label: "TopMean-NP", Row: 2, Kind: 1}, {Key: "grill-np", Label: "Grill-NP", Row: 3, Kind: 2},
			{Key: "mat-np", Label: "Pat&Mat-NP", Column: 1, Row: 1}, {Key: "mat", Label: "Pat&Mat", Column: 2, Row: 1},
			{Key: "mean", Label: "TopMean", Column: 2, Row: 2, Kind: 1}, {Key: "grill", Label: "Grill", Column: 2, Row: 3, Kind: 2}},
		Arrows: []drawing.Arrow{{From: "push", To: "push-k", Label: "0 of 1,000"}, {From: "push-k", To: "mean-np", Label: "0 of 1,000"},
			{From: "mean-np", To: "grill-np"}, {From: "mat-np", To: "mean-np", Label: "0"}, {From: "mat-np", To: "grill-np"},
			{From: "mat", To: "mean", Label: "0"}, {From: "mean", To: "grill", Label: "0 of 1,000"},
			{From: "mat", To: "grill", Bend: 0.36}, {From: "mat", To: "mat-np", Label: "12", Dashed: true},
			{From: "mean", To: "mean-np", Dashed: true}, {From: "grill", To: "grill-np", Label: "3 of 1,000", Dashed: true},
			{From: "grill", To: "nowhere"}}}
}

func TestGoldenFigures(t *testing.T) {
	for _, e := range examples() {
		got, path := plot.SVG(e.Figure), filepath.Join("testdata", e.Name+".svg")
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
		plottest.Check(t, e.Figure)
	}
}

func TestTextIsEscaped(t *testing.T) {
	const evil = "<script>alert('x')</script> & \"q\""
	diagram := &drawing.Diagram{Boxes: []drawing.Box{{Label: evil, Key: "a"}, {Label: evil, Key: "b", Row: 1}}, Kinds: []string{evil},
		Solid: evil, Arrows: []drawing.Arrow{{From: "a", To: "b", Label: evil}}}
	if texts := strings.Join(plottest.Check(t, diagram), "|"); !strings.Contains(texts, "<script>") {
		t.Errorf("lost the text: %s", texts)
	}
	if bytes.Contains(plot.SVG(diagram), []byte("<script")) {
		t.Error("a script element")
	}
	plottest.Check(t, &drawing.Diagram{})
}

// A figure of arbitrary numbers is drawn without panic, as valid SVG.
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
		field := &drawing.Field{X0: value(), X1: value(), Y0: value(), Y1: value(), Columns: 3, Rows: 3}
		for range 9 {
			field.Values = append(field.Values, value())
		}
		plottest.Check(t, &plot.Plot{Layer: field})
		diagram := &drawing.Diagram{}
		for i := range random.IntN(5) {
			diagram.Boxes = append(diagram.Boxes, drawing.Box{Key: fmt.Sprint(i), Label: "box", Column: value(), Row: value()})
			diagram.Arrows = append(diagram.Arrows, drawing.Arrow{From: fmt.Sprint(i), To: fmt.Sprint(i / 2), Label: "x", Bend: value()})
		}
		plottest.Check(t, diagram)
	}
}
