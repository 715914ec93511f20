package threshold

// Rules that solve an equation over many rows first solve it for a thin copy: a few thousand rows at equal
// distances. The solution is a starting point, and a guess of the score below which rows do not matter. The
// rules check the guess, so a bad one costs another pass over the scores and never changes the result.

// A thin copy has thinRows rows. Below thinFrom rows it costs more than it saves. Both were chosen by hand.
const (
	thinRows = 4096
	thinFrom = 8 * thinRows
)

// thinCopy returns a thin copy of the rows, and the fraction of the rows that it has. ok is false if there
// are too few rows.
func (s *Support) thinCopy(z, m []float64) (thinZ, thinM []float64, fraction float64, ok bool) {
	if len(z) < thinFrom {
		return nil, nil, 0, false
	}
	stride := len(z) / thinRows
	s.thinScores, s.thinMass = s.thinScores[:0], s.thinMass[:0]
	for i := range thinRows {
		j := i*stride + stride/2
		s.thinScores = append(s.thinScores, z[j])
		if m != nil {
			s.thinMass = append(s.thinMass, m[j])
		}
	}
	if m != nil {
		thinM = s.thinMass
	}
	return s.thinScores, thinM, thinRows / float64(len(z)), true
}
