package large

import (
	"context"
	"math"
	"slices"

	"toptau/internal/core/ranking"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/method"
	"toptau/model"
)

// sampledScores is the number of rows whose scores are the first cuts. Chosen by hand: a pass of 16,384 cuts at their
// quantiles leaves cells with 1/16,384 of the rows.
const sampledScores = 50_000

// newCounted returns the scores of a model for the rows of a part. The first cuts are scores of a sample, unless all scores are held.
func newCounted(ctx context.Context, rows Rows, p Part, m *model.Model) (*counted, error) {
	positives, negatives, err := rows.Count(ctx, p)
	if err != nil {
		return nil, err
	}
	s, err := rows.Scores(ctx, p, m)
	if err != nil {
		return nil, err
	}
	c := &counted{Scores: s, rows: [2]int{negatives.Rows, positives.Rows}}
	if h, held := s.(*HeldScores); held {
		c.start = spread(h.quantiles(cutsAtOnce/4), cutsAtOnce/4)
		return c, c.check([2]int{len(h.z[0]), len(h.z[1])})
	}
	sample, err := rows.Sample(ctx, p, sampledScores)
	if err != nil {
		return nil, err
	}
	z := make([]float64, sample.Table.Rows())
	if err := feature.ScorerOf(m).Scores(sample.Table, z); err != nil {
		return nil, err
	}
	c.start = spread(z, cutsAtOnce/4)
	return c, nil
}

// spread returns at most n of the different scores, in ascending order.
func spread(z []float64, n int) []float64 {
	slices.Sort(z)
	z = slices.Compact(z)
	if len(z) <= n {
		return z
	}
	some := make([]float64, n)
	for i := range some {
		some[i] = z[i*len(z)/n]
	}
	return some
}

// Measured are counts of the rows of a part by the scores of a model. The counts are exact around the thresholds of the
// criteria and at the thresholds that were asked for.
type Measured struct {
	Ranking *ranking.Ranking
	Exact   bool            // every score is ranked
	Values  *feature.Counts // missing and unknown values; nil: not counted
}

// measure counts the rows in cells. Each threshold of a criterion is a cell of its own.
func (c *counted) measure(ctx context.Context, criteria []ranking.Criterion, at []float64) (*Measured, error) {
	if h, held := c.Scores.(*HeldScores); held {
		if all, err := h.ranking(); all != nil || err != nil {
			return &Measured{Ranking: all, Exact: true}, err
		}
	}
	exact, err := c.thresholds(ctx, criteria)
	if err != nil {
		return nil, err
	}
	cells, err := c.around(ctx, c.start, append(exact, at...))
	if err != nil {
		return nil, err
	}
	if cells, err = c.refine(ctx, cells); err != nil {
		return nil, err
	}
	out := &Measured{}
	if s, counts := c.Scores.(valueCounter); counts {
		out.Values = s.Values()
	}
	out.Ranking, err = rank(cells)
	return out, err
}

// thresholds returns the scores at which the budgets of criteria end.
func (c *counted) thresholds(ctx context.Context, criteria []ranking.Criterion) (exact []float64, err error) {
	for _, of := range []method.Population{method.Negatives, method.AllRows} {
		var orders []int
		n := c.size(of)
		for _, k := range criteria {
			all := k.Name == method.AtQuantile
			if all != (of == method.AllRows) || n == 0 {
				continue
			}
			budget := 0
			if k.Name != method.AtTop {
				budget = k.Tau.Floor(n)
			}
			orders = append(orders, n-budget) // the first row that must stay out
		}
		if len(orders) == 0 {
			continue
		}
		scores, err := c.orders(ctx, of, orders)
		if err != nil {
			return nil, err
		}
		exact = append(exact, scores...)
	}
	return exact, nil
}

// around counts the rows between cuts, and at each of some scores alone.
func (c *counted) around(ctx context.Context, cuts, scores []float64) ([]Cell, error) {
	cuts = slices.Clone(cuts)
	for _, t := range scores {
		if !math.IsInf(t, 0) {
			cuts = append(cuts, t, math.Nextafter(t, math.Inf(1)))
		}
	}
	slices.Sort(cuts)
	return c.Tally(ctx, slices.Compact(cuts))
}

// rank returns the ranking of counted rows.
func rank(cells []Cell) (*ranking.Ranking, error) {
	groups := make([]ranking.Group, 0, len(cells))
	for i := range cells {
		low, _ := cells[i].ends(method.AllRows)
		if rows := cells[i].Rows; rows[0]+rows[1] > 0 {
			groups = append(groups, ranking.Group{Score: low, Positives: rows[table.Positive], Negatives: rows[table.Negative]})
		}
	}
	return ranking.RankGroups(groups)
}

// refine divides the cells in which most pairs of a positive and a negative are, so that the area under a curve, which
// does not know the order of these pairs, becomes narrow. It makes one pass.
func (c *counted) refine(ctx context.Context, cells []Cell) ([]Cell, error) {
	pairs := 0.0
	for i := range cells {
		pairs += cells[i].pairs()
	}
	if pairs == 0 {
		return cells, nil
	}
	var cuts []float64
	var divided []int
	for i := range cells {
		n := int(float64(cutsAtOnce-2*len(cells)) * (cells[i].pairs() / pairs))
		if n < 2 {
			continue
		}
		low, high := cells[i].ends(method.AllRows)
		s := interval{low: low, high: high}
		cuts = s.appendCuts(cuts, n, false)
		divided = append(divided, i)
	}
	if len(divided) == 0 {
		return cells, nil
	}
	finer, err := c.Tally(ctx, cuts)
	if err != nil {
		return nil, err
	}
	// A divided cell becomes the new cells from its lowest score to before the cut after its highest.
	out := make([]Cell, 0, len(cells)+len(finer))
	for i := range cells {
		if len(divided) == 0 || divided[0] != i {
			out = append(out, cells[i])
			continue
		}
		divided = divided[1:]
		low, high := cells[i].ends(method.AllRows)
		out = append(out, finer[cellOf(cuts, low):cellOf(cuts, high)+1]...)
	}
	return out, nil
}

// pairs returns the number of pairs of a positive and a negative whose order is not known.
func (c *Cell) pairs() float64 {
	if low, high := c.ends(method.AllRows); !(low < high) {
		return 0
	}
	return float64(c.Rows[0]) * float64(c.Rows[1])
}

// Measure counts the rows of a part by the scores of a model. Criteria and decisions at the thresholds can be taken
// from the ranking exactly; areas lie between the one with ties against the ranking and the one with ties for it.
func Measure(ctx context.Context, rows Rows, p Part, m *model.Model, criteria []ranking.Criterion, at []float64) (*Measured, error) {
	c, err := newCounted(ctx, rows, p, m)
	if err != nil {
		return nil, err
	}
	return c.measure(ctx, criteria, at)
}
