// Package findings makes the parts of a report that need rows: curves, what budgets find, and the effects of columns.
package findings

import (
	"fmt"
	"math"
	"sort"

	"toptau/internal/app/report"
	"toptau/internal/core/detmath"
	"toptau/internal/core/heldout"
	"toptau/internal/core/ranking"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/internal/training/effect"
	"toptau/internal/training/rowset"
	"toptau/internal/training/summary"
	"toptau/method"
	"toptau/metric"
	"toptau/model"
	"toptau/threshold"
)

// Sizes of the figures, chosen by hand.
const (
	reportPoints = 400 // most points of a curve
	ReportBins   = 50  // bins of the histogram of scores

	ReportExamples = 50 // most false alarms, found and missed positives
)

// AddCurves adds the curves of one ranking.
func AddCurves(f *report.Findings, name string, rank *ranking.Ranking) {
	for _, c := range []struct {
		to    *[]report.Curve
		curve ranking.Curve
	}{{&f.ROC, rank.ROC()}, {&f.PR, rank.PR()}, {&f.PTau, rank.PTau()}} {
		*c.to = append(*c.to, report.CurveOf(name, c.curve.Corners().Downsample(reportPoints)))
	}
}

// AddBudgets adds the band of the first ROC curve, and what budgets find: the curve, the slider and the table. rows is the mass of all rows of
// the data, which the ranking may be a part of.
func AddBudgets(f *report.Findings, rank *ranking.Ranking, bounds *heldout.MaxFalse, d *rowset.Set, goal metric.Goal, rows float64) error {
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
func addROCBand(c *report.Curve, rank *ranking.Ranking) error {
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
		res, err := rank.Bootstrap(ranking.NP(rate), ranking.Bootstrap{Replicates: bandReplicates, Seed: uint64(budget)})
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
func budgetsOf(rank *ranking.Ranking, bounds *heldout.MaxFalse, d *rowset.Set, goal metric.Goal, rows float64) (report.Budgets, error) {
	all := rank.Mass()
	b := report.Budgets{Period: text.Count(summary.Rows) + " rows"}
	periods := all / summary.Rows
	if goal.Of > 0 {
		b.Period, periods = text.Count(goal.Of)+" rows", all/float64(goal.Of)
	}
	if days := DaysOf(d); days > 0 {
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
			if s, err = rank.BootstrapTop(s.Budget, ranking.Bootstrap{Replicates: bandReplicates, Seed: 1}); err != nil {
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
func explorerOf(rank *ranking.Ranking, bounds *heldout.MaxFalse) (*report.Explorer, error) {
	all := rank.Mass()
	if rank.Weighted() || rank.PositiveMass() == 0 || rank.NegativeMass() == 0 {
		return nil, nil
	}
	x := &report.Explorer{}
	for alerts := 1.0; alerts < all; alerts = max(alerts+1, math.Floor(sliderStep*alerts)) {
		s, err := rank.BootstrapTop(alerts, ranking.Bootstrap{Replicates: bandReplicates, Seed: 1})
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

// DaysOf returns the number of days in the column of times, 0 without one or if it has no dates.
func DaysOf(d *rowset.Set) int {
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

const ThisModel = "this model"

// MaxCurves is the number of entries whose curves are drawn. More lines in one figure cannot be
// distinguished.
const MaxCurves = 4

// zoomBudgets is the right end of the second P-tau figure, in multiples of the budget. Chosen by hand.
const zoomBudgets = 4

// SetGoal sets the goal in words and draws its budget as a line in the figures.
func SetGoal(f *report.Findings, goal metric.Goal) {
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
func recallByBudget(r *ranking.Ranking, x *report.Explorer) report.Curve {
	c := report.Curve{Name: ThisModel}
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

// MainColumns is the number of columns, and of categories of a column, that a report shows. Chosen by hand.
const MainColumns = 9

// MainShapes returns the shapes of the columns, at most limit, and of the pairs of columns with the largest effects
// on the evaluated rows.
func MainShapes(m *model.Model, d *rowset.Set, limit int) ([]report.Shape, []report.PairShape, error) {
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
		for _, v := range c.Categories[:min(len(c.Categories), MainColumns)] {
			shape.Categories, shape.Y = append(shape.Categories, v.Value), append(shape.Y, v.Adds)
		}
		if len(shape.Y) > 0 {
			shapes = append(shapes, shape)
		}
	}
	return shapes, pairs.shapes(), nil
}
