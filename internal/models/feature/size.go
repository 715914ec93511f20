package feature

import "slices"

// weightBytes is the length of a weight in a model file: 17 digits, a sign, a point and a comma.
const weightBytes = 20

// ColumnBytes returns about how many bytes of a model file a column takes, with its weight.
func (m *Map) ColumnBytes() (float64, error) {
	written, err := marshal(m)
	return float64(len(written))/float64(max(1, m.cols)) + weightBytes, err
}

// Extends reports whether the map has the trees of another map of the same boosted encoding, and more. The weights
// of the other map are then the first ones.
func (m *Map) Extends(other *Map) bool {
	if m.boosting == nil || other.boosting == nil || m.boosting.curves || other.boosting.curves {
		return false
	}
	long, short := m.Blocks[0].(*LeavesBlock), other.Blocks[0].(*LeavesBlock)
	if len(long.Trees) <= len(short.Trees) || !slices.Equal(long.Inputs, short.Inputs) {
		return false
	}
	for i := range short.Trees {
		a, b := &long.Trees[i], &short.Trees[i]
		if !slices.Equal(a.Ask, b.Ask) || !slices.Equal(a.At, b.At) || !slices.Equal(a.MissingLeft, b.MissingLeft) {
			return false
		}
	}
	return true
}
