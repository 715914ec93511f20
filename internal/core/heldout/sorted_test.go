package heldout

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"toptau/method"
)

// Sorted scores know how many of them lie above a threshold, with ties.
func TestAbove(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 20, 400} {
		scores := make([]float64, n)
		for i := range scores {
			scores[i] = float64(random.IntN(n))
		}
		s, err := Sort(scores, nil, method.AllRows)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range append(slices.Clone(scores), -1, float64(n)) {
			above := 0
			for _, z := range scores {
				if z > at {
					above++
				}
			}
			if s.Above(at) != above {
				t.Errorf("n %d: %d above, counted %d", n, s.Above(at), above)
			}
		}
	}
}

// Equal weights change no threshold, and rows without weight are not there.
func TestWeightsOfPlainThresholds(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 4))
	for _, n := range []int{20, 400, 5000} {
		var scores, all, weights []float64
		for range n {
			z := float64(random.IntN(n))
			scores, all, weights = append(scores, z), append(all, z, float64(n)), append(weights, 3, 0)
		}
		for _, goal := range []string{"0.1%", "5%", "1/3"} {
			want, err := thresholdOf(scores, maxFPR(goal), "")
			if err != nil {
				t.Fatal(err)
			}
			s, err := Sort(all, weights, method.Negatives)
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Plain(rate(goal))
			if err != nil || math.Abs(got.Value-want.Value) > 1e-9 || got.Order != want.Order {
				t.Errorf("n %d, %s: %+v, %v, want %+v", n, goal, got, err, want)
			}
		}
	}
}
