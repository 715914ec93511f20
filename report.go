package toptau

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"sort"

	"toptau/calibrate"
	"toptau/internal/detmath"
	"toptau/internal/effect"
	"toptau/internal/feature"
	"toptau/internal/inspect"
	"toptau/internal/plot"
	"toptau/internal/report"
	"toptau/internal/rowset"
	"toptau/internal/table"
	"toptau/internal/text"
	"toptau/internal/wording"
	"toptau/method"
	"toptau/metric"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
	"toptau/threshold"
)

// Sizes of the figures, chosen by hand.
const (
	reportPoints = 400 // most points of a curve
	reportBins   = 50  // bins of the histogram of scores

	reportExamples = 50 // most false alarms, found and missed positives
)

// WriteReport writes the evaluation as one self-contained HTML page. The page shows the first entry's
// operating points with their guarantees, what budgets find, which positives are missed, rows to look at, curves,
// scores by class, probabilities, the effects of the main columns, the comparison with the other entries, the
// data and the model.
func WriteReport(w io.Writer, e *Evaluation) error {
	f, err := evaluationFindings(e)
	if err != nil {
		return err
	}
	_, err = f.Page().WriteTo(w)
	return err
}

// evaluationFindings returns what the report shows.
func evaluationFindings(e *Evaluation) (*report.Findings, error) {
	state := stateOf(e)
	if err := (rowset.Needs{}.Columns(state.data, "", "").Option("report", true)).Check(state.where); err != nil {
		return nil, err
	}
	first := state.rankings[0]
	f := &report.Findings{Summary: e.Summary, About: about(e), Reliability: e.Reliability}
	report.Compare(f, &e.Evaluation)
	var alarm *float64
	if m := first.Model; m != nil {
		points := m.Points()
		for i := range points {
			f.Points = append(f.Points, report.OperatingPoint{Point: points[i], Decisions: &e.Points[i].Decisions,
				Facts: report.ShiftFacts(e.Points[i].Shift), Value: e.Points[i].Value, ValueName: e.Value})
		}
		if len(points) > 0 {
			alarm = &points[0].Threshold
			f.Title = report.FoundTitle(&e.Points[0].Decisions, points[0].Goal)
		}
		f.Model = report.ModelFacts(m)
		if len(state.rankings) == 1 {
			u, err := useOf(m, state.statements)
			if err != nil {
				return nil, err
			}
			f.Sections = u.Sections()
			// Too few rows for the fingerprints.
			if known := e.TrainingRows; m.Training().Digest == state.data.Digest() && state.data.Digest() != "" && known != nil && !known.Excess {
				f.Warnings = append(f.Warnings, "these are the rows that the model was trained on; expect worse results on new rows")
			}
		}
		var err error
		if f.Shapes, f.Pairs, err = mainShapes(m, first.data, mainColumns); err != nil {
			return nil, err
		}
	}
	f.By, f.Examples = e.By, e.Examples
	if first.Model != nil && first.alarms != nil && f.Examples == nil {
		var err error
		if f.Examples, err = first.examples(state.units, first.alarms, reportExamples); err != nil {
			return nil, err
		}
	}
	f.Data, f.Scores = report.DataFacts(&e.Evaluation, state.data.Info.Schema, state.data.Digest()), plot.HistogramOf(first.scores, alarm, reportBins)
	goal := reportGoal(e)
	setGoal(f, goal)
	for i, k := range state.rankings {
		name := e.Entries[i].Name
		if len(state.rankings) == 1 {
			name = thisModel
		}
		if i < maxCurves {
			addCurves(f, name, k.rank)
		}
	}
	if err := addBudgets(f, first.rank, state.listBounds(), state.data, goal, first.rank.Mass()); err != nil {
		return nil, err
	}
	for _, warning := range e.Warnings {
		f.Warnings = append(f.Warnings, warning.Text)
	}
	return f, nil
}

// useOf returns what people who decide about a model need.
func useOf(m *model.Model, statements []result.Statement) (*report.Use, error) {
	inspection, err := inspect.Model(m)
	if err != nil {
		return nil, err
	}
	u := &report.Use{Statements: statements, Points: m.Points(), Probabilities: m.Probability() != nil, Inspection: inspection}
	for _, member := range m.Members() {
		u.Certificates = u.Certificates || member.Evidence != nil && member.Evidence.Lower != nil
	}
	features := feature.MapOf(m.Features())
	words := map[feature.Direction]string{feature.Mixed: "mixed", feature.Rising: "rises", feature.Falling: "falls", feature.Flat: "flat"}
	for k, d := range feature.Directions(features, feature.ScorerOf(m).Weights) {
		in := &features.Inputs[k]
		moved := report.Moved{Column: in.Name, Direction: words[d]}
		if in.Kind == schema.Categorical {
			moved.Direction = "category"
		}
		u.Columns = append(u.Columns, moved)
	}
	return u, nil
}

// about returns the model, the file and the date in short.
func about(e *Evaluation) []string {
	state := stateOf(e)
	var list []string
	for i := range e.Entries {
		if name := e.Entries[i].Name; name != "" && len(list) < maxCurves {
			list = append(list, name)
		}
	}
	list = append(list, filepath.Base(state.data.Table.File), wording.UnitsText(e.Unit, e.Rows))
	if state.date != "" {
		list = append(list, state.date)
	}
	return list
}

// addCurves adds the curves of one ranking.
func addCurves(f *report.Findings, name string, rank *metric.Ranking) {
	for _, c := range []struct {
		to    *[]report.Curve
		curve metric.Curve
	}{{&f.ROC, rank.ROC()}, {&f.PR, rank.PR()}, {&f.PTau, rank.PTau()}} {
		*c.to = append(*c.to, report.CurveOf(name, c.curve.Corners().Downsample(reportPoints)))
	}
}

// addBudgets adds the band of the first ROC curve, and what budgets find: the curve, the slider and the table. rows is the mass of all rows of
// the data, which the ranking may be a part of.
func addBudgets(f *report.Findings, rank *metric.Ranking, bounds *calibrate.MaxFalse, d *rowset.Set, goal metric.Goal, rows float64) error {
	if err := addROCBand(&f.ROC[0], rank); err != nil {
		return err
	}
	explorer, err := explorerOf(rank, bounds)
	if err != nil {
		return err
	}
	f.Recall = []report.Curve{recallByBudget(rank, explorer)}
	f.Budgets, err = budgetsOf(rank, bounds, d, goal, rows)
	f.Budgets.Explorer = explorer
	return err
}

// addROCBand adds bootstrap intervals of the true positive rate at a grid of false positive rates, with straight
// lines on the logarithmic axis between them. Weighted rows have no band.
func addROCBand(c *report.Curve, rank *metric.Ranking) error {
	_, negatives := rank.Rows()
	if rank.Weighted() || negatives < 2 {
		return nil
	}
	var rates, lows, highs []float64
	for budget := 1; budget < negatives; budget = max(budget+1, int(budgetStep*float64(budget))) {
		rate, err := threshold.ParseRate(fmt.Sprintf("%d/%d", budget, negatives))
		if err != nil {
			return err
		}
		res, err := rank.Bootstrap(metric.NP(rate), metric.Bootstrap{Replicates: bandReplicates, Seed: uint64(budget)})
		if err != nil {
			return err
		}
		if res.Interval == nil {
			return nil
		}
		rates, lows, highs = append(rates, rate.Float64()), append(lows, res.Interval.Low), append(highs, res.Interval.High)
	}
	rates, lows, highs = append(rates, 1), append(lows, 1), append(highs, 1)
	at := func(values []float64, x float64) float64 {
		i := sort.SearchFloat64s(rates, x)
		if i == 0 {
			return values[0]
		}
		if i == len(rates) {
			return values[i-1]
		}
		a, b := detmath.Log(rates[i-1]), detmath.Log(rates[i])
		return values[i-1] + float64((values[i]-values[i-1])*((detmath.Log(x)-a)/(b-a)))
	}
	for _, p := range c.Points {
		low, high := p[1], p[1]
		if p[0] > 0 {
			low, high = min(p[1], at(lows, p[0])), max(p[1], at(highs, p[0]))
		}
		c.Low, c.High = append(c.Low, low), append(c.High, high)
	}
	return nil
}

// reportBudgets are the budgets of the table, as fractions of all rows.
var reportBudgets = []string{"0.1%", "0.2%", "0.5%", "1%", "2%", "5%"}

// budgetsOf measures what budgets find. Alerts are counted per day if the data have dates, otherwise for the
// goal's period, or for 100,000 rows.
func budgetsOf(rank *metric.Ranking, bounds *calibrate.MaxFalse, d *rowset.Set, goal metric.Goal, rows float64) (report.Budgets, error) {
	all := rank.Mass()
	b := report.Budgets{Period: text.Count(summaryRows) + " rows"}
	periods := all / summaryRows
	if goal.Of > 0 {
		b.Period, periods = text.Count(goal.Of)+" rows", all/float64(goal.Of)
	}
	if days := daysOf(d); days > 0 {
		b.Period, periods = "day", float64(days)*(all/rows)
	}
	for _, name := range reportBudgets {
		rate := threshold.MustRate(name)
		s, err := rank.TopFraction(rate)
		if err != nil {
			return b, err
		}
		if !s.Precision.Defined() {
			continue
		}
		if !rank.Weighted() {
			if s, err = rank.BootstrapTop(s.Budget, metric.Bootstrap{Replicates: bandReplicates, Seed: 1}); err != nil {
				return b, err
			}
		}
		b.Rows = append(b.Rows, report.BudgetRow{Fraction: rate.Float64(), PerPeriod: s.Budget / periods, Threshold: s.Threshold,
			Found: s.TruePositiveRate, Precision: s.Precision, Alerts: s.Budget, MaxFalse: bounds.Bound(s.Budget)})
	}
	return b, nil
}

// explorerOf returns the positions of the slider: about a hundred numbers of alerts with equal ratios. Weighted rows
// have none, because their bootstrap takes seconds for each position.
func explorerOf(rank *metric.Ranking, bounds *calibrate.MaxFalse) (*report.Explorer, error) {
	all := rank.Mass()
	if rank.Weighted() || rank.PositiveMass() == 0 || rank.NegativeMass() == 0 {
		return nil, nil
	}
	x := &report.Explorer{}
	for alerts := 1.0; alerts < all; alerts = max(alerts+1, math.Floor(sliderStep*alerts)) {
		s, err := rank.BootstrapTop(alerts, metric.Bootstrap{Replicates: bandReplicates, Seed: 1})
		if err != nil {
			return nil, err
		}
		if alerts <= 0.01*all {
			x.Start = len(x.Rows)
		}
		x.Rows = append(x.Rows, report.BudgetRow{Fraction: alerts / all, Alerts: alerts, Threshold: s.Threshold, Found: s.TruePositiveRate,
			Precision: s.Precision, Alarms: s.FalsePositiveRate, MaxFalse: bounds.Bound(alerts)})
	}
	return x, nil
}

// daysOf returns the number of days in the column of times, 0 without one or if it has no dates.
func daysOf(d *rowset.Set) int {
	if d.Table.Time == nil {
		return 0
	}
	days := map[string]bool{}
	for _, value := range d.Table.Time.Values {
		day, ok := d.Table.DayOfTime(value)
		if !ok {
			return 0
		}
		days[day] = true
	}
	return len(days)
}

const thisModel = "this model"

// maxCurves is the number of entries whose curves are drawn. More lines in one figure cannot be
// distinguished.
const maxCurves = 4

// reportGoal returns the goal of the evaluation, or else the goal of the first model's default operating
// point.
func reportGoal(e *Evaluation) metric.Goal {
	if e.Goal != nil {
		return e.Goal.Goal
	}
	if m := stateOf(e).rankings[0].Model; m != nil {
		point, _ := m.Point("")
		return point.Goal
	}
	return metric.Goal{}
}

// zoomBudgets is the right end of the second P-tau figure, in multiples of the budget. Chosen by hand.
const zoomBudgets = 4

// setGoal sets the goal in words and draws its budget as a line in the figures.
func setGoal(f *report.Findings, goal metric.Goal) {
	if goal == (metric.Goal{}) {
		return
	}
	f.Goal, f.Lead = goal, goal.String()
	if tau := goal.Tau(); !tau.IsZero() {
		f.Budget = &report.Budget{Name: "budget " + text.Percent(tau.Float64()), Rate: tau.Float64(),
			OfRows: goal.Population() == method.AllRows}
		f.Zoom = zoomBudgets * tau.Float64()
	}
}

// Parameters of the curves with bands, chosen by hand.
const (
	budgetStep     = 1.2 // ratio of neighbouring rates of the band of the ROC curve
	sliderStep     = 1.1 // ratio of neighbouring numbers of alerts: about a hundred for 10,000 rows
	bandReplicates = 500 // bootstrap replicates for the band at each budget
)

// recallByBudget returns the fraction of positives found as a function of the fraction of all rows looked at, with the
// intervals of the slider as a band. For weighted rows, which have no slider, it has no band.
func recallByBudget(r *metric.Ranking, x *report.Explorer) report.Curve {
	c := report.Curve{Name: thisModel}
	if x == nil {
		for _, p := range r.PTau().Corners().Downsample(reportPoints).Points {
			// Precision times the rows looked at is the number of positives found.
			found := p.Y * p.X * r.Mass()
			c.Points = append(c.Points, [2]float64{p.X, found / r.PositiveMass()})
		}
		return c
	}
	for i := range x.Rows {
		b := &x.Rows[i]
		c.Points = append(c.Points, [2]float64{b.Fraction, b.Found.Rate})
		c.Low, c.High = append(c.Low, b.Found.Interval.Low), append(c.High, b.Found.Interval.High)
	}
	c.Points = append(c.Points, [2]float64{1, 1})
	c.Low, c.High = append(c.Low, 1), append(c.High, 1)
	return c
}

// mainColumns is the number of columns, and of categories of a column, that a report shows. Chosen by hand.
const mainColumns = 9

// mainShapes returns the shapes of the columns, at most limit, and of the pairs of columns with the largest effects
// on the evaluated rows.
func mainShapes(m *model.Model, d *rowset.Set, limit int) ([]report.Shape, []report.PairShape, error) {
	e, err := effect.NewEffects(m, "")
	if err != nil {
		return nil, nil, err
	}
	pairs := newPairEffects(e.Scorer)
	err = d.Frame.Scan(e.Scorer.Map.InputColumns(), func(t *table.Table, _ int) error {
		for row := range t.Rows() {
			if err := e.AddRow(t, row); err != nil {
				return err
			}
			pairs.addRow(&e.Scorer.Row)
		}
		return nil
	})
	if err != nil {
		return nil, nil, d.WithFile(err)
	}
	var shapes []report.Shape
	for _, c := range e.Columns().Columns {
		if c.Effect == 0 || len(shapes) == limit {
			break
		}
		shape := report.Shape{Column: c.Column, Effect: c.Effect}
		for _, p := range c.Shape {
			shape.X, shape.Y = append(shape.X, p[0]), append(shape.Y, p[1])
		}
		drawSteps(e, &shape, c.Mean)
		for _, v := range c.Categories[:min(len(c.Categories), mainColumns)] {
			shape.Categories, shape.Y = append(shape.Categories, v.Value), append(shape.Y, v.Adds)
		}
		if len(shape.Y) > 0 {
			shapes = append(shapes, shape)
		}
	}
	return shapes, pairs.shapes(), nil
}
