package binomial

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
		low = SolveAtLeast(n, x, tail)
	}
	if x < n {
		high = SolveAtMost(n, x, tail)
	}
	return low, high
}
