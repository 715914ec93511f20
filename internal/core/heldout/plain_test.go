package heldout

import (
	"math"
	"math/rand/v2"
	"testing"

	"toptau/method"
	"toptau/metric"
)

// tail is a distribution of scores by its upper tail.
type tail struct {
	name  string
	above func(z float64) float64 // P(Z > z)
	at    func(p float64) float64 // the inverse
}

// tails are distributions from bounded to heavy-tailed.
func tails() []tail {
	student := func(z float64) float64 {
		x := z / math.Sqrt(3)
		return 0.5 - (x/(1+x*x)+math.Atan(x))/math.Pi
	}
	return []tail{
		{"uniform", func(z float64) float64 { return 1 - z }, func(p float64) float64 { return 1 - p }},
		{"normal", func(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }, func(p float64) float64 { return math.Sqrt2 * math.Erfcinv(2*p) }},
		{"logistic", func(z float64) float64 { return 1 / (1 + math.Exp(z)) }, func(p float64) float64 { return math.Log((1 - p) / p) }},
		{"exponential", func(z float64) float64 { return math.Exp(-z) }, func(p float64) float64 { return -math.Log(p) }},
		{"Student's t", student, func(p float64) float64 {
			low, high := -1e6, 1e6
			for range 80 {
				if middle := (low + high) / 2; student(middle) > p {
					low = middle
				} else {
					high = middle
				}
			}
			return low
		}},
	}
}

// drawnTail returns n scores of a distribution of which only the orders that are asked for are drawn: the largest of n
// uniform numbers, then each next one given the last.
func drawnTail(r *rand.Rand, n int, d tail) *Sorted {
	var z []float64
	u := 1.0
	return Ordered(n, method.Negatives, func(orders []int) ([]float64, error) {
		list := make([]float64, len(orders))
		for i, k := range orders {
			for len(z) < n+1-k {
				u *= math.Pow(1-r.Float64(), 1/float64(n-len(z)))
				z = append(z, d.at(1-u))
			}
			list[i] = z[n-k]
		}
		return list, nil
	}, nil)
}

// The mean rate of a plain threshold is its budget, and the printed interval holds the rate as often as it states.
func TestPlainUsesItsBudget(t *testing.T) {
	draws := drawsOf(2000)
	for _, c := range []struct {
		alpha   string
		n       int
		highest float64 // mean of the rate / budget; uniform tails are the worst
	}{{"0.1%", 1490, 1.16}, {"0.1%", 1990, 1.05}, {"1%", 250, 1.03}, {"0.1%", 5555, 1.03}, {"1%", 1990, 1.03}, {"5%", 250, 1.03}} {
		for _, d := range tails() {
			r := rand.New(rand.NewPCG(uint64(c.n), 11))
			budget := rate(c.alpha).Float64()
			sum, squares, outside := 0.0, 0.0, 0
			for range draws {
				at, err := drawnTail(r, c.n, d).Plain(rate(c.alpha))
				if err != nil || at.Unresolved {
					t.Fatalf("%+v, %v", at, err)
				}
				p := d.above(at.Value)
				ratio := p / budget
				sum += ratio
				squares += ratio * ratio
				if p < at.Expected.Low || p > at.Expected.High {
					outside++
				}
				if math.Abs(at.Expected.Rate-budget) > 1e-12 {
					t.Fatalf("expected rate %v", at.Expected.Rate)
				}
			}
			n := float64(draws)
			mean := sum / n
			error2 := 2 * math.Sqrt((squares/n-mean*mean)/n)
			t.Logf("%s of %d, %s: rate / budget %.3f +- %.3f, %d of %d outside of the interval", c.alpha, c.n, d.name, mean, error2, outside, draws)
			if mean < 0.93-error2 || mean > c.highest+error2 {
				t.Errorf("%s of %d, %s: rate / budget %.3f +- %.3f", c.alpha, c.n, d.name, mean, error2)
			}
			if allowed := n * (1 - metric.DefaultConfidence); float64(outside) > allowed+3*math.Sqrt(allowed) {
				t.Errorf("%s of %d, %s: %d of %d rates outside of the interval", c.alpha, c.n, d.name, outside, draws)
			}
		}
	}
}

// With h below 1 the threshold is the largest score and says so; a whole h is an order statistic; ties change nothing.
func TestPlainByHand(t *testing.T) {
	for _, c := range []struct {
		z     []float64
		alpha string
		want  Threshold
	}{
		{[]float64{1, 2, 3}, "20%", Threshold{Value: 3, Order: 3, Unresolved: true}},
		{[]float64{1, 2, 3}, "25%", Threshold{Value: 3, Order: 3}},
		{[]float64{1, 2, 3}, "1/2", Threshold{Value: 2, Order: 2}},
		{[]float64{1, 2, 2}, "3/8", Threshold{Value: 2, Order: 3, Between: true}},
		{[]float64{1, 2, 4}, "3/8", Threshold{Value: 4 - 2*(0.5*2/1.5), Order: 3, Between: true}},
		{[]float64{1, 2, 4}, "5/8", Threshold{Value: 2 - 0.5, Order: 2, Between: true}},
		{[]float64{1, 2, 4}, "99%", Threshold{Value: 1, Order: 1}},
	} {
		got, err := thresholdOf(c.z, maxFPR(c.alpha), "")
		if err != nil || math.Abs(got.Value-c.want.Value) > 1e-15 || got.Order != c.want.Order || got.Between != c.want.Between ||
			got.Unresolved != c.want.Unresolved {
			t.Errorf("%s of %v: %+v, %v, want %+v", c.alpha, c.z, got, err, c.want)
		}
	}
}

// The sizes at which the next order statistic just became possible (design table for delta 5 %).
func TestSize(t *testing.T) {
	for _, c := range []struct {
		n     int
		alpha string
		want  int
	}{
		{100, "1%", 299}, {598, "1%", 299}, {945, "1%", 299}, {946, "1%", 473}, {1600, "1%", 773}, {2098, "1%", 1049},
		{9475, "0.1%", 2995}, {9484, "0.1%", 4742}, {250, "5%", 124}, {3600, "1%", 1568}, {1 << 40, "5%", 0},
	} {
		got, err := Size(c.n, rate(c.alpha), rate("5%"))
		if err != nil {
			t.Fatal(err)
		}
		if c.want == 0 { // 1,000 within the budget
			if m := maxAbove(got, rate(c.alpha), rate("5%")); got > 20_000 || got < 19_900 || maxAbove(got-1, rate(c.alpha), rate("5%")) != m-1 {
				t.Errorf("of %d rows %d, with %d above", c.n, got, m)
			}
			continue
		}
		if c.n == 3600 { // half allows 1,568, j = 10, and more
			if got < c.want || got > c.n/2 || maxAbove(got, rate(c.alpha), rate("5%")) == maxAbove(got-1, rate(c.alpha), rate("5%")) {
				t.Errorf("of %d rows %d", c.n, got)
			}
			continue
		}
		if got != c.want {
			t.Errorf("%s of %d rows: %d, want %d", c.alpha, c.n, got, c.want)
		}
	}
}
