package paper

import (
	"context"
	"fmt"
	"math"

	"toptau/internal/app/report"
	"toptau/internal/core/matrix"
	"toptau/internal/core/objective"
	"toptau/internal/core/optim"
	"toptau/method"
)

// Section 3 runs TopPush on the example from several starts: "it always converges to zero from one of the three
// possible directions; all of them far from the normal vector to the separating hyperplane". Near zero every positive
// has a positive loss, so for large n
//
//	F(w) - 1 = t(w) - w1/2,   t(w) = max(2 w1, |w2|, |w2| - w1),
//
// which has three pieces. Steps against the gradient end on the lines where pieces meet: |w2| = 2 w1 with w1 > 0, and
// w2 = 0 with w1 < 0. They are the three directions.

// exampleDirections are the directions from zero in which steps against the gradient of TopPush end, in degrees from
// the normal (1, 0) of the separating line.
var exampleDirections = [3]float64{degrees(1, 2), degrees(1, -2), degrees(-1, 0)}

// degrees returns the angle of (x, y) from the first axis.
func degrees(x, y float64) float64 { return math.Atan2(y, x) * 180 / math.Pi }

const (
	directionStep = 1e-3 // of gradient descent; it zigzags by that much around a line
	directionEnd  = 0.1  // the distance from zero at which the direction is read
	directionRows = 1000 // of each class, as in the figure
	directionNear = 5    // degrees within which a direction is one of exampleDirections
)

// endDirection returns the direction of the first point near zero, in degrees, and false if none is near.
func endDirection(points [][]float64) (float64, bool) {
	for _, w := range points {
		if objective.Norm(w) <= directionEnd {
			return degrees(w[0], w[1]), true
		}
	}
	return 0, false
}

// descendGradient returns the iterates of gradient descent with small steps, up to one near zero.
func descendGradient(ctx context.Context, o *objective.Objective, start []float64) [][]float64 {
	points, gradient := [][]float64{start}, make([]float64, 2)
	for range int(10 / directionStep) {
		w := points[len(points)-1]
		if ctx.Err() != nil || objective.Norm(w) <= directionEnd {
			break
		}
		o.At(w, gradient)
		points = append(points, []float64{w[0] - float64(directionStep*gradient[0]), w[1] - float64(directionStep*gradient[1])})
	}
	return points
}

// ExampleDirections describes the directions in which TopPush approaches zero on the example.
type ExampleDirections struct {
	Rows, Starts int
	Gradient     [3]int  // number of runs of gradient descent that end in each of exampleDirections
	Off          float64 // largest difference of these from the direction, in degrees
	Adam         [3]int  // the same for ADAM
}

// newExampleDirections runs gradient descent and ADAM from the starts of the figure.
func newExampleDirections(ctx context.Context, x *matrix.Matrix) (ExampleDirections, error) {
	d := ExampleDirections{Rows: x.Positives.Rows(), Starts: len(startCircle())}
	p, err := exampleMethod(method.Problem{}).With(method.Problem{})
	if err != nil {
		return d, err
	}
	o, err := objective.New(p, x)
	if err != nil {
		return d, err
	}
	for _, start := range startCircle() {
		if k, off := nearestDirection(descendGradient(ctx, o, start)); off <= directionNear {
			d.Gradient[k]++
			d.Off = max(d.Off, off)
		}
		w := newWalk(o, start)
		if err := w.descend(ctx, optim.DefaultIterations); err != nil {
			return d, err
		}
		if k, off := nearestDirection(w.points); off <= directionNear {
			d.Adam[k]++
		}
	}
	return d, ctx.Err()
}

// nearestDirection returns the number of the direction in which points end, and the difference in degrees.
func nearestDirection(points [][]float64) (nearest int, off float64) {
	end, near := endDirection(points)
	if off = math.Inf(1); !near {
		return 0, off
	}
	for k, direction := range exampleDirections {
		if a := math.Abs(math.Remainder(end-direction, 360)); a < off {
			nearest, off = k, a
		}
	}
	return nearest, off
}

// Table returns the directions with the number of starts that end there.
func (d *ExampleDirections) Table() report.Table {
	t := report.Table{Caption: fmt.Sprintf("Section 3: the directions from which TopPush approaches zero, from the %d starts of the figure. "+
		"Gradient descent has steps of %g.", d.Starts, directionStep),
		Header:  []string{"direction from zero, large n", "angle to the normal (1, 0)", "gradient descent", "ADAM"},
		Numbers: []int{1, 2, 3}}
	others := [2]int{d.Starts, d.Starts}
	for k, name := range []string{"(1, 2)", "(1, -2)", "(-1, 0)"} {
		t.Rows = append(t.Rows, []string{name, fmt.Sprintf("%.1f°", math.Abs(exampleDirections[k])), fmt.Sprint(d.Gradient[k]), fmt.Sprint(d.Adam[k])})
		others[0], others[1] = others[0]-d.Gradient[k], others[1]-d.Adam[k]
	}
	t.Rows = append(t.Rows, []string{"another one", "", fmt.Sprint(others[0]), fmt.Sprint(others[1])})
	return t
}

// note answers the statement.
func (d *ExampleDirections) note() string {
	sum := func(ends [3]int) int { return ends[0] + ends[1] + ends[2] }
	return fmt.Sprintf("Section 3, \"from one of the three possible directions; all of them far from the normal vector\": near zero F is "+
		"piecewise linear, and its pieces meet on three lines, none of them within %.0f° of the normal. Gradient descent ends on them "+
		"from %s starts, within %.1f° at a distance of %g from zero. ADAM does from %s: it scales each coordinate, so it can also go "+
		"straight to zero along a diagonal.",
		math.Floor(exampleDirections[0]), countOf(sum(d.Gradient), d.Starts), d.Off, directionEnd, countOf(sum(d.Adam), d.Starts))
}
