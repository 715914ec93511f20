package threshold

import (
	"math"
	"math/bits"
	"slices"
)

// Selection finds the edge of a top mass: the largest s with mass{z >= s} >= mass wanted.
//
// It is a radix selection, from the most significant digit down, on the scores' bits mapped to unsigned integers of the same
// order. A digit is 11 bits: a histogram of the masses by digit, a walk from the top to the bin in which the wanted mass is
// reached, and on with the scores of this bin alone. So the time is linear in the number of scores in the worst case, not
// only in the mean: there is no pivot that ties or an adversary could spoil. Counts and sums of whole weights are exact;
// sums of other weights carry their rounding errors along, so that they hardly depend on which rows stand beside.

const (
	digitBits = 11
	digits    = 1 << digitBits
	fewScores = 48 // at which sorting is quicker than a histogram
)

// orderedKey maps a score to an integer of the same order; the two zeros are equal.
func orderedKey(z float64) uint64 {
	b := math.Float64bits(z + 0)
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

// keyScore is the inverse of orderedKey.
func keyScore(k uint64) float64 {
	if k>>63 != 0 {
		return math.Float64frombits(k &^ (1 << 63))
	}
	return math.Float64frombits(^k)
}

// topEdge returns the largest s with mass{z >= s} >= wanted. Where rounding or a missing row keeps the mass below what is
// wanted it returns the smallest score, and -Inf when there are no scores. Rows of weight 0 count as absent.
//
// A sample says from where up the scores are worth a look. A bad guess costs time and never changes the result.
func topEdge(z, m []float64, wanted float64, s *Support) float64 {
	if floor := guessEdge(z, m, wanted, s); s.gather(z, m, floor) < wanted && !math.IsInf(floor, -1) {
		s.gather(z, m, math.Inf(-1))
	}
	return s.edge(m, wanted)
}

const (
	sampleRows = 1024
	sampleFrom = 8 * sampleRows // rows below which a sample does not pay
)

// guessEdge returns a score that is probably a little below the edge, from rows at equal distances; -Inf where there is
// nothing to gain.
func guessEdge(z, m []float64, wanted float64, s *Support) float64 {
	if len(z) < sampleFrom {
		return math.Inf(-1)
	}
	s.keys, s.mass = s.keys[:0], s.mass[:0]
	var mass sum
	for i := range sampleRows {
		j := i*(len(z)/sampleRows) + len(z)/(2*sampleRows)
		if mj := weight(m, j); mj > 0 {
			s.push(z[j], m, mj)
			mass.add(mj)
		}
	}
	// Of the sample, share*rows are expected on top, give or take four standard deviations.
	share := wanted / (mass.total() / sampleRows * float64(len(z)))
	rows := share * sampleRows
	share += float64((float64(4*math.Sqrt(rows)) + 4) / sampleRows)
	if !(share < 1) {
		return math.Inf(-1)
	}
	return s.edge(m, share*mass.total())
}

// gather copies the scores from floor up, and their weights, and returns their mass.
func (s *Support) gather(z, m []float64, floor float64) float64 {
	s.keys, s.mass = s.keys[:0], s.mass[:0]
	if m == nil {
		for _, zj := range z {
			if !(zj < floor) {
				s.keys = append(s.keys, orderedKey(zj))
			}
		}
		return float64(len(s.keys))
	}
	var mass sum
	for j, zj := range z {
		if !(zj < floor) && m[j] > 0 {
			s.push(zj, m, m[j])
			mass.add(m[j])
		}
	}
	return mass.total()
}

// push adds one score, and its weight where there are weights.
func (s *Support) push(z float64, m []float64, mj float64) {
	s.keys = append(s.keys, orderedKey(z))
	if m != nil {
		s.mass = append(s.mass, mj)
	}
}

// edge selects among the scores gathered.
func (s *Support) edge(m []float64, wanted float64) float64 {
	if m == nil {
		return edgeOfCount(s.keys, max(1, int(math.Ceil(wanted))))
	}
	return edgeOfMass(s.keys, s.mass, wanted)
}

// edgeOfCount returns the score of the k-th largest key, k >= 1. It reorders keys. It begins with the first bit in which
// they differ: scores near each other share the exponent, and at w = 0 all are equal.
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
		return keyScore(keys[0])
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
			return keyScore(keys[0]) // all digits agree
		}
	}
	slices.Sort(keys)
	return keyScore(keys[len(keys)-k])
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

// digit returns the 11 bits of a key from shift up; the last digit is shorter.
func digit(key uint64, shift int) int {
	if shift < 0 {
		return int(key & (1<<(digitBits+shift) - 1))
	}
	return int(key >> shift & (digits - 1))
}

// edgeOfMass is edgeOfCount for weights: it returns the score at which the running mass, from the top, reaches wanted.
func edgeOfMass(keys []uint64, mass []float64, wanted float64) float64 {
	if len(keys) == 0 {
		return math.Inf(-1)
	}
	var above sum
	for shift := 64 - digitBits; len(keys) > fewScores; shift -= digitBits {
		d := massDigit(keys, mass, shift, wanted, &above)
		n := 0
		for i, key := range keys {
			if digit(key, shift) == d {
				keys[n], mass[n] = key, mass[i]
				n++
			}
		}
		keys, mass = keys[:n], mass[:n]
		if shift <= 0 {
			return keyScore(keys[0])
		}
	}
	sortDescending(keys, mass)
	for i, key := range keys {
		above.add(mass[i])
		if above.total() >= wanted {
			return keyScore(key)
		}
	}
	return keyScore(keys[len(keys)-1])
}

// massDigit returns the digit in which the running mass reaches wanted, or else the lowest one in use, and adds the masses
// of the digits above it.
func massDigit(keys []uint64, mass []float64, shift int, wanted float64, above *sum) int {
	var bins [digits]sum
	lowest := digits - 1
	for i, key := range keys {
		d := digit(key, shift)
		bins[d].add(mass[i])
		lowest = min(lowest, d)
	}
	for d := digits - 1; d > lowest; d-- {
		if bins[d].high == 0 {
			continue
		}
		with := *above
		with.add(bins[d].high)
		with.add(bins[d].low)
		if with.total() >= wanted {
			return d
		}
		*above = with
	}
	return lowest
}

// sortDescending sorts a few keys with their masses, the largest first; equal keys keep their order.
func sortDescending(keys []uint64, mass []float64) {
	for i := 1; i < len(keys); i++ {
		key, m := keys[i], mass[i]
		j := i
		for ; j > 0 && keys[j-1] < key; j-- {
			keys[j], mass[j] = keys[j-1], mass[j-1]
		}
		keys[j], mass[j] = key, m
	}
}
