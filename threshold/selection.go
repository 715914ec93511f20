package threshold

import (
	"math"
	"math/bits"
	"slices"

	"toptau/internal/core/detmath"
	"toptau/internal/core/kernel"
)

// Selection finds the edge of a top mass: the largest s with mass{z >= s} >= wanted. This file handles rows
// that all weigh 1, for which the edge is the K-th largest score. selection_mass.go handles other weights.
//
// A sample gives two scores between which the edge probably lies. One sweep copies the scores between them, a
// few per cent, and counts those above. This repeats until a few thousand scores are left. A radix selection
// finishes: it maps the bits of the scores to unsigned integers of the same order, counts them by their most
// significant digit, walks from the top to the bin in which the wanted number is reached, and continues with
// that bin and the next digit.
//
// The counts reveal a bad sample. The radix selection then does everything. It has no pivot, so its time is
// linear in the number of scores even for ties and adversarial data.

const (
	digitBits = 11 // sorting is faster than a histogram up to this number; chosen by hand
	digits    = 1 << digitBits
	fewScores = 48 // number of scores up to which sorting is faster than a histogram; chosen by hand
)

// topEdge returns the largest s with mass{z >= s} >= wanted. If the total mass is below wanted, by rounding
// or because rows are missing, it returns the smallest score. Without scores it returns -Inf. Rows of weight
// 0 count as absent.
func topEdge(z, m []float64, wanted float64, s *Support) float64 {
	if m == nil {
		return s.edgeOfRank(z, max(1, int(math.Ceil(wanted))))
	}
	return s.weightedEdge(z, m, wanted)
}

// A sample has sampleRows rows. Below sampleFrom rows it costs more than it saves. Both were chosen by hand.
const (
	sampleRows = 1024
	sampleFrom = 8 * sampleRows
)

// edgeOfRank returns the k-th largest element of z, k >= 1, or the smallest if z has fewer.
func (s *Support) edgeOfRank(z []float64, k int) float64 {
	rest, rank := z, min(k, len(z)) // the edge is the rank-th largest of rest
	for len(rest) >= sampleFrom {
		low, high := rankWindow(rest, rank)
		inside, atLeast := s.copyBetween(rest, low, high)
		switch {
		case rank > atLeast && rank <= atLeast+len(inside):
			if len(inside) > len(rest)/2 { // the sample did not represent the rest
				return s.edgeByRadix(z, k)
			}
		case rank <= atLeast && isEdge(z, k, high) && !holdsNaN(inside):
			return high
		case rank > atLeast && isEdge(z, k, low) && !holdsNaN(inside):
			return low
		default:
			return s.edgeByRadix(z, k)
		}
		rest, rank = inside, rank-atLeast
	}
	if len(rest) < len(z) && holdsNaN(rest) { // comparisons with NaN are false, so counts are no ranks
		return s.edgeByRadix(z, k)
	}
	return s.edgeByRadix(rest, rank)
}

// rankWindow returns two scores between which the rank-th largest element of z probably lies. It samples rows
// at equal distances and allows for four standard deviations of a rank in the sample.
func rankWindow(z []float64, rank int) (low, high float64) {
	var keys, again [sampleRows]uint64
	stride := len(z) / sampleRows
	for i := range keys {
		keys[i] = detmath.OrderKey(z[i*stride+stride/2])
	}
	again = keys
	expected := float64(float64(rank) / float64(len(z)) * sampleRows)
	margin := float64(4*math.Sqrt(float64(expected*(1-float64(expected/sampleRows))))) + 4
	low, high = math.Inf(-1), math.Inf(1)
	if k := int(expected - margin); k >= 1 {
		high = edgeOfCount(keys[:], k)
	}
	if k := int(expected+margin) + 1; k <= sampleRows {
		low = edgeOfCount(again[:], k)
	}
	return low, high
}

// sweepRows is the number of rows that a sweep processes at a time, so that its buffer stays in the
// first-level cache. Chosen by hand.
const sweepRows = 1024

// copyBetween returns a copy of the scores between low and high, both exclusive, and of NaN. atLeast is the
// number of other scores that are at least high. z may be the slice that an earlier call returned.
func (s *Support) copyBetween(z []float64, low, high float64) (inside []float64, atLeast int) {
	inside = s.scores[:0]
	for len(z) > 0 {
		chunk := z[:min(sweepRows, len(z))]
		n := len(inside)
		inside = slices.Grow(inside, len(chunk))
		found, others := kernel.Between(chunk, low, high, inside[n:n+len(chunk)])
		inside = inside[:n+found]
		atLeast += others
		z = z[len(chunk):]
	}
	s.scores = inside
	return inside, atLeast
}

// isEdge reports whether t is the k-th largest score.
func isEdge(z []float64, k int, t float64) bool {
	above, equal := kernel.Count(z, t)
	return above < k && k <= above+equal
}

func holdsNaN(z []float64) bool { return math.IsNaN(kernel.Highest(z)) }

// edgeByRadix returns the k-th largest element of z.
func (s *Support) edgeByRadix(z []float64, k int) float64 {
	s.keys = slices.Grow(s.keys[:0], len(z))
	for _, zj := range z {
		s.keys = append(s.keys, detmath.OrderKey(zj))
	}
	return edgeOfCount(s.keys, k)
}

// aboveEdge returns the mass of the rows above the edge, and the index of a row at or before the first one on
// it.
func (s *Support) aboveEdge(z, m []float64) (mass float64, firstTie int) {
	if m != nil {
		var above detmath.Sum
		for j, zj := range z {
			if zj > s.Edge {
				above.Add(m[j])
			}
		}
		return above.Value(), 0
	}
	above, firstTie := 0, len(z)
	for first := 0; first < len(z); first += sweepRows {
		more, equal := kernel.Count(z[first:min(first+sweepRows, len(z))], s.Edge)
		above += more
		if equal > 0 && firstTie == len(z) {
			firstTie = first
		}
	}
	return float64(above), firstTie
}

// rowsAbove returns the indices of the rows with z-shift > level, or NaN, among the sweepRows rows from first
// on. The next call overwrites them.
func (s *Support) rowsAbove(z []float64, first int, shift, level float64) []int32 {
	chunk := z[first:min(first+sweepRows, len(z))]
	s.found = slices.Grow(s.found[:0], len(chunk))[:len(chunk)]
	return s.found[:kernel.RowsAbove(chunk, shift, level, int32(first), s.found)]
}

// edgeOfCount returns the score of the k-th largest key, k >= 1. It reorders keys. The first digit starts at
// the highest bit in which the keys differ, because similar scores share the exponent and all scores are
// equal at w = 0.
func edgeOfCount(keys []uint64, k int) float64 {
	if len(keys) == 0 {
		return math.Inf(-1)
	}
	k = min(k, len(keys))
	differ := uint64(0)
	for _, key := range keys {
		differ |= key ^ keys[0]
	}
	if differ == 0 {
		return detmath.OfOrderKey(keys[0])
	}
	for shift := bits.Len64(differ) - digitBits; len(keys) > fewScores; shift -= digitBits {
		var count [digits]int32
		for _, key := range keys {
			count[digit(key, shift)]++
		}
		d := digits - 1
		for ; int(count[d]) < k; d-- {
			k -= int(count[d])
		}
		keys = keepDigit(keys, shift, d)
		if shift <= 0 {
			return detmath.OfOrderKey(keys[0]) // all digits agree
		}
	}
	slices.Sort(keys)
	return detmath.OfOrderKey(keys[len(keys)-k])
}

// keepDigit moves the keys whose digit is d to the front and returns them.
func keepDigit(keys []uint64, shift, d int) []uint64 {
	n := 0
	for _, key := range keys {
		if digit(key, shift) == d {
			keys[n] = key
			n++
		}
	}
	return keys[:n]
}

// digit returns the 11 bits of a key from bit shift up. The last digit, with a negative shift, has fewer
// bits.
func digit(key uint64, shift int) int {
	if shift < 0 {
		return int(key & (1<<(digitBits+shift) - 1))
	}
	return int(key >> shift & (digits - 1))
}
