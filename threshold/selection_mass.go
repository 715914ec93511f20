package threshold

import "math"

// weightedEdge is topEdge for weights: a radix selection on histograms of the masses, among the scores from a guess up. A bad
// guess costs time and never changes the result. Sums of whole weights are exact; sums of others carry their rounding
// errors along, so that they hardly depend on which rows stand beside.
func (s *Support) weightedEdge(z, m []float64, wanted float64) float64 {
	if floor := s.guessEdge(z, m, wanted); s.gather(z, m, floor) < wanted && !math.IsInf(floor, -1) {
		s.gather(z, m, math.Inf(-1))
	}
	return edgeOfMass(s.keys, s.mass, wanted)
}

// guessEdge returns a score that is probably a little below the edge, from rows at equal distances; -Inf where there is
// nothing to gain.
func (s *Support) guessEdge(z, m []float64, wanted float64) float64 {
	if len(z) < sampleFrom {
		return math.Inf(-1)
	}
	s.keys, s.mass = s.keys[:0], s.mass[:0]
	var mass sum
	for i := range sampleRows {
		j := i*(len(z)/sampleRows) + len(z)/(2*sampleRows)
		if m[j] > 0 {
			s.push(z[j], m[j])
			mass.add(m[j])
		}
	}
	// Of the sample, share*rows are expected on top, give or take four standard deviations.
	share := wanted / (mass.total() / sampleRows * float64(len(z)))
	rows := share * sampleRows
	share += float64((float64(4*math.Sqrt(rows)) + 4) / sampleRows)
	if !(share < 1) {
		return math.Inf(-1)
	}
	return edgeOfMass(s.keys, s.mass, share*mass.total())
}

// gather copies the scores from floor up, and their weights, and returns their mass.
func (s *Support) gather(z, m []float64, floor float64) float64 {
	s.keys, s.mass = s.keys[:0], s.mass[:0]
	var mass sum
	for j, zj := range z {
		if !(zj < floor) && m[j] > 0 {
			s.push(zj, m[j])
			mass.add(m[j])
		}
	}
	return mass.total()
}

// push adds one score with its weight.
func (s *Support) push(z, m float64) {
	s.keys = append(s.keys, orderedKey(z))
	s.mass = append(s.mass, m)
}

// edgeOfMass returns the score at which the running mass, from the top, reaches wanted.
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
