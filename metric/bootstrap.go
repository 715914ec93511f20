package metric

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"toptau/diag"
	"toptau/internal/parallel"
)

// Bootstrap sets how an interval is made where the threshold comes from the same rows. The zero value is ready to use.
//
// A replicate is a pair of distributions of scores, one for each class, that could have given these rows: the mass between
// neighbouring scores of a class is drawn as an exponential variable and the masses are divided by their sum. For a continuous
// score that is the exact law of these masses. n rows have n + 1 such gaps. The rows do not show where in a gap its mass lies, so
// the criterion is computed twice: with the mass of every gap of the positives at its lower end and that of the negatives at its
// upper end, and the other way round. The interval runs from a low percentile of the first to a high percentile of the second.
//
// At a threshold that is fixed this is the Clopper-Pearson interval. It does not shrink to a point when all positives are
// found, or none, as percentiles of resampled rows do.
type Bootstrap struct {
	Confidence float64 // 0: 0.95
	Replicates int     // 0: 2000
	Seed       uint64
}

// DefaultReplicates is the number of bootstrap replicates when none is given.
const DefaultReplicates = 2000

// maxReplicates bounds the memory of one interval.
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

// Bootstrap computes a criterion with its bootstrap interval: an interval for the share of the positives that score above the
// threshold which admits exactly the share tau of the population's distribution; for Positives@Top the share 1/(n- + 1), which is
// what lies above the largest of n- negatives on average.
//
// With fewer than about four samples in the budget the threshold may well lie above all of them, and the interval begins at 0.
//
// Without weights a replicate costs O(log n), not O(n): the mass above a score is a gamma variable of its count of rows, and the
// edge of the budget is found by halving the sorted groups and dividing their mass. With weights every row draws a mass,
// O(n) a replicate, and the budget follows the drawn mass.
func (r *Ranking) Bootstrap(c Criterion, b Bootstrap) (Result, error) {
	res, err := r.Positives(c)
	if err != nil {
		return Result{}, err
	}
	b, err = b.check()
	if err != nil {
		return Result{}, err
	}
	if !res.Defined() {
		res.NoInterval = res.Undefined
		return res, nil
	}
	res.Interval = r.interval(b, res.Rate, func(d *drawn) (low, high float64) { return d.criterion(c) })
	return res, nil
}

// BootstrapTop computes TopCount with a bootstrap interval for each of its rates.
func (r *Ranking) BootstrapTop(count float64, b Bootstrap) (Selection, error) {
	s, err := r.TopCount(count)
	if err != nil {
		return Selection{}, err
	}
	if b, err = b.check(); err != nil {
		return Selection{}, err
	}
	for i, p := range s.rates() {
		if !p.Defined() {
			p.NoInterval = p.Undefined
			continue
		}
		p.Interval = r.interval(b, p.Rate, func(d *drawn) (low, high float64) {
			few, many := d.top(count)
			few, many = few*r.PositiveMass(), many*r.PositiveMass()
			if i == falsePositives {
				few, many = many, few
			}
			a, b := r.selected(count, few, count-few), r.selected(count, many, count-many)
			return a.rates()[i].Rate, b.rates()[i].Rate
		})
	}
	return s, nil
}

// falsePositives is the place of the false positive rate in Selection.rates.
const falsePositives = 2

// interval makes the replicates and takes their percentiles. rate is in the interval.
func (r *Ranking) interval(b Bootstrap, rate float64, value func(*drawn) (low, high float64)) *Interval {
	lows, highs := make([]float64, b.Replicates), make([]float64, b.Replicates)
	parallel.Ranges(b.Replicates, func(first, last int) {
		d := drawn{r: r}
		for i := first; i < last; i++ {
			d.rng = stream(b.Seed, i)
			lows[i], highs[i] = value(&d)
		}
	})
	return newInterval(BootstrapInterval, b, rate, lows, highs)
}

// newInterval runs from a percentile of lows to one of highs. It sorts both.
func newInterval(kind string, b Bootstrap, value float64, lows, highs []float64) *Interval {
	slices.Sort(lows)
	slices.Sort(highs)
	low, high := percentiles(b.Replicates, b.Confidence)
	return &Interval{Kind: kind, Low: min(value, lows[low]), High: max(value, highs[high]), Confidence: b.Confidence,
		Replicates: b.Replicates, Seed: b.Seed}
}

// percentiles are the places (0-based) of the interval's ends among n sorted replicates: the j-th smallest and the
// j-th largest, j = max(1, floor((n+1) (1 - confidence) / 2)).
func percentiles(n int, confidence float64) (low, high int) {
	j := max(1, int(float64(float64(n+1)*(1-confidence))/2))
	j = min(j, (n+1)/2)
	return j - 1, n - j
}

// stream is the random stream of one replicate: it depends on the seed and the replicate alone.
func stream(seed uint64, replicate int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(replicate)*0x9e3779b97f4a7c15+0xd1342543de82ef95))
}
