package metric_test

import (
	"fmt"

	"toptau/metric"
	"toptau/threshold"
)

// A day of 1,000 scored flows, 20 of them attacks: attack i scores 1.3 - i/30, flow j scores j/1000.
func day() metric.Scores {
	var s metric.Scores
	for i := range 20 {
		s.Positives = append(s.Positives, 1.3-float64(i)/30)
	}
	for j := range 980 {
		s.Negatives = append(s.Negatives, float64(j)/1000)
	}
	return s
}

// "At most 0.5 % false alarms": which fraction of the attacks do we catch?
func ExampleRanking_Bootstrap() {
	r, err := metric.Rank(day())
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := r.Bootstrap(metric.NP(threshold.MustRate("0.5%")), metric.Bootstrap{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %v of %v above %v, %v of at most %v negatives\n",
		res.Criterion, res.Numerator, res.Denominator, res.Threshold, res.Admitted, res.Budget)
	fmt.Printf("%.2f, %.0f %% interval %.2f to %.2f (%s)\n",
		res.Rate, 100*res.Interval.Confidence, res.Interval.Low, res.Interval.High, res.Interval.Kind)
	// Output:
	// positives@np(0.005): 10 of 20 above 0.975, 4 of at most 4 negatives
	// 0.50, 95 % interval 0.27 to 0.73 (bootstrap of both classes)
}

// "We can look at 50 alerts a day": how many of them are real?
func ExampleRanking_TopCount() {
	r, err := metric.Rank(day())
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
	r, err := metric.Rank(day())
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
	r, err := metric.Rank(metric.Scores{Positives: make([]float64, 5), Negatives: make([]float64, 95)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range []metric.Criterion{metric.Top(), metric.Top().AsInPaper()} {
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
