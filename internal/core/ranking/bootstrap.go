package ranking

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"toptau/diag"
	"toptau/internal/core/parallel"
	"toptau/method"
	"toptau/metric"
)

// Bootstrap sets how an interval is computed if the threshold comes from the same rows. The zero value is
// ready to use.
//
// A replicate is a pair of score distributions, one for each class, that could have produced these rows. The
// mass between neighbouring scores of a class is drawn as an exponential variable, and the masses are divided
// by their sum. For continuous scores that is the exact distribution of these masses. n rows have n + 1 such
// gaps. The rows do not show where in a gap its mass lies, so the criterion is computed twice: with the mass
// of every gap of the positives at its lower end and that of the negatives at its upper end, and the other
// way round. The interval runs from a low percentile of the first to a high percentile of the second.
//
// At a fixed threshold this is the Clopper-Pearson interval. Unlike percentiles of resampled rows, it does
// not shrink to a point if all positives are found, or none.
type Bootstrap struct {
	Confidence float64 // 0: 0.95
	Replicates int     // 0: 2,000
	Seed       uint64
}

// DefaultReplicates is the default number of bootstrap replicates: the ends of a 95 % interval are then the
// 50th smallest and largest.
const DefaultReplicates = 2000

// maxReplicates limits the memory of one interval to 160 MB.
const maxReplicates = 10_000_000

func (b Bootstrap) check() (Bootstrap, error) {
	var err error
	if b.Confidence, err = checkConfidence(b.Confidence); err != nil {
		return b, err
	}
	if b.Replicates == 0 {
		b.Replicates = DefaultReplicates
	}
	if b.Replicates < 1 || b.Replicates > maxReplicates {
		return b, &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("%d bootstrap replicates", b.Replicates),
			Expected: fmt.Sprintf("a number from 1 to %d", maxReplicates)}
	}
	return b, nil
}

// Bootstrap computes a criterion with its bootstrap interval. The interval is for the fraction of the
// positives above the threshold that admits exactly the fraction tau of the population's distribution. For
// Positives@Top that fraction is 1/(n- + 1), which lies above the largest of n- negatives on average.
//
// With fewer than about four rows in the budget the threshold may lie above all of them, so the interval
// begins at 0.
//
// Without weights a replicate costs O(log n), not O(n): the mass above a score is a gamma variable of its
// count of rows, and bisection of the sorted groups finds the edge of the budget. With weights every row
// draws a mass, which costs O(n), and the budget follows the drawn mass.
func (r *Ranking) Bootstrap(c Criterion, b Bootstrap) (metric.Result, error) {
	res, err := r.Positives(c)
	if err != nil {
		return metric.Result{}, err
	}
	b, err = b.check()
	if err != nil {
		return metric.Result{}, err
	}
	if !res.Defined() {
		res.NoInterval = res.Undefined
		return res, nil
	}
	if c.Name != method.AtQuantile && c.Name != method.AtPrecision {
		r = perClass(r)
	}
	if c.Name == method.AtRecall {
		r, c = r.mirrored(), NP(c.Tau.Complement())
	}
	res.Interval = r.interval(b, res.Rate, func(d *drawn) (low, high float64) { return d.criterion(c) })
	return res, nil
}

// BootstrapTop computes TopCount with a bootstrap interval for each of its rates, for rows that have as many positives as
// chance brings: their number in the sample is not taken as known. The interval of Positives@Quantile is narrower, because it
// is for rows of which the same fraction is positive.
func (r *Ranking) BootstrapTop(count float64, b Bootstrap) (Selection, error) {
	s, err := r.TopCount(count)
	if err != nil {
		return Selection{}, err
	}
	if b, err = b.check(); err != nil {
		return Selection{}, err
	}
	var lows, highs [3][]float64 // by rate and replicate
	for i := range lows {
		lows[i], highs[i] = make([]float64, b.Replicates), make([]float64, b.Replicates)
	}
	parallel.Ranges(b.Replicates, func(first, last int) {
		d := drawn{r: r}
		for k := first; k < last; k++ {
			d.rng = stream(b.Seed, k)
			t := d.top(count)
			lows[0][k], highs[0][k] = t.low/count, t.high/count
			lows[1][k], highs[1][k] = t.low/t.positives, t.high/t.positives
			lows[2][k], highs[2][k] = max(0, count-t.high)/t.negatives, min(1, (count-t.low)/t.negatives)
		}
	})
	for i, p := range s.rates() {
		if !p.Defined() {
			p.NoInterval = p.Undefined
			continue
		}
		p.Interval = newInterval(metric.BootstrapInterval, b, p.Rate, lows[i], highs[i])
	}
	return s, nil
}

// interval draws the replicates and takes their percentiles. It extends the interval to rate.
func (r *Ranking) interval(b Bootstrap, rate float64, value func(*drawn) (low, high float64)) *metric.Interval {
	lows, highs := make([]float64, b.Replicates), make([]float64, b.Replicates)
	parallel.Ranges(b.Replicates, func(first, last int) {
		d := drawn{r: r}
		for i := first; i < last; i++ {
			d.rng = stream(b.Seed, i)
			lows[i], highs[i] = value(&d)
		}
	})
	return newInterval(metric.BootstrapInterval, b, rate, lows, highs)
}

// newInterval returns the interval from a percentile of lows to one of highs, extended to value. It sorts
// both.
func newInterval(kind string, b Bootstrap, value float64, lows, highs []float64) *metric.Interval {
	slices.Sort(lows)
	slices.Sort(highs)
	low, high := percentiles(b.Replicates, b.Confidence)
	return &metric.Interval{Kind: kind, Low: min(value, lows[low]), High: max(value, highs[high]), Confidence: b.Confidence,
		Replicates: b.Replicates, Seed: b.Seed}
}

// percentiles returns the 0-based indices of the interval's ends among n sorted replicates: the j-th smallest
// and the j-th largest, j = max(1, floor((n+1) (1 - confidence) / 2)).
func percentiles(n int, confidence float64) (low, high int) {
	j := max(1, int(float64(float64(n+1)*(1-confidence))/2))
	j = min(j, (n+1)/2)
	return j - 1, n - j
}

// stream returns the random numbers of one replicate. They depend only on the seed and the replicate.
func stream(seed uint64, replicate int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(replicate)*0x9e3779b97f4a7c15+0xd1342543de82ef95))
}
