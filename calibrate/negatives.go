package calibrate

import (
	"fmt"
	"math"

	"toptau/internal/core/evidence"
)

// Negatives are the best scores of calibration negatives, so that the false ones on a list of later rows can be bounded. The negatives were
// used for nothing but thresholds.
type Negatives struct {
	Rows int       `json:"rows"` // calibration negatives
	Best []float64 `json:"best"` // the scores of the best ones, descending
}

// Check returns an error for scores that no model keeps.
func (n *Negatives) Check() error {
	if n == nil {
		return nil
	}
	if n.Rows < 1 || len(n.Best) != min(n.Rows, evidence.KeptNegatives) {
		return fmt.Errorf("%d scores of %d negatives", len(n.Best), n.Rows)
	}
	for i, z := range n.Best {
		if math.IsNaN(z) || math.IsInf(z, 0) || i > 0 && z > n.Best[i-1] {
			return fmt.Errorf("score %v of a negative, or out of order", z)
		}
	}
	return nil
}

// Fits returns an error if a sample of the scores of the same negatives has other scores.
func (n *Negatives) Fits(s *Sample) error {
	if s.Rows != n.Rows {
		return fmt.Errorf("%d negatives, and a sample of %d", n.Rows, s.Rows)
	}
	for i, above := range s.Above {
		if above < len(n.Best) && n.Best[above] != s.Scores[i] {
			return fmt.Errorf("the negative of rank %d scores %v, and %v in the sample", above+1, n.Best[above], s.Scores[i])
		}
	}
	return nil
}
