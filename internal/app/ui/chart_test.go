package ui

import (
	"encoding/json"
	"math"
	"testing"

	"toptau/internal/app/plot"
)

// All series of a chart have the places of the first one: a reference is interpolated, in either order, and a point is where it is. Values that
// cannot be drawn are null. A line that turns elsewhere stays a drawing.
func TestLinesOf(t *testing.T) {
	p := &plot.Plot{X: plot.Axis{Scale: plot.Logarithmic}, Y: plot.Axis{Unit: plot.Percent, Max: 1}, Series: []plot.Series{
		{X: []float64{0, 0.1, 0.4, 1}, Y: []float64{0.25, 1.0 / 3, math.Inf(1), 1}, Draw: plot.Step},
		{Name: "chance", Style: plot.Reference, X: []float64{1, 0.2, 0.1}, Y: []float64{1, 0.2, 0.1}},
		{Name: "this", Style: plot.Highlight, Draw: plot.Points, X: []float64{0.4}, Y: []float64{0.5}},
	}, Rules: []plot.Rule{{Name: "half", At: 0.5, Horizontal: true}}}
	got, err := json.Marshal(linesOf(p))
	const want = `{"description":"","x":{"label":"","log":true},"y":{"label":"","percent":true,"ends":[0,1]},"at":[0,0.1,0.4,1],"series":[` +
		`{"name":"","style":1,"draw":"step","y":[0.25,0.333333,null,1]},{"name":"chance","style":-1,"draw":"line","y":[null,0.1,0.4,1]},` +
		`{"name":"this","style":-2,"draw":"points","y":[null,null,0.5,null]}],"rules":[{"name":"half","at":0.5,"horizontal":true}],"high":true}`
	if string(got) != want || err != nil {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	p.Series[2].Draw = plot.Line
	if linesOf(p) != nil {
		t.Error("a line with places of its own is a chart")
	}
	h := &plot.Histogram{Edges: []float64{0, 1, 2}, Classes: []plot.Class{{Name: "negatives", Counts: []float64{1, 3}}, {Name: "positives", Counts: []float64{0, 0}}}}
	if c := chartOf(h); len(c.Series) != 1 || c.Series[0].Y[1] != 0.75 || len(c.At) != len(c.Series[0].Y) {
		t.Errorf("%+v", c)
	}
	if chartOf(&plot.Histogram{}) != nil || chartOf(&plot.DotPlot{}) != nil {
		t.Error("a figure without lines is a chart")
	}
}
