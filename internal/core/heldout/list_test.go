package heldout

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"toptau/calibrate"
	"toptau/internal/core/detmath"
	"toptau/internal/core/evidence"
	"toptau/threshold"
)

// delivery draws n calibration negatives and a batch of m rows, and returns the batch with the negatives among its rows, best first.
func (d mixture) delivery(r *rand.Rand, n, m, kept int) (*Batch, []labelledScore) {
	calibration := make([]float64, 0, n)
	for len(calibration) < n {
		none := d
		none.prevalence = 0
		_, z := none.draw(r, n-len(calibration))
		calibration = append(calibration, z...)
	}
	positives, negatives := d.draw(r, m)
	var rows []labelledScore
	for _, z := range positives {
		rows = append(rows, labelledScore{z, true})
	}
	for _, z := range negatives {
		rows = append(rows, labelledScore{z, false})
	}
	// Of equal scores the negatives come first, which is the worst order.
	slices.SortFunc(rows, func(a, b labelledScore) int {
		switch {
		case a.score != b.score && a.score > b.score, a.score == b.score && !a.real && b.real:
			return -1
		case a.score == b.score && a.real == b.real:
			return 0
		}
		return 1
	})
	b := NewBatch(BestNegatives(calibration, kept))
	for _, row := range rows {
		b.Add(row.score)
	}
	return b, rows
}

// deliveries are the settings of the simulations: with few and many calibration negatives, ties, all scores equal, and no positives.
var deliveries = []struct {
	d          mixture
	n, m, kept int
}{
	{mixture{prevalence: 0.1, shift: 3}, 1000, 200, evidence.KeptNegatives},
	{mixture{prevalence: 0.1, shift: 3}, 400, 600, 50},
	{mixture{prevalence: 0.1, shift: 3, step: 0.5}, 400, 300, evidence.KeptNegatives},
	{mixture{prevalence: 0.5, shift: 2, step: 1}, 100, 100, 30},
	{mixture{prevalence: 0.1, shift: 3, step: 100}, 300, 200, evidence.KeptNegatives}, // nearly all scores are one of two
	{mixture{}, 300, 200, evidence.KeptNegatives},                                     // no positives
	{mixture{step: 0.2}, 300, 200, evidence.KeptNegatives},                            // no positives, and ties
	{mixture{prevalence: 0.02, shift: 4}, 20, 500, evidence.KeptNegatives},
}

// The mean fraction of false rows is at most q, and with confidence 1 - delta no list of any length has more false rows than
// its bound.
func TestListsBySimulation(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation of 2,000 draws")
	}
	const draws, q, delta = 2000, 0.2, 0.05
	rate, err := threshold.ParseRate("20%")
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range deliveries {
		r := rand.New(rand.NewPCG(uint64(i), 33))
		broken, empty := 0, 0
		fractions := make([]float64, draws)
		for draw := range fractions {
			b, rows := c.d.delivery(r, c.n, c.m, c.kept)
			list, bounds := b.Discoveries(rate), b.MaxFalse(delta)
			if list.Rows == 0 {
				empty++
			}
			fakes, wrong := 0, false
			for i := range rows {
				if !rows[i].real {
					fakes++
				}
				wrong = wrong || bounds.Of(i+1) < fakes
				if i+1 == list.Rows {
					fractions[draw] = float64(fakes) / float64(list.Rows)
				}
			}
			if wrong {
				broken++
			}
		}
		mean, standardError := detmath.MeanAndError(fractions)
		t.Logf("n %d, m %d, %+v: false %.1f %% ± %.1f, %.0f %% without a list; bounds wrong in %.1f %%", c.n, c.m, c.d, 100*mean, 100*standardError,
			100*float64(empty)/draws, 100*float64(broken)/draws)
		if mean > q+3*standardError {
			t.Errorf("mean fraction of false rows %.3f ± %.3f", mean, standardError)
		}
		if broken > violationsAllowed(draws, delta) {
			t.Errorf("a bound was too low in %d of %d draws", broken, draws)
		}
	}
}

// With all scores equal there is no list, and no row is known to be positive.
func TestListsOfEqualScores(t *testing.T) {
	b := NewBatch(BestNegatives(make([]float64, 100), evidence.KeptNegatives))
	for range 50 {
		b.Add(0)
	}
	q, _ := threshold.ParseRate("10%")
	if d := b.Discoveries(q); d != (Discoveries{Shortest: 5}) { // 50 / (101 * 0.1) = 4.95
		t.Errorf("discoveries %+v", d)
	}
	if f := b.MaxFalse(0.05); f.Of(1) != 1 || f.Of(50) != 50 {
		t.Errorf("bounds %d and %d of 1 and 50 rows", f.Of(1), f.Of(50))
	}
}

// Discoveries is Benjamini and Hochberg's procedure on conformal p-values, with whole numbers.
func TestDiscoveriesAgainstDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 34))
	for range 3000 {
		n, m, levels := 1+r.IntN(60), 1+r.IntN(60), 1+r.IntN(40)
		calibration, scores := make([]float64, n), make([]float64, m)
		for i := range calibration {
			calibration[i] = float64(r.IntN(levels))
		}
		for i := range scores {
			scores[i] = float64(r.IntN(levels) + r.IntN(1+levels))
		}
		percent := 1 + r.IntN(99)
		q, err := threshold.ParseRate(fmt.Sprintf("%d%%", percent))
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		for _, s := range scores {
			above, list := 0, 0 // calibration negatives and rows with at least this score
			for _, z := range calibration {
				if z >= s {
					above++
				}
			}
			for _, z := range scores {
				if z >= s {
					list++
				}
			}
			if 100*m*(1+above) <= percent*(n+1)*list {
				want = max(want, list)
			}
		}
		b := NewBatch(BestNegatives(calibration, evidence.KeptNegatives))
		for _, s := range scores {
			b.Add(s)
		}
		if d := b.Discoveries(q); d.Rows != want || d.Shortest != (100*m+percent*(n+1)-1)/(percent*(n+1)) {
			t.Fatalf("%d rows, want %d; at least %d for %d %% of %d rows and %d negatives", d.Rows, want, d.Shortest, percent, m, n)
		}
	}
}

// hypergeometric returns P(Hypergeometric(all, drawn, marked) <= most) as a ratio of whole numbers.
func hypergeometric(all, drawn, marked, most int) *big.Rat {
	choose := func(n, k int) *big.Int {
		if k > n {
			return new(big.Int)
		}
		return new(big.Int).Binomial(int64(n), int64(k))
	}
	sum := new(big.Int)
	for i := max(0, drawn-(all-marked)); i <= min(most, drawn); i++ {
		sum.Add(sum, new(big.Int).Mul(choose(marked, i), choose(all-marked, drawn-i)))
	}
	return new(big.Rat).SetFrac(sum, choose(all, drawn))
}

func TestMaxFalseAgainstExactTails(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 35))
	for range 300 {
		n, m := 1+r.IntN(300), 1+r.IntN(300)
		b := NewBatch(BestNegatives(make([]float64, n), evidence.KeptNegatives))
		for range m {
			b.Add(1) // R(k) = m
		}
		f := b.MaxFalse(0.05)
		ranks := listRanks(n)
		level := new(big.Rat).SetFrac64(1, int64(20*len(ranks)))
		for i, k := range ranks {
			v := f.bounds[i]
			if v > 0 && hypergeometric(n+m, k+v, n, k).Cmp(level) <= 0 || v < m && hypergeometric(n+m, k+v+1, n, k).Cmp(level) > 0 {
				t.Fatalf("n %d, m %d, rank %d: bound %d", n, m, k, v)
			}
		}
	}
}

func TestNegativesCheck(t *testing.T) {
	good := BestNegatives([]float64{1, 3, 2}, evidence.KeptNegatives)
	if err := good.Check(); err != nil || !slices.Equal(good.Best, []float64{3, 2, 1}) {
		t.Errorf("%v: %v", good.Best, err)
	}
	for _, bad := range []calibrate.Negatives{{}, {Rows: 2, Best: []float64{1}}, {Rows: 2, Best: []float64{1, 2}}, {Rows: 1, Best: []float64{math.NaN()}},
		{Rows: 1, Best: []float64{2, 1}}} {
		if bad.Check() == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
	if BestNegatives([]float64{1, math.Inf(1)}, 5) != nil || BestNegatives(nil, 5) != nil {
		t.Error("scores that no model keeps")
	}
	sample := &calibrate.Sample{Rows: 3, Above: []int{2, 0}, Scores: []float64{1, 3}}
	if err := good.Fits(sample); err != nil {
		t.Error(err)
	}
	sample.Scores[1] = 4
	if good.Fits(sample) == nil {
		t.Error("another sample is accepted")
	}
}

// With 20,000 calibration negatives and 5,000 rows of which 1 % are positive, a bound is a few rows above what is false on average.
func TestListBoundsAreTight(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation")
	}
	r := rand.New(rand.NewPCG(1, 36))
	d := mixture{prevalence: 0.01, shift: 3}
	const draws = 100
	var bound, wrong [2]float64
	lengths := [2]int{20, 40}
	for range draws {
		b, rows := d.delivery(r, 20000, 5000, evidence.KeptNegatives)
		f := b.MaxFalse(0.05)
		for i, l := range lengths {
			bound[i] += float64(f.Of(l)) / float64(draws)
			for _, row := range rows[:l] {
				if !row.real {
					wrong[i] += 1 / float64(draws)
				}
			}
		}
	}
	t.Logf("lists of %v rows with %.3g false ones have the bounds %.3g", lengths, wrong, bound)
	if bound[0] > 10 || bound[1] > 26 {
		t.Errorf("bounds %.3g", bound)
	}
}
