package paper

import (
	"math"
	"testing"
)

func TestMidranksShareTies(t *testing.T) {
	got := midranks([]float64{0.5, 0.9, 0.5, 0.1, 0.5})
	for i, want := range []float64{3, 1, 3, 5, 3} {
		if got[i] != want {
			t.Fatalf("midranks = %v", got)
		}
	}
}

// TestFriedmanIsDemsars repeats the example of Demsar, Statistical comparisons of classifiers over
// multiple data sets (2006), Table 6: AUC of four classifiers on 14 sets.
func TestFriedmanIsDemsars(t *testing.T) {
	auc := [][]float64{
		{.763, .768, .771, .798}, {.599, .591, .590, .569}, {.954, .971, .968, .967}, {.628, .661, .654, .657},
		{.882, .888, .886, .898}, {.936, .931, .916, .931}, {.661, .668, .609, .685}, {.583, .583, .563, .625},
		{.775, .838, .866, .875}, {1, 1, 1, 1}, {.940, .962, .965, .962}, {.619, .666, .614, .669},
		{.972, .981, .9751, .975}, {.957, .978, .946, .970},
	}
	var ranks [][]float64
	for _, row := range auc {
		ranks = append(ranks, midranks(row))
	}
	for j, want := range []float64{3.143, 2.000, 2.893, 1.964} {
		if mean := meanOf(ranks)[j]; math.Abs(mean-want) > 5e-4 {
			t.Errorf("average rank %d is %.3f, want %.3f", j, mean, want)
		}
	}
	// Without the correction for ties the statistic is the printed 9.28. Ties make it slightly larger.
	statistic, p := friedman(ranks)
	if statistic < 9.28 || statistic > 10.3 || p < 0.01 || p > 0.03 {
		t.Errorf("Friedman = %.3f, p = %.4f", statistic, p)
	}
	if cd := criticalDifference(4, 14, 0.05); math.Abs(cd-1.25) > 0.005 {
		t.Errorf("critical difference = %.3f, want 1.25", cd)
	}
}

func TestFriedmanWithoutTiesIsTheTextbooks(t *testing.T) {
	ranks := [][]float64{{1, 2, 3}, {1, 3, 2}, {1, 2, 3}, {2, 1, 3}}
	// 12/(n k (k+1)) sum R^2 - 3 n (k+1) with R = 5, 8, 11: 12/48*(25+64+121) - 48 = 4.5.
	statistic, p := friedman(ranks)
	if math.Abs(statistic-4.5) > 1e-12 || math.Abs(p-math.Exp(-2.25)) > 1e-9 {
		t.Errorf("friedman = %v, %v; want 4.5 and exp(-4.5/2)", statistic, p)
	}
	if _, p := friedman(ranks[:1]); !math.IsNaN(p) {
		t.Errorf("one block has p = %v, want none", p)
	}
}

// TestStudentizedRange compares the quantiles with Demsar's Table 5 (divided by sqrt 2).
func TestStudentizedRange(t *testing.T) {
	for k, want := range map[int]float64{2: 1.960, 3: 2.343, 5: 2.728, 10: 3.164} {
		if q := studentizedRange(k, 0.95) / math.Sqrt2; math.Abs(q-want) > 1e-3 {
			t.Errorf("q(%d) = %.4f, want %.3f", k, q, want)
		}
	}
}

func TestOverSplitsKnowsThatSplitsShareRows(t *testing.T) {
	o := overSplits([]float64{1, 2, 3})
	half := math.Sqrt((1.0/3+0.5)*1) * 4.302653 // Student's t with 2 degrees of freedom
	if math.Abs(o.Mean-2) > 1e-12 || math.Abs(o.High-2-half) > 1e-5 || math.Abs(2-o.Low-half) > 1e-5 {
		t.Errorf("overSplits = %+v, want 2 and a half width of %.4f", o, half)
	}
	if o = overSplits([]float64{1}); !math.IsNaN(o.Low) || o.N != 1 {
		t.Errorf("one split: %+v", o)
	}
}

func TestSignTest(t *testing.T) {
	if p := signTest(0, 5); math.Abs(p-2.0/32) > 1e-12 {
		t.Errorf("0 of 5: %v", p)
	}
	if p := signTest(3, 6); p != 1 {
		t.Errorf("3 of 6: %v", p)
	}
}
