package ranking

import (
	"math"
	"math/rand/v2"
	"testing"

	"toptau/internal/core/binomial"
	"toptau/threshold"
)

// With equal amounts the randomisation test is the sign test: exactly for a few units, within its error for many.
func TestSignFlipsOfEqualAmounts(t *testing.T) {
	for _, c := range []struct{ up, down int }{{0, 0}, {1, 0}, {5, 0}, {7, 2}, {6, 6}, {30, 14}} {
		units := map[int]float64{}
		for i := range c.up + c.down {
			units[i] = 2.5
			if i >= c.up {
				units[i] = -2.5
			}
		}
		want := min(1, 2*binomial.AtLeast(c.up+c.down, max(c.up, c.down), 0.5))
		if got := signFlips(units); math.Abs(got-want) > 0.004 {
			t.Errorf("%+v: %v, want %v", c, got, want)
		}
	}
	// One large amount against many small ones decides alone.
	units := map[int]float64{0: 1000}
	for i := 1; i < 12; i++ {
		units[i] = -1
	}
	if got := signFlips(units); got < 0.9 {
		t.Errorf("one amount alone is significant: %v", got)
	}
}

// The criterion of amounts has the threshold of the criterion of counts, and equal amounts give the same rate.
func TestCriterionOfAmounts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	s := PairedScores{Positives: [][]float64{{}, {}}, Negatives: [][]float64{{}, {}}}
	for range 200 {
		for m := range s.Positives {
			s.Positives[m] = append(s.Positives[m], random.NormFloat64()+1.5)
		}
	}
	for range 2000 {
		for m := range s.Negatives {
			s.Negatives[m] = append(s.Negatives[m], random.NormFloat64())
		}
	}
	for _, c := range []Criterion{NP(threshold.MustRate("5%")), Quantile(threshold.MustRate("5%")), Top()} {
		counted, err := PairedBootstrap(s, c, 0, Bootstrap{Seed: 1, Replicates: 400})
		if err != nil {
			t.Fatal(err)
		}
		equal := s
		equal.PositiveValues = make([]float64, 200)
		for i := range equal.PositiveValues {
			equal.PositiveValues[i] = 3
		}
		valued, err := PairedBootstrap(equal, c, 0, Bootstrap{Seed: 1, Replicates: 400})
		if err != nil {
			t.Fatal(err)
		}
		for m := range counted.Results {
			a, b := counted.Results[m], valued.Results[m]
			if a.Threshold != b.Threshold || a.Rate != b.Rate || b.Numerator != 3*a.Numerator ||
				math.Abs(a.Interval.Low-b.Interval.Low) > 0.03 || math.Abs(a.Interval.High-b.Interval.High) > 0.03 {
				t.Errorf("%s: %+v, %+v", c, a, b)
			}
		}
	}
	// All money in one positive: it is found or not.
	s.PositiveValues = make([]float64, 200)
	best := 0
	for i, z := range s.Positives[0] {
		if z > s.Positives[0][best] {
			best = i
		}
	}
	s.PositiveValues[best] = 1e6
	one, err := PairedBootstrap(s, NP(threshold.MustRate("5%")), 0, Bootstrap{Seed: 1, Replicates: 100})
	if err != nil || one.Results[0].Rate != 1 || one.Results[0].Criterion != "value@np(0.05)" {
		t.Errorf("%+v, %v", one.Results[0], err)
	}
	s.PositiveValues[0] = -1
	if _, err := PairedBootstrap(s, Top(), 0, Bootstrap{}); err == nil {
		t.Error("a negative amount is accepted")
	}
}

// The interval of the fraction of amounts found covers the fraction of the distribution.
func TestFoundValueCovers(t *testing.T) {
	const draws, rows, rate = 400, 150, 0.7
	missed := 0
	for draw := range draws {
		random := rand.New(rand.NewPCG(uint64(draw), 5))
		values, found := make([]float64, rows), make([]bool, rows)
		for i := range values {
			values[i], found[i] = math.Exp(random.NormFloat64()), random.Float64() < rate
		}
		p, err := FoundValue(values, found, Bootstrap{Seed: uint64(draw), Replicates: 200})
		if err != nil {
			t.Fatal(err)
		}
		if p.Interval.Low > rate || p.Interval.High < rate { // amounts are independent of the decisions
			missed++
		}
	}
	// 5 % of 400 are 20; 38 or more have probability 1e-4.
	if missed > 37 {
		t.Errorf("%d of %d intervals miss the fraction", missed, draws)
	}
}
