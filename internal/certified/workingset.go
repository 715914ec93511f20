package certified

import (
	"fmt"
	"math"

	"toptau/diag"
)

// workingSet is the rows of one class that the solver holds. Equal rows are one entry that carries their mass.
type workingSet struct {
	*rows
	known  *Set
	ids    []int32   // rows held, in the order they came
	entry  []int32   // the entry each belongs to
	own    []float64 // and its own weight
	groups []Group   // the other rows that matter, summed; they stand behind the entries while a problem is solved
	byHash map[uint64][]int32
	buffer []float64
}

func newWorkingSet(size int, f *frame) *workingSet {
	return &workingSet{rows: newRows(f), known: NewSet(size), byHash: map[uint64][]int32{},
		buffer: make([]float64, len(f.centre))}
}

// take adds a row.
func (s *workingSet) take(r Row) {
	if s.known.Has(r.ID) {
		return
	}
	s.known.Add(r.ID)
	r.Features(s.buffer)
	h := hash(s.buffer)
	e := int32(-1)
	for _, k := range s.byHash[h] {
		if s.same(int(k), s.buffer) {
			e = k
			break
		}
	}
	if e < 0 {
		e = int32(s.n)
		s.byHash[h] = append(s.byHash[h], e)
		s.add(s.buffer, r.Weight)
	} else {
		s.weight[e] += r.Weight
	}
	s.ids = append(s.ids, int32(r.ID))
	s.entry = append(s.entry, e)
	s.own = append(s.own, r.Weight)
}

// hash is FNV-1a over the values' bits, a word at a time; equal values have equal hashes.
func hash(x []float64) uint64 {
	h := uint64(14695981039346656037)
	for _, v := range x {
		h = (h ^ math.Float64bits(v+0)) * 1099511628211
		h ^= h >> 29
	}
	return h
}

// withGroups calls do while the groups stand behind the rows.
func (s *workingSet) withGroups(do func()) {
	n := s.n
	for _, g := range s.groups {
		s.add(g.Mean, g.Mass)
	}
	do()
	s.truncate(n)
}

// dualValues is one part of a dual point: a value for every entry and group that stood in the restricted problem.
// Entries may have grown since; ids is how many rows they had then.
type dualValues struct {
	values  []float64
	entries int
	ids     int
	groups  []Group
}

func (s *workingSet) snapshot(values []float64) dualValues {
	return dualValues{append([]float64(nil), values...), len(values) - len(s.groups), len(s.ids), s.groups}
}

// lift spreads the values over the rows, in proportion to their weights; values of exactly 0 are left out.
func (s *workingSet) lift(v dualValues) (out Sparse) {
	mass := make([]float64, v.entries)
	for k := range v.ids {
		mass[s.entry[k]] += s.own[k]
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
		put(s.ids[k], v.values[e], s.own[k], mass[e])
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

// Sparse is a vector over the rows of a class: its non-zero values and their row numbers.
type Sparse struct {
	Rows   []int32
	Values []float64
}

// sparse is the vector of value(i, z[i]).
func sparse(z []float64, value func(i int, z float64) float64) Sparse {
	return sparseOf(z, value, nonZero(z, value))
}

// nonZero counts the values that are not 0.
func nonZero(z []float64, value func(i int, z float64) float64) (count int) {
	for i, score := range z {
		if value(i, score) != 0 {
			count++
		}
	}
	return count
}

// sparseOf is sparse for a known count.
func sparseOf(z []float64, value func(i int, z float64) float64, count int) (out Sparse) {
	out.Rows, out.Values = make([]int32, 0, count), make([]float64, 0, count)
	for i, score := range z {
		if v := value(i, score); v != 0 {
			out.Rows, out.Values = append(out.Rows, int32(i)), append(out.Values, v)
		}
	}
	return out
}

// expand returns the vector with all its n elements.
func (s Sparse) expand(n int, name string) ([]float64, error) {
	out := make([]float64, n)
	for k, i := range s.Rows {
		if i < 0 || int(i) >= n || k >= len(s.Values) {
			return nil, &diag.Error{Kind: diag.Data, Found: fmt.Sprintf("%s names row %d", name, int(i)+1),
				Expected: fmt.Sprintf("a row from 1 to %d", n), Hint: "the certificate belongs to other data"}
		}
		out[i] += s.Values[k]
	}
	return out, nil
}

// mean is the weighted mean of the rows held, as one row of weight 1.
func (s *workingSet) mean() *rows {
	x := append([]float64(nil), s.centre...)
	s.addTransposed(s.weight, 1/sum(s.weight), x)
	one := newRows(s.frame)
	one.add(x, 1)
	return one
}
