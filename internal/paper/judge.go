package paper

import (
	"runtime"
	"slices"
	"sync"

	"toptau/internal/matrix"
	"toptau/metric"
	"toptau/threshold"
)

// judge fills in what the validation part says about each point, chooses, and measures the choices on the test part.
func judge(c *Cell, e entry, w [][]float64, parts *Parts, curves bool) error {
	err := eachAtOnce(len(c.Points), func(i int) error {
		if c.Points[i].Failed != "" {
			return nil
		}
		z := score(parts.Validation, w[i])
		for rule := range c.Points[i].Own {
			own, err := ownValue(z, e, count(rule))
			if err != nil {
				return err
			}
			c.Points[i].Own[rule] = &own
		}
		return nil
	})
	if err != nil {
		return err
	}
	for rule := range c.Chosen {
		c.Chosen[rule] = choose(c.Points, count(rule))
	}
	return c.test(w, parts.Test, curves)
}

// ownValue is the criterion that the entry's points are compared by, as package metric has it, but from a selection in
// place of a sort: a part may have millions of rows, of which only the threshold is wanted. Positives@Quantile is undefined
// by the strict count where the budget is less than a row; Positives@Top takes its place there.
func ownValue(z metric.Scores, e entry, rule count) (float64, error) {
	c := e.own()
	population := z.Negatives
	if c.Name == metric.AtQuantile {
		population = slices.Concat(z.Positives, z.Negatives)
		if rule == strictCount && c.Tau.Floor(len(population)) == 0 {
			c, population = metric.Top(), z.Negatives
		}
	}
	k := 1
	switch {
	case c.Name == metric.AtTop:
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

// choose returns the point with the highest criterion. Ties go to a point that is better than w = 0, then to the earlier
// one of the grid; -1 when no point has a result.
func choose(points []Point, rule count) int {
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

// test measures the chosen points.
func (c *Cell) test(w [][]float64, x *matrix.Matrix, curves bool) error {
	for rule, chosen := range c.Chosen {
		if chosen < 0 {
			continue
		}
		if rule > 0 && chosen == c.Chosen[0] {
			c.Test[rule] = c.Test[0]
			continue
		}
		r, err := metric.Rank(score(x, w[chosen]))
		if err != nil {
			return err
		}
		if c.Test[rule], err = measure(r); err != nil {
			return err
		}
		if curves && count(rule) == paperCount {
			c.Drawn = &Curves{PTau: thin(r.PTau()), PR: thin(r.PR())}
		}
	}
	return nil
}

// curvePoints are enough for a line in a figure.
const curvePoints = 500

func measure(r *metric.Ranking) (Test, error) {
	var t Test
	for rule := range t.Values {
		for i, criterion := range criteria() {
			v, err := value(r, count(rule).of(criterion))
			if err != nil {
				return t, err
			}
			t.Values[rule][i] = v
		}
	}
	return t, nil
}

// eachAtOnce calls do for 0 to n-1 on as many goroutines as there are processors and returns the error of the
// lowest number.
func eachAtOnce(n int, do func(i int) error) error {
	errs := make([]error, n)
	var workers sync.WaitGroup
	next := make(chan int)
	for range min(n, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := range next {
				errs[i] = do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	workers.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
