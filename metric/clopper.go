package metric

import (
	"fmt"

	"toptau/diag"
	"toptau/internal/core/binomial"
)

// DefaultConfidence is the default confidence of an interval.
const DefaultConfidence = 0.95

func checkConfidence(confidence float64) (float64, error) {
	if confidence == 0 {
		return DefaultConfidence, nil
	}
	if !(confidence > 0 && confidence < 1) {
		return 0, &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("a confidence of %v", confidence),
			Expected: "a number between 0 and 1, such as 0.95"}
	}
	return confidence, nil
}

// ClopperPearson returns the exact two-sided interval for a proportion after x successes in n trials: the p
// at which P(Bin(n, p) >= x) and P(Bin(n, p) <= x) fall to (1 - confidence)/2. It covers every true
// proportion with at least the confidence. It requires 0 <= x <= n, n >= 1 and a confidence in (0,1);
// otherwise it returns [0, 1].
func ClopperPearson(x, n int, confidence float64) (low, high float64) {
	if n < 1 || x < 0 || x > n || !(confidence > 0 && confidence < 1) {
		return 0, 1
	}
	tail := (1 - confidence) / 2
	low, high = 0, 1
	if x > 0 {
		low = binomial.SolveAtLeast(n, x, tail)
	}
	if x < n {
		high = binomial.SolveAtMost(n, x, tail)
	}
	return low, high
}
