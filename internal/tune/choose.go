package tune

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"toptau/method"
	"toptau/metric"
	"toptau/threshold"
)

// choose picks a point of each method, and then one of these; the rules are in the doc comment of Train.
func (t *training) choose() error {
	t.result.Chosen = -1
	first := 0
	for _, grid := range byMethod(t.result.Points) {
		best := t.bestOf(grid)
		if best >= 0 && (t.result.Chosen < 0 || between(&grid[best], t.result.Best()) < 0) {
			t.result.Chosen = first + best
		}
		first += len(grid)
	}
	t.result.Why = t.why()
	return nil
}

// byMethod divides the points into the grids of the methods.
func byMethod(points []Point) [][]Point {
	var grids [][]Point
	for first := 0; first < len(points); {
		end := first
		for end < len(points) && points[end].Problem.Method == points[first].Problem.Method {
			end++
		}
		grids = append(grids, points[first:end])
		first = end
	}
	return grids
}

// bestOf is the best point of one grid; -1 where none was fitted.
func (t *training) bestOf(grid []Point) int {
	best := -1
	for i := range grid {
		if grid[i].Status == Fitted && (best < 0 || t.within(&grid[i], &grid[best]) < 0) {
			best = i
		}
	}
	return best
}

// within compares two points of one method; it is negative when a is the better one.
func (t *training) within(a, b *Point) int {
	value := func(p *Point) float64 { return p.Own.Rate }
	if t.options.Select == ByGoal {
		value = func(p *Point) float64 { return p.Goal.Rate }
	}
	return cmp.Or(cmp.Compare(value(b), value(a)), betterThanZero(a, b), cmp.Compare(b.Wider, a.Wider),
		smoother(a.Problem.Hyperparameters, b.Problem.Hyperparameters))
}

// between compares the best points of two methods; it is negative when a is the better one.
func between(a, b *Point) int {
	return cmp.Or(cmp.Compare(b.Goal.Rate, a.Goal.Rate), betterThanZero(a, b), cmp.Compare(b.Wider, a.Wider))
}

// widerCriteria are the goal's criterion at two, four and eight times its rate, as far as these are rates; above every
// negative, a false positive rate of 1, 2 and 4 % stands in. Points that are equal under a small budget, often because
// all of them fill it with positives, are told apart by wider ones.
func widerCriteria(g metric.Goal) []metric.Criterion {
	base, factor := g.Criterion(), 2.0
	if g.Tau().IsZero() {
		base, factor = metric.NP(threshold.MustRate("1%")), 1
	}
	var wider []metric.Criterion
	for range 3 {
		if rate, err := threshold.RateOf(float64(factor * base.Tau.Float64())); err == nil {
			c := base
			c.Tau = rate
			wider = append(wider, c)
		}
		factor *= 2
	}
	return wider
}

func betterThanZero(a, b *Point) int {
	if a.NoBetterThanZero == b.NoBetterThanZero {
		return 0
	}
	return sign(!a.NoBetterThanZero)
}

// why says what was chosen and what stands behind the choice.
func (t *training) why() string {
	best := t.result.Best()
	value, rule := best.Goal, "by the goal's criterion"
	if t.options.Select == ByMethod {
		rule = "the hyperparameters by the method's own criterion, the method by the goal's"
	}
	fitted, tied := 0, 0
	for i := range t.result.Points {
		p := &t.result.Points[i]
		if p.Status != Fitted {
			continue
		}
		fitted++
		if i != t.result.Chosen && p.Goal.Rate == value.Rate {
			tied++
		}
	}
	text := fmt.Sprintf("%s: %s = %s on the validation part, chosen from %s, %s",
		Describe(best.Problem), value.Criterion, share(value), plural(fitted, "point"), rule)
	switch tied {
	case 0:
	case 1:
		text += "; 1 other point has the same value"
	default:
		text += fmt.Sprintf("; %d other points have the same value", tied)
	}
	return text
}

// share writes a criterion with its counts: "0.844 (27 of 32)".
func share(r metric.Result) string {
	if !r.Defined() {
		return "undefined (" + r.Undefined + ")"
	}
	return fmt.Sprintf("%.3g (%.6g of %.6g positives)", r.Rate, r.Numerator, r.Denominator)
}

// Describe names a problem with the hyperparameters that it uses: "patmat-np with tau 0.01, beta 0.1, lambda 0.001".
func Describe(p method.Problem) string { return p.Method.Name + " with " + settings(p) }

// settings are the hyperparameters that a problem uses.
func settings(p method.Problem) string {
	h, m := p.Hyperparameters, p.Method
	var parts []string
	if m.UsesTau {
		parts = append(parts, "tau "+h.Tau.String())
	}
	if m.UsesBeta {
		parts = append(parts, "beta "+number(h.Beta))
	}
	if m.UsesK {
		parts = append(parts, "k "+strconv.Itoa(h.K))
	}
	parts = append(parts, "lambda "+number(h.Lambda))
	return strings.Join(parts, ", ")
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
