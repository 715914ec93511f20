package program

import "math"

// Nearer returns for each atom but the first the smallest number that belongs to it and not to the one before: x belongs to the later one of
// two atoms a < b if b/2 - x/2 < x/2 - a/2, where each difference is rounded to float64.
func Nearer(atoms []float64) (list []float64) {
	for i := 1; i < len(atoms); i++ {
		a, b := atoms[i-1], atoms[i]
		list = append(list, LastWith(math.Nextafter(a, b), b, func(x float64) bool { // halves, as in feature.Card
			return x == b || float64(b/2)-float64(x/2) < float64(x/2)-float64(a/2)
		}))
	}
	return list
}

// LastWith returns the number nearest to end, on the way from start to it, for which holds is true. It is true at start and
// changes once at most.
func LastWith(end, start float64, holds func(float64) bool) float64 {
	if holds(end) {
		return end
	}
	low, high := min(ordinal(start), ordinal(end)), max(ordinal(start), ordinal(end))
	for high-low > 1 {
		middle := low + (high-low)/2
		if holds(fromOrdinal(middle)) == (start < end) {
			low = middle
		} else {
			high = middle
		}
	}
	if start < end {
		return fromOrdinal(low)
	}
	return fromOrdinal(high)
}

const zeroOrdinal = 1 << 63

// ordinal numbers the floats in their order; both zeros are zeroOrdinal.
func ordinal(x float64) uint64 {
	n := math.Float64bits(math.Abs(x))
	if x < 0 {
		return zeroOrdinal - n
	}
	return zeroOrdinal + n
}

func fromOrdinal(n uint64) float64 {
	if n < zeroOrdinal {
		return -math.Float64frombits(zeroOrdinal - n)
	}
	return math.Float64frombits(n - zeroOrdinal)
}
