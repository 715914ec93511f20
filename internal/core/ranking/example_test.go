package ranking_test

import (
	"fmt"

	"toptau/internal/core/ranking"
)

// A day of 1,000 scored flows, 20 of them attacks: attack i scores 1.3 - i/30, flow j scores j/1000.
func day() ranking.Scores {
	var s ranking.Scores
	for i := range 20 {
		s.Positives = append(s.Positives, 1.3-float64(i)/30)
	}
	for j := range 980 {
		s.Negatives = append(s.Negatives, float64(j)/1000)
	}
	return s
}

// "We can look at 50 alerts a day": how many of them are real?
func ExampleRanking_TopCount() {
	r, err := ranking.Rank(day())
	if err != nil {
		fmt.Println(err)
		return
	}
	top, err := r.TopCount(50)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v of %v alerts are real, %.0f %% of the attacks\n",
		top.TruePositives, top.Budget, 100*top.TruePositiveRate.Rate)
	// Output:
	// 11 of 50 alerts are real, 55 % of the attacks
}

// A threshold that was fixed before these rows were seen has exact intervals.
func ExampleRanking_At() {
	r, err := ranking.Rank(day())
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := r.At(0.95, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := c.FalsePositiveRate
	fmt.Printf("%v of %v false alarms: %.4f, %.4f to %.4f (%s)\n",
		p.Numerator, p.Denominator, p.Rate, p.Interval.Low, p.Interval.High, p.Interval.Kind)
	// Output:
	// 29 of 980 false alarms: 0.0296, 0.0199 to 0.0422 (clopper-pearson at a fixed threshold)
}

// Ties count against the model: a constant score is worth nothing by our rule and everything by the paper's
// own count.
func ExampleCriterion_AsInPaper() {
	r, err := ranking.Rank(ranking.Scores{Positives: make([]float64, 5), Negatives: make([]float64, 95)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range []ranking.Criterion{ranking.Top(), ranking.Top().AsInPaper()} {
		res, err := r.Positives(c)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(res.Criterion, res.Rate, res.Rule)
	}
	// Output:
	// positives@top 0 score > threshold
	// positives@top as in the paper 1 score >= threshold
}
