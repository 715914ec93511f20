package heldout

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"toptau/diag"
	"toptau/internal/core/binomial"
	"toptau/method"
	"toptau/metric"
	"toptau/threshold"
)

func rate(text string) threshold.Rate { return threshold.MustRate(text) }

// maxFPR and top are goals at a rate.
func maxFPR(text string) metric.Goal { return metric.RateGoal(metric.GoalMaxFPR, text) }
func top(text string) metric.Goal    { return metric.RateGoal(metric.GoalTop, text) }

// thresholdOf returns the threshold for a goal from the scores of its population; delta "": without a guarantee.
func thresholdOf(z []float64, g metric.Goal, delta string) (*Threshold, error) {
	s, err := Sort(z, nil, g.Population())
	if err != nil {
		return nil, err
	}
	if delta == "" {
		return For(g, threshold.Rate{}, s)
	}
	return For(g, rate(delta), s)
}

func TestNeededKnownNumbers(t *testing.T) {
	for _, c := range []struct {
		alpha, delta string
		want         int
	}{
		{"5%", "5%", 59}, {"1%", "5%", 299}, {"0.1%", "5%", 2995}, {"0.01%", "5%", 29956},
		{"1/2", "1/4", 2}, {"1/10", "81/100", 2}, {"10%", "0.729", 3}, // equality is enough
		{"10%", "0.7289999999999999999999999", 4}, // and differs from almost equality
		{"99%", "50%", 1},
	} {
		got, err := Needed(rate(c.alpha), rate(c.delta))
		if err != nil || got != c.want {
			t.Errorf("alpha %s, delta %s: %d %v, want %d", c.alpha, c.delta, got, err, c.want)
		}
	}
	if n, err := Needed(rate("1e-300"), rate("5%")); err != nil || n != math.MaxInt64 {
		t.Errorf("%d %v", n, err)
	}
}

// exactTail is P(Bin(n, 1-alpha) >= k) in fractions.
func exactTail(n, k int, alpha *big.Rat) *big.Rat {
	sum, one := new(big.Rat), big.NewRat(1, 1)
	keep := new(big.Rat).Sub(one, alpha)
	for j := k; j <= n; j++ {
		term := new(big.Rat).SetInt(new(big.Int).Binomial(int64(n), int64(j)))
		for range j {
			term.Mul(term, keep)
		}
		for range n - j {
			term.Mul(term, alpha)
		}
		sum.Add(sum, term)
	}
	return sum
}

// The order is the smallest whose exact tail is at most delta; Bound is that tail; below Needed there is
// none.
func TestOrderAgainstFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		a, d := rapid.IntRange(1, 19).Draw(t, "alpha"), rapid.IntRange(1, 10).Draw(t, "delta")
		alpha, delta := big.NewRat(int64(a), 20), big.NewRat(int64(d), 20)
		scores := make([]float64, n)
		for i := range scores {
			scores[i] = float64(i + 1)
		}
		got, err := thresholdOf(scores, maxFPR(alpha.RatString()), delta.RatString())
		order := 0
		for k := n; k >= 1 && exactTail(n, k, alpha).Cmp(delta) <= 0; k-- {
			order = k
		}
		if order == 0 {
			if e := diag.Of(err); e == nil || e.Kind != diag.Guarantee || got.Guarantee != nil || got.Needed <= n {
				t.Fatalf("%+v %v, want a refusal", got, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		bound, _ := exactTail(n, order, alpha).Float64()
		g := got.Guarantee
		if g.Order != order || got.Value != float64(order) || !g.Certified || g.Negatives != n || g.N() != n ||
			math.Abs(g.Bound-bound) > 1e-12*bound || got.Needed > n || got.Order != order || got.Rows != n {
			t.Fatalf("%+v, want order %d with tail %v", got, order, bound)
		}
	})
}

// Where float64 cannot tell the tail from delta, wide numbers do: P(Bin(2, 1/2) <= 0) is exactly 1/4.
func TestEqualTailIsEnough(t *testing.T) {
	if got, err := thresholdOf([]float64{1, 2}, maxFPR("1/2"), "1/4"); err != nil || got.Order != 2 {
		t.Errorf("%+v %v", got, err)
	}
	if !tailAtMost(3, 1, rate("1/3"), rate("20/27")) || tailAtMost(3, 1, rate("1/3"), rate("0.7407407407407407407407")) {
		t.Error("20/27 and a number just below it give the same answer")
	}
}

// draw is one distribution of negative scores with its exact upper tail P(Z > t).
type draw struct {
	name   string
	sample func(r *rand.Rand) float64
	above  func(t float64) float64
}

func uniform(r *rand.Rand) float64 { return float64(r.Uint64()>>11) / (1 << 53) }

func distributions() []draw {
	return []draw{
		{"continuous", uniform, func(t float64) float64 { return 1 - t }},
		{"tied in steps of 0.004", func(r *rand.Rand) float64 { return math.Floor(uniform(r)*250) / 250 },
			func(t float64) float64 { return 1 - (math.Round(t*250)+1)/250 }},
		{"three values: 98, 1.2 and 0.8 %", func(r *rand.Rand) float64 {
			switch u := uniform(r); {
			case u < 0.98:
				return 0
			case u < 0.992:
				return 1
			}
			return 2
		}, func(t float64) float64 { return [3]float64{0.02, 0.008, 0}[int(t)] }},
	}
}

// atMost is the count that violations of probability p exceed in 1 of 10,000 runs of this test at most.
func atMost(draws int, p float64) int {
	for c := 0; ; c++ {
		if binomial.AtLeast(draws, c+1, p) <= 1e-4 {
			return c
		}
	}
}

// atLeast is the count that they fall below as rarely.
func atLeast(draws int, p float64) int {
	c := 0
	for binomial.AtMost(draws, c, p) <= 1e-4 {
		c++
	}
	return c
}

// drawsOf returns the number of draws of a simulation: a fifth of n with -short.
func drawsOf(n int) int {
	if testing.Short() {
		return n / 5
	}
	return n
}

// Over 2,000 fresh calibration sets, the rate exceeds alpha in at most a fraction delta plus three binomial
// standard errors. For continuous scores the bound is exact, so it is not exceeded much less often either.
// The plain threshold fails the same test.
func TestGuaranteeBySimulation(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation")
	}
	draws := drawsOf(2000)
	for _, d := range distributions() {
		for _, n := range []int{300, 1000, 3000} {
			t.Run(fmt.Sprintf("%s, %d", d.name, n), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(n), 3))
				broken, plainBroken := 0, 0
				var bound float64
				z := make([]float64, n)
				for range draws {
					for i := range z {
						z[i] = d.sample(r)
					}
					certified, err := thresholdOf(z, maxFPR("1%"), "5%")
					if err != nil {
						t.Fatal(err)
					}
					plain, err := thresholdOf(z, maxFPR("1%"), "")
					if err != nil {
						t.Fatal(err)
					}
					bound = certified.Guarantee.Bound
					if d.above(certified.Value) > 0.01+1e-12 {
						broken++
					}
					if d.above(plain.Value) > 0.01+1e-12 {
						plainBroken++
					}
				}
				allowed := int(0.05*float64(draws) + 3*math.Sqrt(0.05*0.95*float64(draws))) // delta and three standard errors: 129 of 2,000
				t.Logf("%d of %d draws above alpha (at most %d allowed), plain %d", broken, draws, allowed, plainBroken)
				if broken > allowed {
					t.Errorf("%d of %d draws exceed alpha, at most %d are allowed", broken, draws, allowed)
				}
				if d.name != "continuous" {
					return
				}
				if broken < atLeast(draws, bound) || broken > atMost(draws, bound) {
					t.Errorf("%d of %d draws exceed alpha, the bound says %v", broken, draws, bound)
				}
				if plainBroken <= allowed {
					t.Errorf("the plain threshold breaks the budget in only %d draws: this test cannot fail", plainBroken)
				}
			})
		}
	}
}

func TestTopFractionBySimulation(t *testing.T) {
	const draws, n = 1000, 400
	r := rand.New(rand.NewPCG(8, 3))
	broken := 0
	z := make([]float64, n)
	for range draws {
		for i := range z {
			z[i] = uniform(r)
		}
		at, err := thresholdOf(z, top("2%"), "10%")
		if err != nil {
			t.Fatal(err)
		}
		if c := at.Guarantee; at.Population != method.AllRows || c.Population() != method.AllRows || c.Kind != metric.GoalTop {
			t.Fatal(c)
		}
		if 1-at.Value > 0.02 {
			broken++
		}
	}
	if broken > atMost(draws, 0.1) {
		t.Errorf("%d of %d", broken, draws)
	}
}

func TestAbsoluteTopBySimulation(t *testing.T) {
	const draws, n = 4000, 50
	r := rand.New(rand.NewPCG(9, 3))
	broken := 0
	z := make([]float64, n)
	for range draws {
		for i := range z {
			z[i] = uniform(r)
		}
		at, err := thresholdOf(z, metric.Goal{Kind: metric.GoalAbsoluteTop}, "5%")
		if err != nil {
			t.Fatal(err)
		}
		c := at.Guarantee
		if want := 1 - math.Pow(0.05, 1.0/n); math.Abs(c.Bound-want) > 1e-14 || c.Order != n || !c.Certified {
			t.Fatalf("%+v, want the bound %v", c, want)
		}
		if 1-at.Value > c.Bound {
			broken++
		}
	}
	if broken > atMost(draws, 0.05) || broken < atLeast(draws, 0.05) {
		t.Errorf("%d of %d draws above the bound", broken, draws)
	}
	if got := absoluteBound(100_000_000, 0.05); math.Abs(got-2.9957322287e-8) > 1e-17 {
		t.Errorf("%v", got)
	}
	if got := absoluteBound(1, 0.05); math.Abs(got-0.95) > 1e-15 {
		t.Errorf("%v", got)
	}
}

// The threshold never admits more calibration scores than allowed, however many are tied, and fewer only with
// ties.
func TestTiesAreConservative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 5), func(i int) float64 { return float64(i) }), 60, 200).Draw(t, "scores")
		c, err := thresholdOf(z, maxFPR("10%"), "5%")
		if err != nil {
			t.Fatal(err)
		}
		above, atLeast := 0, 0
		for _, s := range z {
			if s > c.Value {
				above++
			}
			if s >= c.Value {
				atLeast++
			}
		}
		if above > len(z)-c.Order || atLeast < len(z)-c.Order+1 {
			t.Fatalf("%+v: %d above, %d at least", c, above, atLeast)
		}
	})
}

func TestTooFewNamesTheNumber(t *testing.T) {
	z := []float64{3, 1, 2}
	got, err := thresholdOf(z, maxFPR("1%"), "5%")
	e := diag.Of(err)
	if e == nil || e.Kind != diag.Guarantee || !strings.Contains(err.Error(), "299") || !strings.Contains(err.Error(), "3 calibration negatives") {
		t.Fatal(err)
	}
	if got.Guarantee != nil || got.Value != 3 || got.Needed != 299 || got.Order != 3 || got.Rows != 3 || !got.Unresolved {
		t.Errorf("the plain threshold is not offered: %+v", got)
	}
	if z[0] != 3 {
		t.Error("the input is sorted")
	}
}

func TestBadInput(t *testing.T) {
	for name, c := range map[string]struct {
		scores []float64
		goal   metric.Goal
		delta  string
		kind   diag.Kind
	}{
		"empty":    {nil, maxFPR("5%"), "5%", diag.Data},
		"NaN":      {[]float64{1, math.NaN()}, maxFPR("5%"), "5%", diag.Data},
		"no goal":  {[]float64{1}, metric.Goal{}, "5%", diag.Usage},
		"bad rate": {[]float64{1}, top("120%"), "", diag.Usage},
		"none":     {nil, metric.Goal{Kind: metric.GoalAbsoluteTop}, "5%", diag.Data},
	} {
		if _, err := thresholdOf(c.scores, c.goal, c.delta); diag.Of(err) == nil || diag.Of(err).Kind != c.kind {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A hundred million calibration scores are within reach: the order is minimal there too.
func TestAllowedAtScale(t *testing.T) {
	for _, c := range []struct {
		n     int
		alpha string
	}{{1_000_000, "1%"}, {100_000_000, "0.001%"}, {100_000_000, "10%"}} {
		alpha, delta := rate(c.alpha), rate("5%")
		m := maxAbove(c.n, alpha, delta)
		at, next := binomial.AtMost(c.n, m, alpha.Float64()), binomial.AtMost(c.n, m+1, alpha.Float64())
		mean := float64(c.n) * alpha.Float64()
		if at > 0.05 || next <= 0.05 || float64(m) > mean || float64(m) < mean-2*math.Sqrt(mean) {
			t.Errorf("n=%d: m=%d with %v, then %v", c.n, m, at, next)
		}
	}
}

func Example() {
	// Scores of 600 negatives that were used for nothing else; at most 1 % false alarms, with 95 % confidence.
	negatives := make([]float64, 600)
	for i := range negatives {
		negatives[i] = float64(i) / 600
	}
	goal, delta := metric.RateGoal(metric.GoalMaxFPR, "1%"), threshold.MustRate("5%")
	for _, scores := range [][]float64{negatives, negatives[:100]} {
		sorted, err := Sort(scores, nil, goal.Population())
		if err != nil {
			fmt.Println(err)
			return
		}
		t, err := For(goal, delta, sorted)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("threshold %.4f: order %d of %d, certified %v, probability of exceeding 1 %%: %.4f\n",
			t.Value, t.Order, t.Rows, t.Guarantee.Certified, t.Guarantee.Bound)
	}
	// Output:
	// threshold 0.9967: order 599 of 600, certified true, probability of exceeding 1 %: 0.0170
	// 100 calibration negatives, expected at least 299 to keep a rate of 0.01 with confidence 1 - 0.05 (the plain threshold is returned without a guarantee)
}

// A delta above one half is meant as a confidence; one half is not.
func TestDeltaIsNoConfidence(t *testing.T) {
	s, err := Sort([]float64{1, 2, 3}, nil, method.Negatives)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []metric.Goal{maxFPR("50%"), {Kind: metric.GoalAbsoluteTop}, metric.RateGoal(metric.GoalMinRecall, "50%")} {
		_, err := For(g, rate("95%"), s)
		if e := diag.Of(err); e == nil || e.Kind != diag.Usage || e.Param != "delta" || e.Hint != "did you mean 5%?" {
			t.Errorf("%s: %v", g, err)
		}
		if _, err := For(g, rate("50%"), s); err != nil {
			t.Errorf("%s: %v", g, err)
		}
	}
	if _, err := ForLabelled(metric.RateGoal(metric.GoalMinPrecision, "50%"), rate("99.9%"), nil, nil, nil); diag.Of(err).Hint != "did you mean 0.1%?" {
		t.Error(err)
	}
}

// Messages write numbers of rows as everything else does.
func TestTooFewRowsAreWrittenWithCommas(t *testing.T) {
	z := make([]float64, 1500)
	for i := range z {
		z[i] = float64(i)
	}
	_, err := thresholdOf(z, maxFPR("0.1%"), "5%")
	if err == nil || !strings.Contains(err.Error(), "1,500 calibration negatives, expected at least 2,995 to keep a rate") {
		t.Error(err)
	}
}
