package heldout

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"toptau/calibrate"
	"toptau/internal/core/evidence"
	"toptau/method"
)

// exactAtLeast is P(C >= c) in whole numbers: the orders of n+m scores in which the k-th of the n has c or
// more of the m above.
func exactAtLeast(n, k, m, c int) float64 {
	sum, all := new(big.Rat), new(big.Int).Binomial(int64(n+m), int64(m))
	for j := c; j <= m; j++ {
		ways := new(big.Int).Binomial(int64(j+n-k), int64(j))
		ways.Mul(ways, new(big.Int).Binomial(int64(m-j+k-1), int64(m-j)))
		sum.Add(sum, new(big.Rat).SetFrac(ways, all))
	}
	p, _ := sum.Float64()
	return p
}

func TestExceedanceIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "n")
		k := rapid.IntRange(1, n).Draw(t, "k")
		m := rapid.IntRange(1, 80).Draw(t, "m")
		c := rapid.IntRange(0, m).Draw(t, "c")
		want := exactAtLeast(n, k, m, c)
		if got := atLeastAbove(n, k, m, c); math.Abs(got-want) > 1e-12*want {
			t.Fatalf("P(C >= %d) = %v, exactly %v", c, got, want)
		}
		below := 1 - exactAtLeast(n, k, m, c+1)
		if got := atMostAbove(n, k, m, c); math.Abs(got-below) > 1e-12 {
			t.Fatalf("P(C <= %d) = %v, exactly %v", c, got, below)
		}
	})
	// By hand: with one calibration score and one more, it is above in half of the cases.
	if p := atLeastAbove(1, 1, 1, 1); p != 0.5 {
		t.Error(p)
	}
}

// The kept scores are order statistics with as many above as they say, the threshold among them, and few.
func TestSampleKeepsOrderStatistics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3000).Draw(t, "n")
		k := rapid.IntRange(1, n).Draw(t, "k")
		z := make([]float64, n)
		for i := range z {
			z[i] = float64(i + 1)
		}
		sorted, err := Sort(z, nil, method.Negatives)
		if err != nil {
			t.Fatal(err)
		}
		_, s, err := sorted.statistic(k, evidence.SampledRanks(n, k))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Check(); err != nil || s.Rows != n || len(s.Above) > 60 || !slices.Contains(s.Above, n-k) ||
			s.Above[len(s.Above)-1] != 0 {
			t.Fatalf("%+v: %v", s, err)
		}
		for i, e := range s.Above {
			if s.Scores[i] != float64(n-e) {
				t.Fatalf("%d above %v of %d", e, s.Scores[i], n)
			}
		}
	})
}

func TestSampleCheck(t *testing.T) {
	for name, s := range map[string]*calibrate.Sample{
		"empty":      {Rows: 3},
		"lengths":    {Rows: 3, Above: []int{1}, Scores: []float64{1, 2}},
		"too high":   {Rows: 3, Above: []int{3}, Scores: []float64{1}},
		"ranks":      {Rows: 3, Above: []int{1, 1}, Scores: []float64{1, 2}},
		"scores":     {Rows: 3, Above: []int{1, 0}, Scores: []float64{2, 1}},
		"not finite": {Rows: 3, Above: []int{1}, Scores: []float64{math.Inf(1)}},
	} {
		if s.Check() == nil {
			t.Errorf("%s passes", name)
		}
	}
	if (*calibrate.Sample)(nil).Check() != nil {
		t.Error("no sample is no mistake")
	}
}

// arrive compares m draws with n calibration draws.
func arrive(t testing.TB, r *rand.Rand, n, m, foreign int, calibration, later func(*rand.Rand) float64) Shift {
	z := make([]float64, n)
	for i := range z {
		z[i] = calibration(r)
	}
	at, err := thresholdOf(z, maxFPR("10%"), "5%")
	if err != nil {
		t.Fatal(err)
	}
	a := NewArrivals(at.Guarantee.Calibration)
	for range m {
		a.Add(later(r))
	}
	if a.Rows() != m {
		t.Fatal(a.Rows())
	}
	return a.Shift(foreign)
}

// Exchangeable scores, however tied, raise a false alarm no more often than the level says.
func TestArrivalsRaiseFewFalseAlarms(t *testing.T) {
	const level = 0.05
	draws := drawsOf(500)
	for _, d := range distributions() {
		for _, size := range [][2]int{{100, 40}, {300, 3000}, {2000, 500}} {
			r := rand.New(rand.NewPCG(uint64(size[0]), 7))
			alarms := 0
			for range draws {
				if arrive(t, r, size[0], size[1], 0, d.sample, d.sample).P <= level {
					alarms++
				}
			}
			mean := level * float64(draws)
			allowed := int(mean + 3*math.Sqrt(mean*(1-level)))
			t.Logf("%s, %d after %d: %d of %d false alarms at the level %v", d.name, size[1], size[0], alarms, draws, level)
			if alarms > allowed {
				t.Errorf("%s: %d of %d false alarms, at most %d are allowed", d.name, alarms, draws, allowed)
			}
		}
	}
}

// A shift at the top is seen, in the right direction, and so is one in the bulk.
func TestArrivalsSeeAShift(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 7))
	for name, c := range map[string]struct {
		later func(*rand.Rand) float64
		more  bool
	}{
		"four times as many at the top": {func(r *rand.Rand) float64 {
			if uniform(r) < 0.03 {
				return 0.99 + 0.01*uniform(r)
			}
			return uniform(r)
		}, true},
		"none at the top":  {func(r *rand.Rand) float64 { return 0.9 * uniform(r) }, false},
		"moved in between": {func(r *rand.Rand) float64 { return math.Max(uniform(r), 0.2*uniform(r)) }, true},
	} {
		s := arrive(t, r, 3000, 3000, 0, uniform, c.later)
		t.Logf("%s: %+v", name, s)
		if s.P > 1e-3 || s.More != c.more || (s.Seen > s.Expected) != c.more {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// Foreign rows, wherever they score, do not raise an alarm by themselves; more than the given number do.
func TestArrivalsAllowForForeignRows(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation")
	}
	for _, at := range []float64{-1, 0.5, 2} {
		r := rand.New(rand.NewPCG(6, 7))
		alarms := 0
		const draws = 300
		for range draws {
			k := 0
			s := arrive(t, r, 500, 2000, 100, uniform, func(r *rand.Rand) float64 {
				if k++; k <= 100 {
					return at
				}
				return uniform(r)
			})
			if s.P <= 0.05 {
				alarms++
			}
		}
		if alarms > 26 {
			t.Errorf("foreign rows at %v: %d of %d alarms", at, alarms, draws)
		}
	}
	r := rand.New(rand.NewPCG(8, 7))
	if s := arrive(t, r, 500, 2000, 20, uniform, func(r *rand.Rand) float64 {
		if uniform(r) < 0.1 {
			return 2
		}
		return uniform(r)
	}); s.P > 1e-6 || !s.More || s.Score < 0.9 {
		t.Errorf("%+v", s)
	}
}

func ExampleNewArrivals() {
	calibration := make([]float64, 1000)
	for i := range calibration {
		calibration[i] = float64(i) / 1000
	}
	at, err := thresholdOf(calibration, maxFPR("2%"), "5%")
	if err != nil {
		fmt.Println(err)
		return
	}
	arrivals := NewArrivals(at.Guarantee.Calibration)
	for i := range 400 {
		arrivals.Add(0.1 + float64(i)/400) // everything scores a tenth higher
	}
	s := arrivals.Shift(0)
	fmt.Printf("%.1f %% above %v instead of %.1f %%: exchangeable %v\n", 100*s.Seen, s.Score, 100*s.Expected, s.P > 0.01)
	// Output:
	// 10.0 % above 0.999 instead of 0.0 %: exchangeable false
}
