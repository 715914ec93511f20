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
	if statistic := friedman(ranks); statistic < 9.28 || statistic > 10.3 {
		t.Errorf("Friedman = %.3f", statistic)
	}
	// With 14 blocks of four the chi-squared limit, 0.0204, is not far from the permutations.
	if p := friedmanPermutation(ranks); p.P < 0.013 || p.P > 0.024 || p.How != "100,000 random orders" {
		t.Errorf("permutations: %+v", p)
	}
	if cd := criticalDifference(4, 14, 0.05); math.Abs(cd-1.25) > 0.005 {
		t.Errorf("critical difference = %.3f, want 1.25", cd)
	}
}

func TestFriedmanWithoutTiesIsTheTextbooks(t *testing.T) {
	ranks := [][]float64{{1, 2, 3}, {1, 3, 2}, {1, 2, 3}, {2, 1, 3}}
	// 12/(n k (k+1)) sum R^2 - 3 n (k+1) with R = 5, 8, 11: 12/48*(25+64+121) - 48 = 4.5.
	if statistic := friedman(ranks); math.Abs(statistic-4.5) > 1e-12 {
		t.Errorf("friedman = %v, want 4.5", statistic)
	}
	// The table of exact probabilities for three treatments and four blocks has 0.125; the limit is exp(-4.5/2) = 0.105.
	if p := friedmanPermutation(ranks); p.P != 27.0/216 || p.How != "all 216 orders" {
		t.Errorf("p = %+v, want 0.125", p)
	}
	if p := friedmanPermutation(ranks[:1]); !math.IsNaN(p.P) || !math.IsNaN(friedman(ranks[:1])) {
		t.Errorf("one block has p = %v, want none", p)
	}
}

// Two blocks are counted by meeting in the middle. That must equal the enumeration, with ties and with means of ranks.
func TestMeetInTheMiddleIsTheEnumeration(t *testing.T) {
	for _, blocks := range [][2][]float64{
		{{1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 6, 5}},
		{{1, 2.5, 2.5, 4, 5, 6, 7}, {6, 7, 1, 2, 3, 4.5, 4.5}},
		{{1.35, 2.2, 3.45, 3.0, 5, 6, 7}, {1.4, 2.1, 2.9, 3.6, 5.5, 5.5, 7}},
		{{1}, {1}},
	} {
		want := enumerateBlocks(blocks[:])
		if got := meetInTheMiddle(blocks[0], blocks[1]); got != want {
			t.Errorf("%v: %v orders, want %v", blocks, got, want)
		}
	}
}

// Two equal orders of 14 have exactly one arrangement that is as extreme, of 14! = 87,178,291,200.
func TestTwoEqualOrdersOfFourteen(t *testing.T) {
	var a []float64
	for j := range 14 {
		a = append(a, float64(j+1))
	}
	if n := meetInTheMiddle(a, a); n != 1 {
		t.Errorf("%v arrangements", n)
	}
	if p := friedmanPermutation([][]float64{a, a}); p.P != 1.0/87_178_291_200 || p.How != "all orders" {
		t.Errorf("%+v", p)
	}
}

// Random orders agree with all orders within four standard errors.
func TestRandomOrdersAgreeWithAll(t *testing.T) {
	ranks := [][]float64{{1, 2, 3, 4}, {2, 1, 3, 4}, {1, 3, 2, 4}, {4, 1, 2, 3}}
	want := friedmanPermutation(ranks).P
	got := randomBlocks(ranks, randomArrangements)
	if math.Abs(got-want) > 4*math.Sqrt(want*(1-want)/randomArrangements) {
		t.Errorf("%v by random orders, %v by all", got, want)
	}
	// The given order counts, so no p-value is 0.
	var same []float64
	for j := range 14 {
		same = append(same, float64(j))
	}
	if p := randomBlocks([][]float64{same, same, same}, 99); p != 0.01 {
		t.Errorf("three equal orders of 14: %v, want 1 of 100", p)
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

// The half width of each of 28 intervals is that of Student's t at 1 - 0.025/28.
func TestTogetherIsBonferroni(t *testing.T) {
	values := []float64{0.3, -1.2, 0.8, 2.1, -0.4, 0.9, 1.1, 0.2, -0.7, 0.5}
	one, many := overSplits(values), together(values, 28)
	// quantiles of Student's t with 9 degrees of freedom: 2.262157 at 0.975, 4.364 at 1 - 0.025/28 (by numerical integration)
	if ratio := (many.High - many.Mean) / (one.High - one.Mean); math.Abs(ratio-studentQuantile(9, 1-0.025/28)/2.262157) > 1e-4 {
		t.Errorf("the corrected interval is %.4f times as wide", ratio)
	}
	if many.Mean != one.Mean || many.Low >= one.Low {
		t.Errorf("%+v, %+v", one, many)
	}
}

// studentQuantile inverts Simpson's rule over the density of Student's t, without the library of the implementation.
func studentQuantile(df, p float64) float64 {
	density := func(x float64) float64 {
		a, _ := math.Lgamma((df + 1) / 2)
		b, _ := math.Lgamma(df / 2)
		return math.Exp(a-b) / math.Sqrt(df*math.Pi) * math.Pow(1+x*x/df, -(df+1)/2)
	}
	below := func(q float64) float64 {
		const n = 2000
		h, sum := q/n, density(0)+density(q)
		for i := 1; i < n; i++ {
			sum += float64(2+2*(i%2)) * density(float64(i)*h)
		}
		return 0.5 + sum*h/3
	}
	low, high := 0.0, 50.0
	for range 80 {
		if middle := (low + high) / 2; below(middle) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

func TestSignFlips(t *testing.T) {
	for _, c := range []struct {
		differences []float64
		want        float64
	}{
		{[]float64{-1, -2, -3, -1, -5, -2, -1}, 2.0 / 128}, // seven of one sign: the smallest p-value
		{[]float64{3, -1, -1, -1}, 1},                      // a sum of 0
		{[]float64{1, 1, 1, -1}, 10.0 / 16},                // two or four of a sign: 8 + 2 of 16
		{[]float64{-4, 1, -1}, 6.0 / 8},                    // only 4 - 1 - 1 and its opposite are smaller
	} {
		if p := signFlips(c.differences); p != c.want {
			t.Errorf("%v: %v, want %v", c.differences, p, c.want)
		}
	}
	if p := signFlips(nil); !math.IsNaN(p) {
		t.Errorf("without differences: %v", p)
	}
}

// Sets of one source count once.
func TestSourcesAreUnits(t *testing.T) {
	keys := []string{"kddcup99", "ionosphere", "nsl_kdd", "nsl_kdd-mlt", "spambase"}
	blocks := sourceBlocks(keys, [][]float64{{1, 2}, {5, 6}, {3, 3}, {2, 7}, {9, 9}})
	want := [][]float64{{2, 4}, {5, 6}, {9, 9}}
	if len(blocks) != len(want) {
		t.Fatalf("%v", blocks)
	}
	for i := range want {
		for j := range want[i] {
			if math.Abs(blocks[i][j]-want[i][j]) > 1e-12 {
				t.Errorf("source %d: %v, want %v", i, blocks[i], want[i])
			}
		}
	}
}

func TestEverySetHasASource(t *testing.T) {
	sources := map[string]bool{}
	for _, s := range (catalogue{dir: "none"}).sets() {
		if sourceOf[s.Key] == "" {
			t.Errorf("no source of %s", s.Key)
		}
		sources[sourceOf[s.Key]] = true
	}
	if len(sources) != 7 {
		t.Errorf("%d sources of the stand-ins and the real sets, want 7", len(sources))
	}
	for _, key := range []string{"gisette", "hepmass", "hepmass10", "cta", "cta-mlt", "netflow", "netflow-mlt"} {
		if sourceOf[key] == "" {
			t.Errorf("no source of %s", key)
		}
	}
}
