package report

import (
	"math/rand/v2"

	"toptau/internal/detmath"
	"toptau/metric"
	"toptau/model"
	"toptau/threshold"
)

// named figure of the tests; its name is that of its golden file.
type example struct {
	name   string
	figure Figure
}

// examples has every kind of figure, small enough to read as SVG. Values are exact or made by package elementary, so that
// the files are the same on every platform.
func examples() []example {
	third := []float64{0, 1, 2, 3}
	return []example{
		{"lines", &Plot{Text: Caption{Title: "Two lines with a band", Description: "Both rise.", Note: "A note."},
			X: Axis{Label: "budget", Unit: Percent}, Y: Axis{Label: "recall", Unit: Percent, Max: 1},
			Series: []Series{
				{Name: "model", X: []float64{0, 0.01, 0.02, 0.05}, Y: []float64{0, 0.4, 0.5, 0.9},
					Low: []float64{0, 0.3, 0.4, 0.85}, High: []float64{0.1, 0.5, 0.6, 0.95}},
				{Name: "baseline", X: []float64{0, 0.05}, Y: []float64{0, 0.5}},
				{Name: "chance", Style: Reference, X: []float64{0, 0.05}, Y: []float64{0, 0.05}},
				{Name: "threshold", Style: Highlight, Draw: Points, X: []float64{0.02}, Y: []float64{0.5}},
			}, Rules: []Rule{{Name: "goal", At: 0.01}, {Name: "floor", At: 0.2, Horizontal: true}}}},
		{"steps-log", &Plot{Text: Caption{Title: "Steps on a logarithmic axis with a zero"},
			X: Axis{Label: "false positive rate", Unit: Percent, Scale: Logarithmic},
			Y: Axis{Label: "true positive rate", Unit: Percent, Max: 1}, Series: []Series{{Name: "model", Draw: Step,
				X: []float64{0, 0, 1e-4, 1e-3, 0.02, 1}, Y: []float64{0, 0.1, 0.3, 0.6, 0.9, 1}}}}},
		{"points", &Plot{Text: Caption{Title: "Two classes"}, Square: true, X: Axis{Label: "x1"}, Y: Axis{Label: "x2"},
			Series: []Series{{Name: "negatives", Draw: Points, X: third, Y: []float64{1, 3, 2, 0}},
				{Name: "positives", Draw: Points, X: []float64{0.5, 2.5}, Y: []float64{2.5, 1.5}},
				{Name: "unknown", Draw: Points, X: []float64{1.5}, Y: []float64{0.5}}}}},
		{"contours", &Plot{Text: Caption{Title: "Contours and a trajectory"}, Square: true,
			X: Axis{Label: "w1", Min: -1, Max: 1}, Y: Axis{Label: "w2", Min: -1, Max: 1},
			Field: &Field{X0: -1, X1: 1, Y0: -1, Y1: 1, Columns: 5, Rows: 5, Values: bowl(5), Levels: []float64{0.25, 0.8}},
			Series: []Series{{Name: "from a start", Draw: Trajectory,
				X: []float64{0.9, 0.5, 0.2, 0}, Y: []float64{-0.8, -0.5, -0.1, 0}}}}},
		{"histogram", &Histogram{Text: Caption{Title: "Scores by class"}, X: Axis{Label: "score"},
			Edges: []float64{-1, 0, 1, 2}, Threshold: new(1.25), Classes: []Class{
				{Name: "negatives", Counts: []float64{6, 3, 1}}, {Name: "positives", Counts: []float64{1, 1, 2}}}}},
		{"dots", &DotPlot{Text: Caption{Title: "Compared"}, X: Axis{Label: "recall", Unit: Percent}, Rows: []Dot{
			{Name: "Pat&Mat-NP", Value: 0.52, Interval: &[2]float64{0.48, 0.56}, Chosen: true},
			{Name: "logistic regression with all columns", Value: 0.4, Interval: &[2]float64{0.35, 0.45}, Baseline: true},
			{Name: "other", Value: 0.45}, {Name: "none", Undefined: "the budget is 0"},
		}, Rules: []Rule{{Name: "a half", At: 0.5}}}},
		{"diagram", ordering()},
	}
}

func bowl(n int) []float64 {
	var values []float64
	for j := range n {
		for i := range n {
			x, y := 2*float64(i)/float64(n-1)-1, 2*float64(j)/float64(n-1)-1
			values = append(values, float64(x*x)+float64(y*y)/2)
		}
	}
	return values
}

func ordering() *Diagram {
	return &Diagram{Text: Caption{Title: "Which threshold is above which"}, Kinds: []string{"plain", "washed", "double"},
		Solid: "always", Dashed: "on these data",
		Boxes: []Box{{"push", "TopPush", 0, 0, 1}, {"push-k", "TopPushK", 0, 1, 1}, {"mean-np", "TopMean-NP", 0, 2, 1},
			{"grill-np", "Grill-NP", 0, 3, 2}, {"mat-np", "Pat&Mat-NP", 1, 1, 0}, {"mat", "Pat&Mat", 2, 1, 0},
			{"mean", "TopMean", 2, 2, 1}, {"grill", "Grill", 2, 3, 2}},
		Arrows: []Arrow{{From: "push", To: "push-k", Label: "0 of 1,000"}, {From: "push-k", To: "mean-np", Label: "0 of 1,000"},
			{From: "mean-np", To: "grill-np"}, {From: "mat-np", To: "mean-np", Label: "0"}, {From: "mat-np", To: "grill-np"},
			{From: "mat", To: "mean", Label: "0"}, {From: "mean", To: "grill", Label: "0 of 1,000"},
			{From: "mat", To: "grill", Bend: 0.36}, {From: "mat", To: "mat-np", Label: "12", Dashed: true},
			{From: "mean", To: "mean-np", Dashed: true}, {From: "grill", To: "grill-np", Label: "3 of 1,000", Dashed: true},
			{From: "grill", To: "nowhere"}}}
}

// scores of a detector that finds most positives, a few of them far away.
func scores(negatives, positives int) metric.Scores {
	random := rand.New(rand.NewPCG(1, 2))
	uniform := func() float64 { return (float64(random.Uint64()>>11) + 0.5) / (1 << 53) }
	logistic := func() float64 {
		u := uniform()
		return detmath.Log(u / (1 - u))
	}
	var s metric.Scores
	for range negatives {
		s.Negatives = append(s.Negatives, logistic())
	}
	for range positives {
		s.Positives = append(s.Positives, 3+2*logistic())
	}
	return s
}

// findings is a page with everything on it.
func findings() *Findings {
	s := scores(8000, 300)
	ranking, err := metric.Rank(s)
	if err != nil {
		panic(err)
	}
	weak := metric.Scores{Negatives: s.Negatives}
	for _, z := range s.Positives {
		weak.Positives = append(weak.Positives, z-1)
	}
	other, err := metric.Rank(weak)
	if err != nil {
		panic(err)
	}
	decisions, err := ranking.At(4.75, 0.95)
	if err != nil {
		panic(err)
	}
	pair := func(make func(r *metric.Ranking) metric.Curve) []Curve {
		return []Curve{CurveOf("this model", make(ranking).Corners().Downsample(400)),
			CurveOf("logistic regression", make(other).Corners().Downsample(400))}
	}
	guarantee := &model.Guarantee{Certified: true, Kind: "max-fpr", Rate: threshold.MustRate("1%"),
		Delta: threshold.MustRate("5%"), Negatives: 3000, Order: 2980, Bound: metric.BinomialAtLeast(3000, 2980, 0.99)}
	f := &Findings{
		Title: "Alerts for network detection", Lead: "At most 1 % of the negatives as false alarms.",
		Summary: []string{"Of 1,000 alerts about 641 are real.", "51 % of the attacks are caught."},
		Points: []OperatingPoint{{Decisions: &decisions, Point: model.Point{
			Name: "goal", Threshold: 4.75, Goal: metric.RateGoal(metric.GoalMaxFPR, "1%"), Source: "calibration part", Guarantee: guarantee,
			Segment: "site", Segments: []model.Segment{{Value: "Prague", Threshold: 4.5, Guarantee: guarantee},
				{Value: "<i>Brno</i>", Threshold: 1.5}}}}},
		Budget: &Budget{Name: "budget 1 %", Rate: 0.01},
		ROC:    pair((*metric.Ranking).ROC), PR: pair((*metric.Ranking).PR), PTau: pair((*metric.Ranking).PTau),
		Recall: []Curve{{Name: "this model", Points: [][2]float64{{0.001, 0.02}, {0.01, 0.2}, {0.1, 0.8}, {0.5, 0.9}},
			Low: []float64{0.01, 0.15, 0.75, 0.86}, High: []float64{0.03, 0.25, 0.85, 0.94}}},
		Scores: HistogramOf(s, new(4.75), 50),
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
	var all []Figure
	for _, e := range examples() {
		all = append(all, e.figure)
	}
	f.Sections = []Section{{Title: "All kinds of figures", Figures: all}, {Title: "Without content"}}
	return f
}
