package calibrate

import (
	"fmt"
	"math"
	"slices"
)

// Sample holds some order statistics of calibration scores, so that later scores can be compared with them
// (see Arrivals). Above[i] of the Rows calibration scores rank above Scores[i], which is their (Rows -
// Above[i])-th smallest. Above descends and Scores ascend.
type Sample struct {
	Rows   int       `json:"rows"`
	Above  []int     `json:"above"`
	Scores []float64 `json:"scores"`
}

// The kept ranks are dense at the top, where decisions are made: the highest scores, then ranks that grow by
// half, twenty equal steps over all scores, and the threshold. The constants are part of the format of model
// files.
const (
	sampleGrowth = 1.5
	sampleSteps  = 20
)

// sampledRanks returns the ranks that a sample of n scores keeps, including that of order k. A rank is the
// number of scores above. The ranks are part of the format of model files (Guarantee.Check).
func sampledRanks(n, k int) []int { return ranksFromTop(n, sampleGrowth, n-k) }

// ranksFromTop returns descending ranks of n scores: some given ones, the highest, which grow by a factor, and
// equal steps over all scores.
func ranksFromTop(n int, growth float64, given ...int) []int {
	above := given
	for e, step := 0, 1.0; e < n/sampleSteps; {
		above = append(above, e)
		step = max(1, float64(e)*(growth-1))
		e += int(step)
	}
	for i := range sampleSteps {
		above = append(above, (i+1)*n/sampleSteps-1)
	}
	slices.Sort(above)
	above = slices.Compact(slices.DeleteFunc(above, func(e int) bool { return e < 0 }))
	slices.Reverse(above)
	return above
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
