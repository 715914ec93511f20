package metric

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"toptau/internal/fault"
)

// Bootstrap says how an interval is made where the threshold comes from the same rows: rows of each class are drawn
// with replacement (stratified: n+ positives, n- negatives), the threshold is found again in every replicate, and the
// interval runs between percentiles of the replicates. The zero value is ready to use.
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
		return b, &fault.Error{Kind: fault.Usage, Found: fmt.Sprintf("%d bootstrap replicates", b.Replicates),
			Expected: fmt.Sprintf("a number from 1 to %d", maxReplicates)}
	}
	return b, nil
}

// Bootstrap computes a criterion with its bootstrap interval.
//
// Without weights a replicate costs O(log n), not O(n), and is exact: counts above a score are binomial, and the sample
// at the budget's edge is found by halving the sorted groups and drawing how many of the remaining draws fall into the
// upper half, class by class. That is the distribution of resampled rows, not an approximation of it. With weights the
// rows themselves are drawn with their weights, O(n) a replicate, and the budget M tau follows the drawn mass.
//
// The bootstrap of an extreme (Positives@Top, or a budget of a few samples) is known to be inconsistent: the largest
// of the drawn negatives is the largest of all in 63 % of the replicates. Such an interval describes, it does not
// guarantee.
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
	target := res.Budget
	if !c.Paper || c.Name == AtTop {
		target++ // the first sample that stays out
	}
	res.Interval = r.interval(b, func(rng *rand.Rand) float64 {
		return r.replicate(c, int(target), rng) / r.PositiveMass()
	}, func(drawn *Ranking) float64 {
		again, _ := drawn.Positives(c) // c was checked above; undefined counts as 0
		return again.Rate
	})
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
		p.Interval = r.interval(b, func(rng *rand.Rand) float64 {
			e := r.edge(Criterion{Name: AtQuantile}, int(count), rng)
			tp := float64(e.positives) + max(0, count-float64(e.positives+e.negatives+e.edgeNegatives))
			drawn := r.selected(count, tp, count-tp)
			return drawn.rates()[i].Rate
		}, func(drawn *Ranking) float64 {
			again := drawn.selection(min(count, drawn.PositiveMass()+drawn.NegativeMass()))
			return again.rates()[i].Rate
		})
	}
	return s, nil
}

// interval makes the replicates, by plain on counts or by weighted on drawn rows, and takes their percentiles.
func (r *Ranking) interval(b Bootstrap, plain func(*rand.Rand) float64, weighted func(*Ranking) float64) *Interval {
	rates := make([]float64, b.Replicates)
	parallel(b.Replicates, func(first, last int) {
		var drawn Ranking
		for i := first; i < last; i++ {
			rng := stream(b.Seed, i)
			if r.weighted {
				r.resample(&drawn, rng)
				rates[i] = weighted(&drawn)
			} else {
				rates[i] = plain(rng)
			}
		}
	})
	slices.Sort(rates)
	low, high := percentiles(b.Replicates, b.Confidence)
	return &Interval{Kind: BootstrapInterval, Low: rates[low], High: rates[high], Confidence: b.Confidence,
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

// parallel splits 0..n-1 over the processors. The work writes to places of its own, so the result does not depend on
// their number.
func parallel(n int, work func(first, last int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	var group sync.WaitGroup
	for i := range workers {
		group.Go(func() { work(i*n/workers, (i+1)*n/workers) })
	}
	group.Wait()
}

// edge is where a budget ends in one replicate.
type edge struct {
	group                        int // the group of the target-th largest draw of the population
	positives, negatives         int // draws above that group; of the negatives alone when they are the population
	edgePositives, edgeNegatives int // draws in that group
}

// replicate draws one replicate of a criterion and returns the number of positives that count. target is the number of
// the population's draw, from the top, that holds the threshold.
func (r *Ranking) replicate(c Criterion, target int, rng *rand.Rand) float64 {
	e := r.edge(c, target, rng)
	if c.Name == AtQuantile {
		if c.Paper {
			return float64(e.positives + e.edgePositives)
		}
		return float64(e.positives)
	}
	top := e.group
	if c.Paper {
		top++
	}
	return float64(drawBinomial(rng, r.counts[0], r.positives[top], r.PositiveMass()))
}

// edge finds the target-th largest of n draws with replacement (both classes for Positives@Quantile, negatives
// otherwise) by halving the groups: of the draws known to lie in a range of groups, the number in its upper half is
// binomial.
func (r *Ranking) edge(c Criterion, target int, rng *rand.Rand) edge {
	e := edge{edgeNegatives: r.counts[1]}
	if c.Name == AtQuantile {
		e.edgePositives = r.counts[0]
	}
	low, high := 0, len(r.scores)
	for high-low > 1 {
		mid := low + (high-low)/2
		p := drawBinomial(rng, e.edgePositives, r.positives[mid]-r.positives[low], r.positives[high]-r.positives[low])
		n := drawBinomial(rng, e.edgeNegatives, r.negatives[mid]-r.negatives[low], r.negatives[high]-r.negatives[low])
		if e.positives+e.negatives+p+n >= target {
			high = mid
			e.edgePositives, e.edgeNegatives = p, n
		} else {
			low = mid
			e.positives += p
			e.negatives += n
			e.edgePositives -= p
			e.edgeNegatives -= n
		}
	}
	e.group = low
	return e
}

// resample draws the rows of both classes with their weights into drawn, which has the groups of r.
func (r *Ranking) resample(drawn *Ranking, rng *rand.Rand) {
	size := len(r.scores) + 1
	if drawn.scores == nil {
		*drawn = Ranking{scores: r.scores, positives: make([]float64, size), negatives: make([]float64, size),
			counts: r.counts, weighted: true, whole: r.whole}
	}
	for class, mass := range [2][]float64{drawn.positives, drawn.negatives} {
		clear(mass)
		groups, weights := r.rows.groups[class], r.rows.weights[class]
		for range groups {
			i := rng.IntN(len(groups))
			mass[groups[i]+1] += weights[i]
		}
		for g := 1; g < size; g++ {
			mass[g] += mass[g-1]
		}
	}
}
