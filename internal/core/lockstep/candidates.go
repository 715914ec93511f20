package lockstep

import (
	"iter"
	"math"
	"slices"

	"toptau/internal/core/kernel"
)

// Candidates are the rows of a class with a score above a floor. It keeps its memory from pass to pass.
type Candidates struct {
	stripes []stripeCandidates // by stripe, so that the order of the rows does not depend on threads
}

// All yields the rows and their scores, some at a time, rows ascending.
func (c *Candidates) All() iter.Seq2[[]int32, []float32] {
	return func(yield func(rows []int32, z []float32) bool) {
		for i := range c.stripes {
			s := &c.stripes[i]
			if s.count > 0 && !yield(s.rows[:s.count], s.z[:s.count]) {
				return
			}
		}
	}
}

type stripeCandidates struct {
	rows  []int32
	z     []float32
	count int
}

// newFilter returns a filter that appends to the candidates, with space for some more rows.
func (s *stripeCandidates) newFilter(floor float32, rows int) kernel.TileFilter {
	if need := s.count + rows; need > min(len(s.z), len(s.rows)) {
		s.z, s.rows = extend(s.z, need), extend(s.rows, need)
	}
	return kernel.NewTileFilter(floor, s.z, s.rows, s.count)
}

// extend returns s with at least n elements, up to its capacity.
func extend[T any](s []T, n int) []T {
	s = slices.Grow(s, max(0, n-len(s)))
	return s[:cap(s)]
}

// openFilters creates the filters of a stripe.
func (k *worker) openFilters(requests []Request, stripe int) {
	k.filters, k.filtering = k.filters[:0], false
	for h := range requests {
		c := requests[h].Candidates
		if c == nil {
			k.filters = append(k.filters, k.emptyFilter())
			continue
		}
		c.stripes[stripe].count = 0
		k.filters = append(k.filters, c.stripes[stripe].newFilter(requests[h].Floor, 0))
		k.filtering = true
	}
}

// emptyFilter returns a filter that selects nothing.
func (k *worker) emptyFilter() kernel.TileFilter {
	k.noScores = resize(k.noScores, kernel.PanelRows)
	k.noRows = resize(k.noRows, kernel.PanelRows)
	return kernel.NewTileFilter(float32(math.Inf(1)), k.noScores, k.noRows, 0)
}

// filterScores selects among the scores of the panels from first up to end.
func (k *worker) filterScores(requests []Request, stripe, first, end int) {
	if !k.filtering {
		return
	}
	rows := (end - first) * kernel.PanelRows
	for h := range k.filters {
		if r := &requests[h]; r.Candidates != nil && k.filters[h].Free() < rows {
			s := &r.Candidates.stripes[stripe]
			s.count = k.filters[h].Count()
			k.filters[h] = s.newFilter(r.Floor, rows)
		}
	}
	k.clearMissingRows(end-1, end-1-first)
	kernel.FilterTile(k.z, k.filters, int32(first*kernel.PanelRows))
}

// clearMissingRows sets the scores after the last row of a panel, number at of the group, to NaN, which is above no floor.
func (k *worker) clearMissingRows(panel, at int) {
	from, to := k.passes.rows.PanelRows(panel)
	for h := 0; h < k.passes.models && to-from < kernel.PanelRows; h++ {
		z := k.z[(at*k.passes.models+h)*kernel.PanelRows:][:kernel.PanelRows]
		for i := to - from; i < len(z); i++ {
			z[i] = float32(math.NaN())
		}
	}
}

// closeFilters stores the number of candidates of a stripe.
func (k *worker) closeFilters(requests []Request, stripe int) {
	for h := range requests {
		if c := requests[h].Candidates; c != nil {
			c.stripes[stripe].count = k.filters[h].Count()
		}
	}
}
