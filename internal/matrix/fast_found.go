package matrix

import (
	"iter"
	"math"
	"slices"

	"toptau/internal/kernel"
)

// Found is the rows of a part with a score above a floor. It keeps its memory from pass to pass.
type Found struct {
	stripes []foundStripe // what each stripe found: whoever reads it, the order is that of the rows
}

// All yields the rows found and their scores, some at a time, ascending.
func (f *Found) All() iter.Seq2[[]int32, []float32] {
	return func(yield func(rows []int32, z []float32) bool) {
		for i := range f.stripes {
			s := &f.stripes[i]
			if s.count > 0 && !yield(s.rows[:s.count], s.z[:s.count]) {
				return
			}
		}
	}
}

type foundStripe struct {
	rows  []int32
	z     []float32
	count int
}

// filter returns a filter that goes on behind what is there, with room for some rows more.
func (f *foundStripe) filter(floor float32, rows int) kernel.TileFilter {
	if need := f.count + rows; need > min(len(f.z), len(f.rows)) {
		f.z, f.rows = longer(f.z, need), longer(f.rows, need)
	}
	return kernel.NewTileFilter(floor, f.z, f.rows, f.count)
}

// longer returns s with at least n elements, the old ones first, and as many as its memory holds.
func longer[T any](s []T, n int) []T {
	s = slices.Grow(s, max(0, n-len(s)))
	return s[:cap(s)]
}

// openFilters makes the filters of a stripe.
func (k *worker) openFilters(j *job, stripe int) {
	k.fast.filters, k.fast.filtering = k.fast.filters[:0], false
	for h := range j.readings {
		f := j.readings[h].Found
		if f == nil {
			k.fast.filters = append(k.fast.filters, k.noFilter())
			continue
		}
		f.stripes[stripe].count = 0
		k.fast.filters = append(k.fast.filters, f.stripes[stripe].filter(j.readings[h].Floor, 0))
		k.fast.filtering = true
	}
}

// filter selects in the scores of the panels from first up to end, in the last of which some rows have none.
func (k *worker) filter(j *job, stripe, first, end int) {
	if !k.fast.filtering {
		return
	}
	rows := (end - first) * kernel.PanelRows
	for h := range k.fast.filters {
		if r := &j.readings[h]; r.Found != nil && k.fast.filters[h].Room() < rows {
			s := &r.Found.stripes[stripe]
			s.count = k.fast.filters[h].Count()
			k.fast.filters[h] = s.filter(r.Floor, rows)
		}
	}
	k.clearBehind(j.models, end-1, end-1-first)
	kernel.FilterTile(k.fast.z, k.fast.filters, int32(first*kernel.PanelRows))
}

// clearBehind makes the scores behind the last row of a panel, which is number at in z, no numbers: these are above no floor.
func (k *worker) clearBehind(models, panel, at int) {
	from, to := k.part.panelRows(panel)
	for h := 0; h < models && to-from < kernel.PanelRows; h++ {
		z := k.fast.z[(at*models+h)*kernel.PanelRows:][:kernel.PanelRows]
		for i := to - from; i < len(z); i++ {
			z[i] = float32(math.NaN())
		}
	}
}

// closeFilters notes what the filters of a stripe have found.
func (k *worker) closeFilters(j *job, stripe int) {
	for h := range j.readings {
		if f := j.readings[h].Found; f != nil {
			f.stripes[stripe].count = k.fast.filters[h].Count()
		}
	}
}

// noFilter selects nothing.
func (k *worker) noFilter() kernel.TileFilter {
	k.fast.none = resize(k.fast.none, kernel.PanelRows)
	k.fast.noRows = resize(k.fast.noRows, kernel.PanelRows)
	return kernel.NewTileFilter(float32(math.Inf(1)), k.fast.none, k.fast.noRows, 0)
}
