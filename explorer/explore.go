// Package explorer answers questions about one ranking of labelled rows.
package explorer

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"toptau/calibrate"
	"toptau/diag"
	"toptau/internal/app/findings"
	"toptau/internal/app/monitor"
	"toptau/internal/app/plot"
	"toptau/internal/app/report"
	"toptau/internal/core/binomial"
	"toptau/internal/core/heldout"
	"toptau/internal/data/table"
	"toptau/internal/training/ranked"
	"toptau/internal/training/rowset"
	"toptau/internal/training/tune"
	"toptau/measure"
	"toptau/method"
	"toptau/metric"
	"toptau/model"
	"toptau/result"
	"toptau/threshold"
)

// Explorer answers questions about one ranking of labelled rows: what a budget finds, which rows are at the top, and
// how a score follows a row's values. An answer about a budget takes milliseconds, also for a million rows, because the
// scores are sorted once. It is safe for concurrent use.
type Explorer struct {
	*measure.Evaluation // of the ranking

	state   *ranked.Measured
	first   *ranked.Ranking
	counted *rowset.Set // rows, or units that the budget counts
	scores  []float64   // of the counted, in their order
	sorted  map[method.Population]*heldout.Sorted
	against map[method.Population]string // why the rows that a budget counts cannot carry a guarantee, "" if they can
	bounds  *heldout.MaxFalse            // of the counted; nil: not known
	byScore func() []int32               // the counted in the order of falling scores
	shapes  func() (*shapes, error)
}

// shapes are the effects of columns.
type shapes struct {
	columns []report.Shape
	pairs   []report.PairShape
}

// New returns an Explorer of the first entry.
func New(e *measure.Evaluation) (*Explorer, error) {
	state := ranked.Of(e)
	d := state.Data
	if err := (rowset.Needs{}.Columns(d, "", "").Named("an exploration", true)).Check(state.Where); err != nil {
		return nil, err
	}
	x := &Explorer{Evaluation: e, state: state, first: state.Rankings[0], counted: d, against: map[method.Population]string{},
		sorted: map[method.Population]*heldout.Sorted{}}
	x.scores = x.state.Units.Scores(x.first.Z)
	if !x.state.Units.Rows() {
		x.counted = x.state.Units.AsRows(d)
	}
	var trained string
	if m := x.first.Model; m != nil {
		trained = rowset.ReasonAgainst(m, d, x.TrainingRows, false)
	}
	for _, of := range []method.Population{method.Negatives, method.AllRows} {
		sorted, err := rowset.SortedScores(x.counted.Table, x.scores, of, nil)
		if err != nil {
			return nil, err
		}
		x.sorted[of] = sorted
		x.against[of] = cmp.Or(trained, x.state.Units.AgainstCopies(of), x.state.Units.AgainstIDs(d.Table, of, false),
			tune.AgainstGuarantee(x.counted.Table, of == method.AllRows, false, x.state.Units.Daily))
	}
	x.bounds = x.state.ListBounds()
	x.byScore = sync.OnceValue(x.sortRows)
	go x.byScore() // the list is wanted soon, and other answers do not need it
	x.shapes = sync.OnceValues(x.measureShapes)
	return x, nil
}

// Sizes of answers, chosen by hand.
const (
	exploredColumns = 60  // most columns whose effects are shown
	exploredReasons = 5   // columns that a row of the list names
	curvePoints     = 61  // points of a row's score over the values of a column
	knownCategories = 200 // most categories that a form offers
)

// Budget returns what the plain and the certified threshold for a goal find, and the model's own. perPeriod is the number of rows in
// a period, 0 for none, and costs are the prices of decisions, or nil.
//
// Intervals are for these thresholds on new rows like these. A guarantee holds for a goal that was chosen without a
// look at these rows.
func (x *Explorer) Budget(g metric.Goal, delta threshold.Rate, perPeriod float64,
	costs *metric.Costs) (*result.Budget, error) {
	if err := checkBudget(g, perPeriod, costs); err != nil {
		return nil, err
	}
	of := g.Population()
	b := &result.Budget{Goal: g, Delta: delta, Population: of.String(), Rows: x.Rows - x.Positives}
	if of == method.AllRows {
		b.Rows = x.Rows
	}
	if tau := g.Tau(); !tau.IsZero() {
		var err error
		if b.Needed, err = heldout.Needed(tau, delta); err != nil {
			return nil, err
		}
	}
	addPeriod := func(s *result.BudgetSide) {
		if s != nil && perPeriod > 0 {
			s.Period = x.period(s, perPeriod, costs, of == method.AllRows)
		}
	}
	side := func(t *heldout.Threshold) (result.BudgetSide, error) {
		s, err := x.side(t)
		if err == nil {
			addPeriod(&s)
		}
		return s, err
	}
	t, err := heldout.For(g, threshold.Rate{}, x.sorted[of])
	if err != nil {
		return nil, err
	}
	if b.Plain, err = side(t); err != nil {
		return nil, err
	}
	b.Own = x.own(of)
	addPeriod(b.Own)
	if b.Reason = x.against[of]; b.Reason != "" {
		return b, nil
	}
	t, err = heldout.For(g, delta, x.sorted[of])
	if e := diag.Of(err); e != nil && e.Kind == diag.Guarantee {
		b.Reason = "there are too few rows"
		return b, nil
	}
	if err != nil {
		return nil, err
	}
	certified, err := side(t)
	b.Certified = &certified
	return b, err
}

func checkBudget(g metric.Goal, perPeriod float64, costs *metric.Costs) error {
	if err := cmp.Or(g.Check(), g.RequireBudget()); err != nil {
		return err
	}
	if g.Kind == metric.NoGoal {
		return &diag.Error{Kind: diag.Usage, Found: "no goal", Expected: "a goal"}
	}
	if costs != nil {
		if err := costs.Check(); err != nil {
			return err
		}
	}
	if !(perPeriod >= 0) || math.IsInf(perPeriod, 0) {
		return &diag.Error{Kind: diag.Usage, Param: "rows", Found: fmt.Sprint(perPeriod),
			Expected: "a number of rows in a period"}
	}
	return nil
}

// side measures a threshold that is an order statistic of the population. The intervals are for this threshold on new
// rows. They are those of a fixed threshold, and cover also for an order statistic (TestIntervalsOfBudgetsCover): that
// of the population is the expected rate's, and the other class does not know the threshold.
func (x *Explorer) side(t *heldout.Threshold) (result.BudgetSide, error) {
	c, err := x.first.Rank.At(t.Value, metric.DefaultConfidence)
	if err != nil {
		return result.BudgetSide{}, err
	}
	s := sideOf(&c)
	s.Expected, s.MaxFalse = t.Expected, x.bounds.Bound(s.Alerts)
	if t.Population == method.Negatives && s.FalseAlarms.Interval != nil {
		s.FalseAlarms.Interval = &metric.Interval{Kind: "clopper-pearson at an order statistic",
			Low: s.Expected.Low, High: s.Expected.High, Confidence: s.Expected.Confidence}
	}
	return s, nil
}

func sideOf(c *metric.Confusion) result.BudgetSide {
	return result.BudgetSide{Threshold: c.Threshold, Alerts: c.TruePositives + c.FalsePositives,
		Found: c.TruePositiveRate, Precision: c.Precision, FalseAlarms: c.FalsePositiveRate}
}

// own returns what the model's default point finds, nil without a model. These rows did not choose its threshold, so the rate that they
// have above it is the one to expect, with the interval of a fixed threshold.
func (x *Explorer) own(of method.Population) *result.BudgetSide {
	if len(x.Points) == 0 {
		return nil
	}
	c := &x.Points[0].Decisions
	s := sideOf(c)
	above, rows := s.FalseAlarms.Numerator, s.FalseAlarms.Denominator
	if of == method.AllRows {
		above, rows = s.Alerts, s.Alerts+c.TrueNegatives+c.FalseNegatives
	}
	s.Expected.Rate = above / rows
	if !x.Weighted {
		s.Expected.Confidence = metric.DefaultConfidence
		s.Expected.Low, s.Expected.High = binomial.ClopperPearson(int(above), int(rows), metric.DefaultConfidence)
	}
	return &s
}

// period returns what a threshold means for a number of new rows.
func (x *Explorer) period(s *result.BudgetSide, rows float64, costs *metric.Costs, all bool) *result.Period {
	mass := x.first.Rank.Mass()
	within := func(mean, low, high float64) result.Amount { return result.Amount{Mean: mean, Low: &low, High: &high} }
	positives, negatives := float64(x.Prevalence*rows), float64((1-x.Prevalence)*rows)
	found := float64(s.Found.Rate * positives)
	p := &result.Period{Rows: rows, Alerts: result.Amount{Mean: float64(s.Alerts / mass * rows)},
		Real:        result.Amount{Mean: found},
		FalseAlarms: result.Amount{Mean: float64(s.FalseAlarms.Rate * negatives)}}
	if i := s.Found.Interval; i != nil {
		p.Real = within(found, i.Low*positives, i.High*positives)
	}
	if i := s.FalseAlarms.Interval; i != nil {
		p.FalseAlarms = within(p.FalseAlarms.Mean, i.Low*negatives, i.High*negatives)
	}
	if all && !x.Weighted {
		p.Alerts = within(p.Alerts.Mean, s.Expected.Low*rows, s.Expected.High*rows)
	}
	if costs == nil {
		return p
	}
	cost := func(found float64) float64 {
		alerts := p.Alerts.Mean
		if !all { // positives found are added to the false alarms
			alerts = found + p.FalseAlarms.Mean
		}
		return float64(costs.Missed*(positives-found)) + float64(costs.Alert*alerts)
	}
	mean := result.Amount{Mean: cost(found)}
	if p.Real.Low != nil {
		a, b := cost(*p.Real.Low), cost(*p.Real.High)
		mean = within(mean.Mean, min(a, b), max(a, b))
	}
	p.Cost = &mean
	return p
}

// Cheapest returns the threshold with the smallest cost on these rows, with its cost there.
func (x *Explorer) Cheapest(c metric.Costs) (metric.Cheapest, error) { return x.first.Rank.Cheapest(c) }

// Model returns the model that scores the rows, nil if scores were given.
func (x *Explorer) Model() *model.Model { return x.first.Model }

// PerDay returns the mean number of rows a day by the dates of the time column, 0 without one.
func (x *Explorer) PerDay() float64 {
	if days := findings.DaysOf(x.state.Data); days > 0 {
		return float64(x.Rows) / float64(days)
	}
	return 0
}

// AboveThreshold returns the number of rows, or units, whose score is above a threshold.
func (x *Explorer) AboveThreshold(t float64) int {
	if !x.Weighted {
		return x.sorted[method.AllRows].Above(t)
	}
	order := x.byScore()
	n, _ := slices.BinarySearchFunc(order, t, func(i int32, t float64) int {
		if x.scores[i] > t {
			return -1
		}
		return 1
	})
	return n
}

// OverTime tests whether the scores of the negatives, or of all rows, change over time. It returns nil without a
// time column.
func (x *Explorer) OverTime(all bool) (*calibrate.Trend, error) {
	population := method.Negatives
	if all {
		population = method.AllRows
	}
	trend, _, err := rowset.CalibrationOverTime(x.counted.Table, x.scores, population)
	return trend, err
}

// Monitor compares the rows in the order of their times, or of the data, with what the model keeps, as the function Monitor
// does with rows that arrive. It returns nil without a model, and an error if the model keeps nothing to compare with.
func (x *Explorer) Monitor(ctx context.Context) (*result.Monitoring, error) {
	m, t := x.first.Model, x.first.Data.Table
	if m == nil {
		return nil, nil
	}
	w, err := monitor.New(m, monitor.Options{})
	if err != nil {
		return nil, err
	}
	order, err := inTime(t)
	if err != nil {
		return nil, err
	}
	point, _ := m.Point("")
	for rows := range slices.Chunk(order, rowset.ChunkRows) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b, err := x.batchOf(rows, &point)
		if err != nil {
			return nil, err
		}
		w.Add(b, nil)
	}
	return w.Result(), nil
}

// inTime returns the rows in the order of their times, or of the data without a column of times.
func inTime(t *table.Table) ([]int, error) {
	order := make([]int, t.Rows())
	for i := range order {
		order[i] = i
	}
	ranks, err := tune.Timeline(t)
	if ranks != nil {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ranks[a], ranks[b]) })
	}
	return order, err
}

// batchOf returns rows as a monitor sees them, with their scores and the decisions of a point.
func (x *Explorer) batchOf(rows []int, point *model.Point) (*monitor.Batch, error) {
	part, err := x.first.Data.Frame.Select(rows)
	if err != nil {
		return nil, err
	}
	b := &monitor.Batch{Table: part, Label: func(i int) table.Class { return part.Label[i] }}
	if part.Time != nil {
		b.Time = func(i int) string { return part.Time.Values[i] }
	}
	for i, row := range rows {
		b.Scores = append(b.Scores, x.first.Z[row])
		b.Alerts = append(b.Alerts, point.Decide(x.first.Z[row], rowset.SegmentOf(part, i)))
	}
	return b, nil
}

// The page of internal/app/ui shows figures of an Explorer that other programs do not get.
func init() {
	report.FindingsOf = func(explorer any) (*report.Findings, error) { return explorer.(*Explorer).findings() }
	report.ShapesOf = func(explorer any) ([]report.Shape, []report.PairShape, error) {
		s, err := explorer.(*Explorer).shapes()
		if err != nil {
			return nil, nil, err
		}
		return s.columns, s.pairs, nil
	}
}

// findings returns the curves of the ranking with their bands, and the scores by class.
func (x *Explorer) findings() (*report.Findings, error) {
	f := &report.Findings{}
	findings.AddCurves(f, "", x.first.Rank)
	if x.Positives == 0 || x.Positives == x.Rows {
		return f, nil
	}
	if err := findings.AddBudgets(f, x.first.Rank, x.bounds, x.state.Data, metric.Goal{}, x.first.Rank.Mass()); err != nil {
		return nil, err
	}
	f.Recall[0].Name = ""
	f.Scores = plot.HistogramOf(x.first.Scores, nil, findings.ReportBins)
	return f, nil
}

// measureShapes returns what the main columns and pairs of columns add to the scores, measured on some of the rows. It returns
// nothing without a model.
func (x *Explorer) measureShapes() (*shapes, error) {
	s := &shapes{}
	m := x.first.Model
	if m == nil {
		return s, nil
	}
	sample, err := x.first.Data.SelectRows(spacedRows(x.first.Data.Len(), report.MaxShapeRows))
	if err != nil {
		return nil, err
	}
	s.columns, s.pairs, err = findings.MainShapes(m, sample, exploredColumns)
	return s, err
}

// spacedRows returns at most limit of n rows at even distances.
func spacedRows(n, limit int) []int {
	rows := make([]int, min(n, limit))
	for i := range rows {
		rows[i] = i * n / len(rows)
	}
	return rows
}

// sortRows returns the counted rows in the order of falling scores. The earlier row wins a tie.
func (x *Explorer) sortRows() []int32 {
	order := make([]int32, len(x.scores))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(x.scores[b], x.scores[a]), cmp.Compare(a, b))
	})
	return order
}
