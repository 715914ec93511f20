package certified

import (
	"slices"

	"toptau/internal/matrix"
)

// Group is many rows that stand in a restricted problem as one: their weighted mean, with all their mass. The hinge and
// the threshold are convex, so the problem with the mean is a lower bound of the one with the rows, and it is equal as
// long as the rows lie on one side of the kink. A dual value of the mean is spread over the rows in proportion to their
// weights: that is feasible for the whole problem and has the same v.
type Group struct {
	Mass    float64
	Mean    []float64
	Rows    []int32
	Weights []float64 // beside Rows; nil: all 1
}

// groupsPerSide is how many groups the rows on one side of the kink form, by score.
const groupsPerSide = 16

// member is a row that may go into a group: its distance from the kink, signed.
type member struct {
	distance float64
	id       int32
}

// groups sums the members by their distance from the kink, in buckets of about equal size on either side of it. far is
// the number of rows on the negative side that are taken, those nearest to the kink; the rest is left out.
func (s *Memory) groups(members []member, first, far int) []Group {
	if len(members) == 0 {
		return nil
	}
	bounds := bucketBounds(members, far)
	buckets := make([]Group, len(bounds))
	for g := range buckets {
		buckets[g].Mean = make([]float64, s.x.Cols())
	}
	// A chunk of rows is summed into all buckets before the next one is read, so that it stays in cache.
	const chunk = 8192
	lists := make([][]int32, len(bounds))
	weights := make([][]float64, len(bounds))
	positives := s.x.Positives.Rows()
	flush := func(part *matrix.Part) {
		for g := range lists {
			if len(lists[g]) > 0 {
				part.AddGradient(lists[g], weights[g], buckets[g].Mean)
				lists[g], weights[g] = lists[g][:0], weights[g][:0]
			}
		}
	}
	limit, inPositives := 0, true
	for _, m := range members {
		// The last bound at or below the distance.
		g, found := slices.BinarySearch(bounds, m.distance)
		if !found {
			g--
		}
		if g < 0 {
			continue
		}
		row := int(m.id) + first
		offset := 0
		if row >= positives {
			offset = positives
		}
		if (row < positives) != inPositives || row-offset >= limit {
			if inPositives {
				flush(s.x.Positives)
			} else {
				flush(s.x.Negatives)
			}
			inPositives, limit = row < positives, (row-offset)/chunk*chunk+chunk
		}
		w := s.weight(row)
		lists[g] = append(lists[g], int32(row-offset))
		weights[g] = append(weights[g], w)
		b := &buckets[g]
		b.Mass += w
		b.Rows = append(b.Rows, m.id)
		if s.weights != nil {
			b.Weights = append(b.Weights, w)
		}
	}
	if inPositives {
		flush(s.x.Positives)
	} else {
		flush(s.x.Negatives)
	}
	out := buckets[:0]
	for _, b := range buckets {
		if b.Mass > 0 {
			for j := range b.Mean {
				b.Mean[j] /= b.Mass
			}
			out = append(out, b)
		}
	}
	return out
}

// bucketBounds returns the ascending lower ends of the buckets, from quantiles of a sample. The kink is one of them.
func bucketBounds(members []member, far int) []float64 {
	stride := max(1, len(members)/4096)
	var below, above []float64
	for i := 0; i < len(members); i += stride {
		if d := members[i].distance; d >= 0 {
			above = append(above, d)
		} else {
			below = append(below, d)
		}
	}
	slices.Sort(below)
	slices.Sort(above)
	if keep := far / stride; keep < len(below) {
		below = below[len(below)-keep:]
	}
	var bounds []float64
	cut := func(sorted []float64) {
		for k := range groupsPerSide {
			if i := k * len(sorted) / groupsPerSide; i < len(sorted) {
				if b := sorted[i]; len(bounds) == 0 || b > bounds[len(bounds)-1] {
					bounds = append(bounds, b)
				}
			}
		}
	}
	cut(below)
	if len(above) > 0 {
		above[0] = 0
		cut(above)
	}
	return bounds
}
