package threshold

import (
	"math"

	"toptau/internal/core/detmath"
)

// weightedEdge is topEdge for weighted rows: a radix selection on histograms of the masses, among the scores
// at or above a guess. A bad guess costs time and never changes the result. Sums of whole weights are exact.
// Sums of other weights are compensated, so that they hardly depend on which other rows are summed first.
func (s *Support) weightedEdge(z, m []float64, wanted float64) float64 {
	if floor := s.guessEdge(z, m, wanted); s.gatherRows(z, m, floor) < wanted && !math.IsInf(floor, -1) {
		s.gatherRows(z, m, math.Inf(-1))
	}
	return edgeOfMass(s.keys, s.mass, wanted)
}

// guessEdge returns a score that is probably a little below the edge, from a sample of rows at equal
// distances. It returns -Inf for few rows, and if nearly all rows would be kept.
func (s *Support) guessEdge(z, m []float64, wanted float64) float64 {
	if len(z) < sampleFrom {
		return math.Inf(-1)
	}
	s.keys, s.mass = s.keys[:0], s.mass[:0]
	var mass detmath.Sum
	for i := range sampleRows {
		j := i*(len(z)/sampleRows) + len(z)/(2*sampleRows)
		if m[j] > 0 {
			s.pushKey(z[j], m[j])
			mass.Add(m[j])
		}
	}
	// fraction of the sample is expected on top. The guess allows for four standard deviations more.
	fraction := wanted / (mass.Value() / sampleRows * float64(len(z)))
	rows := fraction * sampleRows
	fraction += float64((float64(4*math.Sqrt(rows)) + 4) / sampleRows)
	if !(fraction < 1) {
		return math.Inf(-1)
	}
	return edgeOfMass(s.keys, s.mass, fraction*mass.Value())
}

// gatherRows copies the scores at or above floor with their weights, and returns their mass.
func (s *Support) gatherRows(z, m []float64, floor float64) float64 {
	s.keys, s.mass = s.keys[:0], s.mass[:0]
	var mass detmath.Sum
	for j, zj := range z {
		if !(zj < floor) && m[j] > 0 {
			s.pushKey(zj, m[j])
			mass.Add(m[j])
		}
	}
	return mass.Value()
}

// pushKey adds one score with its weight.
func (s *Support) pushKey(z, m float64) {
	s.keys = append(s.keys, detmath.OrderKey(z))
	s.mass = append(s.mass, m)
}

// edgeOfMass returns the score at which the mass, summed from the top, reaches wanted. It reorders keys and
// mass.
func edgeOfMass(keys []uint64, mass []float64, wanted float64) float64 {
	if len(keys) == 0 {
		return math.Inf(-1)
	}
	var above detmath.Sum
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
			return detmath.OfOrderKey(keys[0])
		}
	}
	sortDescending(keys, mass)
	for i, key := range keys {
		above.Add(mass[i])
		if above.Value() >= wanted {
			return detmath.OfOrderKey(key)
		}
	}
	return detmath.OfOrderKey(keys[len(keys)-1])
}

// massDigit returns the digit in which the mass, summed from the top, reaches wanted. If none does, it
// returns the lowest digit in use. It adds the masses of the higher digits to above.
func massDigit(keys []uint64, mass []float64, shift int, wanted float64, above *detmath.Sum) int {
	var bins [digits]detmath.Sum
	lowest := digits - 1
	for i, key := range keys {
		d := digit(key, shift)
		bins[d].Add(mass[i])
		lowest = min(lowest, d)
	}
	for d := digits - 1; d > lowest; d-- {
		if bins[d] == (detmath.Sum{}) {
			continue
		}
		with := *above
		with.AddSum(bins[d])
		if with.Value() >= wanted {
			return d
		}
		*above = with
	}
	return lowest
}

// sortDescending sorts a few keys with their masses, the largest first. Equal keys keep their order.
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
