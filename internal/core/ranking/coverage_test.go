package ranking

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"toptau/internal/core/parallel"
	"toptau/method"
	"toptau/metric"
	"toptau/threshold"
)

// draws is the number of samples of a simulated coverage: go test ./internal/core/ranking -run Coverage -v -args -draws 4000
var draws = flag.Int("draws", 0, "samples of a simulated coverage; 0: a short run")

// binormal are positives whose share found at a false positive rate f is Phi(d + Phi^-1(f)). A score is minus
// the rate of the negatives above it.
type binormal float64

func normal(x float64) float64        { return 0.5 * math.Erfc(-x/math.Sqrt2) }
func normalInverse(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }

// through finds the curve through a point.
func through(fpr, tpr float64) binormal { return binormal(normalInverse(tpr) - normalInverse(fpr)) }

func (d binormal) sample(positives, negatives int, rng *rand.Rand) Scores {
	var s Scores
	for range positives {
		s.Positives = append(s.Positives, -normal(normalInverse(positiveUniform(rng))-float64(d)))
	}
	for range negatives {
		s.Negatives = append(s.Negatives, -positiveUniform(rng))
	}
	return s
}

// coverage counts the samples whose interval misses the truth below and above, and the mean width.
type coverage struct {
	below, above int
	width        float64
	samples      int
}

func (c coverage) share() float64 { return 1 - float64(c.below+c.above)/float64(c.samples) }

func (c coverage) String() string {
	n := float64(c.samples)
	return fmt.Sprintf("%.1f %% (missed low %.1f, high %.1f), width %.3f", 100*c.share(), 100*float64(c.below)/n,
		100*float64(c.above)/n, c.width/n)
}

// simulate draws samples and counts how often the interval contains truth.
func simulate(samples int, truth float64, interval func(sample int) *metric.Interval) coverage {
	intervals := make([]*metric.Interval, samples)
	parallel.For(samples, func(i int) { intervals[i] = interval(i) })
	c := coverage{samples: samples}
	for _, i := range intervals {
		switch {
		case truth < i.Low:
			c.below++
		case truth > i.High:
			c.above++
		}
		c.width += i.High - i.Low
	}
	return c
}

// correlated draws two models whose scores of a row are normal with a correlation of 0.7.
func correlated(positives, negatives int, d [2]binormal, rng *rand.Rand) PairedScores {
	s := PairedScores{Positives: make([][]float64, 2), Negatives: make([][]float64, 2)}
	for i := range positives + negatives {
		shared := math.Sqrt(0.7) * drawNormal(rng)
		for m := range 2 {
			z := shared + math.Sqrt(0.3)*drawNormal(rng)
			if i < positives {
				s.Positives[m] = append(s.Positives[m], z+float64(d[m]))
			} else {
				s.Negatives[m] = append(s.Negatives[m], z)
			}
		}
	}
	return s
}

// setting is one line of the table of coverages: criteria with a known value, from curves through (rate,
// truth).
type setting struct {
	criterion            Criterion
	positives, negatives int
	rate, truth          float64
}

func newSetting(name method.Criterion, positives, negatives int, truth float64) setting {
	s := setting{Criterion{Name: name, Tau: threshold.MustRate("1%")}, positives, negatives, 0.01, truth}
	switch name {
	case method.AtTop:
		s.criterion.Tau, s.rate = threshold.Rate{}, 1/float64(negatives+1)
	case method.AtQuantile: // the share of all rows above the same threshold
		share := (float64(positives)*truth + float64(negatives)*0.01) / float64(positives+negatives)
		s.criterion.Tau = threshold.MustRate(fmt.Sprintf("%.9f", share))
	}
	return s
}

func (s setting) String() string {
	return fmt.Sprintf("%s, %d positives, %d negatives, %.0f %% found", s.criterion.Name, s.positives, s.negatives, 100*s.truth)
}

// simulate counts how often the interval of the criterion contains its true value.
func (s setting) simulate(samples int) coverage {
	curve := through(s.rate, s.truth)
	return simulate(samples, s.truth, func(i int) *metric.Interval {
		r, err := Rank(curve.sample(s.positives, s.negatives, newStream(uint64(i))))
		if err != nil {
			panic(err)
		}
		res, err := r.Bootstrap(s.criterion, Bootstrap{Replicates: 400, Seed: uint64(i)})
		if err != nil {
			panic(err)
		}
		return res.Interval
	})
}

// simulatePair does the same for the difference to a model that finds the fraction better. For
// Positives@Quantile it is limited so that at least half of the false alarms stay within the budget. wrong
// counts verdicts that contradict the truth.
func (s setting) simulatePair(samples int, better float64) (c coverage, wrong int) {
	rate := s.rate
	if s.criterion.Name == method.AtQuantile && better > s.truth { // the budget is all that both classes take
		limit := float64(s.negatives) * s.rate / float64(s.positives)
		better = min(better, s.truth+limit/2)
		rate -= (better - s.truth) * float64(s.positives) / float64(s.negatives)
	}
	curves := [2]binormal{through(s.rate, s.truth), through(rate, better)}
	verdicts := make([]metric.Verdict, samples)
	c = simulate(samples, better-s.truth, func(i int) *metric.Interval {
		out, err := PairedBootstrap(correlated(s.positives, s.negatives, curves, newStream(uint64(i))), s.criterion, 0,
			Bootstrap{Replicates: 400, Seed: uint64(i)})
		if err != nil {
			panic(err)
		}
		verdicts[i] = out.Differences[1].Verdict()
		return out.Differences[1].Interval
	})
	for _, v := range verdicts {
		if v == metric.Worse || v == metric.Better && better == s.truth {
			wrong++
		}
	}
	return c, wrong
}

// The interval covers the value on the whole distribution at least as often as it says, with few positives
// and many, found rarely or nearly always. With -args -draws 2000 the test prints the table of
// docs/results/guarantee.md.
func TestBootstrapCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: a simulation of seconds")
	}
	samples, positives, negatives := *draws, []int{5, 10, 15, 30, 100}, []int{200, 2000}
	truths := []float64{0.2, 0.5, 0.8, 0.95}
	if samples == 0 {
		samples, positives, negatives, truths = 150, []int{5, 15, 100}, []int{2000}, []float64{0.2, 0.95}
	}
	for _, name := range []method.Criterion{method.AtNP, method.AtQuantile, method.AtTop} {
		for _, m := range positives {
			for _, n := range negatives {
				for _, truth := range truths {
					s := newSetting(name, m, n, truth)
					c := s.simulate(samples)
					t.Logf("%v: %v", s, c)
					c.atLeast(t, s, 0.95)
				}
			}
		}
	}
}

// The same for the difference of two models; and at most 5 % of the verdicts are wrong.
func TestDifferenceCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: a simulation of seconds")
	}
	samples, positives, negatives := *draws, []int{5, 15, 30, 100}, []int{200, 2000}
	truths := [][2]float64{{0.3, 0.3}, {0.8, 0.8}, {0.3, 0.6}, {0.8, 0.95}}
	if samples == 0 {
		samples, positives, negatives, truths = 100, []int{15, 100}, []int{2000}, truths[1:3]
	}
	for _, name := range []method.Criterion{method.AtNP, method.AtQuantile, method.AtTop} {
		for _, m := range positives {
			for _, n := range negatives {
				for _, truth := range truths {
					s := newSetting(name, m, n, truth[0])
					c, wrong := s.simulatePair(samples, truth[1])
					t.Logf("%v against %.0f %%: %v, %d wrong", s, 100*truth[1], c, wrong)
					floor := 0.95
					if name == method.AtTop { // a budget of one row: see docs/results/guarantee.md
						floor = 0.9
					}
					c.atLeast(t, s, floor)
					if allowed := 0.05*float64(samples) + 3*math.Sqrt(0.05*0.95*float64(samples)); float64(wrong) > allowed {
						t.Errorf("%v: %d wrong verdicts", s, wrong)
					}
				}
			}
		}
	}
}

// atLeast fails where the coverage is below a share by more than three standard errors.
func (c coverage) atLeast(t *testing.T, s setting, share float64) {
	t.Helper()
	if c.share() < share-3*math.Sqrt(share*(1-share)/float64(c.samples)) {
		t.Errorf("%v: %v", s, c)
	}
}

// at returns the fraction of the positives found at a false positive rate.
func (d binormal) at(fpr float64) float64 { return normal(float64(d) + normalInverse(fpr)) }
