package paper

import (
	"math/rand/v2"
	"testing"

	"toptau/internal/core/matrix"
	"toptau/internal/core/ranking"
)

func pointer(f float64) *float64 { return &f }

func TestChoiceGoesByTheCriterionThenByTheObjective(t *testing.T) {
	points := []Point{
		{F: 2, AtZero: 1, Own: [2]*float64{pointer(0.5), pointer(0)}},
		{F: 0.5, AtZero: 1, Own: [2]*float64{pointer(0.5), nil}},
		{F: 0.4, AtZero: 1, Own: [2]*float64{pointer(0.5), pointer(0.2)}},
		{F: 0.1, AtZero: 1, Own: [2]*float64{pointer(0.4), pointer(0.1)}},
		{Failed: "overflow"},
	}
	if got := choosePoint(points, paperCount); got != 1 {
		t.Errorf("by the paper's count: %d, want the first that is better than w = 0", got)
	}
	if got := choosePoint(points, strictCount); got != 2 {
		t.Errorf("by the strict count: %d", got)
	}
	if got := choosePoint(points[4:], paperCount); got != -1 {
		t.Errorf("without results: %d", got)
	}
}

// Only the paper's count calls a constant score perfect. The certified tables therefore use the strict count.
func TestAConstantScoreIsPerfectByThePapersCountAlone(t *testing.T) {
	x, err := matrix.FromDense([][]float64{{1}, {2}, {3}, {4}}, []bool{true, false, true, false}, nil, matrix.Float32)
	if err != nil {
		t.Fatal(err)
	}
	z := scoreRows(x, []float64{0})
	r, err := ranking.Rank(z)
	if err != nil {
		t.Fatal(err)
	}
	m, err := testCriteria(r)
	if err != nil {
		t.Fatal(err)
	}
	if *m.Values[paperCount][0] != 1 || *m.Values[strictCount][0] != 0 {
		t.Errorf("Positives@Top of a constant score: %v, %v", *m.Values[paperCount][0], *m.Values[strictCount][0])
	}
	if m.Values[strictCount][1] != nil {
		t.Error("Positives@Quantile(0.01) of 4 rows is defined by the strict count")
	}
	for _, e := range entries() {
		if e.Key() == "grill-0.01" {
			if v, err := validationValue(z, e, strictCount); err != nil || v != 0 {
				t.Errorf("the validation criterion becomes %v, %v; want Positives@Top", v, err)
			}
			if e.criterion() != ranking.Quantile(taus[0]) {
				t.Errorf("Grill is chosen by %v", e.criterion())
			}
		}
	}
}

// The selection must return the criterion of package metric, for tied and for distinct scores.
func TestValidationValueIsTheCriterion(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for try := range 300 {
		z := ranking.Scores{Positives: make([]float64, 1+random.IntN(60)), Negatives: make([]float64, 1+random.IntN(400))}
		for _, class := range [][]float64{z.Positives, z.Negatives} {
			for i := range class {
				class[i] = random.Float64()
				if try%2 == 0 {
					class[i] = float64(random.IntN(8))
				}
			}
		}
		r, err := ranking.Rank(z)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries() {
			for rule := range count(2) {
				want, err := criterionValue(r, rule.of(e.criterion()))
				if err != nil {
					t.Fatal(err)
				}
				if want == nil {
					want, _ = criterionValue(r, rule.of(ranking.Top()))
				}
				if got, err := validationValue(z, e, rule); err != nil || got != *want {
					t.Fatalf("try %d, %s, %s: %v, %v; want %v", try, e.Key(), countNames[rule], got, err, *want)
				}
			}
		}
	}
}
