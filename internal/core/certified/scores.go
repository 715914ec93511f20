package certified

import (
	"cmp"
	"math"
	"slices"
)

// classScores are the scores of the rows of one class.
type classScores struct {
	z, weights []float64 // weights nil: all 1
	held       *Set
}

func (c *classScores) weight(i int) float64 {
	if c.weights == nil {
		return 1
	}
	return c.weights[i]
}

// answer answers for scores that are known. row returns a row by its number, and sum the sums of groups without
// the rows that are wanted.
func (c *classScores) answer(r *Request, row func(i int) Row, sum func(wanted []int32) []Sum) (a ClassAnswer) {
	if r.Sums || len(r.Cuts) > 0 {
		a.Bins = c.bins(r)
	}
	var wanted []int32
	for k, want := range r.Want {
		bound := math.Inf(1)
		if r.bounds != nil {
			bound = r.bounds[k]
		}
		list, count := c.want(want, bound)
		a.Count = append(a.Count, count)
		rows := make([]Row, len(list))
		for k, id := range list {
			rows[k] = row(int(id))
		}
		a.Rows = append(a.Rows, rows)
		wanted = append(wanted, list...)
	}
	if len(r.Groups) > 1 {
		a.Groups = sum(wanted)
	}
	return a
}

// want returns the numbers of the rows that are wanted and have a key up to bound, in order, and the number of rows
// that could be wanted.
func (c *classScores) want(w Want, bound float64) (list []int32, count int) {
	if w.Limit <= 0 {
		return nil, 0
	}
	if w.Order == Spread {
		return c.spread(w)
	}
	key := func(i int) float64 { return -c.z[i] }
	if w.Order == Nearest {
		key = func(i int) float64 { return math.Abs(c.z[i] - w.Centre) }
	}
	open := w.Low == math.Inf(-1) && w.High == math.Inf(1)
	selectable := func(i int) bool {
		return (open || c.z[i] >= w.Low && c.z[i] <= w.High) && !c.held.Has(i) && (c.weights == nil || c.weights[i] != 0)
	}
	best, count := c.smallest(bound, w.Limit, key, selectable)
	list = make([]int32, len(best))
	for k, r := range best {
		list[k] = r.id
	}
	return list, count
}

// spread returns rows of an interval at equal distances in their order.
func (c *classScores) spread(w Want) (list []int32, count int) {
	var all []int32
	for i, z := range c.z {
		if z >= w.Low && z <= w.High && c.weight(i) != 0 && !c.held.Has(i) {
			all = append(all, int32(i))
		}
	}
	stride := max(1, (len(all)+w.Limit-1)/w.Limit)
	for k := 0; k < len(all); k += stride {
		list = append(list, all[k])
	}
	return list, len(all)
}

// smallest returns the limit selectable rows with the smallest keys up to most, in order, and the number of
// selectable rows.
func (c *classScores) smallest(most float64, limit int, key func(i int) float64, selectable func(i int) bool) ([]ranked, int) {
	// A sample bounds the keys that can be among the smallest, so that few rows are ranked.
	bound := most
	if stride := len(c.z) / keySample; stride > 0 && limit < len(c.z)/4 && math.IsInf(most, 1) {
		var sample []float64
		for i := 0; i < len(c.z); i += stride {
			if selectable(i) {
				sample = append(sample, key(i))
			}
		}
		if k := limit/stride*sampleSlack/2 + sampleExtra; k < len(sample) {
			selectSmallest(sample, k+1, cmp.Compare)
			bound = math.Min(most, slices.MaxFunc(sample[:k+1], cmp.Compare))
		}
	}
	best, count := c.smallestUpTo(bound, limit, key, selectable)
	if len(best) < min(limit, count) && bound < most {
		best, count = c.smallestUpTo(most, limit, key, selectable)
	}
	slices.SortFunc(best, ranked.compare)
	return best, count
}

// smallestUpTo returns the limit selectable rows with the smallest keys up to bound, in some order, and the
// number of all selectable rows.
func (c *classScores) smallestUpTo(bound float64, limit int, key func(i int) float64,
	selectable func(i int) bool) (list []ranked, count int) {
	for i := range c.z {
		if !selectable(i) {
			continue
		}
		count++
		k := key(i)
		if !(k <= bound) {
			continue
		}
		if list = append(list, ranked{k, int32(i)}); len(list) == 4*limit+1024 {
			selectSmallest(list, limit, ranked.compare)
			list = list[:limit]
			// Of equal keys the first rows win: a later row needs a smaller key.
			bound = math.Nextafter(slices.MaxFunc(list, ranked.compare).key, math.Inf(-1))
		}
	}
	if len(list) > limit {
		selectSmallest(list, limit, ranked.compare)
		list = list[:limit]
	}
	return list, count
}

// ranked is a row that competes for a place in an answer: the smallest keys win, ties by number.
type ranked struct {
	key float64
	id  int32
}

func (r ranked) compare(o ranked) int {
	switch {
	case r.key < o.key:
		return -1
	case r.key > o.key:
		return 1
	}
	return int(r.id) - int(o.id)
}

const (
	// keySample is the number of keys in the sample that bounds the smallest ones.
	keySample = 8192
	// sampleSlack and sampleExtra are by how much the rank of the bound in the sample exceeds the expected
	// one: then almost never too few keys are below it. Too few cost another sweep over the keys, and no
	// error. Chosen by hand.
	sampleSlack, sampleExtra = 3, 40 // halves
)

// selectSmallest puts the k smallest elements first, in some order, by quickselect with the median of three.
func selectSmallest[T any](a []T, k int, less func(x, y T) int) {
	lo, hi := 0, len(a)
	for hi-lo > 16 && k > lo && k < hi {
		x, y, z := a[lo], a[lo+(hi-lo)/2], a[hi-1]
		if less(x, y) > 0 {
			x, y = y, x
		}
		if less(y, z) > 0 {
			y = z
			if less(x, y) > 0 {
				y = x
			}
		}
		i, j := lo, hi-1
		for i <= j {
			for less(a[i], y) < 0 {
				i++
			}
			for less(a[j], y) > 0 {
				j--
			}
			if i <= j {
				a[i], a[j] = a[j], a[i]
				i++
				j--
			}
		}
		switch {
		case k <= j+1:
			hi = j + 1
		case k >= i:
			lo = i
		default:
			return
		}
	}
	if k > lo && k < hi {
		slices.SortFunc(a[lo:hi], less)
	}
}
