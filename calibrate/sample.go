package calibrate

import (
	"fmt"
	"math"
)

// Sample holds some order statistics of calibration scores, so that later scores can be compared with them
// (score and evaluate warn). Above[i] of the Rows calibration scores rank above Scores[i], which is their (Rows -
// Above[i])-th smallest. Above descends and Scores ascend.
type Sample struct {
	Rows   int       `json:"rows"`
	Above  []int     `json:"above"`
	Scores []float64 `json:"scores"`
}

// Same reports whether two samples are of the same calibration scores: they have the same number of rows and
// equal scores at all ranks that both keep, which are all except those of the thresholds.
func (s *Sample) Same(other *Sample) bool {
	if s == nil || other == nil || s.Rows != other.Rows {
		return false
	}
	common, i := 0, 0
	for j, above := range other.Above {
		for i < len(s.Above) && s.Above[i] > above {
			i++
		}
		if i < len(s.Above) && s.Above[i] == above {
			if s.Scores[i] != other.Scores[j] {
				return false
			}
			common++
		}
	}
	return common > 0 && common+1 >= min(len(s.Above), len(other.Above))
}

// Check returns an error for a sample that no calibration can give.
func (s *Sample) Check() error {
	if s == nil {
		return nil
	}
	if len(s.Above) == 0 || len(s.Above) != len(s.Scores) {
		return fmt.Errorf("%d ranks for %d scores", len(s.Above), len(s.Scores))
	}
	for i, e := range s.Above {
		if e < 0 || e >= s.Rows || i > 0 && e >= s.Above[i-1] {
			return fmt.Errorf("rank %d of %d calibration rows, or out of order", e, s.Rows)
		}
		if z := s.Scores[i]; math.IsNaN(z) || math.IsInf(z, 0) || i > 0 && z < s.Scores[i-1] {
			return fmt.Errorf("calibration score %v, or out of order", z)
		}
	}
	return nil
}
