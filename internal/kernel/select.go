package kernel

import "math"

// Sweeps over float64 scores, with which thresholds are selected. The scores need not fill whole panels. Counts are exact, and
// sums are formed in a fixed order, so that every implementation gives the same bits.

// selectRows is the number of scores in a block of the vector forms.
const selectRows = 16

// Highest returns the largest score, +0 where it is a zero; NaN when any score is, and -Inf when there are none.
func Highest(z []float64) float64 {
	done, top := 0, math.Inf(-1)
	if blocks := len(z) / selectRows; uses(selectFamily) && blocks > 0 {
		var lanes [4]float64
		if asmHighest(&z[0], blocks, &lanes[0]) != 0 {
			top = math.NaN()
		}
		for _, x := range lanes {
			top = max(top, x)
		}
		done = blocks * selectRows
	}
	for _, zi := range z[done:] {
		top = max(top, zi)
	}
	return top + 0
}

// Count returns how many scores are above t and how many equal it.
func Count(z []float64, t float64) (above, equal int) {
	done := 0
	if blocks := len(z) / selectRows; uses(selectFamily) && blocks > 0 {
		var counts [8]int64
		asmCountScores(&z[0], blocks, t, &counts[0])
		for i := range 4 {
			above += int(counts[i])
			equal += int(counts[4+i])
		}
		done = blocks * selectRows
	}
	for _, zi := range z[done:] {
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
	done := 0
	if blocks := len(z) / selectRows; uses(selectFamily) && blocks > 0 {
		var counts [8]int64
		inside = asmBetween(&z[0], blocks, low, high, &values[0], &counts[0])
		for _, n := range counts {
			atLeast += int(n)
		}
		done = blocks * selectRows
	}
	for _, zi := range z[done:] {
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
	var lanes [2 * selectRows]float64
	done := 0
	if blocks := len(z) / selectRows; uses(selectFamily) && blocks > 0 {
		count = asmSumAbove(&z[0], blocks, shift, level, &lanes[0])
		done = blocks * selectRows
	}
	count += sumAbove(z[done:], shift, level, &lanes)
	high, lost := 0.0, 0.0
	for i, x := range lanes[:selectRows] {
		t := high + x
		y := t - high
		lost += (high - (t - y)) + (x - y)
		lost += lanes[selectRows+i]
		high = t
	}
	if math.IsInf(high, 0) {
		return count, high
	}
	return count, high + lost
}

// sumAbove is the plain Go of SumAbove. z begins with a score of sum 0.
func sumAbove(z []float64, shift, level float64, lanes *[2 * selectRows]float64) int {
	count := 0
	for i, zi := range z {
		x := zi - shift
		if x <= level {
			continue // the vector forms add zero, which changes nothing
		}
		count++
		high, lost := &lanes[i%selectRows], &lanes[selectRows+i%selectRows]
		t := *high + x
		y := t - *high
		*lost += (*high - (t - y)) + (x - y)
		*high = t
	}
	return count
}

// RowsAbove writes the numbers, first for z[0], of the scores that SumAbove adds to rows, in order, and returns how many there
// are. rows must have space for all of z; its elements after the numbers returned are undefined.
func RowsAbove(z []float64, shift, level float64, first int32, rows []int32) int {
	rows = rows[:len(z)]
	done, count := 0, 0
	if blocks := len(z) / selectRows; uses(selectFamily) && blocks > 0 {
		count = asmRowsAbove(&z[0], blocks, shift, level, first, &rows[0])
		done = blocks * selectRows
	}
	for i, zi := range z[done:] {
		if !(zi-shift <= level) {
			rows[count] = first + int32(done+i)
			count++
		}
	}
	return count
}
