package threshold

import "math"

// hingeQuantile is the surrogate quantile of the hinge, in closed form. With s = t - 1/beta the equation reads
//
//	sum_j m_j max(0, z_j - s) = C,   C = M tau / beta:
//
// water of volume C is poured from the top score down, and s is its level. For the rows A above the level
// s = (sum_A m_j z_j - C) / M_A, t = s + 1/beta and a_j = m_j / M_A.
//
// The level of any subset of the rows is a lower bound of the level of all. So Newton's method, which takes the level of the
// rows above the last level, rises from below and ends exactly, after at most about log_4 of the ratio of the extreme
// volumes; rows once left out never come back, and most leave at once.
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
	s.Edge = top + w.level
	for _, j := range s.Rows {
		s.A = append(s.A, weight(m, int(j))/w.mass)
		s.Edge = min(s.Edge, z[j])
	}
}

// water is the state after pouring: scores are taken relative to the top score.
type water struct {
	level  float64 // of the surface; negative
	mass   float64 // of the rows above it, M_A
	scores float64 // sum_A m_j (z_j - top)
}

// waterLevel pours the volume and leaves the rows above the level in s.Rows, ascending. The top row alone gives the first
// level: every row that may stick out is within its reach, so that no sum overflows.
func waterLevel(z, m []float64, top, volume float64, s *Support) water {
	floor := max(guessLevel(z, m, top, volume, s), -volume/topWeight(z, m, top))
	w := waterAbove(z, m, top, volume, floor, s)
	if w.level < floor { // a level of some rows is a lower bound, so this time the floor is low enough
		w = waterAbove(z, m, top, volume, w.level, s)
	}
	return w
}

// guessLevel returns a level that is probably a little too low, -Inf where a guess does not pay.
func guessLevel(z, m []float64, top, volume float64, s *Support) float64 {
	z, m, share, ok := s.thin(z, m)
	thinTop := highest(z, m)
	if !ok || math.IsInf(thinTop, -1) {
		return math.Inf(-1)
	}
	volume *= share
	heaviest := topWeight(z, m, thinTop)
	waterAbove(z, m, thinTop, volume, -volume/heaviest, s)
	volume *= generous(len(s.Rows))
	return thinTop - top + waterAbove(z, m, thinTop, volume, -volume/heaviest, s).level
}

// waterAbove is waterLevel for the rows above a floor, which it takes to be all that matter.
func waterAbove(z, m []float64, top, volume, floor float64, s *Support) water {
	s.Rows = s.Rows[:0]
	for j, zj := range z {
		if above(zj-top, floor) && weight(m, j) > 0 {
			s.Rows = append(s.Rows, int32(j))
		}
	}
	for {
		w := pour(z, m, s.Rows, top, volume)
		n := 0
		for _, j := range s.Rows {
			if above(z[j]-top, w.level) {
				s.Rows[n] = j
				n++
			}
		}
		if n == len(s.Rows) {
			return w
		}
		s.Rows = s.Rows[:n]
	}
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

// above reports whether a row at x <= 0 below the top sticks out; the top always does, even from a volume that underflows.
func above(x, level float64) bool { return !(x <= level) || x == 0 }

// pour returns the level as if all of the given rows stuck out.
func pour(z, m []float64, rows []int32, top, volume float64) water {
	var mass, scores sum
	for _, j := range rows {
		mass.add(weight(m, int(j)))
		scores.add(float64(weight(m, int(j)) * (z[j] - top)))
	}
	w := water{mass: mass.total(), scores: scores.total()}
	w.level = (w.scores - volume) / w.mass
	return w
}
