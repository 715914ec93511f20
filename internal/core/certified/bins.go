package certified

import (
	"math"
	"slices"

	"toptau/internal/core/certified/linalg"
	"toptau/internal/core/matrix"
)

// binStripes is the number of ranges of rows that are summed into bins of their own. The ranges are added in
// order, so it is part of the order of the sums. minStripe is the number of rows below which there is one.
const (
	binStripes = 16
	minStripe  = 1 << 15
)

// bins sums the rows into the intervals between the cuts.
func (c *classScores) bins(r *Request) []Bin {
	n, stripes := len(c.z), 1
	if n > minStripe {
		stripes = binStripes
	}
	find := newIntervalFinder(r.Cuts)
	parts := make([][]Bin, stripes)
	linalg.For(stripes, float64(8*n), func(s int) {
		bins := make([]Bin, len(r.Cuts)+1)
		for k := range bins {
			bins[k].Low, bins[k].High = math.Inf(1), math.Inf(-1)
		}
		c.addTo(bins, r, &find, n*s/stripes, n*(s+1)/stripes)
		parts[s] = bins
	})
	for _, part := range parts[1:] {
		for k := range part {
			parts[0][k].add(&part[k])
		}
	}
	return parts[0]
}

// addTo adds the rows from first to end-1 to the bins of a request.
func (c *classScores) addTo(bins []Bin, r *Request, find *intervalFinder, first, end int) {
	origin := r.Origin
	low, high := math.Inf(-1), math.Inf(1)
	if r.Inside && len(r.Cuts) > 1 {
		low, high = r.Cuts[0], r.Cuts[len(r.Cuts)-1]
	}
	for i := first; i < end; i++ {
		z := c.z[i]
		if z < low || z >= high {
			continue
		}
		m := c.weight(i)
		if m == 0 {
			continue
		}
		if !(math.Abs(z) <= math.MaxFloat64) {
			bins[0].Bad++
			continue
		}
		b := &bins[find.interval(z)]
		b.Rows++
		b.Mass += m
		d := z - origin
		b.Score += float64(m * d)
		b.Square += float64(float64(m*d) * d)
		if z < b.Low {
			b.Low = z
		}
		if z > b.High {
			b.High = z
		}
	}
}

// add adds the rows of another bin of the same interval.
func (b *Bin) add(o *Bin) {
	b.Rows += o.Rows
	b.Mass += o.Mass
	b.Score += o.Score
	b.Square += o.Square
	b.Low, b.High = math.Min(b.Low, o.Low), math.Max(b.High, o.High)
	b.Bad += o.Bad
}

// intervalFinder finds the interval of a score by a table of equal steps, and from there by comparison. Cuts
// of equal distance take one or two comparisons.
type intervalFinder struct {
	cuts        []float64
	first, rate float64 // step of z: (z - first) rate
	start       []int32 // the first interval that a step can be in
}

// stepsPerCut is the number of steps of the table for each cut. Chosen by hand.
const stepsPerCut = 2

func newIntervalFinder(cuts []float64) intervalFinder {
	f := intervalFinder{cuts: cuts}
	var finite []float64
	for _, c := range cuts {
		if math.Abs(c) <= math.MaxFloat64 {
			finite = append(finite, c)
		}
	}
	if len(finite) < 2 {
		return f
	}
	steps := stepsPerCut * len(finite)
	width := finite[len(finite)-1] - finite[0]
	rate := float64(steps) / width
	if !(width > 0) || !(rate <= math.MaxFloat64) || rate == 0 {
		return f
	}
	f.first, f.rate = finite[0], rate
	f.start = make([]int32, steps)
	k := 0
	for s := range f.start {
		// The lowest score of the step, less what rounding may put there.
		low := f.first + float64((float64(s)-1e-6)/rate)
		for k < len(cuts) && cuts[k] <= low {
			k++
		}
		f.start[s] = int32(k)
	}
	return f
}

// interval returns the number of cuts that are not above a score.
func (f *intervalFinder) interval(z float64) int {
	k := 0
	switch step := (z - f.first) * f.rate; {
	case f.start == nil:
		k, found := slices.BinarySearch(f.cuts, z)
		if found {
			k++
		}
		return k
	case step >= float64(len(f.start)):
		k = int(f.start[len(f.start)-1])
	case step >= 0:
		k = int(f.start[int(step)])
	}
	for k < len(f.cuts) && f.cuts[k] <= z {
		k++
	}
	return k
}

// groupChunk is the number of rows whose group is found before their features are summed, for each group and
// in all. A chunk stays in the cache, and is part of the order of the sums.
const (
	groupChunk = 64
	minChunk   = 8192
)

// sumGroups sums the features of the rows in the intervals between the ends, without the rows that are held
// or wanted. first is the number of the class's first row, counted over both classes.
func (s *Memory) sumGroups(c classScores, first int, r *Request, wanted []int32) []Sum {
	ends := r.Groups
	sums := newSums(r, s.x.Cols())
	groups := groupFinder{newIntervalFinder(ends), len(ends)}
	taken := NewSet(len(c.z))
	for _, id := range wanted {
		taken.Add(int(id))
	}
	positives := s.x.Positives.Rows()
	chunk := max(minChunk, groupChunk*len(sums))
	lists := make([][]int32, len(sums))
	weights := make([][]float64, len(sums))
	moments := make([][]float64, len(sums))
	var work []matrix.Sum
	sum := func(class *matrix.ClassRows, from, to, offset int) {
		for begin := from; begin < to; begin += chunk {
			for i := begin; i < min(begin+chunk, to); i++ {
				k := i - first
				g := groups.group(c.z[k])
				if g < 0 || c.held.Has(k) || taken.Has(k) {
					continue
				}
				m := c.weight(k)
				if m == 0 {
					continue
				}
				lists[g] = append(lists[g], int32(i-offset))
				weights[g] = append(weights[g], m)
				b := &sums[g]
				b.Rows++
				b.Mass += m
				b.Score += float64(m * (c.z[k] - r.Origin))
			}
			// All groups of a chunk in one reading.
			work = work[:0]
			for g := range lists {
				if len(lists[g]) == 0 {
					continue
				}
				work = append(work, matrix.Sum{Rows: lists[g], V: weights[g], G: sums[g].Features})
				if r.Moments {
					moments[g] = moments[g][:0]
					for k, row := range lists[g] {
						moments[g] = append(moments[g], weights[g][k]*(c.z[int(row)+offset-first]-r.Origin))
					}
					work = append(work, matrix.Sum{Rows: lists[g], V: moments[g], G: sums[g].Moment})
				}
				s.visits += float64(len(lists[g]))
			}
			class.AddGradients(work)
			for g := range lists {
				lists[g], weights[g] = lists[g][:0], weights[g][:0]
			}
		}
	}
	end := first + len(c.z)
	sum(s.x.Positives, min(first, positives), min(end, positives), 0)
	sum(s.x.Negatives, max(first, positives), max(end, positives), positives)
	return sums
}

// newSums returns empty sums for a request.
func newSums(r *Request, cols int) []Sum {
	sums := make([]Sum, len(r.Groups)-1)
	for g := range sums {
		sums[g].Features = make([]float64, cols)
		if r.Moments {
			sums[g].Moment = make([]float64, cols)
		}
	}
	return sums
}

// groupFinder finds the group of a score.
type groupFinder struct {
	intervalFinder
	ends int
}

// group returns the number of the group of a score, or -1.
func (f *groupFinder) group(z float64) int {
	k := f.interval(z)
	if k == f.ends {
		return -1
	}
	return k - 1
}
