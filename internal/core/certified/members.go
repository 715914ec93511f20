package certified

import (
	"cmp"
	"slices"

	"toptau/internal/core/detmath"
)

// ofRows returns the multipliers of rows: those of groups are divided among their members.
func (s *Memory) ofRows(p, a Sparse, groupsP, groupsA []GroupValue) (rowsP, rowsA Sparse) {
	s.divide(groupsP, 0, s.x.Positives.Rows(), &p)
	s.divide(groupsA, s.first(), s.x.Rows(), &a)
	if len(groupsA) > 0 {
		a.normalise()
	}
	return p, a
}

// divide divides the multipliers of groups among their members and appends them to out. first and end are the
// class's rows, counted over both classes. It makes a pass if the scores that describe the groups are not kept.
func (s *Memory) divide(groups []GroupValue, first, end int, out *Sparse) {
	for len(groups) > 0 {
		// The groups that one point describes.
		n := 1
		for n < len(groups) && groups[n].At == groups[0].At && len(groups[n].Held) == len(groups[0].Held) {
			n++
		}
		s.addMembers(groups[:n], first, end, out)
		groups = groups[n:]
	}
}

// addMembers adds the members' multipliers of groups with the same description.
func (s *Memory) addMembers(groups []GroupValue, first, end int, out *Sparse) {
	at := groups[0].At
	groups = slices.Clone(groups)
	slices.SortFunc(groups, func(x, y GroupValue) int { return cmp.Compare(x.Low, y.Low) })
	if s.prepare([]Query{{At: at}}) {
		s.passes++
	}
	held := NewSet(end - first)
	for _, id := range groups[0].Held {
		held.Add(int(id))
	}
	for i, z := range at.scores[first:end] {
		g, found := slices.BinarySearchFunc(groups, z, func(g GroupValue, z float64) int {
			switch {
			case g.High <= z:
				return -1
			case g.Low > z:
				return 1
			}
			return 0
		})
		if w := s.weight(first + i); found && w != 0 && !held.Has(i) {
			member := &groups[g]
			if part := w * (member.Rate + float64(member.Slope*(z-member.Origin))); part != 0 {
				out.add(int32(i), float64(member.Value*part))
			}
		}
	}
}

// normalise makes the sum 1. Sums over very many rows are off by more than the rounding of one.
func (s *Sparse) normalise() {
	var total detmath.Sum
	for _, v := range s.Values {
		total.Add(v)
	}
	scale := 1 / total.Value()
	for k := range s.Values {
		s.Values[k] *= scale
	}
}
