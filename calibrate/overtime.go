package calibrate

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"toptau/diag"
)

// Trend is a test whether scores change over time. A guarantee assumes that they do not.
type Trend struct {
	P      float64 `json:"p"`      // an upper bound on the probability of such a trend if the order in time means nothing
	Blocks []Block `json:"blocks"` // consecutive parts of equal size, the earliest first
}

// Block is consecutive rows in the order of their times.
type Block struct {
	Rows  int     `json:"n"`          // rows
	Rank  float64 `json:"mean_rank"`  // the mean rank of its scores among all, as a fraction: 0.5 if nothing changes
	Above float64 `json:"top_decile"` // the fraction of its scores in the highest tenth of all
}

const (
	trendBlocks       = 5     // chosen by hand (a change moves results)
	trendPermutations = 499   // the smallest p-value is 2/500
	trendRows         = 10000 // of more rows, this many are compared, evenly spaced in time
	trendTop          = 10    // the highest tenth
)

// OverTime divides scores in the order of their times (order[i] is the time of scores[i], or its rank) into
// five blocks and tests whether the order matters. It compares two statistics with their values in 499 random
// orders from a fixed seed:
//
//	sum over blocks of rows (mean rank - 1/2)^2                         (Kruskal and Wallis 1952)
//	sum over blocks of rows (fraction in the highest tenth - that of all)^2
//
// P is twice the smaller of the two p-values, (1 + orders that are at least as uneven) / 500. If the scores
// are exchangeable, P is at most x with probability at most x. Equal scores have their mean rank. With fewer
// than two rows per block, P is 1 and there are no blocks.
func OverTime[T cmp.Ordered](scores []float64, order []T) (Trend, error) {
	if len(scores) != len(order) {
		return Trend{}, &diag.Error{Kind: diag.Data, Found: "scores and times of different numbers"}
	}
	if len(scores) < 2*trendBlocks {
		return Trend{P: 1}, nil
	}
	rows := make([]int, len(scores))
	for i := range rows {
		rows[i] = i
	}
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(order[a], order[b]) })
	n := min(len(rows), trendRows)
	z := make([]float64, n)
	for i := range z {
		z[i] = scores[rows[i*len(rows)/n]]
	}
	ranks, top := relativeRanks(z)
	var t Trend
	for b := range trendBlocks {
		first, end := b*n/trendBlocks, (b+1)*n/trendBlocks
		t.Blocks = append(t.Blocks, Block{Rows: end - first, Rank: mean(ranks[first:end]), Above: mean(top[first:end])})
	}
	rankP, topP := permutation(ranks, top)
	t.P = min(1, 2*min(rankP, topP))
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

// permutation returns the p-values of both statistics. It shuffles the ranks and marks of the rows together.
func permutation(ranks, top []float64) (rankP, topP float64) {
	rankMean, topMean := mean(ranks), mean(top)
	seenRank, seenTop := uneven(ranks, rankMean), uneven(top, topMean)
	rankP, topP = 1, 1
	type marks struct{ rank, top float64 }
	rows := make([]marks, len(ranks))
	for i := range rows {
		rows[i] = marks{ranks[i], top[i]}
	}
	shuffledRank, shuffledTop := make([]float64, len(rows)), make([]float64, len(rows))
	r := rand.New(rand.NewPCG(uint64(len(rows)), 0x74696d65))
	for range trendPermutations {
		r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		for i, row := range rows {
			shuffledRank[i], shuffledTop[i] = row.rank, row.top
		}
		if uneven(shuffledRank, rankMean) >= seenRank {
			rankP++
		}
		if uneven(shuffledTop, topMean) >= seenTop {
			topP++
		}
	}
	return rankP / (trendPermutations + 1), topP / (trendPermutations + 1)
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
