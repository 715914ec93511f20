package evidence

import "slices"

// KeptNegatives is the number of best scores of calibration negatives that a model keeps: 40 kB. A list of which a tenth may
// be false then reaches down to about 20,000 rows for as many calibration negatives as rows.
const KeptNegatives = 2000

// The kept ranks are dense at the top, where decisions are made: the highest scores, then ranks that grow by
// half, twenty equal steps over all scores, and the threshold. The constants are part of the format of model
// files.
const (
	sampleGrowth = 1.5
	sampleSteps  = 20
)

// referenceGrowth is the ratio of neighbouring kept ranks near the top: 53 scores of 30,000 rows. Chosen by hand (a change moves results),
// so that the number above any score is known to an eighth. The constant is part of the format of model files.
const referenceGrowth = 1.25

// SampledRanks returns the ranks that a sample of n calibration scores keeps, including that of order k. A rank is the
// number of scores above. The ranks are part of the format of model files.
func SampledRanks(n, k int) []int { return ranksFromTop(n, sampleGrowth, n-k) }

// ReferenceRanks returns the ranks that a reference of n scores keeps. They depend on the number of rows alone, and are part of the
// format of model files.
func ReferenceRanks(n int) []int { return ranksFromTop(n, referenceGrowth) }

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
