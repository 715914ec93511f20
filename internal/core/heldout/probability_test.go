package heldout

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"toptau/calibrate"
)

// drawn returns scores whose log odds are odds(score): normal scores, labelled by chance.
func drawn(seed uint64, rows int, odds func(z float64) float64) LabelledScores {
	random := rand.New(rand.NewPCG(seed, 3))
	var s LabelledScores
	for range rows {
		z := random.NormFloat64()
		if random.Float64() < 1/(1+math.Exp(-odds(z))) {
			s.Positives = append(s.Positives, z)
		} else {
			s.Negatives = append(s.Negatives, z)
		}
	}
	return s
}

func fitted(t *testing.T, s LabelledScores, prevalence float64) *calibrate.Probability {
	t.Helper()
	if prevalence == 0 {
		prevalence = float64(len(s.Positives)) / float64(len(s.Positives)+len(s.Negatives))
	}
	p, err := FitProbability(s, prevalence, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	return p
}

// Both methods recover the probabilities that drew the labels.
func TestProbabilitiesAreRecovered(t *testing.T) {
	for name, odds := range map[string]func(float64) float64{
		"logistic": func(z float64) float64 { return 3*z - 2 },
		"bent":     func(z float64) float64 { return math.Min(4*z-3, 0.5*z) },
		"floor":    func(z float64) float64 { return math.Max(5*z-6, -3) },
	} {
		s := drawn(1, 40000, odds)
		p := fitted(t, s, 0)
		worst := 0.0
		last := 0.0
		for z := -2.0; z <= 2; z += 0.1 {
			got := p.At(z)
			if got < last {
				t.Errorf("%s: the probability falls at %v", name, z)
			}
			last = got
			worst = max(worst, math.Abs(got-1/(1+math.Exp(-odds(z)))))
		}
		if worst > 0.06 {
			t.Errorf("%s (%s): off by %v", name, p.Method, worst)
		}
		inside := 0
		for _, r := range p.Reliability {
			if r.Low <= r.Predicted && r.Predicted <= r.High {
				inside++
			}
		}
		if inside < len(p.Reliability)-2 {
			t.Errorf("%s: %d of %d predictions are within their intervals: %+v", name, inside, len(p.Reliability), p.Reliability)
		}
	}
}

// A weighted prevalence and AtPrevalence move the odds, and agree with each other.
func TestProbabilityAtAnotherPrevalence(t *testing.T) {
	s := drawn(2, 20000, func(z float64) float64 { return 2*z - 3 })
	same := fitted(t, s, 0)
	rare := fitted(t, s, 0.01)
	for z := -1.0; z <= 2.5; z += 0.5 {
		a, b := same.AtPrevalence(z, 0.01), rare.At(z)
		if math.Abs(a-b) > 0.015+0.15*b {
			t.Errorf("at %v: %v and %v", z, a, b)
		}
		if got := same.AtPrevalence(z, same.Prevalence); math.Abs(got-same.At(z)) > 1e-12 {
			t.Errorf("the own prevalence changes %v to %v", same.At(z), got)
		}
	}
}

// Hard cases: few rows, separable classes, equal scores, reversed scores.
func TestProbabilityOfHardCases(t *testing.T) {
	if _, err := FitProbability(LabelledScores{Positives: make([]float64, 19), Negatives: make([]float64, 100)}, 0.1, ""); !errors.Is(err, ErrFewRows) {
		t.Errorf("%v", err)
	}
	if _, err := FitProbability(LabelledScores{Positives: make([]float64, 30), Negatives: make([]float64, 100)}, 1, ""); err == nil {
		t.Error("a prevalence of 1")
	}
	step := func(n int, from float64) []float64 {
		z := make([]float64, n)
		for i := range z {
			z[i] = from + float64(i)/float64(n)
		}
		return z
	}
	for _, positives := range []int{30, 300} {
		for name, s := range map[string]LabelledScores{
			"separable": {Positives: step(positives, 5), Negatives: step(1000, 0)},
			"reversed":  {Positives: step(positives, 0), Negatives: step(1000, 5)},
			"equal":     {Positives: make([]float64, positives), Negatives: make([]float64, 1000)},
			"huge":      {Positives: []float64{1e300}, Negatives: step(1000, -1e300)},
		} {
			for len(s.Positives) < positives {
				s.Positives = append(s.Positives, 1e300)
			}
			p := fitted(t, s, 0)
			for _, z := range []float64{-1e308, -1, 0, 0.5, 3, 1e308} {
				if x := p.At(z); !(x >= 0 && x <= 1) {
					t.Errorf("%s: %v at %v", name, x, z)
				}
			}
			base := float64(positives) / float64(positives+1000)
			if x := p.At(0); (name == "reversed" || name == "equal") && math.Abs(x-base) > 0.02 {
				t.Errorf("%s: %v at 0, %v are positive", name, x, base)
			}
		}
	}
}
