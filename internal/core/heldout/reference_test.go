package heldout

import (
	"math/rand/v2"
	"testing"
	"toptau/internal/core/evidence"
)

func TestReferenceOfEqualScores(t *testing.T) {
	r := NewReference(make([]float64, 300), 1, "test")
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	if r.Above[len(r.Above)-1] != 0 || r.Above[0] != 299 {
		t.Errorf("ranks %v, want the lowest and the highest row", r.Above)
	}
	for i := 1; i < len(r.Ties); i++ {
		if r.Ties[i] <= r.Ties[i-1] {
			t.Fatalf("tie-breakers %v of equal scores, want ascending ones", r.Ties)
		}
	}
	if g := evidence.Gap(r.Scores, r.Ties, 0, r.Ties[5]); g != 5 {
		t.Errorf("a row like the kept one of place 5 is in gap %d, want 5", g)
	}
	if g := evidence.Gap(r.Scores, r.Ties, 1, 0); g != len(r.Scores) {
		t.Errorf("a higher score is in gap %d, want the last, %d", g, len(r.Scores))
	}
}

// TestReferenceCountsRowsAbove compares kept ranks with a count of the rows.
func TestReferenceCountsRowsAbove(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 19, 20, 300, 30_000} {
		scores := make([]float64, n)
		for i := range scores {
			scores[i] = random.NormFloat64()
		}
		r := NewReference(scores, 7, "test")
		if err := r.Check(); err != nil {
			t.Fatalf("%d rows: %v", n, err)
		}
		for i, e := range r.Above {
			above := 0
			for _, z := range scores {
				if z > r.Scores[i] {
					above++
				}
			}
			if above != e {
				t.Fatalf("%d rows: %d above the score of rank %d", n, above, e)
			}
		}
	}
}
