package ranking

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"toptau/metric"
	"toptau/threshold"
)

// A mixed ranking is that of rows whose classes weigh more, and its rates of one class keep their counts.
func TestMixedIsWeighted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	var s Scores
	for range 40 {
		s.Positives = append(s.Positives, math.Floor(10*(r.NormFloat64()+1)))
	}
	for range 200 {
		s.Negatives = append(s.Negatives, math.Floor(10*r.NormFloat64()))
	}
	plain, err := Rank(s)
	if err != nil {
		t.Fatal(err)
	}
	w := s
	w.PositiveWeights, w.NegativeWeights = slices.Repeat([]float64{1}, 40), slices.Repeat([]float64{3}, 200)
	weighted, err := Rank(w)
	if err != nil {
		t.Fatal(err)
	}
	mixed := plain.Mixed(40.0 / 640)
	if again := weighted.Mixed(40.0 / 640); again != weighted {
		t.Error("rows that have the mix already are another ranking")
	}
	if same := mixed.Mixed(40.0 / 240); same != plain {
		t.Error("the mix of the measured rows is another ranking")
	}
	for _, tau := range []string{"5%", "20%", "50%"} { // whole numbers of rows
		a, err1 := mixed.TopFraction(threshold.MustRate(tau))
		b, err2 := weighted.TopFraction(threshold.MustRate(tau))
		if err1 != nil || err2 != nil || math.Abs(a.Precision.Rate-b.Precision.Rate)+math.Abs(a.TruePositiveRate.Rate-b.TruePositiveRate.Rate) > 1e-12 {
			t.Errorf("top %s: %+v, weighted %+v", tau, a, b)
		}
	}
	for i, p := range mixed.PR().Points {
		if q := weighted.PR().Points[i]; math.Abs(p.X-q.X)+math.Abs(p.Y-q.Y) > 1e-12 {
			t.Fatalf("point %d: %v, weighted %v", i, p, q)
		}
	}
	a, err := mixed.At(9, 0)
	b, _ := weighted.At(9, 0)
	c, _ := plain.At(9, 0)
	if err != nil || math.Abs(a.Precision.Rate-b.Precision.Rate) > 1e-12 || a.FalsePositiveRate.Denominator != 200 || *a.FalsePositiveRate.Interval != *c.FalsePositiveRate.Interval {
		t.Errorf("%+v, weighted %+v", a, b)
	}
	if math.Abs(a.AlertRate.Rate-b.AlertRate.Rate) > 1e-12 || c.Mixed || !a.Mixed {
		t.Errorf("alert rate %v, weighted %v", a.AlertRate, b.AlertRate)
	}
	if back := Mix(a, 40.0/240, nil); back.Precision.Rate != c.Precision.Rate || *back.Precision.Interval != *c.Precision.Interval || back.Mixed || back.AlertRate.Rate != c.AlertRate.Rate {
		t.Errorf("%+v, before %+v", back, c)
	}
	for _, criterion := range []Criterion{Top(), NP(threshold.MustRate("5%")), Recall(threshold.MustRate("50%"))} {
		x, err1 := mixed.Bootstrap(criterion, Bootstrap{Replicates: 50})
		y, err2 := plain.Bootstrap(criterion, Bootstrap{Replicates: 50})
		if err1 != nil || err2 != nil || x.Proportion.Rate != y.Proportion.Rate || *x.Interval != *y.Interval || x.Budget != y.Budget {
			t.Errorf("%s: %+v, of the measured rows %+v", criterion, x, y)
		}
	}
	one, _ := Rank(Scores{Positives: []float64{1}})
	if one.Mixed(0.5) != one {
		t.Error("one class has no mix")
	}
}

// Half of the negatives were set aside. The intervals of what a budget of all rows finds, and of its precision, cover the truth in 95 %
// of the draws.
func TestMixedIntervalsCover(t *testing.T) {
	draws := 300
	if testing.Short() {
		draws = 60
	}
	const rows, prevalence, shift = 3000, 0.05, 2.0
	tail := func(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }
	for _, budget := range []string{"1%", "5%"} {
		low, high, of := -5.0, 8.0, threshold.MustRate(budget).Float64()
		for range 60 {
			if mid := (low + high) / 2; prevalence*tail(mid-shift)+(1-prevalence)*tail(mid) > of {
				low = mid
			} else {
				high = mid
			}
		}
		found := tail(low - shift)
		precision := found * prevalence / of
		var missed [2]int
		var mean float64
		for draw := range draws {
			r := rand.New(rand.NewPCG(uint64(draw), 71))
			var s Scores
			positives := 0
			for i := range rows {
				switch positive := r.Float64() < prevalence; {
				case positive:
					s.Positives = append(s.Positives, r.NormFloat64()+shift)
					positives++
				case i%2 == 0:
					s.Negatives = append(s.Negatives, r.NormFloat64())
				}
			}
			k, err := Rank(s)
			if err != nil {
				t.Fatal(err)
			}
			k = k.Mixed(float64(positives) / rows)
			top, err := k.TopFraction(threshold.MustRate(budget))
			if err == nil {
				top, err = k.BootstrapTop(top.Budget, Bootstrap{Replicates: 400, Seed: 1})
			}
			if err != nil {
				t.Fatal(err)
			}
			mean += top.TruePositiveRate.Rate / float64(draws)
			for i, c := range []struct {
				p     metric.Proportion
				truth float64
			}{{top.TruePositiveRate, found}, {top.Precision, precision}} {
				if c.truth < c.p.Interval.Low || c.truth > c.p.Interval.High {
					missed[i]++
				}
			}
		}
		n := float64(draws)
		allowed := int(n*0.05 + 3*math.Sqrt(n*0.05*0.95))
		t.Logf("budget %s: %d and %d of %d intervals miss, found %.4f, truth %.4f", budget, missed[0], missed[1], draws, mean, found)
		if max(missed[0], missed[1]) > allowed || math.Abs(mean-found) > 0.02 {
			t.Errorf("budget %s: %v of %d intervals miss, at most %d may; found %v, truth %v", budget, missed, draws, allowed, mean, found)
		}
	}
}
