package calibrate

import (
	"math/rand/v2"
	"testing"

	"toptau/method"
	"toptau/threshold"
)

// Sorted scores give the thresholds of the functions that sort, and count what lies above them.
func TestSortedScoresGiveTheSameThresholds(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 20, 400, 5000} {
		scores := make([]float64, n)
		for i := range scores {
			scores[i] = float64(random.IntN(n)) // with ties
		}
		for _, p := range []method.Population{method.Negatives, method.AllRows} {
			s, err := Sort(scores, p)
			if err != nil || s.Len() != n {
				t.Fatal(s, err)
			}
			for _, rate := range []string{"0.01%", "1%", "20%", "1/3"} {
				alpha, delta := threshold.MustRate(rate), threshold.MustRate("5%")
				plain, g, err := Plain(scores, alpha, p)
				got, h, err2 := s.Plain(alpha)
				if got != plain || g.Order != h.Order || err != nil || err2 != nil {
					t.Errorf("n %d, %s: plain %v and %v", n, rate, got, plain)
				}
				above := 0
				for _, z := range scores {
					if z > plain {
						above++
					}
				}
				if s.Above(plain) != above {
					t.Errorf("n %d, %s: %d above, counted %d", n, rate, s.Above(plain), above)
				}
				certified := NeymanPearson
				if p == method.AllRows {
					certified = TopFraction
				}
				want, g, err := certified(scores, alpha, delta)
				got, h, err2 = s.Certified(alpha, delta)
				if got != want || g.Order != h.Order || g.Certified != h.Certified || g.Bound != h.Bound ||
					(err == nil) != (err2 == nil) {
					t.Errorf("n %d, %s: certified %v and %v, %v and %v", n, rate, got, want, err2, err)
				}
			}
		}
	}
}
