package certified

import (
	"context"
	"math"
	"slices"
	"testing"

	"toptau/internal/certified/linalg"
	"toptau/internal/matrix"
	"toptau/method"
	"toptau/threshold"
)

// shards is a source over several matrices, each with some of the rows. It asks each of them and merges the
// answers. It has no line search and keeps no scores.
type shards struct {
	parts      []*Memory
	pos, pop   []int // first row number of each shard
	populating method.Population
	passes     int
}

func newShards(t testing.TB, d dataset, count int, population method.Population) *shards {
	s := &shards{populating: population}
	pos, pop := 0, 0
	for k := range count {
		var part dataset
		for i := range d.x {
			if i%count == k {
				part.x, part.y = append(part.x, d.x[i]), append(part.y, d.y[i])
			}
		}
		m := NewMemory(part.matrix(t, matrix.Float64), population)
		s.parts = append(s.parts, m)
		s.pos, s.pop = append(s.pos, pos), append(s.pop, pop)
		pos += m.Shape().Positives.Rows
		pop += m.Shape().Population.Rows
	}
	return s
}

func (s *shards) Shape() Shape {
	out := s.parts[0].Shape()
	pos, pop := 0, 0
	for _, p := range s.parts {
		pos += p.Shape().Positives.Rows
		pop += p.Shape().Population.Rows
	}
	out.Positives, out.Population = threshold.NewPopulation(pos, nil), threshold.NewPopulation(pop, nil)
	return out
}

func (s *shards) Means(ctx context.Context) (positives, population []float64, err error) {
	s.passes++
	shape := s.Shape()
	positives, population = make([]float64, shape.Cols), make([]float64, shape.Cols)
	for _, p := range s.parts {
		a, b, err := p.Means(ctx)
		if err != nil {
			return nil, nil, err
		}
		linalg.Axpy(p.Shape().Positives.Mass/shape.Positives.Mass, a, positives)
		linalg.Axpy(p.Shape().Population.Mass/shape.Population.Mass, b, population)
	}
	return positives, population, nil
}

func (s *shards) Readings() (int, float64) { return s.passes, float64(s.passes) }

// within returns the rows of a set that belong to a shard.
func within(known *Set, first, rows int) *Set {
	out := NewSet(rows)
	for i := range rows {
		if known.Has(first + i) {
			out.Add(i)
		}
	}
	return out
}

func renumber(rows []Row, groups []Group, first int) ([]Row, []Group) {
	for k := range rows {
		rows[k].ID += first
	}
	for g := range groups {
		groups[g].Rows = slices.Clone(groups[g].Rows)
		for k := range groups[g].Rows {
			groups[g].Rows[k] += int32(first)
		}
	}
	return rows, groups
}

func (s *shards) Scan(ctx context.Context, queries []Query) ([]Answer, error) {
	out := make([]Answer, len(queries))
	population := false
	for k, p := range s.parts {
		inner := slices.Clone(queries)
		for i, q := range queries {
			if q.Population != nil {
				population = true
				c := *q.Population
				c.Known = within(c.Known, s.pop[k], p.Shape().Population.Rows)
				inner[i].Population = &c
			}
			if q.Positives != nil {
				c := *q.Positives
				c.Known = within(c.Known, s.pos[k], p.Shape().Positives.Rows)
				inner[i].Positives = &c
			}
		}
		for i := range inner {
			inner[i].At = newPoint(queries[i].At.W) // a point belongs to one source
		}
		answers, err := p.Scan(ctx, inner)
		if err != nil {
			return nil, err
		}
		for i, a := range answers {
			to := &out[i]
			to.Population.Count += a.Population.Count
			to.Population.Sum += a.Population.Sum
			to.Population.Scores = append(to.Population.Scores, a.Population.Scores...)
			rows, groups := renumber(a.Population.Rows, a.Population.Groups, s.pop[k])
			to.Population.Rows = append(to.Population.Rows, rows...)
			to.Population.Groups = append(to.Population.Groups, groups...)
			rows, groups = renumber(a.Positives.Rows, a.Positives.Groups, s.pos[k])
			to.Positives.Loss += a.Positives.Loss
			to.Positives.Rows = append(to.Positives.Rows, rows...)
			to.Positives.Groups = append(to.Positives.Groups, groups...)
		}
	}
	for i, q := range queries {
		if q.Population == nil {
			continue
		}
		a := &out[i].Population
		key := func(r Row) float64 {
			if q.Population.Near {
				return math.Abs(r.Score - q.Population.Edge)
			}
			return -r.Score
		}
		slices.SortStableFunc(a.Rows, func(x, y Row) int {
			switch {
			case key(x) < key(y):
				return -1
			case key(x) > key(y):
				return 1
			}
			return x.ID - y.ID
		})
		// A shard's groups leave out the rows that it returns. So all its rows are kept if the query asks for
		// groups.
		if q.Population.Rest == 0 && len(a.Rows) > q.Population.Limit {
			a.Rows, a.Cut = a.Rows[:q.Population.Limit], true
		}
	}
	if population {
		s.passes++
	}
	return out, nil
}

// TestShards solves problems on several matrices, through Scan alone.
func TestShards(t *testing.T) {
	d := clouds(21, 60, 700, 4, .7)
	x := d.matrix(t, matrix.Float64)
	for _, lambda := range []float64{1e-3} {
		for _, n := range everyMethod(lambda) {
			p := newProblem(t, n.name, n.h)
			r, err := SolveSource(context.Background(), newShards(t, d, 3, p.Definition().Population), p, Options{})
			if err != nil {
				t.Fatal(err)
			}
			o := bind(t, p, x)
			whole, err := Solve(context.Background(), o, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !r.Converged || math.Abs(r.Objective-whole.Objective) > 2e-6*r.AtZero ||
				r.LowerBound > whole.Objective*(1+1e-12) || r.Objective < whole.LowerBound*(1-1e-12) {
				t.Errorf("%s:\n  shards %s\n  whole  %s", label(n), describe(r), describe(whole))
			}
			if f := o.At(r.W, nil).F; math.Abs(f-r.Objective) > 1e-12*f {
				t.Errorf("%s: F = %.15g, the shards return %.15g", label(n), f, r.Objective)
			}
			t.Logf("%s: shards %d passes, whole %d", label(n), r.Passes, whole.Passes)
		}
	}
}
