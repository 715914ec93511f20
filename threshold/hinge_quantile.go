package threshold

import (
	"math"

	"toptau/internal/kernel"
)

// hingeQuantile is the surrogate quantile of the hinge, in closed form. With s = t - 1/beta the equation reads
//
//	sum_j m_j max(0, z_j - s) = C,   C = M tau / beta:
//
// water of volume C is poured from the top score down, and s is its level. For the rows A above the level
// s = (sum_A m_j z_j - C) / M_A, t = s + 1/beta and a_j = m_j / M_A.
//
// The level of any subset of the rows is a lower bound of the level of all. So Newton's method, which takes the level of the
// rows above the last level, is below after one step from anywhere, rises from there, and ends exactly when no more rows
// are left out, after at most about log_4 of the ratio of the extreme volumes; from a thin copy's level, after a few. Each
// step is one sweep over the scores, which keeps nothing.
type hingeQuantile struct{ surrogateQuantile }

// Regulariser is (M tau max_j (a_j / m_j) - 1) / beta.
func (q hingeQuantile) Regulariser(a, m []float64) float64 {
	steepest := 0.0
	for j, aj := range a {
		if aj > 0 {
			steepest = max(steepest, aj/weight(m, j))
		}
	}
	return (float64(q.kappa*steepest) - 1) / q.beta
}

func (q hingeQuantile) At(z, m []float64, s *Support) {
	s.reset()
	top := highest(z, m)
	if math.IsInf(top, -1) {
		s.T, s.Edge = top, top
		return
	}
	w := waterLevel(z, m, top, q.kappa/q.beta, s)
	s.T = top + (w.scores+(w.mass-q.kappa)/q.beta)/w.mass
	s.Edge = top + w.level // at or below each row above the level, as rounding keeps the order
	s.take(z, m, top, w)
}

// water is the state after pouring: scores are taken relative to the top score.
type water struct {
	floor  float64 // the rows above it hold the water
	rows   int     // their number
	mass   float64 // M_A
	scores float64 // sum_A m_j (z_j - top)
	level  float64 // of the surface; negative
}

// waterLevel pours the volume. The top row alone gives a lower bound of the level: every row that may stick out is within its
// reach, so that no sum overflows.
func waterLevel(z, m []float64, top, volume float64, s *Support) water {
	lowest := -volume / topWeight(z, m, top)
	floor := lowest
	if thinZ, thinM, share, ok := s.thin(z, m); ok {
		if thinTop := highest(thinZ, thinM); !math.IsInf(thinTop, -1) {
			thinVolume := volume * share
			guess := risen(thinZ, thinM, thinTop, thinVolume, -thinVolume/topWeight(thinZ, thinM, thinTop), s)
			floor = max(lowest, thinTop-top+guess.level)
		}
	}
	return risen(z, m, top, volume, floor, s)
}

// risen is Newton's method from a floor.
func risen(z, m []float64, top, volume, floor float64, s *Support) water {
	w := pour(z, m, top, volume, floor, s)
	for rising := false; ; rising = true {
		next := pour(z, m, top, volume, w.level, s)
		if next.rows == w.rows {
			return next
		}
		if rising && next.rows > w.rows { // only by rounding
			w.level = min(w.level, w.floor)
			return w
		}
		w = next
	}
}

// pour returns the level as if the rows above the floor stuck out and no others. The top row always does, even from a volume
// that underflows.
func pour(z, m []float64, top, volume, floor float64, s *Support) water {
	w := water{floor: min(floor, -math.SmallestNonzeroFloat64)}
	if m == nil {
		w.rows, w.scores = kernel.SumAbove(z, top, w.floor)
		w.mass = float64(w.rows)
	} else {
		var mass, scores sum
		for first := 0; first < len(z); first += sweepRows {
			for _, j := range s.rowsAbove(z, first, top, w.floor) {
				if m[j] > 0 {
					w.rows++
					mass.add(m[j])
					scores.add(float64(m[j] * (z[j] - top)))
				}
			}
		}
		w.mass, w.scores = mass.total(), scores.total()
	}
	w.level = (w.scores - volume) / w.mass
	return w
}

// take fills Rows with the rows that hold the water, and A with their shares.
func (s *Support) take(z, m []float64, top float64, w water) {
	s.room(w.rows)
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

// topWeight returns the weight of a row with the top score.
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
