package paper

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"toptau/internal/core/parallel"
	"toptau/internal/core/text"
)

// Permutation tests. With few sets the limits of the usual statistics are wrong: for two sets of 14 methods
// the chi-squared limit of Friedman's statistic gives 0.07 where the exact probability is below 0.01.

// permutationP is the p-value of a permutation test.
type permutationP struct {
	P   float64
	How string // which permutations were counted, in words
}

const (
	// enumerable is the largest number of arrangements that are all tried. It was chosen by hand; they take
	// about a second.
	enumerable = 2_000_000
	// randomArrangements is the number of random ones otherwise. The standard error of p = 0.05 is then 0.0007.
	randomArrangements = 100_000
	// halfLimit is the largest number of methods for which two blocks are compared exactly: 14 take 3,432 times
	// 2 * 5,040 sums, some seconds.
	halfLimit = 14
)

// friedmanPermutation returns the probability of a Friedman statistic at least as large as that of ranks, if
// all orders of the methods within a block are equally probable and blocks are independent. The ranks in a
// block may be tied, or means of ranks.
//
// Permuting all blocks but the first is enough, and only the sum over methods of squared sums of ranks
// matters. Two blocks are counted exactly by meeting in the middle: the ranks of the second block are divided
// into two halves in every way, and pairs of arrangements of the halves are counted in sorted lists of their
// sums.
func friedmanPermutation(ranks [][]float64) permutationP {
	if len(ranks) < 2 {
		return permutationP{P: math.NaN(), How: "-"}
	}
	k, n := len(ranks[0]), len(ranks)
	arrangements := 1.0
	for range n - 1 {
		for i := 2; i <= k; i++ {
			arrangements *= float64(i)
		}
	}
	switch {
	case arrangements <= enumerable:
		return permutationP{enumerateBlocks(ranks) / arrangements, "all " + text.Count(int(arrangements)) + " orders"}
	case n == 2 && k <= halfLimit:
		return permutationP{meetInTheMiddle(ranks[0], ranks[1]) / arrangements, "all orders"}
	}
	return permutationP{randomBlocks(ranks, randomArrangements), text.Count(randomArrangements) + " random orders"}
}

// sumOfSquares is the part of Friedman's statistic that depends on the arrangement.
func sumOfSquares(sums []float64) float64 {
	var s float64
	for _, x := range sums {
		s += float64(x * x)
	}
	return s
}

// slack covers the rounding of sums of ranks, whose exact values are multiples of small fractions.
func slack(x float64) float64 { return float64(1e-9 * max(1, math.Abs(x))) }

// columnSums returns the sums of the ranks of every method.
func columnSums(ranks [][]float64) []float64 {
	sums := make([]float64, len(ranks[0]))
	for _, block := range ranks {
		for j, r := range block {
			sums[j] += r
		}
	}
	return sums
}

// enumerateBlocks counts the arrangements of all blocks but the first whose statistic is at least the
// observed one.
func enumerateBlocks(ranks [][]float64) float64 {
	observed := sumOfSquares(columnSums(ranks))
	count := 0.0
	sums := slices.Clone(ranks[0])
	var place func(block int, order []float64)
	place = func(block int, order []float64) {
		if block == len(ranks) {
			if s := sumOfSquares(sums); s >= observed-slack(observed) {
				count++
			}
			return
		}
		before := slices.Clone(sums)
		eachOrder(order, 0, func() {
			for j, r := range order {
				sums[j] = before[j] + r
			}
			var next []float64
			if block+1 < len(ranks) {
				next = slices.Clone(ranks[block+1])
			}
			place(block+1, next)
		})
		copy(sums, before)
	}
	place(1, slices.Clone(ranks[1]))
	return count
}

// eachOrder calls f for every order of values from a position on. Equal values count as different.
func eachOrder(values []float64, from int, f func()) {
	if from >= len(values)-1 {
		f()
		return
	}
	for i := from; i < len(values); i++ {
		values[from], values[i] = values[i], values[from]
		eachOrder(values, from+1, f)
		values[from], values[i] = values[i], values[from]
	}
}

// meetInTheMiddle counts the orders of b for which the sum of a_j b_j is at least that of the given order. It
// is Friedman's statistic of two blocks up to constants.
func meetInTheMiddle(a, b []float64) float64 {
	k := len(a)
	half := k / 2
	var observed float64
	for j := range a {
		observed += float64(a[j] * b[j])
	}
	least := observed - slack(observed)
	var subsets []uint
	for s := uint(0); s < 1<<k; s++ {
		if bits.OnesCount(s) == half {
			subsets = append(subsets, s)
		}
	}
	counts := make([]float64, len(subsets)) // whole numbers, so their sum does not depend on the order
	parallel.For(len(subsets), func(i int) {
		var in, out []float64
		for j, r := range b {
			if subsets[i]>>j&1 == 1 {
				in = append(in, r)
			} else {
				out = append(out, r)
			}
		}
		first, second := productSums(a[:half], in), productSums(a[half:], out)
		slices.Sort(first)
		slices.Sort(second)
		at := len(second) // second[at:] are large enough for first[j]
		for _, x := range first {
			for at > 0 && x+second[at-1] >= least {
				at--
			}
			counts[i] += float64(len(second) - at)
		}
	})
	var sum float64
	for _, c := range counts {
		sum += c
	}
	return sum
}

// productSums returns the sum of a_j b_j for every order of b.
func productSums(a, b []float64) []float64 {
	var sums []float64
	order := slices.Clone(b)
	eachOrder(order, 0, func() {
		var s float64
		for j, x := range a {
			s += float64(x * order[j])
		}
		sums = append(sums, s)
	})
	return sums
}

// randomBlocks estimates the probability from random orders. The given order counts as one of them, so the
// test keeps its level.
func randomBlocks(ranks [][]float64, orders int) float64 {
	observed := sumOfSquares(columnSums(ranks))
	random := rand.New(rand.NewPCG(first, 0x667269656d616e))
	blocks := make([][]float64, len(ranks))
	for i := range ranks {
		blocks[i] = slices.Clone(ranks[i])
	}
	count := 1
	for range orders {
		for _, b := range blocks[1:] {
			random.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
		}
		if s := sumOfSquares(columnSums(blocks)); s >= observed-slack(observed) {
			count++
		}
	}
	return float64(count) / float64(orders+1)
}

// signFlips returns the two-sided p-value of a mean of independent differences, from all 2^n choices of their
// signs. Its smallest possible value is 2/2^n. It returns NaN without differences.
func signFlips(differences []float64) float64 {
	n := len(differences)
	if n == 0 || n > 20 {
		return math.NaN()
	}
	var observed float64
	for _, d := range differences {
		observed += d
	}
	least, count := math.Abs(observed)-slack(observed), 0
	for signs := range 1 << n {
		var sum float64
		for i, d := range differences {
			if signs>>i&1 == 1 {
				d = -d
			}
			sum += d
		}
		if math.Abs(sum) >= least {
			count++
		}
	}
	return float64(count) / float64(int(1)<<n)
}
