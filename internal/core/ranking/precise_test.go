package ranking

import (
	"math"
	"math/rand/v2"
	"testing"

	"toptau/metric"
	"toptau/threshold"
)

// Five negatives and four positives, with ties: + + - + (+-) - - -.
var goalSample = Scores{Positives: []float64{9, 8, 6, 5}, Negatives: []float64{7, 5, 4, 3, 2}}

func TestGoalCriteriaByHand(t *testing.T) {
	r, err := Rank(goalSample)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		criterion Criterion
		numerator float64
		threshold float64
	}{
		{Precision(threshold.MustRate("90%")), 2, 7},
		{Precision(threshold.MustRate("75%")), 3, 5}, // three of four
		{Precision(threshold.MustRate("76%")), 2, 7},
		{Precision(threshold.MustRate("66%")), 4, 4}, // four of six
		{Precision(threshold.MustRate("44%")), 4, math.Inf(-1)},
		{Recall(threshold.MustRate("75%")), 4, math.Nextafter(6, 0)}, // one may be missed: 5, 4, 3 and 2 are spared
		{Recall(threshold.MustRate("80%")), 3, math.Nextafter(5, 0)}, // none may; the negative with the same score is an alert
		{Recall(threshold.MustRate("50%")), 5, math.Nextafter(8, 0)}, // two may
		{Recall(threshold.MustRate("1/4")), 5, math.Nextafter(9, 0)},
	} {
		res, err := r.Positives(c.criterion)
		if err != nil || res.Numerator != c.numerator || res.Threshold != c.threshold {
			t.Errorf("%s: %v of %v at %v, %v; want %v at %v", c.criterion, res.Numerator, res.Denominator, res.Threshold, err, c.numerator, c.threshold)
		}
	}
}

// Recall is NP of the mirrored sample, and the paired bootstrap of one model agrees with that of the ranking.
func TestGoalBootstraps(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var s Scores
	for range 60 {
		s.Positives = append(s.Positives, math.Round(4*(random.NormFloat64()+2)))
	}
	for range 400 {
		s.Negatives = append(s.Negatives, math.Round(4*random.NormFloat64()))
	}
	r, err := Rank(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []Criterion{Precision(threshold.MustRate("70%")), Recall(threshold.MustRate("90%"))} {
		one, err := r.Bootstrap(c, Bootstrap{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		paired, err := PairedBootstrap(PairedScores{Positives: [][]float64{s.Positives, s.Positives}, Negatives: [][]float64{s.Negatives, s.Negatives}}, c, 0, Bootstrap{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		two := paired.Results[0]
		if one.Numerator != two.Numerator || one.Threshold != two.Threshold || math.Abs(one.Interval.Low-two.Interval.Low) > .04 || math.Abs(one.Interval.High-two.Interval.High) > .04 {
			t.Errorf("%s: %+v %+v, paired %+v %+v", c, one, one.Interval, two, two.Interval)
		}
		if d := paired.Differences[1]; d.Rate != 0 || d.Interval.Low != 0 || d.Interval.High != 0 || d.Verdict() != metric.Undecided {
			t.Errorf("%s: a model differs from itself: %+v", c, d)
		}
		if !(one.Interval.Low < one.Rate && one.Rate < one.Interval.High) {
			t.Errorf("%s: %+v", c, one.Interval)
		}
	}
}
