package objective

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"toptau/diag"
	"toptau/internal/core/matrix"
	"toptau/method"
	"toptau/surrogate"
	"toptau/threshold"
)

func batchObjective(t *testing.T, name string, rows int) *Objective {
	t.Helper()
	m, err := method.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	x, y, weights := randomRows(20, rows, 3, true)
	o, err := New(problemOf(t, m, surrogate.Hinge, 0.1), pack(t, x, y, weights, matrix.Sparse))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestMinibatchesUseEveryRowOnce(t *testing.T) {
	for _, stratified := range []bool{false, true} {
		for _, count := range []int{1, 2, 3, 7, 13} {
			o := batchObjective(t, "topmean", 100)
			batches, err := o.Minibatches(count, 3, stratified)
			if err != nil {
				t.Fatal(err)
			}
			seen := map[int]int{}
			sizes, positives := spreadOf{}, spreadOf{}
			for _, b := range batches {
				sizes.add(b.Rows())
				positives.add(b.x.Positives.Rows())
				for _, part := range []*matrix.ClassRows{b.x.Positives, b.x.Negatives} {
					for i := range part.Rows() {
						seen[part.Source(i)]++
						if i > 0 && part.Source(i) <= part.Source(i-1) {
							t.Fatal("rows of a minibatch are not in stored order")
						}
					}
				}
			}
			if len(batches) != count || len(seen) != 100 {
				t.Fatalf("%d minibatches with %d rows", len(batches), len(seen))
			}
			for row, times := range seen {
				if times != 1 {
					t.Fatalf("row %d is in %d minibatches", row, times)
				}
			}
			if sizes.width() > 1 || stratified && positives.width() > 1 {
				t.Errorf("%d minibatches, stratified %v: sizes %v, positives %v", count, stratified, sizes, positives)
			}
			if !stratified && count == 7 && positives.width() < 2 {
				t.Error("a plain split came out stratified: is it random?")
			}
		}
	}
}

// spreadOf is the smallest and the largest of some counts.
type spreadOf []int

func (s *spreadOf) add(n int) {
	if len(*s) == 0 {
		*s = spreadOf{n, n}
	}
	(*s)[0], (*s)[1] = min((*s)[0], n), max((*s)[1], n)
}

func (s spreadOf) width() int { return s[1] - s[0] }

func TestMinibatchIsItsOwnProblem(t *testing.T) {
	for _, m := range method.All() {
		o := batchObjective(t, string(m.Name), 90)
		batches, err := o.Minibatches(3, 5, false)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, 1))
		for _, b := range batches {
			var x [][]float64
			var y []bool
			var weights []float64
			for _, part := range []*matrix.ClassRows{b.x.Positives, b.x.Negatives} {
				for i := range part.Rows() {
					row := make([]float64, 3)
					part.Row(i, row)
					x, y, weights = append(x, row), append(y, part == b.x.Positives), append(weights, part.Weights()[i])
				}
			}
			alone, err := New(o.problem, pack(t, x, y, weights, matrix.Dense))
			if err != nil {
				t.Fatal(err)
			}
			w := randomPoint(r, 3)
			g1, g2 := make([]float64, 3), make([]float64, 3)
			if v1, v2 := b.At(w, g1), alone.At(w, g2); v1 != v2 {
				t.Errorf("%s: %v, alone %v", m.Name, v1, v2)
			}
			nearAll(t, string(m.Name), g1, g2)
		}
	}
}

func TestMinibatchesDependOnTheSeedOnly(t *testing.T) {
	first := func(seed uint64) string {
		batches, err := batchObjective(t, "patmat", 100).Minibatches(4, seed, false)
		if err != nil {
			t.Fatal(err)
		}
		var rows []int
		for i := range batches[0].x.Negatives.Rows() {
			rows = append(rows, batches[0].x.Negatives.Source(i))
		}
		return fmt.Sprint(rows)
	}
	if one, again := first(1), first(1); one != again || one == first(2) {
		t.Error("the split does not follow the seed")
	}
}

// A minibatch without positives has no loss, and no gradient but that of the regulariser.
func TestMinibatchWithoutPositives(t *testing.T) {
	x := [][]float64{{5}, {1}, {2}, {3}, {4}, {6}, {7}, {8}}
	y := []bool{true, false, false, false, false, false, false, false}
	m, _ := method.ByName("topmean")
	p, err := m.With(method.Problem{Lambda: 0.5, Tau: threshold.MustRate("0.5")})
	if err != nil {
		t.Fatal(err)
	}
	o, err := New(p, pack(t, x, y, nil, matrix.Dense))
	if err != nil {
		t.Fatal(err)
	}
	batches, err := o.Minibatches(4, 1, true)
	if err != nil {
		t.Fatal(err)
	}
	without := 0
	for _, b := range batches {
		if b.x.Positives.Rows() > 0 {
			continue
		}
		without++
		grad := make([]float64, 1)
		if v := b.At([]float64{2}, grad); v.Loss != 0 || v.F != 1 || grad[0] != 1 {
			t.Errorf("%v, gradient %v", v, grad)
		}
	}
	if without != 3 {
		t.Errorf("%d minibatches without positives, want 3", without)
	}
}

func TestTooManyMinibatches(t *testing.T) {
	// 20 negatives, K = 3: six minibatches when stratified.
	x, y, _ := randomRows(21, 30, 2, false)
	m, _ := method.ByName("toppushk")
	o, err := New(problemOf(t, m, surrogate.Hinge, 0.1), pack(t, x, y, nil, matrix.Dense))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Minibatches(6, 1, true); err != nil {
		t.Errorf("six are possible: %v", err)
	}
	_, err = o.Minibatches(7, 1, true)
	if f := diag.Of(err); f == nil || f.Kind != diag.Usage || !strings.Contains(err.Error(), "minibatches 7, expected at most 6") {
		t.Error(err)
	}
	_, err = o.Minibatches(9, 1, false)
	if f := diag.Of(err); f == nil || f.Kind != diag.Usage || !strings.Contains(err.Error(), "use stratified; 6 stratified minibatches are possible") {
		t.Error(err)
	}
	for _, count := range []int{0, -1, 31} {
		if _, err := o.Minibatches(count, 1, false); diag.Of(err) == nil || !strings.Contains(err.Error(), "between 1 and 30") {
			t.Error(count, err)
		}
	}
}

func TestRuleLargerThanThePopulation(t *testing.T) {
	m, _ := method.ByName("toppushk")
	p, err := m.With(method.Problem{K: 3})
	if err != nil {
		t.Fatal(err)
	}
	_, err = New(p, pack(t, [][]float64{{1}, {2}, {3}}, []bool{true, false, false}, nil, matrix.Dense))
	if diag.Of(err) == nil || !strings.Contains(err.Error(), "TopPushK on 2 negatives") {
		t.Error(err)
	}
}
