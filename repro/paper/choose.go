package paper

import (
	"slices"

	"toptau/internal/core/matrix"
	"toptau/internal/core/parallel"
	"toptau/internal/core/ranking"
	"toptau/method"
	"toptau/threshold"
)

// chooseAndTest measures each point on the validation part, chooses one by each count, and measures the
// chosen points on the test part.
func chooseAndTest(c *Cell, e entry, w [][]float64, parts *Parts, curves bool) error {
	err := parallel.ForErr(len(c.Points), func(i int) error {
		if c.Points[i].Failed != "" {
			return nil
		}
		z := scoreRows(parts.Validation, w[i])
		for rule := range c.Points[i].Own {
			criterion, err := validationValue(z, e, count(rule))
			if err != nil {
				return err
			}
			c.Points[i].Own[rule] = &criterion
		}
		return nil
	})
	if err != nil {
		return err
	}
	for rule := range c.Chosen {
		c.Chosen[rule] = choosePoint(c.Points, count(rule))
	}
	return c.testChosen(w, parts.Test, curves)
}

// validationValue returns the criterion by which the entry's points are compared. It equals that of package
// metric, but uses a selection instead of a sort, because a part may have millions of rows. By the strict
// count Positives@Quantile is undefined if the budget is less than one row; Positives@Top then replaces it.
func validationValue(z ranking.Scores, e entry, rule count) (float64, error) {
	c := e.criterion()
	population := z.Negatives
	if c.Name == method.AtQuantile {
		population = slices.Concat(z.Positives, z.Negatives)
		if rule == strictCount && c.Tau.Floor(len(population)) == 0 {
			c, population = ranking.Top(), z.Negatives
		}
	}
	k := 1
	switch {
	case c.Name == method.AtTop:
	case rule == paperCount:
		k = c.Tau.Ceil(len(population))
	default:
		k = c.Tau.Floor(len(population)) + 1
	}
	top, err := threshold.TopCount{K: k}.Bind(threshold.NewPopulation(len(population), nil))
	if err != nil {
		return 0, err
	}
	var s threshold.Support
	top.At(population, nil, &s) // its edge is the k-th largest score
	n := 0
	for _, score := range z.Positives {
		if score > s.Edge || score == s.Edge && rule == paperCount {
			n++
		}
	}
	return float64(n) / float64(len(z.Positives)), nil
}

// choosePoint returns the index of the point with the highest criterion, or -1 if no point has a result.
// Among equal points it prefers one that is better than w = 0, then the first of the grid.
func choosePoint(points []Point, rule count) int {
	best := -1
	for i := range points {
		p := &points[i]
		if p.Failed != "" || p.Own[rule] == nil {
			continue
		}
		if best < 0 || *p.Own[rule] > *points[best].Own[rule] ||
			*p.Own[rule] == *points[best].Own[rule] && p.Beats() && !points[best].Beats() {
			best = i
		}
	}
	return best
}

// testChosen measures the chosen points on the test part.
func (c *Cell) testChosen(w [][]float64, x *matrix.Matrix, curves bool) error {
	for rule, chosen := range c.Chosen {
		if chosen < 0 {
			continue
		}
		if rule > 0 && chosen == c.Chosen[0] {
			c.Test[rule] = c.Test[0]
			continue
		}
		r, err := ranking.Rank(scoreRows(x, w[chosen]))
		if err != nil {
			return err
		}
		if c.Test[rule], err = testCriteria(r); err != nil {
			return err
		}
		if curves && count(rule) == paperCount {
			c.Drawn = &Curves{PTau: thinCurve(r.PTau()), PR: thinCurve(r.PR())}
		}
	}
	return nil
}

// curvePoints is the number of points of a stored curve, more than a figure of 420 units can show.
const curvePoints = 500

// testCriteria returns all criteria by both counts.
func testCriteria(r *ranking.Ranking) (Test, error) {
	var t Test
	for rule := range t.Values {
		for i, criterion := range criteria() {
			v, err := criterionValue(r, count(rule).of(criterion))
			if err != nil {
				return t, err
			}
			t.Values[rule][i] = v
		}
	}
	return t, nil
}
