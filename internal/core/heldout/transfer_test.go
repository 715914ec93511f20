package heldout

import (
	"math"
	"slices"
	"testing"

	"toptau/method"
	"toptau/threshold"
)

// steps returns n numbers from first on, one apart.
func steps(first float64, n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = first + float64(i)
	}
	return list
}

func TestTransferByHand(t *testing.T) {
	ones := func(n int, low, high float64, above int) []float64 {
		return append(slices.Repeat([]float64{high}, above), slices.Repeat([]float64{low}, n-above)...)
	}
	for _, c := range []struct {
		name                 string
		model                []float64
		fold                 FoldScores
		negatives, positives []float64
	}{
		{"another unit: levels count", steps(1, 10), FoldScores{steps(101, 10), steps(101, 10), []float64{104.5, 99, 200}}, steps(1, 10), []float64{4.5, 1, 10}},
		{"another scale", steps(1, 4), FoldScores{[]float64{10, 20, 30, 40}, []float64{10, 20, 30, 40}, []float64{12.5}}, steps(1, 4), []float64{1.275}},
		// 12.5 is a quarter of the way between the two lowest: level 0.8125, and 3/4 of the left-out ones have smaller levels, so 0.80625 of 4.
		// Levels 0.025, 0.075, 0.125, 0.175, and 1/8, 3/8, 5/8, 7/8 among the left-out ones: 0.035, 0.105, 0.175, 0.245 of 20 scores, half a score below the top.
		{"folds that overfit", steps(1, 20), FoldScores{steps(1, 20), []float64{20, 19, 18, 17}, nil}, []float64{19.8, 18.4, 17, 15.6}, []float64{}},
		{"above the level of 30 rows distances count", steps(1, 100), FoldScores{steps(1001, 100), steps(1001, 100), []float64{1200, 1071.25}},
			steps(1, 100), []float64{200, 71.25}},
		{"ties stay ties", ones(100, 0, 1, 6), FoldScores{ones(80, 0.1, 2, 5), ones(20, 0.1, 2, 1), []float64{2, 2, 0.1}}, ones(20, 0, 1, 1), []float64{1, 1, 0}},
	} {
		got := Transfer(c.model, slices.Repeat([]FoldScores{c.fold}, 5))[3]
		for i, want := range [][]float64{c.negatives, c.positives} {
			z := [][]float64{got.Negatives, got.Positives}[i]
			if len(z) != len(want) {
				t.Fatalf("%s: %v, want %v", c.name, z, want)
			}
			for j := range want {
				if math.Abs(z[j]-want[j]) > 1e-9 {
					t.Errorf("%s: %v, want %v", c.name, z, want)
				}
			}
		}
	}
}

// Whatever increasing line a fold's scores go through, transferred scores are the same below the level of 30 rows.
func TestTransferComparesNoScores(t *testing.T) {
	model := steps(1, 25)
	fold := FoldScores{steps(3, 20), []float64{5, 8.5, 23}, []float64{22, 40}}
	other := FoldScores{}
	for i, z := range [][]float64{fold.Fitted, fold.Negatives, fold.Positives} {
		line := make([]float64, len(z))
		for j := range z {
			line[j] = 64 + 0.5*z[j]
		}
		*[]*[]float64{&other.Fitted, &other.Negatives, &other.Positives}[i] = line
	}
	a, b := Transfer(model, []FoldScores{fold, fold}), Transfer(model, []FoldScores{fold, other})
	for k := range a {
		if !slices.Equal(a[k].Negatives, b[k].Negatives) || !slices.Equal(a[k].Positives, b[k].Positives) {
			t.Errorf("fold %d: %v and %v", k, a[k], b[k])
		}
	}
}

// By hand: two folds of 5,000 scores with 50 above each. Between them is no variance, and the prior is (0.08 a)^2.
func TestWidenByHand(t *testing.T) {
	folds := [][]float64{steps(0, 5000), steps(0.5, 5000)}
	s, err := Sort(slices.Concat(folds...), nil, method.Negatives)
	if err != nil {
		t.Fatal(err)
	}
	at, err := s.Plain(threshold.MustRate("1%"))
	if err != nil {
		t.Fatal(err)
	}
	before := at.Expected
	at.Widen(folds)
	a := before.Rate
	factor := math.Sqrt(1 + 1.2*0.08*0.08*a*a/2*10000/(a*(1-a)))
	low, high := a*math.Pow(before.Low/a, factor), a*math.Pow(before.High/a, factor)
	if e := at.Expected; e.Rate != a || math.Abs(e.Low-low) > 1e-12 || math.Abs(e.High-high) > 1e-12 || factor < 1.15 {
		t.Errorf("%+v, want %v to %v", e, low, high)
	}
	// One fold has all scores above: its rate is 2 %, that of the other 0, and the interval much wider.
	folds[0], folds[1] = append(steps(6000, 100), steps(0, 4900)...), steps(0.5, 5000)
	if s, err = Sort(slices.Concat(folds...), nil, method.Negatives); err != nil {
		t.Fatal(err)
	}
	if at, err = s.Plain(threshold.MustRate("1%")); err != nil {
		t.Fatal(err)
	}
	at.Widen(folds)
	if e := at.Expected; !(e.Low < low/2 && e.High > 2*high && e.High <= 1) {
		t.Errorf("folds that differ: %+v, alike %v to %v", e, low, high)
	}
}
