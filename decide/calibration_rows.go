package decide

import (
	"cmp"
	"context"

	"toptau/diag"
	"toptau/internal/models/feature"
	"toptau/internal/training/large"
	"toptau/internal/training/rowset"
	"toptau/internal/training/tune"
	"toptau/method"
	"toptau/metric"
	"toptau/model"
	"toptau/result"
	"toptau/threshold"
)

// calibrationRows are the rows of a threshold, with their scores or counted by them.
type calibrationRows interface {
	// unfit returns why the rows give no guarantee, "" if they may.
	unfit() string
	// repeatedIDs returns a warning about identifiers that repeat, nil if they all differ.
	repeatedIDs() *diag.Warning
	// calibrate returns the threshold. against is a reason why it has no guarantee, "" if there is none. With a result, the error is
	// about the guarantee.
	calibrate(ctx context.Context, against string) (*Calibrated, error)
	// decisions counts the decisions of operating points.
	decisions(ctx context.Context, points []*model.Point) ([]metric.Confusion, error)
}

// newCalibrationRows checks the options and scores the rows, or prepares to count them.
func newCalibrationRows(d *rowset.Set, e *rowset.Entry, g metric.Goal, o Options) (calibrationRows, error) {
	where := d.Place(rowset.MeasuredBytes)
	if err := o.needs(d, e, g).Check(where); err != nil {
		return nil, err
	}
	if where != rowset.InMemory {
		return &countedRows{data: d.Arranged(e.Model), model: e.Model, goal: g, options: o}, nil
	}
	scores, err := e.ScoresOf(d)
	if err != nil {
		return nil, err
	}
	if err := scores.RequireAll(e.Name, "", d, false); err != nil {
		return nil, err
	}
	if d, err = d.With(o.Entity, o.Value); err != nil {
		return nil, err
	}
	if err := g.CheckMoney(o.Value, o.Delta, d.Table.Weight != nil); err != nil {
		return nil, err
	}
	if err := o.checkAudit(g); err != nil {
		return nil, err
	}
	if d, err = trimmed(d, o.Reviewed); err != nil {
		return nil, err
	}
	s := &scoredRows{all: d, rows: scores, calibrating: calibrating{data: d, scores: scores.Values, goal: g, options: o}}
	if s.counted, err = rowset.NewUnits(d, o.Entity); err != nil {
		return nil, err
	}
	if err := s.counted.CheckNegatives(d.Table.File); err != nil {
		return nil, err
	}
	if g.Kind == metric.GoalCostAlert {
		s.byClass = s.counted.ByClass(scores.Values)
		if s.amounts, err = s.counted.PositiveAmounts(d, o.Value); err != nil {
			return nil, err
		}
	}
	if s.counted.Rows() {
		return s, nil
	}
	if o.Segments && o.Entity != "" {
		return nil, &diag.Error{Kind: diag.Usage, Param: "entity", Found: "together with segments", Expected: "only one of the two"}
	}
	s.data, s.scores = s.counted.AsRows(d), s.counted.Scores(scores.Values)
	return s, nil
}

// needs lists what a threshold can have of rows in memory only.
func (o *Options) needs(d *rowset.Set, e *rowset.Entry, g metric.Goal) rowset.Needs {
	return rowset.Needs{}.Columns(d, o.Entity, o.Value).Option("segment", o.Segments || e.DecidesBySegment()).
		Option("audit", o.Audit != 0 || o.Reviewed != nil).Goal(g).Named("scores without a model", e.Model == nil)
}

// scoredRows are rows in memory.
type scoredRows struct {
	calibrating                // of the units
	all         *rowset.Set    // the rows
	rows        *rowset.Scores // of all
	counted     *rowset.Units
}

func (s *scoredRows) repeatedIDs() *diag.Warning { return s.counted.IDWarning(s.all.Table) }

func (s *scoredRows) unfit() string {
	of := s.goal.Population()
	return cmp.Or(s.counted.AgainstCopies(of), s.counted.AgainstIDs(s.all.Table, of, false),
		tune.AgainstGuarantee(s.data.Table, of != method.Negatives, false, s.counted.Daily))
}

func (s *scoredRows) calibrate(_ context.Context, against string) (*Calibrated, error) {
	s.against = against
	out, guarantee := s.compute()
	if out == nil {
		return nil, guarantee
	}
	out.Result.Joined, out.Result.Unit = s.rows.Joined, s.counted.Shown
	out.Result.Warnings = append(out.Result.Warnings, s.counted.CopyWarnings(out.Result.Certified)...)
	if u := s.counted.Shown; u != nil {
		out.Point.Entity = u.Entity
		if u.Per != "" {
			out.Point.Day = s.all.Table.Time.Name
		}
	}
	return out, guarantee
}

func (s *scoredRows) decisions(_ context.Context, points []*model.Point) ([]metric.Confusion, error) {
	list := make([]metric.Confusion, len(points))
	for i, p := range points {
		var err error
		if list[i], err = s.counted.Decisions(s.counted.Alarms(rowset.AlarmsAt(p, s.all, s.rows.Values)), 0); err != nil {
			return nil, err
		}
		list[i].Threshold = p.Threshold
	}
	return list, nil
}

// countedRows are rows that are not in memory.
type countedRows struct {
	data    *rowset.Set
	model   *model.Model
	goal    metric.Goal
	options Options
	found   *large.Calibrated
}

func (c *countedRows) repeatedIDs() *diag.Warning { return rowset.RowsOnly.IDWarning(c.data.Table) }

func (c *countedRows) unfit() string {
	t := c.data.Table
	switch {
	case c.data.Database == nil:
		of := c.goal.Population()
		return cmp.Or(rowset.RowsOnly.AgainstIDs(t, of, false), tune.AgainstGuarantee(t, of == method.AllRows, false, false))
	case t.Group != nil: // of which a sample is known
		return "several rows may belong to one entity (" + t.Group.Name + ") and are not independent"
	}
	return ""
}

func (c *countedRows) calibrate(ctx context.Context, against string) (*Calibrated, error) {
	delta := c.options.Delta
	copies, err := c.data.CopiesElsewhere(ctx)
	if err != nil {
		return nil, err
	}
	if copies && against == "" {
		against = large.AgainstCopies
	}
	if against != "" {
		delta = threshold.Rate{}
	}
	var guarantee error
	c.found, guarantee = large.Threshold(ctx, c.data.Rows(), large.All(), c.model, c.goal, delta)
	if c.found == nil {
		return nil, guarantee
	}
	if against != "" && !c.options.Delta.IsZero() {
		guarantee = noGuaranteeBecause(against)
	}
	out := newCalibrated(c.options, c.found.Threshold, guarantee, c.found.All, c.found.Negatives)
	if copies {
		out.Result.Warnings = append(out.Result.Warnings, large.CopiesWarning)
	}
	drift, err := c.overTime(ctx, out)
	if err != nil {
		return nil, err
	}
	if drift != nil {
		out.Result.Warnings = append(out.Result.Warnings, *drift)
	}
	return out, guarantee
}

// trendSample is the number of rows by which scores of rows that are not in memory are compared over time. Of more than 10,000 the test
// takes no more (heldout.OverTime).
const trendSample = 20_000

// overTime compares the scores of a sample over time, if there is a column of times.
func (c *countedRows) overTime(ctx context.Context, out *Calibrated) (*diag.Warning, error) {
	if c.data.Table.Time == nil {
		return nil, nil
	}
	sample, err := c.data.Rows().Sample(ctx, large.All(), trendSample)
	if err != nil {
		return nil, err
	}
	t, population := sample.Table, c.found.Threshold.Population
	if population == method.AllRows {
		t = sample.Proportional().Table
	}
	z := make([]float64, t.Rows())
	if err := feature.ScorerOf(c.model).Scores(t, z); err != nil {
		return nil, err
	}
	var drift *diag.Warning
	out.Result.OverTime, drift, err = rowset.CalibrationOverTime(t, z, population)
	return drift, err
}

func (c *countedRows) decisions(ctx context.Context, points []*model.Point) ([]metric.Confusion, error) {
	var at []float64
	for _, p := range points {
		at = append(at, p.Threshold)
	}
	return c.found.At(ctx, at...)
}

// thresholdOverlap compares the calibration rows with those that trained the model of an entry. against is why they cannot certify a
// threshold of it.
func thresholdOverlap(e *rowset.Entry, d *rowset.Set, force bool) (known *result.Overlap, against string, err error) {
	if e.Model == nil {
		return nil, "", nil
	}
	if known, err = rowset.Overlap(e.Model, d.Arranged(e.Model)); err != nil {
		return nil, "", err
	}
	return known, rowset.ReasonAgainst(e.Model, d, known, force), nil
}
