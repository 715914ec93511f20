package report

import (
	"toptau/calibrate"
	"toptau/internal/app/plot"
	"toptau/internal/app/plot/plottest"
	"toptau/internal/core/binomial"
	"toptau/internal/core/ranking"
	"toptau/metric"
	"toptau/model"
	"toptau/result"
	"toptau/threshold"
)

// findings returns findings with every field set.
func findings() *Findings {
	s := plottest.Scores(8000, 300)
	rank, err := ranking.Rank(s)
	if err != nil {
		panic(err)
	}
	weak := ranking.Scores{Negatives: s.Negatives}
	for _, z := range s.Positives {
		weak.Positives = append(weak.Positives, z-1)
	}
	other, err := ranking.Rank(weak)
	if err != nil {
		panic(err)
	}
	decisions, err := rank.At(4.75, 0.95)
	if err != nil {
		panic(err)
	}
	pair := func(make func(r *ranking.Ranking) ranking.Curve) []Curve {
		return []Curve{CurveOf("this model", make(rank).Corners().Downsample(400)),
			CurveOf("logistic regression", make(other).Corners().Downsample(400))}
	}
	guarantee := &calibrate.Guarantee{Certified: true, Kind: "max-fpr", Rate: threshold.MustRate("1%"),
		Delta: threshold.MustRate("5%"), Negatives: 3000, Order: 2980, Bound: binomial.AtLeast(3000, 2980, 0.99)}
	f := &Findings{
		Title: "Alerts for network detection", Lead: "At most 1 % of the negatives as false alarms.",
		Summary: []string{"Of 1,000 alerts about 641 are real.", "51 % of the attacks are caught."},
		Points: []OperatingPoint{{Decisions: &decisions, Point: model.Point{
			Name: "goal", Threshold: 4.75, Goal: metric.RateGoal(metric.GoalMaxFPR, "1%"), Source: "calibration part", Guarantee: guarantee,
			Segment: "site", Segments: []model.Segment{{Value: "Prague", Threshold: 4.5, Guarantee: guarantee},
				{Value: "<i>Brno</i>", Threshold: 1.5}}}}},
		Budget: &Budget{Name: "budget 1 %", Rate: 0.01},
		ROC:    pair((*ranking.Ranking).ROC), PR: pair((*ranking.Ranking).PR), PTau: pair((*ranking.Ranking).PTau),
		Recall: []Curve{{Name: "this model", Points: [][2]float64{{0.001, 0.02}, {0.01, 0.2}, {0.1, 0.8}, {0.5, 0.9}},
			Low: []float64{0.01, 0.15, 0.75, 0.86}, High: []float64{0.03, 0.25, 0.85, 0.94}}},
		Scores: plot.HistogramOf(s, new(4.75), 50),
		Comparison: &Comparison{Criterion: "true positive rate at 1 % false positives", Baseline: "logistic regression",
			Verdicts: []string{"Training for the top helps here."}, Rows: []Compared{
				{Name: "Pat&Mat-NP", Value: decisions.TruePositiveRate, Difference: &Difference{0.061, 0.03, 0.092},
					Seconds: new(3.21), Chosen: true},
				{Name: "logistic regression", Value: decisions.Precision},
				{Name: "Grill", Value: metric.Proportion{Undefined: "the budget is 0"}}}},
		Shapes: []Shape{{Column: "a_column_with_a_very_long_name_that_does_not_end_soon", Effect: 1.25,
			X: []float64{0, 1, 5, 20}, Y: []float64{-1, 0, 2, 1}},
			{Column: "service", Categories: []string{"http", "smtp"}, Y: []float64{-0.5, 1}}},
		Data: []Fact{{Name: "digest", Code: true,
			Value: "sha256:2b1f0e0f3c0f4c1f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a0b9c8d7e6f"}},
		Model:    []Fact{{Name: "method", Value: "Pat&Mat-NP"}, {Name: "unknown"}},
		Warnings: []string{"w = 0 is no worse than every fit of topmean-np."},
	}
	f.About = []string{"model", "sha256:c9a40993443e668bd155b12ebeaa63ef3e668bd155b12ebeaa63efc9a4099344", "later.csv", "8,300 rows", "2026-11-22"}
	f.Budgets = Budgets{Period: "day", Rows: []BudgetRow{{Fraction: 0.01, PerPeriod: 12.5, Threshold: 3.25, Found: decisions.TruePositiveRate, Precision: decisions.Precision}},
		Explorer: &Explorer{Start: 1}}
	for _, alerts := range []float64{1, 10, 100} {
		top, err := rank.TopCount(alerts)
		if err != nil {
			panic(err)
		}
		f.Budgets.Explorer.Rows = append(f.Budgets.Explorer.Rows, BudgetRow{Fraction: alerts / 8300, Alerts: alerts, Threshold: top.Threshold,
			Found: top.TruePositiveRate, Precision: top.Precision, Alarms: top.FalsePositiveRate})
	}
	f.By = []result.Breakdown{{Column: "attack", Values: []result.BreakdownValue{{Value: "scan", Found: decisions.TruePositiveRate, FalseAlarms: metric.Proportion{Undefined: "none"}},
		{Others: 3, Found: decisions.TruePositiveRate, FalseAlarms: decisions.FalsePositiveRate}}}}
	f.Examples = []result.Example{{Kind: result.FalseAlarm, Row: 12, Score: 5.5, Reasons: []result.Reason{{Column: "service", Value: "http", AboveAverage: 1.5}, {Column: "7", AboveAverage: -0.25}}}}
	f.Reliability = []calibrate.Reliability{{Rows: 100, Positives: 3, Predicted: 0.025, Observed: 0.03, Low: 0.006, High: 0.085}}
	f.Learning = []result.LearningPoint{{Value: metric.Result{Proportion: decisions.TruePositiveRate}}, {Value: metric.Result{Proportion: decisions.TruePositiveRate}}}
	f.Learning[0].Rows, f.Learning[1].Rows = 4000, 8000
	f.Shapes = append(f.Shapes, Shape{Column: "bytes", Effect: 1, X: []float64{0, 1, 2, 5, 1e6, 3e7}, Y: []float64{0, 1, 1, 2, 3, 4}})
	var all []plot.Figure
	for _, e := range plottest.Examples() {
		all = append(all, e.Figure)
	}
	f.Sections = []Section{{Title: "All kinds of figures", Figures: all}, {Title: "Without content"}}
	return f
}
