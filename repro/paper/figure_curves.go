package paper

import (
	"fmt"
	"math"
	"slices"

	"toptau/internal/app/plot"
	"toptau/internal/core/ranking"
	"toptau/internal/core/text"
)

// NamedCurve is a curve of package metric with the name of its method.
type NamedCurve struct {
	Name  string
	Curve ranking.Curve
}

// drawnPoints is the number of points drawn of a curve. A figure cannot show more.
const drawnPoints = 300

// FigurePTau draws the precision in the top tau of all rows against tau (Figure "ptau"), up to zoom or, if
// zoom is 0, to 1.
func FigurePTau(set string, methods []NamedCurve, zoom float64) *plot.Plot {
	p := curvesPlot(methods, zoom)
	p.X = plot.Axis{Label: "τ, fraction of rows on top", Unit: plot.Percent, Max: 1}
	p.Y = plot.Axis{Label: "precision", Unit: plot.Percent, Max: 1}
	title, part := "P-τ curves, "+set, "for every τ"
	if zoom > 0 && zoom < 1 {
		p.X.Max = zoom
		part = fmt.Sprintf("for τ up to %g", zoom)
		title += ", τ ≤ " + sixDigits(zoom)
	}
	p.Text = plot.Caption{Title: title,
		Description: "Precision in the fraction τ of rows with the highest scores, " + part + ". " + methodsDrawn(methods)}
	return p
}

// FigurePR draws the precision against the recall.
func FigurePR(set string, methods []NamedCurve) *plot.Plot {
	p := curvesPlot(methods, 0)
	p.X = plot.Axis{Label: "recall", Unit: plot.Percent, Max: 1}
	p.Y = plot.Axis{Label: "precision", Unit: plot.Percent, Max: 1}
	p.Text = plot.Caption{Title: "Precision and recall, " + set,
		Description: "Precision against the fraction of positives found. " + methodsDrawn(methods)}
	return p
}

// curvesPlot returns a plot with a line per method, thinned to the points that are visible up to zoom.
func curvesPlot(methods []NamedCurve, zoom float64) *plot.Plot {
	p := &plot.Plot{}
	for _, m := range methods {
		c := m.Curve
		if zoom > 0 {
			c.Points = upTo(c.Points, zoom)
		}
		c = c.Corners().Downsample(drawnPoints)
		s := plot.Series{Name: m.Name}
		for _, at := range c.Points {
			s.X, s.Y = append(s.X, at.X), append(s.Y, at.Y)
		}
		p.Series = append(p.Series, s)
	}
	return p
}

// upTo returns the points up to x and the next one, where the line leaves the figure.
func upTo(points []ranking.Point, x float64) []ranking.Point {
	for i, p := range points {
		if p.X > x {
			return points[:i+1]
		}
	}
	return points
}

// methodsDrawn lists the methods with their areas, for readers who cannot see the lines.
func methodsDrawn(methods []NamedCurve) string {
	var words []string
	for _, m := range methods {
		words = append(words, fmt.Sprintf("%s (area %.3f)", m.Name, m.Curve.Area))
	}
	return "Drawn: " + text.List(words, "and") + "."
}

// FigureDescent draws the objective and its lower bounds against passes over the data. of names the problem:
// "TopPush on Ionosphere".
func FigureDescent(of string, runs []Descent) *plot.Plot {
	p := &plot.Plot{
		Text: plot.Caption{Title: "Objective, " + of, Description: endsOfRuns(runs)},
		X:    plot.Axis{Label: "passes over the training rows", Scale: plot.Logarithmic},
		Y:    plot.Axis{Label: "objective"},
	}
	end := 0.0
	for _, r := range runs {
		for _, passes := range r.Passes {
			end = max(end, passes)
		}
	}
	for i, r := range runs {
		p.Series = append(p.Series, plot.Series{Name: r.Name, X: r.Passes, Y: r.Upper, Draw: plot.Step, Style: i + 1})
		if n := len(r.Lower); n > 0 { // the last bound holds to the end of the figure
			p.Series = append(p.Series, plot.Series{Name: "its lower bound", Draw: plot.Step, Style: len(runs) + i + 1,
				X: append(slices.Clone(r.Passes), end), Y: append(slices.Clone(r.Lower), r.Lower[n-1])})
		}
	}
	return p
}

// FigureGap draws the distance of the objective to the best lower bound of all runs, as a fraction of F(0)
// minus that bound. If that is 0, it is a fraction of F(0).
func FigureGap(of string, runs []Descent) *plot.Plot {
	p := &plot.Plot{
		Text: plot.Caption{Title: "Distance from the optimum, " + of, Description: endsOfRuns(runs),
			Note: "Distance to the certified lower bound as a fraction of the possible decrease from w = 0, or of F(0) if no decrease is possible."},
		X: plot.Axis{Label: "passes over the training rows", Scale: plot.Logarithmic},
		Y: plot.Axis{Label: "missing fraction of the decrease", Scale: plot.Logarithmic},
	}
	bound := bestBound(runs)
	for _, r := range runs {
		s := plot.Series{Name: r.Name, Draw: plot.Step}
		for i, f := range r.Upper {
			s.X, s.Y = append(s.X, r.Passes[i]), append(s.Y, max(f-bound, 0)/r.possible(bound))
		}
		p.Series = append(p.Series, s)
	}
	return p
}

// bestBound returns the largest lower bound of the runs.
func bestBound(runs []Descent) float64 {
	bound := math.Inf(-1)
	for _, r := range runs {
		for _, d := range r.Lower {
			bound = max(bound, d)
		}
	}
	return bound
}

// possible returns F(0) minus the bound, or F(0) if the difference is only rounding.
func (r *Descent) possible(bound float64) float64 {
	if d := r.AtZero - bound; d > 1e-9*r.AtZero {
		return d
	}
	return r.AtZero
}

// endsOfRuns returns the last values of the runs in words.
func endsOfRuns(runs []Descent) string {
	text := ""
	for _, r := range runs {
		if n := len(r.Upper); n > 0 {
			text += fmt.Sprintf("%s ends at %.6g after %.4g passes. ", r.Name, r.Upper[n-1], r.Passes[n-1])
		}
	}
	if bound := bestBound(runs); !math.IsInf(bound, 0) {
		text += fmt.Sprintf("The best lower bound is %.6g.", bound)
	}
	return text
}
