package ranking

import (
	"cmp"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"toptau/internal/core/binomial"
	"toptau/internal/core/parallel"
	"toptau/method"
	"toptau/metric"
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

// massed is a row with a mass.
type massed struct {
	z, mass  float64
	positive bool
}

// walk goes down a list and returns the mass of the positives within a budget of the population, above which
// there is already some mass.
func walk(list []massed, c Criterion, above, budget float64) float64 {
	if budget = raised(budget); above > budget {
		return 0
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b massed) int { return cmp.Compare(b.z, a.z) })
	sum := 0.0
	for i := 0; i < len(list); {
		before := sum
		for z := list[i].z; i < len(list) && list[i].z == z; i++ {
			if list[i].positive {
				sum += list[i].mass
			}
			if !list[i].positive || c.Name == method.AtQuantile {
				above += list[i].mass
			}
		}
		if above > budget {
			if c.Paper {
				return sum
			}
			return before
		}
	}
	return sum
}

// gapped draws the masses of the gaps row by row and walks down the list, as Bootstrap's comment says.
func gapped(s Scores, c Criterion, stratified bool, rng *rand.Rand) (low, high float64) {
	var list []massed
	var total, gap [2]float64
	weights := [2][]float64{s.PositiveWeights, s.NegativeWeights}
	for class, scores := range [2][]float64{s.Positives, s.Negatives} {
		first := len(list)
		squares, sum := 0.0, 0.0
		for i, z := range scores {
			w := 1.0
			if weights[class] != nil {
				w = weights[class][i]
			}
			squares, sum = squares+w*w, sum+w
			list = append(list, massed{z, -w * math.Log(positiveUniform(rng)), class == 0})
			total[class] += list[len(list)-1].mass
		}
		gap[class] = -squares / sum * math.Log(positiveUniform(rng))
		total[class] += gap[class]
		if stratified {
			scale := sum / total[class]
			for i := first; i < len(list); i++ {
				list[i].mass *= scale
			}
			gap[class] *= scale
			total[class] = sum
		}
	}
	budget, taken := c.Tau.Float64()*total[1], 0.0
	switch c.Name {
	case method.AtQuantile:
		budget, taken = c.Tau.Float64()*(total[0]+total[1]), gap[0]
	case method.AtTop:
		one, mass := 1.0, float64(len(s.Negatives))
		if weights[1] != nil {
			mass = 0
			for _, w := range weights[1] {
				mass += w
			}
			one = typicalWeight(weights[1])
		}
		budget = one / (mass + one) * total[1]
	}
	low, high = walk(list, c, gap[1], budget), walk(list, c, taken, budget)+gap[0]
	if c.Name == method.AtQuantile {
		high = min(high, budget)
	}
	return low / total[0], high / total[0]
}

// Replicates in O(log n) have the distribution of masses drawn row by row: two independent sets of replicates
// agree within the two-sample Kolmogorov-Smirnov bound at level 0.001.
func TestReplicatesDrawTheMassOfEveryRow(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: a simulation of seconds")
	}
	const replicates = 4000
	bound := 1.95 * math.Sqrt(2.0/replicates)
	weighted := tiedSample(30, 120, 12, 3)
	rng := newStream(7)
	for range weighted.Positives {
		weighted.PositiveWeights = append(weighted.PositiveWeights, 0.5+uniform(rng))
	}
	for range weighted.Negatives {
		weighted.NegativeWeights = append(weighted.NegativeWeights, float64(rng.IntN(4)))
	}
	for name, s := range map[string]Scores{
		"tied":       tiedSample(40, 150, 12, 1),
		"continuous": tiedSample(40, 150, 1<<50, 2),
		"weighted":   weighted,
	} {
		r := mustRank(t, s)
		for _, c := range append(criteria(threshold.MustRate("10%")), Quantile(threshold.MustRate("45%"))) {
			var fast, slow [2][]float64
			d := drawn{r: r}
			for i := range replicates {
				d.rng = stream(5, i)
				low, high := d.criterion(c)
				fast[0], fast[1] = append(fast[0], low), append(fast[1], high)
				low, high = gapped(s, c, !r.weighted, stream(6, i))
				slow[0], slow[1] = append(slow[0], low), append(slow[1], high)
			}
			for side, end := range []string{"low", "high"} {
				if d := kolmogorov(fast[side], slow[side]); d > bound {
					t.Errorf("%s, %v, %s: distance %v above %v", name, c, end, d, bound)
				}
			}
		}
	}
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

// The intervals of a number of best rows contain the true rates of rows whose number of positives is left to chance.
func TestTopCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: a simulation of seconds")
	}
	const rows, count, prevalence, samples = 2000, 40, 0.05, 400
	curve := through(0.001, 0.36)
	// The rates at the threshold that admits 2 % of the rows, by bisection.
	low, high := 0.0, 1.0
	for range 60 {
		if fpr := (low + high) / 2; prevalence*curve.at(fpr)+(1-prevalence)*fpr > float64(count)/rows {
			high = fpr
		} else {
			low = fpr
		}
	}
	truth := [3]float64{prevalence * curve.at(low) * rows / count, curve.at(low), low}
	intervals := [3][samples]*metric.Interval{}
	parallel.For(samples, func(sample int) {
		rng := newStream(uint64(sample))
		positives := drawBinomial(rng, rows, prevalence, 1)
		s, err := mustRank(t, curve.sample(positives, rows-positives, rng)).BootstrapTop(count, Bootstrap{Replicates: 200, Seed: uint64(sample)})
		if err != nil {
			panic(err)
		}
		for i, p := range s.rates() {
			intervals[i][sample] = p.Interval
		}
	})
	for i, name := range []string{"precision", "positives found", "false alarms"} {
		c := simulate(samples, truth[i], func(sample int) *metric.Interval { return intervals[i][sample] })
		t.Logf("%s: %v", name, c)
		if c.share() < 0.93 { // 372 of 400 or fewer have a probability of 4 % at 95 %
			t.Errorf("%s: %v", name, c)
		}
	}
}

// A fixed threshold makes the interval that of Clopper and Pearson: the budget is all of the negatives'
// distribution but for a part of it in which no positive lies.
func TestBootstrapAtAFixedThreshold(t *testing.T) {
	s := Scores{Negatives: make([]float64, 1000)}
	for i := range s.Negatives {
		s.Negatives[i] = float64(i)
	}
	for i := range 15 {
		z := 2000.0
		if i >= 12 {
			z = -1
		}
		s.Positives = append(s.Positives, z)
	}
	res, err := mustRank(t, s).Bootstrap(NP(threshold.MustRate("50%")), Bootstrap{Replicates: 40_000})
	if err != nil {
		t.Fatal(err)
	}
	low, high := binomial.ClopperPearson(12, 15, 0.95)
	if math.Abs(res.Interval.Low-low) > 0.006 || math.Abs(res.Interval.High-high) > 0.006 {
		t.Errorf("%+v, Clopper-Pearson %v to %v", res.Interval, low, high)
	}
}

func TestDrawGamma(t *testing.T) {
	const samples = 20_000
	rng := newStream(12)
	for _, k := range []int{1, 3, 4, 20, 1000} {
		above := 0.0
		values := make([]float64, samples)
		for i := range values {
			values[i] = drawGamma(rng, k)
		}
		slices.Sort(values)
		for i, x := range values { // the gamma distribution function by the Poisson distribution: P(fewer than k events in x)
			p := math.Exp(-x)
			tail := 0.0
			for j := range k {
				tail += p
				p *= x / float64(j+1)
			}
			if k == 1000 { // exp(-x) is 0: by the normal approximation of Wilson and Hilferty
				tail = 1 - normal((math.Cbrt(x/1000)-1+1.0/9000)*math.Sqrt(9000))
			}
			above = max(above, math.Abs(tail-1+(float64(i)+0.5)/samples))
		}
		if bound := 1.95 / math.Sqrt(samples); above > bound {
			t.Errorf("%d: distance %v above %v", k, above, bound)
		}
	}
	worst := 0.0
	values := make([]float64, 200_000)
	for i := range values {
		values[i] = drawExponential(rng)
	}
	slices.Sort(values)
	for i, x := range values {
		worst = max(worst, math.Abs(1-math.Exp(-x)-(float64(i)+0.5)/float64(len(values))))
	}
	if bound := 1.95 / math.Sqrt(float64(len(values))); worst > bound {
		t.Errorf("exponential: distance %v above %v", worst, bound)
	}
	if drawGamma(rng, 0) != 0 {
		t.Error("the sum of no variables is not 0")
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
			worst = max(worst, math.Abs(cumulated-binomial.AtMost(c.n, k, p)))
		}
		if bound := 1.95 / math.Sqrt(draws); worst > bound { // one-sample Kolmogorov-Smirnov at level 0.001
			t.Errorf("%+v: distance %v above %v", c, worst, bound)
		}
	}
	if drawBinomial(r, 7, 0, 5) != 0 || drawBinomial(r, 7, 5, 5) != 7 || drawBinomial(r, 0, 0, 0) != 0 {
		t.Error("a certain outcome is drawn wrongly")
	}
}

// The interval covers the value that the criterion has on the whole distribution about as often as it says,
// where the bootstrap is consistent: 300 samples, a budget of 40 of 200 negatives.
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
		var first *metric.Interval
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
			if res.Interval.Kind != metric.BootstrapInterval || res.Interval.Low > res.Rate || res.Interval.High < res.Rate {
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

// Positives that fill a budget exactly are all within it in every replicate, with their gap in their favour; with one of them at the
// bottom they are not.
func TestPositivesThatFillTheBudget(t *testing.T) {
	half := Quantile(threshold.MustRate("50%"))
	for _, n := range []int{1, 2, 10, 97} {
		for _, perfect := range []bool{true, false} {
			var s Scores
			for i := range n {
				s.Positives, s.Negatives = append(s.Positives, float64(1000+i)), append(s.Negatives, float64(-i))
			}
			if !perfect {
				s.Positives[0] = -1000
			}
			d := drawn{r: mustRank(t, s)}
			p := newPairing(PairedScores{Positives: [][]float64{s.Positives}, Negatives: [][]float64{s.Negatives}}, half, d.r, float64(n))
			pair := p.newDrawing()
			all, paired := 0, 0
			const replicates = 500
			for i := range replicates {
				d.rng = stream(1, i)
				if _, high := d.criterion(half); high > 1-1e-9 {
					all++
				}
				pair.draw(stream(2, i))
				if pair.found(&p.orders[0])[positivesAbove]+pair.gap[0]/pair.total[0] > 1-1e-9 {
					paired++
				}
			}
			if want := map[bool]int{true: replicates}[perfect]; all != want || paired != want {
				t.Errorf("%d positives, perfect %v: all found in %d and %d of %d replicates, want %d", n, perfect, all, paired, replicates, want)
			}
		}
	}
}
