package heldout

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"toptau/calibrate"
	"toptau/diag"
)

const (
	trendBlocks       = 5     // chosen by hand (a change moves results)
	trendPermutations = 999   // the smallest p-value is 1/1000
	trendRows         = 10000 // of more rows, this many are compared, evenly spaced in time
	trendTop          = 10    // the highest tenth
)

// trendParts are the parts of the level of the three statistics of OverTime. Most drifts are a rise or fall. Chosen by hand (a change
// moves results).
var trendParts = [...]float64{0.8, 0.1, 0.1}

// OverTime tests whether the order of scores in time matters (order[i] is the time of scores[i], or its rank), and divides them into five
// blocks. It compares three statistics with their values in 999 random orders from a fixed seed:
//
//	|sum over rows of (rank of the score - mean) (rank in time - mean)|      (Spearman 1904)
//	sum over blocks of rows (mean rank - 1/2)^2                              (Kruskal and Wallis 1952)
//	|the first sum for marks of the highest tenth in place of ranks|
//
// The first finds a rise or fall in half of the rows that the second needs, but not a change that ends again. The third finds a rise at
// the threshold alone. A p-value is (1 + orders with at least the statistic) / 1000. P is the smallest p-value over its part of the
// level: 0.8, 0.1 and 0.1. If the scores are exchangeable, P is at most x with probability at most x. Equal scores, and equal times, have
// their mean rank. With fewer than two rows per block, P is 1 and there are no blocks.
func OverTime[T cmp.Ordered](scores []float64, order []T) (calibrate.Trend, error) {
	if len(scores) != len(order) {
		return calibrate.Trend{}, &diag.Error{Kind: diag.Data, Found: "scores and times of different numbers"}
	}
	if len(scores) < 2*trendBlocks {
		return calibrate.Trend{P: 1}, nil
	}
	rows := make([]int, len(scores))
	for i := range rows {
		rows[i] = i
	}
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(order[a], order[b]) })
	n := min(len(rows), trendRows)
	z, times := make([]float64, n), make([]float64, n)
	for i := range z {
		row := rows[i*len(rows)/n]
		z[i] = scores[row]
		if i > 0 && order[row] == order[rows[(i-1)*len(rows)/n]] {
			times[i] = times[i-1]
		} else {
			times[i] = float64(i)
		}
	}
	ranks, top := relativeRanks(z)
	times, _ = relativeRanks(times)
	var t calibrate.Trend
	for b := range trendBlocks {
		first, end := b*n/trendBlocks, (b+1)*n/trendBlocks
		t.Blocks = append(t.Blocks, calibrate.Block{Rows: end - first, Rank: mean(ranks[first:end]), Above: mean(top[first:end])})
	}
	t.P = 1
	for i, p := range permutation(ranks, top, times) {
		t.P = min(t.P, p/trendParts[i])
	}
	return t, nil
}

// relativeRanks returns the ranks of the scores from 0 to 1, with mean ranks for ties, and 1 for each score
// in the highest tenth, 0 for the others.
func relativeRanks(z []float64) (ranks, top []float64) {
	n := len(z)
	sorted := slices.Clone(z)
	slices.Sort(sorted)
	cut := sorted[n-1-n/trendTop] // strictly above it is at most a tenth
	ranks, top = make([]float64, n), make([]float64, n)
	for i, score := range z {
		first, _ := slices.BinarySearch(sorted, score)
		end, _ := slices.BinarySearchFunc(sorted, score, func(s, t float64) int {
			if s > t {
				return 1
			}
			return -1
		})
		ranks[i] = float64(first+end) / float64(2*n)
		if score > cut {
			top[i] = 1
		}
	}
	return ranks, top
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// permutation returns the p-values of the statistics. It shuffles the ranks and marks of the rows together.
func permutation(ranks, top, times []float64) [len(trendParts)]float64 {
	rankMean, topMean, timeMean := mean(ranks), mean(top), mean(times)
	type marks struct{ rank, top float64 }
	rows := make([]marks, len(ranks))
	centered := make([]float64, len(times))
	for i := range rows {
		rows[i], centered[i] = marks{ranks[i], top[i]}, times[i]-timeMean
	}
	statistics := func(ranks, top []float64) [len(trendParts)]float64 {
		return [...]float64{slope(ranks, rankMean, centered), uneven(ranks, rankMean), slope(top, topMean, centered)}
	}
	seen := statistics(ranks, top)
	p := [len(trendParts)]float64{1, 1, 1}
	shuffledRank, shuffledTop := make([]float64, len(rows)), make([]float64, len(rows))
	r := rand.New(rand.NewPCG(uint64(len(rows)), 0x74696d65))
	for range trendPermutations {
		r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		for i, row := range rows {
			shuffledRank[i], shuffledTop[i] = row.rank, row.top
		}
		for i, x := range statistics(shuffledRank, shuffledTop) {
			if x >= seen[i] {
				p[i]++
			}
		}
	}
	for i := range p {
		p[i] /= trendPermutations + 1
	}
	return p
}

// slope returns the absolute sum of products of deviations from the means, rounded to float32 as uneven is.
func slope(x []float64, all float64, centered []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += float64((v - all) * centered[i])
	}
	return float64(float32(math.Abs(sum)))
}

// uneven returns the sum over the blocks of rows (mean - mean of all)^2, rounded to float32: sums of the same
// terms in another order must compare as equal.
func uneven(x []float64, all float64) float64 {
	n, sum := len(x), 0.0
	for b := range trendBlocks {
		block := x[b*n/trendBlocks : (b+1)*n/trendBlocks]
		d := mean(block) - all
		sum += float64(float64(len(block)) * float64(d*d))
	}
	return float64(float32(sum))
}
