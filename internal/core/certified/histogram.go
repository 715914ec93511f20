package certified

import (
	"cmp"
	"math"
	"slices"

	"toptau/internal/core/certified/form"
)

// histogram has sums over the scores of one class at a point: bins with rows, in ascending order.
// Their intervals [Low, High] do not overlap.
//
// It bounds every threshold and loss from both sides, because each term is convex in the score. Let a bin have
// mass n, mean m, and scores from l to u. The sum of max(0, z - s) over its rows is n (m - s) if l >= s and 0
// if u <= s. Otherwise it is at least n max(0, m - s) (Jensen), and at most n (m - l)(u - s)/(u - l), the
// chord. So only the bins that hold a corner are uncertain, and finer cuts there narrow the bounds.
type histogram []Bin

// newHistogram returns the bins that have rows.
func newHistogram(bins []Bin) histogram {
	h := make(histogram, 0, len(bins))
	for _, b := range bins {
		if b.Mass > 0 {
			h = append(h, b)
		}
	}
	return h
}

// bad returns the number of rows without a finite score.
func bad(bins []Bin) (count int) {
	for _, b := range bins {
		count += b.Bad
	}
	return count
}

// about moves the origin of the sums by a distance.
func (h histogram) about(distance float64) histogram {
	if distance == 0 {
		return h
	}
	for k := range h {
		b := &h[k]
		b.Square = math.Max(0, b.Square-float64(2*distance*b.Score)+float64(distance*distance*b.Mass))
		b.Score -= float64(distance * b.Mass)
	}
	return h
}

// replace puts finer bins in the place of bin k.
func (h histogram) replace(k int, finer histogram) histogram {
	return slices.Concat(h[:k], finer, h[k+1:])
}

// mean returns the mean score of a bin. Rounding cannot push it out of the bin.
func (b *Bin) mean() float64 { return math.Max(b.Low, math.Min(b.High, b.Score/b.Mass)) }

// excess returns bounds on the sum of max(0, z - s) over the rows.
func (b *Bin) excess(s float64) (low, high float64) {
	switch {
	case s >= b.High:
		return 0, 0
	case s <= b.Low:
		v := b.Score - float64(s*b.Mass)
		return v, v
	}
	mean := b.mean()
	low = b.Mass * math.Max(0, mean-s)
	high = b.Mass * (mean - b.Low) * (b.High - s) / (b.High - b.Low)
	return low, math.Max(low, high)
}

// squaredExcess returns bounds on the sum of max(0, z - s)^2 over the rows.
func (b *Bin) squaredExcess(s float64) (low, high float64) {
	switch {
	case s >= b.High:
		return 0, 0
	case s <= b.Low:
		v := math.Max(0, b.Square-float64(2*s*b.Score)+float64(s*s*b.Mass))
		return v, v
	}
	mean := b.mean()
	above := math.Max(0, mean-s)
	low = b.Mass * above * above
	top := b.High - s
	high = b.Mass * (mean - b.Low) / (b.High - b.Low) * top * top
	return low, math.Max(low, high)
}

// reflected returns the bins of T - z, which turn losses into excesses over 0.
func (b *Bin) reflected(t float64) Bin {
	return Bin{Rows: b.Rows, Mass: b.Mass, Score: float64(t*b.Mass) - b.Score, Low: t - b.High, High: t - b.Low,
		Square: math.Max(0, b.Square-float64(2*t*b.Score)+float64(t*t*b.Mass))}
}

// meanLoss returns bounds on the sum of m l(1 + t - z) for thresholds from tLow to tHigh, and the number of a
// bin that holds a corner, or -1. The loss grows with t.
func (h histogram) loss(squared bool, tLow, tHigh float64) (low, high float64, corner int) {
	corner = -1
	for k := range h {
		b := &h[k]
		if b.Low >= 1+tHigh {
			break
		}
		l, u := b.reflected(1+tLow), b.reflected(1+tHigh)
		if squared {
			v, _ := l.squaredExcess(0)
			_, w := u.squaredExcess(0)
			low, high = low+v, high+w
		} else {
			v, _ := l.excess(0)
			_, w := u.excess(0)
			low, high = low+v, high+w
		}
		if b.Low < 1+tHigh && b.High > 1+tLow && b.Low < b.High {
			if corner < 0 || h[corner].Mass*(h[corner].High-h[corner].Low) < b.Mass*(b.High-b.Low) {
				corner = k
			}
		}
	}
	return low, high, corner
}

// cut is a threshold found from a histogram.
type cut struct {
	low, high float64 // bounds on t
	edge      float64 // a score that is not above the lower edge of the band
	corner    int     // the bin that holds the edge and makes t uncertain, or -1
}

// threshold bounds t. The histogram must have rows.
func (h histogram) threshold(f *form.Form) cut {
	switch f.Kind {
	case form.TopMean:
		return h.meanOfTop(f.Kappa)
	case form.HingeQuantile:
		return h.hingeQuantile(f)
	}
	return h.squaredQuantile(f)
}

// meanOfTop bounds the mean of the largest scores of total mass kappa.
func (h histogram) meanOfTop(kappa float64) cut {
	left, total := kappa, 0.0
	for k := len(h) - 1; k >= 0; k-- {
		b := &h[k]
		if b.Mass <= left {
			total += b.Score
			if left -= b.Mass; left <= 0 {
				return cut{total / kappa, total / kappa, b.Low, -1}
			}
			continue
		}
		// A part of the bin's mass. It has at least the bin's mean, and its sum is largest if all rows are at
		// one of the two ends.
		low := total + float64(left*b.mean())
		high := total + float64(left*b.High)
		if width := b.High - b.Low; width > 0 {
			if atTop := b.Mass * (b.mean() - b.Low) / width; atTop < left {
				high = total + float64(atTop*b.High) + float64((left-atTop)*b.Low)
			}
		}
		c := cut{low / kappa, math.Max(low, high) / kappa, b.Low, k}
		if b.Low == b.High {
			c.corner = -1
		}
		return c
	}
	used := kappa - left // kappa is the whole mass, up to rounding
	return cut{total / used, total / used, h[0].Low, -1}
}

// hingeQuantile bounds t = s + 1/beta, where the sum of max(0, z - s) is kappa/beta. The sum falls with s, so
// its lower bound has the lower root.
func (h histogram) hingeQuantile(f *form.Form) cut {
	volume := float64(f.Kappa * f.Band())
	var mass, score float64 // of the bins above
	for k := len(h) - 1; k >= 0; k-- {
		b := &h[k]
		if mass > 0 { // the root may be in the gap above this bin, where the sum is linear
			if s := (score - volume) / mass; s >= b.High {
				return cut{s + f.Band(), s + f.Band(), s, -1}
			}
		}
		if score+b.Score-float64(b.Low*(mass+b.Mass)) >= volume {
			// In the bin. Its lower bound is linear on both sides of the mean, its upper bound everywhere.
			mean := b.mean()
			low := (score + float64(b.Mass*mean) - volume) / (mass + b.Mass)
			if low > mean && mass > 0 {
				low = (score - volume) / mass
			}
			low = math.Max(b.Low, math.Min(b.High, low))
			high := low
			if width := b.High - b.Low; width > 0 {
				rate := b.Mass * (mean - b.Low) / width
				high = math.Min(b.High, math.Max(low, (score+float64(rate*b.High)-volume)/(mass+rate)))
			}
			c := cut{low + f.Band(), high + f.Band(), low, k}
			if b.Low == b.High {
				c.corner = -1
			}
			return c
		}
		mass, score = mass+b.Mass, score+b.Score
	}
	s := (score - volume) / mass // all rows are in the band
	return cut{s + f.Band(), s + f.Band(), s, -1}
}

// rootHalvings is the number of halvings that find a root to the last bit of a float64, from a bracket of
// about its size.
const rootHalvings = 100

// squaredQuantile bounds t, where the sum of max(0, 1 + beta (z - t))^2 is kappa. With the lower edge v = t -
// 1/beta the sum is beta^2 times that of max(0, z - v)^2.
func (h histogram) squaredQuantile(f *form.Form) cut {
	volume := float64(f.Kappa * f.Band() * f.Band())
	// Sums over the bins from k on.
	n := len(h)
	mass, score, square := make([]float64, n+1), make([]float64, n+1), make([]float64, n+1)
	for k := n - 1; k >= 0; k-- {
		mass[k], score[k], square[k] = mass[k+1]+h[k].Mass, score[k+1]+h[k].Score, square[k+1]+h[k].Square
	}
	// excess bounds the sum at v. Only the bin that holds v is uncertain.
	excess := func(v float64) (low, high float64, bin int) {
		k, found := slices.BinarySearchFunc(h, v, func(b Bin, v float64) int {
			switch {
			case b.High <= v:
				return -1
			case b.Low >= v:
				return 1
			}
			return 0
		})
		bin = -1
		if found {
			low, high = h[k].squaredExcess(v)
			bin = k
			k++
		}
		rest := math.Max(0, square[k]-float64(2*v*score[k])+float64(v*v*mass[k]))
		return low + rest, high + rest, bin
	}
	root := func(upper bool) float64 {
		// At the highest score the sum is 0. Below it, with all rows at the lowest score, it is large enough
		// at lo.
		lo := h[0].Low - math.Sqrt(volume/mass[0])
		hi := h[n-1].High
		for range rootHalvings {
			middle := lo + float64((hi-lo)/2)
			if middle <= lo || middle >= hi {
				break
			}
			low, high, _ := excess(middle)
			if upper {
				low = high
			}
			if low >= volume {
				lo = middle
			} else {
				hi = middle
			}
		}
		return lo
	}
	c := cut{low: root(false), high: root(true)}
	c.high = math.Max(c.low, c.high)
	_, _, c.corner = excess(c.low)
	if c.corner < 0 {
		_, _, c.corner = excess(c.high)
	}
	c.edge = c.low
	c.low, c.high = c.low+f.Band(), c.high+f.Band()
	return c
}

// rowsFrom returns the number of rows in bins that reach up to a score or beyond.
func (h histogram) rowsFrom(score float64) (count int) {
	for k := len(h) - 1; k >= 0 && h[k].High >= score; k-- {
		count += h[k].Rows
	}
	return count
}

// finestAt returns the width of the bins at a score, the largest of the one that holds it and its neighbours.
func (h histogram) finestAt(score float64) (width float64) {
	k, _ := slices.BinarySearchFunc(h, score, func(b Bin, x float64) int { return cmp.Compare(b.High, x) })
	for i := max(0, k-1); i < min(len(h), k+2); i++ {
		width = math.Max(width, h[i].High-h[i].Low)
	}
	return width
}

// scaled returns the histogram of the scores times a positive factor, in the memory of space.
func (h histogram) scaled(factor float64, space histogram) histogram {
	out := append(space[:0], h...)
	for k := range out {
		b := &out[k]
		b.Score *= factor
		b.Square *= factor * factor
		b.Low *= factor
		b.High *= factor
	}
	return out
}

// cutsInside returns cuts that divide a bin into about count intervals of equal width, with a cut at both
// ends, so that the bins between the ends replace it. The bin must have more than one score.
func (b *Bin) cutsInside(count int) []float64 {
	cuts := make([]float64, 0, count+1)
	for k := range count {
		c := b.Low + float64((b.High-b.Low)*float64(k))/float64(count)
		if len(cuts) == 0 || c > cuts[len(cuts)-1] {
			cuts = append(cuts, c)
		}
	}
	return append(cuts, math.Nextafter(b.High, math.Inf(1)))
}

// divided returns the histogram with finer bins in the place of some of its bins. Finer bins elsewhere are
// ignored. An empty histogram becomes the finer one.
func (h histogram) divided(large, finer histogram) (out histogram) {
	if len(h) == 0 {
		return finer
	}
	for _, b := range h {
		if len(large) == 0 || b.Low != large[0].Low {
			out = append(out, b)
			continue
		}
		large = large[1:]
		for len(finer) > 0 && finer[0].Low < b.Low {
			finer = finer[1:]
		}
		for len(finer) > 0 && finer[0].High <= b.High {
			out, finer = append(out, finer[0]), finer[1:]
		}
	}
	return out
}

// quantileEnds returns up to count ends of bins that divide the highest rows of an interval, most of them, into
// parts of about equal numbers of rows.
func (h histogram) quantileEnds(low, high float64, count, most int) (ends []float64) {
	var inside histogram
	total := 0
	for k := len(h) - 1; k >= 0 && total < most; k-- {
		if b := h[k]; b.Low < high && b.High >= low {
			inside = append(inside, b)
			total += b.Rows
		}
	}
	rows, part := 0, 0
	for _, b := range inside { // from the highest
		rows += b.Rows
		if want := float64(part+1) * float64(total) / float64(count); float64(rows) >= want {
			if b.Low > low && b.Low < high {
				ends = append(ends, b.Low)
			}
			part = int(float64(rows) * float64(count) / float64(total))
		}
	}
	return ends
}

// ascending sorts ends and drops equal ones.
func ascending(ends []float64) []float64 {
	slices.Sort(ends)
	return slices.Compact(ends)
}
