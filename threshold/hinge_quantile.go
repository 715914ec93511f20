package threshold

import (
	"math"

	"toptau/internal/core/detmath"
	"toptau/internal/core/kernel"
)

// hingeQuantile is the surrogate quantile of the hinge, in closed form. With s = t - 1/beta the equation
// reads
//
//	sum_j m_j max(0, z_j - s) = C,   C = M tau / beta:
//
// Picture water of volume C poured into the space under the top score, where row j is m_j wide and reaches up
// to z_j: s is the level of its surface. For the rows A above the level, s = (sum_A m_j z_j - C) / M_A, t = s
// + 1/beta and a_j = m_j / M_A, in which M_A is the sum of their weights.
//
// The level of any subset of the rows is a lower bound of the level of all rows. Newton's method replaces the
// level by that of the rows above it. Its first step, from anywhere, ends at or below the solution. The level
// then rises and is exact as soon as the set of rows no longer changes. That takes at most about log_4 of the
// ratio of the extreme volumes, and a few steps from the level of a thin copy. Each step is one sweep over
// the scores and allocates nothing.
type hingeQuantile struct{ surrogateQuantile }

// Regulariser returns (M tau max_j (a_j / m_j) - 1) / beta.
func (q hingeQuantile) Regulariser(a, m []float64) float64 {
	steepest := 0.0
	for j, aj := range a {
		if aj > 0 {
			steepest = max(steepest, aj/weightOf(m, j))
		}
	}
	return (float64(q.kappa*steepest) - 1) / q.beta
}

func (q hingeQuantile) At(z, m []float64, s *Support) {
	s.reset()
	top := highestScore(z, m)
	if math.IsInf(top, -1) {
		s.T, s.Edge = top, top
		return
	}
	w := waterLevel(z, m, top, q.kappa/q.beta, s)
	s.T = top + (w.scores+(w.mass-q.kappa)/q.beta)/w.mass
	s.Edge = top + w.level // not above any row over the level, because rounding is monotone
	s.keepAbove(z, m, top, w)
}

// water is a level and the rows A that it was computed from. All scores are relative to the top score, which
// keeps sums small.
type water struct {
	floor  float64 // A are the rows above it
	rows   int     // number of rows in A
	mass   float64 // M_A
	scores float64 // sum_A m_j (z_j - top)
	level  float64 // the level of A; negative
}

// waterLevel returns the level of all rows. The level of the top row alone is a lower bound. Rows below it
// are left out, so no sum overflows.
func waterLevel(z, m []float64, top, volume float64, s *Support) water {
	lowest := -volume / topWeight(z, m, top)
	floor := lowest
	if thinZ, thinM, fraction, ok := s.thinCopy(z, m); ok {
		if thinTop := highestScore(thinZ, thinM); !math.IsInf(thinTop, -1) {
			thinVolume := volume * fraction
			guess := solveLevel(thinZ, thinM, thinTop, thinVolume, -thinVolume/topWeight(thinZ, thinM, thinTop), s)
			floor = max(lowest, thinTop-top+guess.level)
		}
	}
	return solveLevel(z, m, top, volume, floor, s)
}

// solveLevel is Newton's method, started at a floor. It ends when a step leaves the number of rows unchanged.
func solveLevel(z, m []float64, top, volume, floor float64, s *Support) water {
	w := levelAbove(z, m, top, volume, floor, s)
	for rising := false; ; rising = true {
		next := levelAbove(z, m, top, volume, w.level, s)
		if next.rows == w.rows {
			return next
		}
		if rising && next.rows > w.rows { // a rising level loses rows; it gains some only by rounding
			w.level = min(w.level, w.floor)
			return w
		}
		w = next
	}
}

// levelAbove returns the level of the rows above a floor. They always include the top row, even if the volume
// underflows.
func levelAbove(z, m []float64, top, volume, floor float64, s *Support) water {
	w := water{floor: min(floor, -math.SmallestNonzeroFloat64)}
	if m == nil {
		w.rows, w.scores = kernel.SumAbove(z, top, w.floor)
		w.mass = float64(w.rows)
	} else {
		var mass, scores detmath.Sum
		for first := 0; first < len(z); first += sweepRows {
			for _, j := range s.rowsAbove(z, first, top, w.floor) {
				if m[j] > 0 {
					w.rows++
					mass.Add(m[j])
					scores.Add(float64(m[j] * (z[j] - top)))
				}
			}
		}
		w.mass, w.scores = mass.Value(), scores.Value()
	}
	w.level = (w.scores - volume) / w.mass
	return w
}

// keepAbove fills Rows with the rows above the floor and A with their fractions of the mass.
func (s *Support) keepAbove(z, m []float64, top float64, w water) {
	s.growResult(w.rows)
	for first := 0; first < len(z); first += sweepRows {
		s.Rows = append(s.Rows, s.rowsAbove(z, first, top, w.floor)...)
	}
	if m == nil {
		s.A = s.A[:len(s.Rows)]
		share := 1 / w.mass
		for k := range s.A {
			s.A[k] = share
		}
		return
	}
	n := 0
	for _, j := range s.Rows {
		if m[j] > 0 {
			s.Rows[n] = j
			s.A = append(s.A, m[j]/w.mass)
			n++
		}
	}
	s.Rows = s.Rows[:n]
}

// topWeight returns the largest weight of a row with the top score.
func topWeight(z, m []float64, top float64) float64 {
	if m == nil {
		return 1
	}
	heaviest := 0.0
	for j, zj := range z {
		if zj == top {
			heaviest = max(heaviest, m[j])
		}
	}
	return heaviest
}
