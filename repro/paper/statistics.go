package paper

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// midranks returns the ranks of values. Rank 1 is the highest value, and equal values share the mean of their
// ranks.
func midranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	ranks := make([]float64, len(values))
	for i := 0; i < len(order); {
		end := i
		for end < len(order) && values[order[end]] == values[order[i]] {
			end++
		}
		for _, k := range order[i:end] {
			ranks[k] = float64(i+1+end) / 2
		}
		i = end
	}
	return ranks
}

// friedman returns Friedman's statistic of k methods from their ranks in n blocks (sets or sources), in the form for
// ties and mean ranks:
//
//	chi2 = (k-1) sum_j (R_j - n(k+1)/2)^2 / (sum_ij r_ij^2 - n k (k+1)^2/4).
//
// For many blocks it has the chi-squared distribution with k-1 degrees of freedom. With the few blocks here that is
// wrong, so friedmanPermutation returns the p-value and the table has chiSquared next to it. The statistic needs two blocks and is NaN otherwise.
func friedman(ranks [][]float64) float64 {
	n := float64(len(ranks))
	if len(ranks) < 2 {
		return math.NaN()
	}
	k := float64(len(ranks[0]))
	var between, within float64
	for j := range ranks[0] {
		sum := -n * (k + 1) / 2
		for _, block := range ranks {
			sum += block[j]
			within += float64(block[j] * block[j])
		}
		between += float64(sum * sum)
	}
	within -= float64(n * k * (k + 1) * (k + 1) / 4)
	if within <= 0 {
		return 0
	}
	return (k - 1) * between / within
}

// chiSquared returns the limit of the p-value of Friedman's statistic of k methods for many blocks.
func chiSquared(statistic float64, k int) float64 {
	return distuv.ChiSquared{K: float64(k - 1)}.Survival(statistic)
}

// criticalDifference returns Nemenyi's critical difference of average ranks of k methods over n sets at level
// alpha: q sqrt(k(k+1)/(6n)), where q is the quantile of the studentized range of k groups, divided by sqrt
// 2.
func criticalDifference(k, n int, alpha float64) float64 {
	return studentizedRange(k, 1-alpha) / math.Sqrt2 * math.Sqrt(float64(k*(k+1))/float64(6*n))
}

// studentizedRange returns the quantile p of the range of k standard normal variables (infinitely many
// degrees of freedom). It bisects the distribution P(q) = k integral of phi(z) (Phi(z) - Phi(z-q))^(k-1) dz.
func studentizedRange(k int, p float64) float64 {
	low, high := 0.0, 20.0
	for range 60 {
		middle := (low + high) / 2
		if rangeBelow(k, middle) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// rangeBelow returns the probability that the range of k standard normal variables is below q.
func rangeBelow(k int, q float64) float64 {
	const step, end = 1.0 / 256, 9.0
	normal := distuv.UnitNormal
	var sum float64
	for i := 0; i <= int(2*end/step); i++ {
		z := float64(float64(i)*step) - end
		inside := math.Pow(float64(normal.CDF(z))-float64(normal.CDF(z-q)), float64(k-1))
		sum += float64(float64(step*normal.Prob(z)) * inside)
	}
	return min(1, float64(k)*sum)
}

// Interval is a mean with a two-sided interval.
type Interval struct {
	Mean, Low, High float64
	N               int // number of splits
}

// overSplits returns the mean of a quantity over random splits with the 95 % interval of Nadeau and Bengio (2003).
// The splits share rows, so the variance of the mean is (1/N + n_test/n_train) times that of the values. Here
// n_test/n_train = 1/2. With one split, Low and High are NaN.
func overSplits(values []float64) Interval { return together(values, 1) }

// together returns an interval of overSplits that is one of several. All of them contain their means with 95 %
// probability: by Bonferroni's inequality each has the probability 1 - 0.05/intervals.
func together(values []float64, intervals int) Interval {
	n := float64(len(values))
	var mean, square float64
	for _, v := range values {
		mean += v / n
	}
	mean = withoutRounding(mean)
	r := Interval{Mean: mean, Low: math.NaN(), High: math.NaN(), N: len(values)}
	if len(values) < 2 {
		return r
	}
	for _, v := range values {
		square += float64((v - mean) * (v - mean))
	}
	quantile := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(1 - 0.025/float64(intervals))
	half := float64(math.Sqrt((1/n+0.5)*square/(n-1)) * quantile)
	r.Low, r.High = mean-half, mean+half
	return r
}

// withoutRounding returns 0 for a difference of mean ranks that is only rounding, and other differences unchanged.
// Ranks are multiples of 1/2, and their means are over at most 14 methods, 5 criteria, 10 splits and 12 sets, so a true
// difference is above 1e-6.
func withoutRounding(difference float64) float64 {
	if math.Abs(difference) < 1e-9 {
		return 0
	}
	return difference
}

// meanValue returns the mean of values.
func meanValue(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// median returns the median of values, and NaN without values.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
