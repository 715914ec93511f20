package ranking

import (
	"encoding/json"
	"math"
)

// Point is one point of a curve: the rates of the decision score > Threshold.
type Point struct {
	Threshold float64 // a score that occurs, or -Inf: every row is on top
	X, Y      float64
}

// MarshalJSON writes null for the threshold -Inf.
func (p Point) MarshalJSON() ([]byte, error) {
	t := &p.Threshold
	if math.IsInf(p.Threshold, -1) {
		t = nil
	}
	return json.Marshal(struct {
		Threshold *float64 `json:"threshold"`
		X         float64  `json:"x"`
		Y         float64  `json:"y"`
	}{t, p.X, p.Y})
}

// Curve is exact over all thresholds: it has one point for every distinct score and one for all rows, in
// ascending X.
type Curve struct {
	Name   string  `json:"name"` // "roc", "pr", "ptau"
	X      string  `json:"x"`    // the name of the axis
	Y      string  `json:"y"`
	Points []Point `json:"points"`
	Area   float64 `json:"area"` // under the exact curve; ROC, PR and PTau define it
}

// ROC returns the true positive rate against the false positive rate, from (0, 0) to (1, 1). Its area is the
// AUC with ties counted as one half (straight lines between the points). It is empty without positives or
// negatives.
func (r *Ranking) ROC() Curve {
	r = perClass(r)
	c := Curve{Name: "roc", X: "false positive rate", Y: "true positive rate"}
	if r.PositiveMass() == 0 || r.NegativeMass() == 0 {
		return c
	}
	c.Area = r.AUC().Half
	c.Points = make([]Point, 0, len(r.scores)+1)
	for g := 0; g <= len(r.scores); g++ {
		c.Points = append(c.Points, Point{r.score(g), r.negatives[g] / r.NegativeMass(), r.positives[g] / r.PositiveMass()})
	}
	return c
}

// PR returns the precision against the recall. It has no point without rows on top. Its area is the average
// precision, the sum of Y_k (X_k - X_(k-1)). There is no interpolation, which would overestimate the area. It
// is empty without positives.
func (r *Ranking) PR() Curve {
	c := Curve{Name: "pr", X: "recall", Y: "precision"}
	if r.PositiveMass() == 0 {
		return c
	}
	r.steps(&c, func(g int) float64 { return r.positives[g] / r.PositiveMass() })
	return c
}

// PTau returns the precision in the top tau of all rows against tau (the paper's P-tau curve). It has no
// point without rows on top. Its area is the sum of Y_k (X_k - X_(k-1)), the mean precision over tau.
func (r *Ranking) PTau() Curve {
	c := Curve{Name: "ptau", X: "tau", Y: "precision"}
	mass := r.Mass()
	r.steps(&c, func(g int) float64 { return (r.positives[g] + r.negatives[g]) / mass })
	return c
}

// steps sets the points of a curve whose Y is the precision, and its area.
func (r *tieGroups) steps(c *Curve, x func(g int) float64) {
	last := 0.0
	for g := 1; g <= len(r.scores); g++ {
		top := r.positives[g] + r.negatives[g]
		if top == 0 {
			continue // rows of weight 0
		}
		p := Point{r.score(g), x(g), r.positives[g] / top}
		c.Points = append(c.Points, p)
		c.Area += float64(p.Y * (p.X - last))
		last = p.X
	}
}

// score returns the threshold above which groups 0..g-1 lie.
func (r *tieGroups) score(g int) float64 {
	if g == len(r.scores) {
		return math.Inf(-1)
	}
	return r.scores[g]
}

// AUC is the area under the ROC curve for two values of a tie between a positive and a negative.
type AUC struct {
	Half    float64 // a tie counts one half: the usual AUC
	Against float64 // a tie counts 0: against the model
}

// AUC returns the fraction of pairs of a positive and a negative in which the positive has the larger score.
// It is exact up to one rounding while n+ n- < 2^52 and rows are not weighted; 0 without positives or
// negatives.
func (r *Ranking) AUC() AUC {
	r = perClass(r)
	if r.PositiveMass() == 0 || r.NegativeMass() == 0 {
		return AUC{}
	}
	var won, tied float64
	for g := range r.scores {
		negatives := r.negatives[g+1] - r.negatives[g]
		won += float64(r.positives[g] * negatives)
		tied += float64((r.positives[g+1] - r.positives[g]) * negatives)
	}
	pairs := r.PositiveMass() * r.NegativeMass()
	return AUC{Half: (won + float64(0.5*tied)) / pairs, Against: won / pairs}
}

// AveragePrecision returns the mean over the positives of the precision in the rows with at least their score: the area under the
// precision-recall curve as a step function, without interpolation. Equal scores count together. It is 0 without positives.
func (r *Ranking) AveragePrecision() float64 {
	sum := 0.0
	for g := range r.scores {
		if found := r.positives[g+1] - r.positives[g]; found > 0 {
			sum += float64(found * (r.positives[g+1] / (r.positives[g+1] + r.negatives[g+1])))
		}
	}
	if sum == 0 {
		return 0
	}
	return sum / r.PositiveMass()
}

// Corners returns the curve without the points on a horizontal or vertical line between their neighbours. The
// line stays the same.
func (c Curve) Corners() Curve {
	if len(c.Points) < 3 {
		return c
	}
	kept := []Point{c.Points[0]}
	for i := 1; i+1 < len(c.Points); i++ {
		a, b, d := c.Points[i-1], c.Points[i], c.Points[i+1]
		if (a.X == b.X && b.X == d.X) || (a.Y == b.Y && b.Y == d.Y) {
			continue
		}
		kept = append(kept, b)
	}
	c.Points = append(kept, c.Points[len(c.Points)-1])
	return c
}

// Downsample returns a curve of at most limit points (at least 2) for plotting. It keeps the first and last
// point, half of the rest evenly spaced along the length of the curve, and half evenly on a logarithmic scale
// of their number from the top, where the detail matters. Area stays that of the exact curve.
func (c Curve) Downsample(limit int) Curve {
	n := len(c.Points)
	if limit < 2 {
		limit = 2
	}
	if n <= limit {
		return c
	}
	keep := make([]bool, n)
	keep[0], keep[n-1] = true, true
	c.keepAlong(keep, (limit-2)/2)
	keepLogarithmic(keep, limit-2-(limit-2)/2)
	var points []Point
	for i, p := range c.Points {
		if keep[i] {
			points = append(points, p)
		}
	}
	c.Points = points
	return c
}

// keepAlong marks the last points before count even steps of |dx| + |dy|.
func (c Curve) keepAlong(keep []bool, count int) {
	length := 0.0
	for i := 1; i < len(c.Points); i++ {
		length += c.step(i)
	}
	walked, mark := 0.0, 1
	for i := 1; i < len(c.Points) && mark <= count; i++ {
		walked += c.step(i)
		if float64(walked*float64(count+1)) >= float64(float64(mark)*length) {
			keep[i] = true
			for mark <= count && float64(walked*float64(count+1)) >= float64(float64(mark)*length) {
				mark++
			}
		}
	}
}

func (c Curve) step(i int) float64 {
	return math.Abs(c.Points[i].X-c.Points[i-1].X) + math.Abs(c.Points[i].Y-c.Points[i-1].Y)
}

// keepLogarithmic marks count points whose numbers from the top grow by a constant factor, the first ones by
// 1.
func keepLogarithmic(keep []bool, count int) {
	at := 1
	for left := count; left > 0 && at < len(keep); left-- {
		keep[at] = true
		at += max(1, growth(at, len(keep), left))
	}
}

// growth returns the step from at with which about left such steps reach n: at (n/at)^(1/left) - at. It uses
// bisection on whole numbers, so the points do not depend on the rounding of a power function.
func growth(at, n, left int) int {
	low, high := 0, n-at // the step is in [low, high]
	for low < high {
		step := (low + high + 1) / 2
		reached, factor := float64(at), float64(at+step)/float64(at)
		for i := 0; i < left && reached <= float64(n); i++ {
			reached *= factor
		}
		if reached <= float64(n) {
			low = step
		} else {
			high = step - 1
		}
	}
	return low
}
