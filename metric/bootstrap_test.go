package metric

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"toptau/threshold"
)

// tiedSample has groups of equal scores and positives that are higher on average.
func tiedSample(positives, negatives, levels int, seed uint64) Scores {
	r := newStream(seed)
	var s Scores
	for range positives {
		s.Positives = append(s.Positives, math.Floor(float64(levels)*math.Sqrt(uniform(r))))
	}
	for range negatives {
		s.Negatives = append(s.Negatives, math.Floor(float64(levels)*uniform(r)))
	}
	return s
}

func mustRank(t testing.TB, s Scores) *Ranking {
	t.Helper()
	r, err := Rank(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The counts that stand in for resampling have the distribution of resampled rows: two independent sets of replicates, one
// by counts and one by drawing rows, agree within the two-sample Kolmogorov-Smirnov bound at level 0.001.
func TestReplicatesAreResampledRows(t *testing.T) {
	const replicates = 4000
	bound := 1.95 * math.Sqrt(2.0/replicates)
	for name, s := range map[string]Scores{
		"tied":       tiedSample(40, 150, 12, 1),
		"continuous": tiedSample(40, 150, 1<<50, 2),
	} {
		r := mustRank(t, s)
		ones := make([]float64, len(s.Positives)+len(s.Negatives))
		for i := range ones {
			ones[i] = 1
		}
		rows := mustRank(t, s)
		rows.weighted = true // draw the rows one by one
		rows.rows = rowsOf(rows, s)
		for _, c := range append(criteria(threshold.MustRate("10%")), Quantile(threshold.MustRate("45%"))) {
			fast, slow := make([]float64, replicates), make([]float64, replicates)
			base, _ := r.Positives(c)
			target := int(base.Budget)
			if !c.Paper || c.Name == AtTop {
				target++
			}
			var drawn Ranking
			for i := range replicates {
				fast[i] = r.replicate(c, target, stream(5, i)) / r.PositiveMass()
				rows.resample(&drawn, stream(6, i))
				again, _ := drawn.Positives(c)
				slow[i] = again.Rate
			}
			if d := kolmogorov(fast, slow); d > bound {
				t.Errorf("%s, %v: distance %v above %v", name, c, d, bound)
			}
		}
	}
}

// rowsOf lists the rows of an unweighted sample as weighted ones.
func rowsOf(r *Ranking, s Scores) rows {
	var out rows
	for class, scores := range [2][]float64{s.Positives, s.Negatives} {
		for _, z := range scores {
			out.groups[class] = append(out.groups[class], int32(r.above(z)))
			out.weights[class] = append(out.weights[class], 1)
		}
	}
	return out
}

// kolmogorov is the largest distance between two empirical distribution functions.
func kolmogorov(a, b []float64) float64 {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	worst := 0.0
	for _, z := range append(slices.Clone(a), b...) {
		below := func(v []float64) float64 {
			n, _ := slices.BinarySearchFunc(v, z, func(x, z float64) int {
				if x <= z {
					return -1
				}
				return 1
			})
			return float64(n) / float64(len(v))
		}
		worst = max(worst, math.Abs(below(a)-below(b)))
	}
	return worst
}

// The top-count replicates too, against drawn rows.
func TestTopReplicatesAreResampledRows(t *testing.T) {
	s := tiedSample(60, 140, 9, 3)
	r, rowwise := mustRank(t, s), mustRank(t, s)
	rowwise.weighted, rowwise.rows = true, rowsOf(rowwise, s)
	b := Bootstrap{Replicates: 4000, Seed: 1}
	fast, err := r.BootstrapTop(50, b)
	if err != nil {
		t.Fatal(err)
	}
	slow, err := rowwise.BootstrapTop(50, b)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range fast.rates() {
		q := slow.rates()[i]
		if p.Rate != q.Rate || math.Abs(p.Interval.Low-q.Interval.Low) > 0.021 || math.Abs(p.Interval.High-q.Interval.High) > 0.021 {
			t.Errorf("rate %d: %+v by counts, %+v by rows", i, p.Interval, q.Interval)
		}
	}
}

func TestDrawBinomial(t *testing.T) {
	const draws = 20_000
	r := newStream(11)
	for _, c := range []struct {
		n           int
		part, whole float64
	}{{1, 1, 3}, {10, 1, 2}, {50, 1, 1000}, {300, 299, 300}, {5000, 700, 1000}} {
		p := c.part / c.whole
		seen := make([]float64, c.n+1)
		for range draws {
			seen[drawBinomial(r, c.n, c.part, c.whole)]++
		}
		cumulated, worst := 0.0, 0.0
		for k := range seen {
			cumulated += seen[k] / draws
			worst = max(worst, math.Abs(cumulated-BinomialAtMost(c.n, k, p)))
		}
		if bound := 1.95 / math.Sqrt(draws); worst > bound { // one-sample Kolmogorov-Smirnov at level 0.001
			t.Errorf("%+v: distance %v above %v", c, worst, bound)
		}
	}
	if drawBinomial(r, 7, 0, 5) != 0 || drawBinomial(r, 7, 5, 5) != 7 || drawBinomial(r, 0, 0, 0) != 0 {
		t.Error("a certain outcome is drawn wrongly")
	}
}

// The interval covers the value that the criterion has on the whole distribution about as often as it says, where the
// bootstrap is consistent: 300 samples, a budget of 40 of 200 negatives.
func TestBootstrapCovers(t *testing.T) {
	const samples = 300
	tau := threshold.MustRate("20%")
	truth := 1 - 0.8*0.8 // P(sqrt(U) > 0.8)
	covered := 0
	for i := range samples {
		s := tiedSample(100, 200, 1<<50, uint64(100+i))
		res, err := mustRank(t, s).Bootstrap(NP(tau), Bootstrap{Replicates: 400, Seed: uint64(i)})
		if err != nil {
			t.Fatal(err)
		}
		if res.Interval.Low <= truth && truth <= res.Interval.High {
			covered++
		}
	}
	// 95 % of 300 is 285, three standard errors are 11; the percentile bootstrap may lose a few per cent more.
	if covered < 265 {
		t.Errorf("covered in %d of %d samples", covered, samples)
	}
	t.Logf("covered in %d of %d samples", covered, samples)
}

func TestBootstrapIsDeterministic(t *testing.T) {
	plain := tiedSample(200, 3000, 500, 4)
	weighted := plain
	weighted.NegativeWeights = make([]float64, len(plain.Negatives))
	r := rand.New(rand.NewPCG(1, 2))
	for i := range weighted.NegativeWeights {
		weighted.NegativeWeights[i] = uniform(r) + 0.5
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, s := range []Scores{plain, weighted} {
		var first *Interval
		for _, processors := range []int{1, 2, 8} {
			runtime.GOMAXPROCS(processors)
			res, err := mustRank(t, s).Bootstrap(Quantile(threshold.MustRate("5%")), Bootstrap{Replicates: 200, Seed: 9})
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = res.Interval
			}
			if *res.Interval != *first {
				t.Errorf("%d processors: %+v, 1: %+v", processors, res.Interval, first)
			}
			if res.Interval.Kind != BootstrapInterval || res.Interval.Low > res.Rate || res.Interval.High < res.Rate {
				t.Errorf("%+v of %v", res.Interval, res.Rate)
			}
		}
	}
}

func TestPercentiles(t *testing.T) {
	for _, c := range []struct {
		n          int
		confidence float64
		low, high  int
	}{{2000, 0.95, 49, 1950}, {1, 0.95, 0, 0}, {2, 0.5, 0, 1}, {39, 0.95, 0, 38}, {100, 0.01, 48, 51}} {
		if low, high := percentiles(c.n, c.confidence); low != c.low || high != c.high {
			t.Errorf("%d replicates at %v: %d and %d, want %d and %d", c.n, c.confidence, low, high, c.low, c.high)
		}
	}
}

// BenchmarkMillion is what an evaluation of a million rows costs: the sort, then 2,000 replicates.
func BenchmarkMillion(b *testing.B) {
	s := tiedSample(20_000, 980_000, 1<<50, 1)
	b.Run("rank", func(b *testing.B) {
		for b.Loop() {
			mustRank(b, s)
		}
	})
	r := mustRank(b, s)
	for _, c := range []Criterion{NP(threshold.MustRate("1%")), Quantile(threshold.MustRate("1%"))} {
		b.Run(c.String(), func(b *testing.B) {
			for b.Loop() {
				if _, err := r.Bootstrap(c, Bootstrap{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
