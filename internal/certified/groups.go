package certified

import (
	"math"
	"slices"

	"toptau/internal/matrix"
)

// Group is many rows that enter a restricted problem as one: their weighted mean, with their total weight.
// The hinge and the threshold are convex, so the problem with the mean is a lower bound of the one with the
// rows. It is equal as long as the rows are on one side of the corner. A dual value of the mean is
// distributed over the rows in proportion to their weights. That is feasible for the whole problem and gives
// the same v.
type Group struct {
	Mass    float64
	Mean    []float64
	Rows    []int32
	Weights []float64 // of Rows; nil: all 1
}

// The number of groups on one side of the corner, by score. The hinge is linear there and needs few. For a
// square the bound loses the variance of the scores within a group, which falls with the square of the number
// of groups. Chosen by hand.
const (
	groupsOfHinge  = 8
	groupsOfSquare = 2048
)

// sumGroups sums the rows from first to end-1 that are neither known nor in taken. It orders them by distance
// from the corner and forms groups of about equal size, count on each side. Of the side of negative distances
// it sums all rows, or only the nearest: about twice as many as there are on the other side.
func (s *Memory) sumGroups(first, end int, known *Set, taken []Row, distance func(i int) float64, count int,
	all bool) []Group {
	others := NewSet(end - first)
	for _, r := range taken {
		others.Add(r.ID)
	}
	skip := func(i int) bool { return known.Has(i-first) || others.Has(i-first) || s.weight(i) == 0 }
	bounds := bucketBounds(first, end, skip, distance, count, all)
	if len(bounds) == 0 {
		return nil
	}
	buckets := make([]Group, len(bounds))
	for g := range buckets {
		buckets[g].Mean = make([]float64, s.x.Cols())
	}
	positives := s.x.Positives.Rows()
	sum := func(class *matrix.ClassRows, from, to, offset int) {
		s.sumBuckets(buckets, bounds, class, from, to, offset, first, skip, distance)
	}
	sum(s.x.Positives, min(first, positives), min(end, positives), 0)
	sum(s.x.Negatives, max(first, positives), max(end, positives), positives)
	// Sums become means; empty buckets go.
	kept := buckets[:0]
	for _, b := range buckets {
		if b.Mass > 0 {
			for j := range b.Mean {
				b.Mean[j] /= b.Mass
			}
			kept = append(kept, b)
		}
	}
	return kept
}

// sumBuckets adds the rows from to to-1 of a class, whose first row has number offset, to the buckets. A
// chunk of rows is summed into all buckets before the next one is read, so that it stays in the cache. The
// chunk is part of the order of the sums.
func (s *Memory) sumBuckets(buckets []Group, bounds []float64, class *matrix.ClassRows, from, to, offset, first int,
	skip func(i int) bool, distance func(i int) float64) {
	chunk := 8192 * max(1, len(bounds)/128) // about 64 rows of each bucket
	lists := make([][]int32, len(bounds))
	weights := make([][]float64, len(bounds))
	for begin := from; begin < to; begin += chunk {
		for i := begin; i < min(begin+chunk, to); i++ {
			if skip(i) {
				continue
			}
			// The bucket with the largest lower end that is not above the distance.
			g, found := slices.BinarySearch(bounds, distance(i))
			if !found {
				g--
			}
			if g < 0 {
				continue
			}
			w := s.weight(i)
			lists[g] = append(lists[g], int32(i-offset))
			weights[g] = append(weights[g], w)
			b := &buckets[g]
			b.Mass += w
			b.Rows = append(b.Rows, int32(i-first))
			if s.weights != nil {
				b.Weights = append(b.Weights, w)
			}
		}
		for g := range lists {
			if len(lists[g]) > 0 {
				class.AddGradient(lists[g], weights[g], buckets[g].Mean)
				s.visits += float64(len(lists[g]))
				lists[g], weights[g] = lists[g][:0], weights[g][:0]
			}
		}
	}
}

// bucketBounds returns the ascending lower ends of the buckets, from quantiles of a sample. The corner, 0, is
// one of them.
func bucketBounds(first, end int, skip func(i int) bool, distance func(i int) float64, count int,
	all bool) []float64 {
	stride := max(1, (end-first)/max(keySample, 16*count)) // 16 sampled rows for each bucket
	// Quantiles of a sample of distances, for each side.
	var below, above []float64
	for i := first; i < end; i += stride {
		if skip(i) {
			continue
		}
		if d := distance(i); d >= 0 {
			above = append(above, d)
		} else {
			below = append(below, d)
		}
	}
	slices.Sort(below)
	slices.Sort(above)
	switch {
	case all:
		below = append([]float64{math.Inf(-1)}, below...)
	case 2*len(above) < len(below):
		below = below[len(below)-2*len(above):]
	}
	var bounds []float64
	cut := func(sorted []float64) {
		for k := range count {
			if i := k * len(sorted) / count; i < len(sorted) {
				if b := sorted[i]; len(bounds) == 0 || b > bounds[len(bounds)-1] {
					bounds = append(bounds, b)
				}
			}
		}
	}
	cut(below)
	cut(append([]float64{0}, above...))
	return bounds
}
