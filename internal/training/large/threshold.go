package large

import (
	"context"

	"toptau/internal/core/heldout"
	"toptau/method"
	"toptau/metric"
	"toptau/model"
	"toptau/threshold"
)

// Calibrated is a threshold from the rows of a part.
type Calibrated struct {
	*heldout.Threshold
	All, Negatives int // rows of the part
	scores         *counted
}

// threshold returns the threshold for a goal. With delta it is the certified one. An error of kind diag.Guarantee
// comes with a threshold.
func (c *counted) threshold(ctx context.Context, g metric.Goal, delta threshold.Rate) (*heldout.Threshold, error) {
	of := g.Population()
	return heldout.For(g, delta, heldout.Ordered(c.size(of), of,
		func(orders []int) ([]float64, error) { return c.orders(ctx, of, orders) },
		func(t float64) (above, equal int, err error) { return c.countAt(ctx, of, t) }))
}

// countAt returns the numbers of scores of a population above and equal to a score. It makes one pass.
func (c *counted) countAt(ctx context.Context, of method.Population, t float64) (above, equal int, err error) {
	cells, err := c.around(ctx, nil, []float64{t})
	if err != nil {
		return 0, 0, err
	}
	return cells[2].rowsOf(of), cells[1].rowsOf(of), nil
}

// Threshold computes the threshold of a model for a goal from the rows of a part, and counts the decisions at this and
// at other thresholds. With delta the threshold is certified, under the conditions of package heldout. An error of
// kind diag.Guarantee comes with a threshold that is not.
func Threshold(ctx context.Context, rows Rows, p Part, m *model.Model, g metric.Goal, delta threshold.Rate) (*Calibrated, error) {
	c, err := newCounted(ctx, rows, p, m)
	if err != nil {
		return nil, err
	}
	at, guarantee := c.threshold(ctx, g, delta)
	if at == nil {
		return nil, guarantee
	}
	return &Calibrated{Threshold: at, All: c.rows[0] + c.rows[1], Negatives: c.rows[0], scores: c}, guarantee
}

// At counts the decisions at a threshold.
func (c *Calibrated) At(ctx context.Context, list ...float64) ([]metric.Confusion, error) {
	cells, err := c.scores.around(ctx, nil, list)
	if err != nil {
		return nil, err
	}
	counts, err := rank(cells)
	if err != nil {
		return nil, err
	}
	var decisions []metric.Confusion
	for _, t := range list {
		k, err := counts.At(t, 0)
		if err != nil {
			return nil, err
		}
		decisions = append(decisions, k)
	}
	return decisions, nil
}
