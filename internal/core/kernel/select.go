package kernel

import "math"

// Sweeps over float64 scores, with which thresholds are selected. The scores need not fill whole panels. Counts are exact, and
// sums are formed in a fixed order.

// sums is the number of sums that SumAbove keeps.
const sums = 16

// Highest returns the largest score, +0 where it is a zero; NaN when any score is, and -Inf when there are none.
func Highest(z []float64) float64 {
	top := math.Inf(-1)
	for _, zi := range z {
		top = max(top, zi)
	}
	return top + 0
}

// Count returns how many scores are above t and how many equal it.
func Count(z []float64, t float64) (above, equal int) {
	for _, zi := range z {
		if zi > t {
			above++
		} else if zi == t {
			equal++
		}
	}
	return above, equal
}

// Between writes the scores between low and high, both exclusive, and NaN to values, in order, and returns how many there
// are, and how many others are at least high. values must have space for all of z, and may be z; its elements after the scores
// returned are undefined.
func Between(z []float64, low, high float64, values []float64) (inside, atLeast int) {
	values = values[:len(z)]
	for _, zi := range z {
		switch {
		case zi >= high:
			atLeast++
		case !(zi <= low):
			values[inside] = zi
			inside++
		}
	}
	return inside, atLeast
}

// SumAbove returns the number of scores whose z-shift is above level, or is NaN, and the sum of these z-shift. The sum is
// compensated: it is as accurate as one in twice the precision, rounded at the end. Score i of z belongs to sum i mod 16, each
// sum keeps its rounding errors, and the sixteen sums are added in order in the same way. An overflow is an infinity, not NaN.
func SumAbove(z []float64, shift, level float64) (count int, total float64) {
	var lanes [2 * sums]float64
	for i, zi := range z {
		x := zi - shift
		if x <= level {
			continue
		}
		count++
		high, lost := &lanes[i%sums], &lanes[sums+i%sums]
		t := *high + x
		y := t - *high
		*lost += (*high - (t - y)) + (x - y)
		*high = t
	}
	high, lost := 0.0, 0.0
	for i, x := range lanes[:sums] {
		t := high + x
		y := t - high
		lost += (high - (t - y)) + (x - y)
		lost += lanes[sums+i]
		high = t
	}
	if math.IsInf(high, 0) {
		return count, high
	}
	return count, high + lost
}

// RowsAbove writes the numbers, first for z[0], of the scores that SumAbove adds to rows, in order, and returns how many there
// are. rows must have space for all of z; its elements after the numbers returned are undefined.
func RowsAbove(z []float64, shift, level float64, first int32, rows []int32) int {
	rows = rows[:len(z)]
	count := 0
	for i, zi := range z {
		if !(zi-shift <= level) {
			rows[count] = first + int32(i)
			count++
		}
	}
	return count
}
