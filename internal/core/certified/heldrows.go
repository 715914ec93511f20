package certified

import (
	"math"

	"toptau/internal/core/certified/linalg"
)

// Group is many rows that enter a restricted problem as one: their weighted mean, with their total weight.
// The hinge and the threshold are convex, so the problem with the mean is a lower bound of the one with the
// rows. It is equal as long as the rows are on one side of the corner. A dual value of the mean is
// distributed over the rows in proportion to their weights, and sometimes to a linear function of their scores.
// That is feasible for the whole problem and gives the same v.
//
// The rows are described, not listed: those whose score at At is from Low to below High, without the first
// Held rows that the solver held of the class.
type Group struct {
	Mass      float64
	Mean      []float64
	At        *Point
	Low, High float64
	Held      int

	// A member of weight m and score z has the part m (Rate + Slope (z - Origin)) of the group's dual value.
	// Mass and Mean are those of the restricted problem. If Slope is not 0 they are chosen so that the dual
	// value of the group, as one row, is that of its members.
	Rate, Slope, Origin float64
}

// groupsOf returns the groups of an answer that have rows.
func groupsOf(sums []Sum, at *Point, ends []float64, held int) (list []Group) {
	for k, sum := range sums {
		if !(sum.Mass > 0) {
			continue
		}
		mean := make([]float64, len(sum.Features))
		for j, v := range sum.Features {
			mean[j] = v / sum.Mass
		}
		list = append(list, Group{Mass: sum.Mass, Mean: mean, At: at, Low: ends[k], High: ends[k+1], Held: held, Rate: 1 / sum.Mass})
	}
	return list
}

// pin keeps the scores that describe the groups for as long as the groups are used, or lets go of them.
func pin(groups []Group, by int) {
	for _, g := range groups {
		g.At.pins += by
	}
}

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

// setGroups replaces the groups.
func (s *heldRows) setGroups(groups []Group) {
	pin(groups, 1)
	pin(s.groups, -1)
	s.groups = groups
}

// scores computes the scores of the rows at w, without the shift that they are stored with.
func (s *heldRows) scores(w, z []float64) {
	s.Times(w, z)
	offset := linalg.Dot(s.Centre, w)
	for i := range z {
		z[i] += offset
	}
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

// GroupValue is the sum of the multipliers of a group.
type GroupValue struct {
	Group
	Value float64
	Held  []int32 // rows that are not members, whatever their scores
}

// multipliers distributes the values over the rows held, in proportion to their weights. Values of exactly 0
// are left out.
func (s *heldRows) multipliers(v heldVector) (rows Sparse, groups []GroupValue) {
	mass := make([]float64, v.entries)
	for k := range v.ids {
		mass[s.entry[k]] += s.weights[k]
	}
	rows.Rows, rows.Values = make([]int32, 0, v.ids), make([]float64, 0, v.ids)
	for k := range v.ids {
		e := s.entry[k]
		if v.values[e] != 0 {
			value := v.values[e]
			if s.weights[k] != mass[e] {
				value *= s.weights[k] / mass[e]
			}
			rows.add(s.ids[k], value)
		}
	}
	for g, group := range v.groups {
		if value := v.values[v.entries+g]; value != 0 {
			groups = append(groups, GroupValue{group, value, s.ids[:group.Held]})
		}
	}
	return rows, groups
}

func (s *Sparse) add(row int32, value float64) {
	s.Rows = append(s.Rows, row)
	s.Values = append(s.Values, value)
}

// mean returns the weighted mean of the rows held, as one row of weight 1.
func (s *heldRows) mean() *linalg.Rows {
	x := append([]float64(nil), s.Centre...)
	s.AddTransposed(s.Weight, 1/linalg.Sum(s.Weight), x)
	one := linalg.NewRows(s.Shift)
	one.Add(x, 1)
	return one
}
