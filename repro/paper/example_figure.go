package paper

import (
	"context"
	"fmt"
	"math"

	"toptau/internal/app/plot"
	"toptau/internal/core/certified"
	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/internal/core/optim"
	"toptau/internal/core/simulate"
	"toptau/internal/core/text"
	"toptau/method"
	"toptau/repro/paper/drawing"
)

// exampleSample draws the example with a number of rows of each class and the outlier.
func exampleSample(rows int, seed uint64) (*matrix.Matrix, error) {
	data, err := simulate.New(simulate.Options{Kind: "example", Rows: 2*rows + 1, Seed: seed})
	if err != nil {
		return nil, err
	}
	b := matrix.NewBuilder(matrix.Layout{{Kind: matrix.Dense, Cols: 2}}, matrix.Float64)
	data.Each(func(index int, row *simulate.Row) bool {
		b.Add(row.Positive, row.Values, nil, nil, 1, index)
		return true
	})
	return b.Build()
}

// NamedFigure is a figure with the name of its file, without extension.
type NamedFigure struct {
	Name   string
	Figure plot.Figure
}

// ExampleFigures draws Figure "example": the samples, and contours with twelve trajectories of ADAM each. The
// trajectories end at zero for TopPush and TopMean, and not at zero for TopPushK and Pat&Mat.
func ExampleFigures(ctx context.Context, seed uint64) ([]NamedFigure, error) {
	return exampleFigures(ctx, 1000, seed)
}

// exampleFigures draws them from a number of rows of each class.
func exampleFigures(ctx context.Context, rows int, seed uint64) ([]NamedFigure, error) {
	x, err := exampleSample(rows, seed)
	if err != nil {
		return nil, err
	}
	figures := []NamedFigure{{"example-samples", samplesFigure(x)}}
	for _, h := range []method.Problem{{}, {K: 10}, {Tau: exampleTau, Beta: 0.04}, {Tau: exampleTau}} {
		p, err := exampleMethod(h).With(h)
		if err != nil {
			return nil, err
		}
		o, err := objective.New(p, x)
		if err != nil {
			return nil, err
		}
		figure, err := contours(ctx, o)
		if err != nil {
			return nil, err
		}
		figures = append(figures, NamedFigure{string("example-" + p.Definition().Name), figure})
	}
	return figures, nil
}

// exampleMethod returns the method on all rows, or the ranking method, with these hyperparameters.
func exampleMethod(h method.Problem) method.Method {
	return methodsWhere(func(m method.Method) bool {
		return m.Convex && m.UsesK == (h.K > 0) && m.UsesTau == !h.Tau.IsZero() && m.UsesBeta == (h.Beta > 0)
	})[0]
}

// samplesFigure draws every fourth row and the outlier.
func samplesFigure(x *matrix.Matrix) plot.Figure {
	chart := &plot.Plot{
		Text: plot.Caption{
			Title: "The example: separable except for one outlier",
			Description: "Negatives fill the rectangle from -1 to 0, positives the one from 0 to 1; one negative is at (2, 0), " +
				"to the right of all positives.",
			Note: fmt.Sprintf("%s rows of each class were drawn; every fourth is shown.", text.Count(x.Positives.Rows())),
		},
		Square: true,
		X:      plot.Axis{Label: "first feature", Min: -1.5, Max: 2.5},
		Y:      plot.Axis{Label: "second feature", Min: -2, Max: 2},
	}
	classes := []struct {
		name string
		part *matrix.ClassRows
	}{{"negatives", x.Negatives}, {"positives", x.Positives}}
	row := make([]float64, 2)
	for _, c := range classes {
		s := plot.Series{Name: c.name, Draw: plot.Points}
		for i := 0; i < c.part.Rows(); i++ {
			if c.part.Row(i, row); i%4 == 0 || row[0] == 2 {
				s.X, s.Y = append(s.X, row[0]), append(s.Y, row[1])
			}
		}
		chart.Series = append(chart.Series, s)
	}
	chart.Series = append(chart.Series,
		plot.Series{Name: "the outlier", Draw: plot.Points, Style: plot.Highlight, X: []float64{2}, Y: []float64{0}})
	return chart
}

// startCircle returns twelve points on the unit circle, thirty degrees apart and none on an axis.
func startCircle() [][]float64 {
	// cos and sin of 15, 45 and 75 degrees
	c15, c45, c75 := (math.Sqrt(6)+math.Sqrt2)/4, math.Sqrt2/2, (math.Sqrt(6)-math.Sqrt2)/4
	var points [][]float64
	for _, p := range [][2]float64{{c15, c75}, {c45, c45}, {c75, c15}} {
		points = append(points, []float64{p[0], p[1]}, []float64{-p[1], p[0]}, []float64{-p[0], -p[1]}, []float64{p[1], -p[0]})
	}
	return points
}

// contours draws an objective of two weights with the trajectories of ADAM from twelve starts, and its global
// minimum.
func contours(ctx context.Context, o *objective.Objective) (plot.Figure, error) {
	best, err := certified.Solve(ctx, o, certified.Options{})
	if err != nil {
		return nil, err
	}
	m := o.Problem().Definition()
	chart := &plot.Plot{Square: true, X: plot.Axis{Label: "first weight"}, Y: plot.Axis{Label: "second weight"}}
	reach, near, far := 1.15, math.Inf(1), 0.0
	for i, start := range startCircle() {
		w := newWalk(o, start)
		if err := w.descend(ctx, optim.DefaultIterations); err != nil {
			return nil, err
		}
		s := plot.Series{Draw: plot.Trajectory, Style: 1}
		if i == 0 {
			s.Name = "ADAM, 1,000 steps, 12 starts"
		}
		for _, at := range thinned(w.points) {
			s.X, s.Y = append(s.X, at[0]), append(s.Y, at[1])
			reach = max(reach, 1.1*math.Abs(at[0]), 1.1*math.Abs(at[1]))
		}
		end := objective.Norm(w.points[len(w.points)-1])
		near, far = min(near, end), max(far, end)
		chart.Series = append(chart.Series, s)
	}
	chart.Series = append(chart.Series, plot.Series{Name: "global minimum", Draw: plot.Points, Style: plot.Highlight,
		X: []float64{best.W[0]}, Y: []float64{best.W[1]}})
	reach = max(reach, 1.1*math.Abs(best.W[0]), 1.1*math.Abs(best.W[1]))
	chart.X.Min, chart.X.Max, chart.Y.Min, chart.Y.Max = -reach, reach, -reach, reach
	chart.Layer = objectiveField(o, reach)
	chart.Text = plot.Caption{
		Title: m.Title + " on the example" + hyperparameterText(o.Problem()),
		Description: fmt.Sprintf("Contours of the objective over two weights. The global minimum is at (%.3g, %.3g). "+
			"The trajectories of ADAM end between %.3g and %.3g from zero.", best.W[0]+0, best.W[1]+0, near, far),
		Note: fmt.Sprintf("Global minimum at (%.3g, %.3g), value %.4g, certified. Trajectories end between %.3g and %.3g from zero.",
			best.W[0]+0, best.W[1]+0, best.Objective, near, far),
	}
	return chart, nil
}

// thinned leaves out points close to the previous one. A run near its end oscillates around it.
func thinned(points [][]float64) [][]float64 {
	const step = 0.02
	kept := points[:1:1]
	for _, p := range points[1:] {
		if last := kept[len(kept)-1]; math.Abs(p[0]-last[0]) >= step || math.Abs(p[1]-last[1]) >= step {
			kept = append(kept, p)
		}
	}
	return append(kept, points[len(points)-1])
}

// hyperparameterText returns the hyperparameters in words, each after a comma.
func hyperparameterText(p method.Problem) string {
	h, text := p, ""
	if p.Definition().UsesK {
		text += fmt.Sprintf(", k = %d", h.K)
	}
	if p.Definition().UsesTau {
		text += ", τ = " + h.Tau.String()
	}
	if p.Definition().UsesBeta {
		text += fmt.Sprintf(", β = %g", h.Beta)
	}
	return text
}

// objectiveField evaluates the objective on a grid.
func objectiveField(o *objective.Objective, reach float64) *drawing.Field {
	const points = 61
	f := &drawing.Field{X0: -reach, X1: reach, Y0: -reach, Y1: reach, Columns: points, Rows: points}
	place := func(i int) float64 { return float64(reach*float64(2*i-points+1)) / (points - 1) }
	for j := range points {
		for i := range points {
			f.Values = append(f.Values, o.At([]float64{place(i), place(j)}, nil).F)
		}
	}
	return f
}
