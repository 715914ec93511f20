package heldout

import (
	"math"
	"math/big"
	"slices"
	"sort"

	"toptau/calibrate"
	"toptau/threshold"
)

// BestNegatives returns the best of the scores of calibration negatives, at most kept. It returns nil without scores, or if one is not
// finite.
func BestNegatives(scores []float64, kept int) *calibrate.Negatives {
	best := slices.Clone(scores)
	slices.Sort(best)
	slices.Reverse(best)
	for i, z := range best {
		if math.IsNaN(z) || math.IsInf(z, 0) {
			return nil
		}
		best[i] += 0 // -0 becomes 0
	}
	if len(best) == 0 {
		return nil
	}
	return &calibrate.Negatives{Rows: len(best), Best: slices.Clip(best[:min(kept, len(best))])}
}

// Batch counts the scores of one delivery of rows between those of calibration negatives. It assumes that the negatives of the delivery
// are exchangeable with the calibration negatives; nothing is assumed about its positives.
//
// Let n be the number of calibration negatives, m that of the rows of the delivery, and R(k) the number of its rows above the
// (k+1)-th best calibration negative, so above all but k of them. Ties count against the rows.
type Batch struct {
	negatives *calibrate.Negatives
	rows      int
	gaps      []int // by number of calibration negatives that score at least as high
}

// NewBatch returns a delivery without rows.
func NewBatch(n *calibrate.Negatives) *Batch {
	return &Batch{negatives: n, gaps: make([]int, len(n.Best)+1)}
}

// Add adds the score of a row.
func (b *Batch) Add(z float64) {
	b.rows++
	b.gaps[sort.Search(len(b.negatives.Best), func(i int) bool { return b.negatives.Best[i] < z })]++
}

// Reaches reports whether a score is above one of the kept calibration negatives. Others are on no list.
func (b *Batch) Reaches(z float64) bool { return z > b.negatives.Best[len(b.negatives.Best)-1] }

// Negatives returns the number of calibration negatives, n.
func (b *Batch) Negatives() int { return b.negatives.Rows }

// Rows returns the number of rows of the delivery, m.
func (b *Batch) Rows() int { return b.rows }

// above returns R(k) for the kept negatives.
func (b *Batch) above() []int {
	list := make([]int, len(b.negatives.Best))
	total := 0
	for k := range list {
		total += b.gaps[k]
		list[k] = total
	}
	return list
}

// Discoveries is the longest list of which, on average over deliveries, at most a fraction is false.
type Discoveries struct {
	Rows     int  // its length: the rows with the highest scores
	Shortest int  // no list for this fraction is shorter
	Cut      bool // it may end only because no lower scores of calibration negatives were kept
}

// Discoveries returns the longest list of which at most the fraction q is false on average: conformal p-values p = (1 + calibration
// negatives that score at least as high) / (n + 1) with the procedure of Benjamini and Hochberg at q, so the largest R(k) with
//
//	m (1 + k) <= q (n + 1) R(k).
//
// The expected fraction of false rows is at most q times the fraction of negatives in the delivery, for every n and m (Bates, Candès, Lei,
// Romano and Sesia, Annals of Statistics 51, 2023). A single list may well have more: see MaxFalse.
func (b *Batch) Discoveries(q threshold.Rate) Discoveries {
	rate, ok := new(big.Rat).SetString(q.String())
	if !ok {
		rate.SetFloat64(q.Float64())
	}
	mass := new(big.Int).Mul(big.NewInt(int64(b.rows)), rate.Denom())
	allowed := new(big.Int).Mul(big.NewInt(int64(b.negatives.Rows+1)), rate.Num())
	var d Discoveries
	shortest, rest := new(big.Int).DivMod(mass, allowed, new(big.Int))
	d.Shortest = int(shortest.Int64())
	if rest.Sign() > 0 {
		d.Shortest++
	}
	left, right := new(big.Int), new(big.Int)
	for k, above := range b.above() {
		left.Mul(mass, left.SetInt64(int64(k+1)))
		if left.Cmp(right.Mul(allowed, right.SetInt64(int64(above)))) <= 0 {
			d.Rows, d.Cut = above, k+1 == len(b.negatives.Best) && k+1 < b.negatives.Rows
		}
	}
	return d
}

// listGrowth is the ratio of neighbouring ranks of MaxFalse: 12 ranks of 2,000 negatives. Of 1.25, 1.5, 2 and 3, 2 gave the
// lowest bounds in the setting of TestListBoundsAreTight: a finer grid divides delta among more ranks, a coarser one is further
// from the end of a list.
const listGrowth = 2.0

// listRanks returns the k at which false rows are bounded. They depend on the number of kept scores alone.
func listRanks(kept int) []int {
	var ranks []int
	for k := 0; k < kept; k = int(listGrowth*float64(k)) + 1 {
		ranks = append(ranks, k)
	}
	if last := kept - 1; len(ranks) > 0 && ranks[len(ranks)-1] != last {
		ranks = append(ranks, last)
	}
	return ranks
}

// MaxFalse bounds the false rows of lists of every length.
type MaxFalse struct {
	lengths, bounds []int // at the ranks of the grid: R(k), and the largest number of negatives among these rows
}

// MaxFalse returns bounds of the false rows among the best ones that hold together for all lengths with confidence 1 - delta, so that a
// length may be chosen after looking at them.
//
// Of the negatives of the delivery, the number C above the (k+1)-th best calibration negative has a known distribution that does not
// depend on the scores: that (k+1)-th one comes before the v-th of them in a random order of all, with
//
//	P(C >= v) = P(Hypergeometric(n + m, k + v, n) <= k),
//
// where m is the number of negatives in the delivery; with the number of its rows in the place of m, the probability is only larger. v(k)
// is the largest v whose probability is above delta / G, for each of G ranks k that are fixed before. Ties make C smaller. A list that
// ends between two ranks has the bound of the longer list, or that of the shorter one plus the rows between, whichever is less.
func (b *Batch) MaxFalse(delta float64) *MaxFalse {
	n, above := b.negatives.Rows, b.above()
	ranks := listRanks(len(above))
	level := delta / float64(len(ranks)) * (1 - doubtful) // rounding makes no bound too low
	f := &MaxFalse{}
	for _, k := range ranks {
		f.lengths = append(f.lengths, above[k])
		f.bounds = append(f.bounds, sort.Search(b.rows, func(v int) bool { return atLeastAbove(n, n-k, b.rows, v+1) <= level }))
	}
	return f
}

// Of returns the bound for the best rows of a delivery.
func (f *MaxFalse) Of(rows int) int {
	least := rows
	for i, length := range f.lengths {
		least = min(least, f.bounds[i]+max(0, rows-length))
	}
	return least
}

// Bound returns the bound for a number of best rows, nil if f is nil: nothing is known.
func (f *MaxFalse) Bound(rows float64) *int {
	if f == nil {
		return nil
	}
	bound := f.Of(int(rows))
	return &bound
}
