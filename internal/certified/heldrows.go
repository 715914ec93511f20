package certified

import (
	"math"

	"toptau/internal/certified/linalg"
)

// heldRows are the rows of one class that the solver holds. Equal rows are merged into one entry with their
// total weight: on kddcup99 70 % of the rows are duplicates.
type heldRows struct {
	*linalg.Rows                    // the entries, and while a problem is solved the groups after them
	known        *Set               // rows held
	ids          []int32            // rows held, in the order in which they came
	entry        []int32            // the entry of each
	weights      []float64          // the weight of each
	groups       []Group            // the other rows that matter, as sums
	byHash       map[uint64][]int32 // entries by the hash of their features
	buffer       []float64
}

func newHeldRows(size int, shift *linalg.Shift) *heldRows {
	return &heldRows{Rows: linalg.NewRows(shift), known: NewSet(size), byHash: map[uint64][]int32{},
		buffer: make([]float64, len(shift.Centre))}
}

// hold adds a row that is not held yet.
func (s *heldRows) hold(r Row) {
	if s.known.Has(r.ID) {
		return
	}
	s.known.Add(r.ID)
	r.Features(s.buffer)
	h := hashOf(s.buffer)
	e := int32(-1)
	for _, k := range s.byHash[h] {
		if s.Equal(int(k), s.buffer) {
			e = k
			break
		}
	}
	if e < 0 {
		e = int32(s.N)
		s.byHash[h] = append(s.byHash[h], e)
		s.Add(s.buffer, r.Weight)
	} else {
		s.Weight[e] += r.Weight
	}
	s.ids = append(s.ids, int32(r.ID))
	s.entry = append(s.entry, e)
	s.weights = append(s.weights, r.Weight)
}

// hashOf is FNV-1a over the values' bits, a word at a time. -0 hashes as 0: equal values have equal hashes.
func hashOf(x []float64) uint64 {
	h := uint64(14695981039346656037) // FNV's offset basis and prime
	for _, v := range x {
		h = (h ^ math.Float64bits(v+0)) * 1099511628211
		h ^= h >> 29 // the product leaves the low bits poor
	}
	return h
}

// withGroups calls do while the groups follow the entries.
func (s *heldRows) withGroups(do func()) {
	n := s.N
	for _, g := range s.groups {
		s.Add(g.Mean, g.Mass)
	}
	do()
	s.Truncate(n)
}

// heldVector is p or a of a dual point: a value for every entry and group of the restricted problem. Rows may
// have come since.
type heldVector struct {
	values  []float64 // entries first, then groups
	entries int
	ids     int // rows held then
	groups  []Group
}

func (s *heldRows) snapshot(values []float64) heldVector {
	return heldVector{append([]float64(nil), values...), len(values) - len(s.groups), len(s.ids), s.groups}
}

// padded returns the values for the entries that are held now, and the groups. Entries that came since get 0.
func (v heldVector) padded(set *heldRows) []float64 {
	out := make([]float64, set.N)
	copy(out, v.values[:v.entries])
	copy(out[set.N-len(v.groups):], v.values[v.entries:])
	return out
}

// spread distributes the values over the rows in proportion to their weights. Values of exactly 0 are left
// out.
func (s *heldRows) spread(v heldVector) (out Sparse) {
	mass := make([]float64, v.entries)
	for k := range v.ids {
		mass[s.entry[k]] += s.weights[k]
	}
	most := v.ids
	for _, g := range v.groups {
		most += len(g.Rows)
	}
	out.Rows, out.Values = make([]int32, 0, most), make([]float64, 0, most)
	put := func(id int32, value, weight, mass float64) {
		if value == 0 {
			return
		}
		if weight != mass {
			value *= weight / mass
		}
		out.Rows = append(out.Rows, id)
		out.Values = append(out.Values, value)
	}
	for k := range v.ids {
		e := s.entry[k]
		put(s.ids[k], v.values[e], s.weights[k], mass[e])
	}
	for g, group := range v.groups {
		for k, id := range group.Rows {
			w := 1.0
			if group.Weights != nil {
				w = group.Weights[k]
			}
			put(id, v.values[v.entries+g], w, group.Mass)
		}
	}
	return out
}

// mean returns the weighted mean of the rows held, as one row of weight 1.
func (s *heldRows) mean() *linalg.Rows {
	x := append([]float64(nil), s.Centre...)
	s.AddTransposed(s.Weight, 1/linalg.Sum(s.Weight), x)
	one := linalg.NewRows(s.Shift)
	one.Add(x, 1)
	return one
}
