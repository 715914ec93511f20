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

// waterLevel pours the volume and leaves the rows above the level in s.Rows, ascending.
func waterLevel(z, m []float64, top, volume float64, s *Support) water {
	w := pour(z, m, nil, top, volume)
	for j, zj := range z {
		if above(zj-top, w.level) && weight(m, j) > 0 {
			s.Rows = append(s.Rows, int32(j))
		}
	}
	for {
		w = pour(z, m, s.Rows, top, volume)
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

// above reports whether a row at x <= 0 below the top sticks out; the top always does, even from a volume that underflows.
func above(x, level float64) bool { return !(x <= level) || x == 0 }

// pour returns the level for some rows (nil: all of z) as if all of them stuck out.
func pour(z, m []float64, rows []int32, top, volume float64) water {
	var mass, scores sum
	if rows == nil {
		for j, zj := range z {
			mass.add(weight(m, j))
			scores.add(float64(weight(m, j) * (zj - top)))
		}
	} else {
		for _, j := range rows {
			mass.add(weight(m, int(j)))
			scores.add(float64(weight(m, int(j)) * (z[j] - top)))
		}
	}
	w := water{mass: mass.total(), scores: scores.total()}
	w.level = (w.scores - volume) / w.mass
	return w
}
