package threshold

// Rules that solve an equation over many rows first solve it on a few thousand of them, taken at equal distances. The
// result says where to start, and from which score up the rows are worth a look. The rules check what they are told: a bad
// guess costs another reading of the scores and never changes the result.

const (
	thinRows = 4096
	thinFrom = 8 * thinRows // rows below which a thin copy does not pay
)

// thin returns a thin copy of the rows and its share of them; ok is false where there are too few rows.
func (s *Support) thin(z, m []float64) (thinZ, thinM []float64, share float64, ok bool) {
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
