package objective

import "math/bits"

// sumBlock is the number of terms that are added one after the other; the sums of these blocks form the pairwise tree. With 128
// terms the tree costs little, and the rounding error of a block is at most 128 units in the last place.
const sumBlock = 128

// sum adds term(0) to term(n-1) pairwise: blocks of sumBlock terms in order, then the blocks' sums as the carries of a
// binary counter, small trees before large ones. The order depends on n only, and the rounding error grows with log n.
func sum(n int, term func(i int) float64) float64 {
	return sumOfBlocks(n, func(first, end int) float64 {
		s := 0.0
		for i := first; i < end; i++ {
			s += term(i)
		}
		return s
	})
}

// sumOfBlocks is sum for a function that returns the sum of the terms from first up to end, added in order.
func sumOfBlocks(n int, block func(first, end int) float64) float64 {
	var levels [64]float64 // levels[k] holds a tree of 2^k blocks where bit k of count is set
	count := uint64(0)
	for first := 0; first < n; first += sumBlock {
		s := block(first, min(first+sumBlock, n))
		k := bits.TrailingZeros64(^count) // number of trees that the new block completes
		for level := range k {
			s = levels[level] + s
		}
		levels[k] = s
		count++
	}
	total := 0.0
	for level := range levels {
		if count>>level&1 == 1 {
			total = levels[level] + total
		}
	}
	return total
}
