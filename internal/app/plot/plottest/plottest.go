// Package plottest contains examples and checks for the tests of figures.
package plottest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"regexp"
	"testing"

	"toptau/internal/app/plot"
	"toptau/internal/core/detmath"
	"toptau/internal/core/ranking"
)

// Example is a figure with the name of its golden file.
type Example struct {
	Name   string
	Figure plot.Figure
}

// Examples returns figures of every kind that the package draws, small enough to read as SVG. Their values are exact, so the files
// are the same on every platform.
func Examples() []Example {
	third := []float64{0, 1, 2, 3}
	return []Example{
		{"lines", &plot.Plot{Text: plot.Caption{Title: "Two lines with a band", Description: "Both rise.", Note: "A note."},
			X: plot.Axis{Label: "budget", Unit: plot.Percent}, Y: plot.Axis{Label: "recall", Unit: plot.Percent, Max: 1},
			Series: []plot.Series{
				{Name: "model", X: []float64{0, 0.01, 0.02, 0.05}, Y: []float64{0, 0.4, 0.5, 0.9},
					Low: []float64{0, 0.3, 0.4, 0.85}, High: []float64{0.1, 0.5, 0.6, 0.95}},
				{Name: "baseline", X: []float64{0, 0.05}, Y: []float64{0, 0.5}},
				{Name: "chance", Style: plot.Reference, X: []float64{0, 0.05}, Y: []float64{0, 0.05}},
				{Name: "threshold", Style: plot.Highlight, Draw: plot.Points, X: []float64{0.02}, Y: []float64{0.5}},
			}, Rules: []plot.Rule{{Name: "goal", At: 0.01}, {Name: "floor", At: 0.2, Horizontal: true}}}},
		{"steps-log", &plot.Plot{Text: plot.Caption{Title: "Steps on a logarithmic axis with a zero"},
			X: plot.Axis{Label: "false positive rate", Unit: plot.Percent, Scale: plot.Logarithmic},
			Y: plot.Axis{Label: "true positive rate", Unit: plot.Percent, Max: 1}, Series: []plot.Series{{Name: "model", Draw: plot.Step,
				X: []float64{0, 0, 1e-4, 1e-3, 0.02, 1}, Y: []float64{0, 0.1, 0.3, 0.6, 0.9, 1}}}}},
		{"points", &plot.Plot{Text: plot.Caption{Title: "Two classes"}, Square: true, X: plot.Axis{Label: "x1"}, Y: plot.Axis{Label: "x2"},
			Series: []plot.Series{{Name: "negatives", Draw: plot.Points, X: third, Y: []float64{1, 3, 2, 0}},
				{Name: "positives", Draw: plot.Points, X: []float64{0.5, 2.5}, Y: []float64{2.5, 1.5}},
				{Name: "unknown", Draw: plot.Points, X: []float64{1.5}, Y: []float64{0.5}}}}},
		{"cells", &plot.Plot{Text: plot.Caption{Title: "A function of two columns"}, X: plot.Axis{Label: "x1"}, Y: plot.Axis{Label: "x2"},
			Layer: &plot.Cells{X: []float64{0, 1, 2, 4}, Y: []float64{0, 1, 3}, Full: 2, Values: [][]float64{{-2, -1, -1}, {0, 1, 2}}}}},
		{"histogram", &plot.Histogram{Text: plot.Caption{Title: "Scores by class"}, X: plot.Axis{Label: "score"},
			Edges: []float64{-1, 0, 1, 2}, Threshold: new(1.25), Classes: []plot.Class{
				{Name: "negatives", Counts: []float64{6, 3, 1}}, {Name: "positives", Counts: []float64{1, 1, 2}}}}},
		{"dots", &plot.DotPlot{Text: plot.Caption{Title: "Compared"}, X: plot.Axis{Label: "recall", Unit: plot.Percent}, Rows: []plot.Dot{
			{Name: "Pat&Mat-NP", Value: 0.52, Interval: &[2]float64{0.48, 0.56}, Chosen: true},
			{Name: "logistic regression with all columns", Value: 0.4, Interval: &[2]float64{0.35, 0.45}, Baseline: true},
			{Name: "other", Value: 0.45}, {Name: "none", Undefined: "the budget is 0"},
		}, Rules: []plot.Rule{{Name: "a half", At: 0.5}}}},
	}
}

var badNumber = regexp.MustCompile(`NaN|Inf|[0-9]e[+-]?[0-9]`)

// Check draws a figure and checks that it is well-formed and has no number that SVG does not allow. It
// returns the texts.
func Check(t *testing.T, f plot.Figure) []string {
	t.Helper()
	svg := plot.SVG(f)
	body := svg[bytes.Index(svg, []byte("</style>")):]
	if bad := badNumber.Find(regexp.MustCompile(` (d|x|y|width|height)="[^"]*"`).Find(body)); bad != nil {
		t.Errorf("%s in an attribute", bad)
	}
	for _, attribute := range regexp.MustCompile(` (?:d|x|y|width|height)="([^"]*)"`).FindAllSubmatch(body, -1) {
		if badNumber.Match(attribute[1]) {
			t.Fatalf("%s is not a number for SVG", attribute[1])
		}
	}
	return wellFormed(t, svg)
}

// wellFormed parses SVG as XML and returns its texts in order.
func wellFormed(t *testing.T, svg []byte) []string {
	t.Helper()
	var texts []string
	decoder := xml.NewDecoder(bytes.NewReader(svg))
	element := ""
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatalf("not well-formed: %v\n%.2000s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			element = token.Name.Local
		case xml.EndElement:
			element = ""
		case xml.CharData:
			if element == "text" || element == "title" || element == "desc" {
				texts = append(texts, string(token))
			}
		}
	}
}

// Scores returns the scores of a detector that finds most positives. A few of them are far away.
func Scores(negatives, positives int) ranking.Scores {
	random := rand.New(rand.NewPCG(1, 2))
	uniform := func() float64 { return float64((float64(random.Uint64()>>11) + 0.5) / (1 << 53)) }
	logistic := func() float64 {
		u := uniform()
		return detmath.Log(u / (1 - u))
	}
	var s ranking.Scores
	for range negatives {
		s.Negatives = append(s.Negatives, logistic())
	}
	for range positives {
		s.Positives = append(s.Positives, 3+2*logistic())
	}
	return s
}
