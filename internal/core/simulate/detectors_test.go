package simulate

import (
	"math"
	"slices"
	"testing"

	"toptau/internal/core/binomial"
	"toptau/internal/core/ranking"
	"toptau/threshold"
)

// fromUniform is the largest distance of an empirical distribution function from the uniform one.
func fromUniform(u []float64) float64 {
	u = slices.Clone(u)
	slices.Sort(u)
	worst := 0.0
	for i, x := range u {
		worst = max(worst, math.Abs(x-float64(i)/float64(len(u))), math.Abs(x-float64(i+1)/float64(len(u))))
	}
	return worst
}

// table is a simulated set in memory.
type table struct {
	values   [][]float64
	positive []bool
	attack   []string
}

func collect(t testing.TB, o Options) table {
	t.Helper()
	var out table
	mustNew(t, o).Each(func(_ int, row *Row) bool {
		out.values = append(out.values, slices.Clone(row.Values))
		out.positive = append(out.positive, row.Positive)
		out.attack = append(out.attack, row.Attack)
		return true
	})
	return out
}

// auc compares a column on the rows of one kind with its values on those of another.
func (d table) auc(t testing.TB, column int, high, low func(i int) bool) float64 {
	t.Helper()
	var s ranking.Scores
	for i, v := range d.values {
		if high(i) {
			s.Positives = append(s.Positives, v[column])
		} else if low(i) {
			s.Negatives = append(s.Negatives, v[column])
		}
	}
	r, err := ranking.Rank(s)
	if err != nil {
		t.Fatal(err)
	}
	return r.AUC().Half
}

func (d table) benign(i int) bool { return d.attack[i] == "" }

func detectorOptions() Options {
	return Options{Kind: "detectors", Rows: 20_000, Seed: 5, Positives: threshold.MustRate("20%")}
}

// Each attack raises the scores of the documented detectors and no others.
func TestDetectorsReactAsDocumented(t *testing.T) {
	o := detectorOptions()
	d := collect(t, o)
	k := mustNew(t, o).kind.(*detectors)
	for a := range k.types {
		reacts := make([]bool, k.columns)
		for i := range specificDetectors {
			reacts[2+(3*(a+1)-3+i)%(k.columns-3)] = true // the documented formula
		}
		rows := func(i int) bool { return d.attack[i] == k.names[a] }
		some := func(i int) bool { return i < 5000 && d.benign(i) }
		for j := range k.columns {
			got := d.auc(t, j, rows, some)
			low, high := 0.42, 0.58
			switch {
			case reacts[j]:
				low, high = 0.95, 1
			case j < 2:
				low, high = 0.85, 0.99
			}
			if got < low || got > high {
				t.Errorf("attack %d, detector %d: AUC %.3f outside [%v, %v]", a+1, j+1, got, low, high)
			}
		}
	}
}

// The benign scores have the documented correlations and heavy tails: for an elliptical law with correlation
// r two scores are on the same side of the middle with probability 1/2 + asin(r)/pi, and a t of 4 degrees
// lies below -5 with probability 0.00374.
func TestBenignScores(t *testing.T) {
	d := collect(t, detectorOptions())
	same := func(j, k int) float64 {
		n, both := 0, 0
		for i, v := range d.values {
			if d.benign(i) {
				n++
				if (v[j] > 0.5) == (v[k] > 0.5) {
					both++
				}
			}
		}
		return float64(both) / float64(n)
	}
	for _, c := range []struct {
		j, k int
		r    float64
	}{{0, 1, 0.5}, {6, 9, 0.5}, {0, 5, 0.25}, {3, 30, 0.25}} {
		want := 0.5 + math.Asin(c.r)/math.Pi
		if got := same(c.j, c.k); math.Abs(got-want) > 0.02 { // busy servers move it by less than 0.01
			t.Errorf("detectors %d and %d: %.3f on the same side, want %.3f", c.j+1, c.k+1, got, want)
		}
	}
	n, below := 0, 0
	for i, v := range d.values {
		if d.benign(i) {
			for _, score := range v {
				n++
				if score < 0.5*(-5+math.Sqrt(26)) {
					below++
				}
			}
		}
	}
	if got := float64(below) / float64(n); got < 0.003 || got > 0.0045 {
		t.Errorf("%.5f of the benign scores lie below -5, want 0.0037", got)
	}
}

// The last detector, the volume of traffic, is high for busy servers and not for attacks.
func TestVolumeIsBenign(t *testing.T) {
	d := collect(t, detectorOptions())
	last := len(d.values[0]) - 1
	high, positive := 0, 0
	for i, v := range d.values {
		if v[last] > 6 {
			high++
			if d.positive[i] {
				positive++
			}
		}
	}
	if high < 100 || float64(positive) > 0.1*float64(high) { // 20 % of all rows are attacks
		t.Errorf("%d of the %d rows with a high volume are attacks", positive, high)
	}
}

// With MLT, attacks with even numbers do not occur and half of the others are labelled negative. Without it
// every attack is positive.
func TestMLTLabels(t *testing.T) {
	o := detectorOptions()
	clean := collect(t, o)
	o.MLT = true
	noisy := collect(t, o)
	k := mustNew(t, o).kind.(*detectors)
	count := func(d table, name string) (n, labelled int) {
		for i := range d.attack {
			if d.attack[i] == name {
				n++
				if d.positive[i] {
					labelled++
				}
			}
		}
		return n, labelled
	}
	for a, name := range k.names {
		if n, labelled := count(clean, name); n == 0 || n != labelled {
			t.Errorf("clean: %s occurs %d times, %d positive", name, n, labelled)
		}
		n, labelled := count(noisy, name)
		if (a+1)%2 == 0 {
			if n != 0 {
				t.Errorf("MLT: %s occurs %d times", name, n)
			}
			continue
		}
		if binomial.AtMost(n, labelled, 0.5) < 1e-4 || binomial.AtLeast(n, labelled, 0.5) < 1e-4 {
			t.Errorf("MLT: %d of %d rows of %s are positive", labelled, n, name)
		}
	}
	for i := range noisy.attack {
		if noisy.positive[i] && noisy.attack[i] == "" {
			t.Fatal("benign traffic is labelled positive")
		}
	}
	if len(noisy.attack) != len(clean.attack) {
		t.Error("MLT changes the number of rows")
	}
}

// discriminant is Fisher's linear discriminant, with the covariance of the negatives.
func discriminant(t testing.TB, d table) []float64 {
	t.Helper()
	columns := len(d.values[0])
	mean := [2][]float64{make([]float64, columns), make([]float64, columns)}
	var n [2]float64
	for i, v := range d.values {
		class := 0
		if d.positive[i] {
			class = 1
		}
		n[class]++
		for j, x := range v {
			mean[class][j] += x
		}
	}
	difference := make([]float64, columns)
	for j := range columns {
		mean[0][j], mean[1][j] = mean[0][j]/n[0], mean[1][j]/n[1]
		difference[j] = mean[1][j] - mean[0][j]
	}
	covariance := make([][]float64, columns)
	for j := range covariance {
		covariance[j] = make([]float64, columns)
	}
	for i, v := range d.values {
		if d.positive[i] {
			continue
		}
		for j := range v {
			for k := range v {
				covariance[j][k] += (v[j] - mean[0][j]) * (v[k] - mean[0][k]) / n[0]
			}
		}
	}
	return solve(t, covariance, difference)
}

// solve returns x with a x = b for a positive definite a, by elimination.
func solve(t testing.TB, a [][]float64, b []float64) []float64 {
	t.Helper()
	for j := range b {
		if !(a[j][j] > 0) {
			t.Fatalf("pivot %d is %v", j, a[j][j])
		}
		for i := j + 1; i < len(b); i++ {
			f := a[i][j] / a[j][j]
			for k := j; k < len(b); k++ {
				a[i][k] -= f * a[j][k]
			}
			b[i] -= f * b[j]
		}
	}
	for j := len(b) - 1; j >= 0; j-- {
		for k := j + 1; k < len(b); k++ {
			b[j] -= a[j][k] * b[k]
		}
		b[j] /= a[j][j]
	}
	return b
}

// caught returns the fraction of the rows in member above the threshold that 1 % of the negatives exceed.
func caught(t *testing.T, d table, w []float64, member func(i int) bool) float64 {
	t.Helper()
	var s ranking.Scores
	for i, v := range d.values {
		z := 0.0
		for j := range w {
			z += w[j] * v[j]
		}
		if !d.positive[i] {
			s.Negatives = append(s.Negatives, z)
		} else if member(i) {
			s.Positives = append(s.Positives, z)
		}
	}
	r, err := ranking.Rank(s)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Positives(ranking.NP(threshold.MustRate("1%")))
	if err != nil {
		t.Fatal(err)
	}
	return got.Rate
}

// A linear model finds attacks. One trained with MLT misses attacks of types without training rows.
func TestMLTHidesAttacks(t *testing.T) {
	o := detectorOptions()
	clean := collect(t, o)
	o.MLT = true
	noisy := collect(t, o)
	o.MLT, o.Seed = false, 6
	test := collect(t, o)
	hidden := func(i int) bool {
		return slices.Contains([]string{"attack2", "attack4", "attack6", "attack8"}, test.attack[i])
	}
	seen := func(i int) bool { return !hidden(i) }
	full, blind := discriminant(t, clean), discriminant(t, noisy)
	t.Logf("caught at 1 %%: hidden types %.3f after clean training, %.3f after MLT; others %.3f and %.3f",
		caught(t, test, full, hidden), caught(t, test, blind, hidden), caught(t, test, full, seen), caught(t, test, blind, seen))
	if caught(t, test, full, hidden) < 2*caught(t, test, blind, hidden) {
		t.Error("a model trained with MLT finds the even attacks")
	}
	if caught(t, test, blind, seen) < 0.5*caught(t, test, full, seen) {
		t.Error("a model trained with MLT misses the odd attacks")
	}
	if all := caught(t, test, full, func(int) bool { return true }); all < 0.1 || all > 0.9 {
		t.Errorf("a linear model catches %v: too hard or too easy", all)
	}
}
