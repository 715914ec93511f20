package toptau

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"toptau/diag"
	"toptau/internal/feature"
	"toptau/internal/large"
	"toptau/internal/tune"
	"toptau/method"
	"toptau/model"
	"toptau/result"
	"toptau/threshold"
)

// checkLargeEntry refuses rankings of rows that do not fit into memory which are not the scores of one model.
func checkLargeEntry(entries ...Entry) error {
	if len(entries) != 1 {
		return &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("%d rankings of rows that do not fit into memory", len(entries)),
			Expected: "one model at a time", Hint: "a comparison pairs the scores of every row"}
	}
	if entries[0].Model == nil {
		return &diag.Error{Kind: diag.Usage, Found: "scores of rows that do not fit into memory", Expected: "a model, which scores them"}
	}
	for _, p := range entries[0].Model.Points() {
		if len(p.Segments) > 0 {
			return notLarge("segment")
		}
	}
	return nil
}

// checkLarge refuses options that need all rows in memory.
func (o *EvaluateOptions) checkLarge(m *Model) error {
	point, _ := m.Point("")
	for _, refused := range []struct {
		param string
		set   bool
	}{
		{"by", len(o.By) > 0}, {"entity", o.Entity != "" || point.Entity != ""}, {"value", o.Value != ""}, {"examples", o.Examples > 0},
		{"gate", o.Gate}, {"against", o.Against != ""},
	} {
		if refused.set {
			return notLarge(refused.param)
		}
	}
	return nil
}

// evaluateLarge is Evaluate on rows that do not fit into memory. It measures counts of the rows by score.
func evaluateLarge(ctx context.Context, d *Data, rows large.Rows, entries []Entry, o EvaluateOptions) (*Evaluation, error) {
	if err := checkLargeEntry(entries...); err != nil {
		return nil, err
	}
	m := entries[0].Model
	if err := o.checkLarge(m); err != nil {
		return nil, err
	}
	_, criteria, err := criteriaFor(m, o.Goal)
	if err != nil {
		return nil, err
	}
	points := m.Points()
	at := make([]float64, len(points))
	for i := range points {
		at[i] = points[i].Threshold
	}
	measured, err := large.Measure(ctx, d.forModel(rows, m), large.All(), m, criteria, at)
	if err != nil {
		return nil, d.inFile(err)
	}
	e := &Evaluation{data: d, large: true}
	e.SecondsRead, e.Warnings, e.Verdicts = d.seconds, d.warnings(), []result.Verdict{}
	k := &ranking{Entry: &entries[0], data: d, rank: measured.Ranking}
	auc := k.rank.AUC()
	within := auc.Half - auc.Against
	r := result.Entry{Name: entries[0].Name, Kind: result.ModelEntry, Setting: membersText(m), Features: m.Features(feature.Key{}).Cols(),
		Measured: result.Measured{AUC: auc.Half, AUCAgainst: auc.Against, AUCWithin: &within, Distinct: k.rank.Groups(),
			Points: []result.Decisions{}, Curves: []result.Curve{}}}
	if c := measured.Values; c != nil {
		e.Warnings = append(e.Warnings, countValues(&r.Measured, m, c)...)
	}
	if err := e.measureCriteria(&r.Measured, k, o); err != nil {
		return nil, err
	}
	if o.Curves > 0 {
		r.Curves = curvesOf(k.rank, o.Curves)
	}
	if d.rows == nil {
		if r.TrainingRows, err = overlap(m, d.arranged(m)); err != nil {
			return nil, err
		}
	}
	if found := foundInTraining(m, d, r.TrainingRows); found != "" {
		e.Warnings = append(e.Warnings, diag.Warning{Code: "training-rows", Text: found + "; expect worse results on new rows"})
	}
	for i := range points {
		c, err := k.rank.At(points[i].Threshold, o.Confidence)
		if err != nil {
			return nil, err
		}
		r.Points = append(r.Points, result.Decisions{Name: points[i].Name, Goal: points[i].Goal, Decisions: c, Shift: []result.Shift{}})
	}
	e.Warnings = append(e.Warnings, notMeasured(m, d, &r.Measured)...)
	e.rankings, e.Entries, e.Measured = []*ranking{k}, []result.Entry{r}, r.Measured
	positives, negatives := k.rank.Rows()
	e.Counts = result.Counts{Rows: positives + negatives, Positives: positives}
	e.Prevalence = float64(positives) / float64(positives+negatives)
	if len(e.Points) > 0 {
		e.Summary = summary(e.summaryFacts(o.Prevalence))
	}
	return e, nil
}

// notMeasured returns a warning about what Evaluate measures of rows in memory alone.
func notMeasured(m *Model, d *Data, r *result.Measured) []diag.Warning {
	var list []string
	if slices.ContainsFunc(m.Points(), func(p model.Point) bool { return p.Guarantee != nil }) {
		list = append(list, "how the scores differ from those of the calibration rows")
	}
	if m.Probability() != nil {
		list = append(list, "whether the probabilities are right")
	}
	if r.Missing == nil {
		list = append(list, "missing values and values not seen in training")
	}
	if d.rows != nil {
		list = append(list, "which of these rows trained the model")
	}
	if len(list) == 0 {
		return nil
	}
	return []diag.Warning{{Code: "not-measured", Text: "not measured, because the rows do not fit into memory or are in a database: " +
		strings.Join(list, "; ")}}
}

// thresholdLarge is Threshold on rows that do not fit into memory.
func thresholdLarge(ctx context.Context, d *Data, rows large.Rows, e Entry, g Goal, o ThresholdOptions,
	replaced *model.Point) (*Calibrated, error) {
	if err := checkLargeEntry(e); err != nil {
		return nil, err
	}
	switch {
	case o.Segments:
		return nil, notLarge("segment")
	case o.Entity != "":
		return nil, notLarge("entity")
	case !g.IsBudget():
		return nil, notLarge(string(g.Kind))
	}
	delta := o.Delta
	var known *result.Overlap
	if d.rows == nil {
		var err error
		if known, err = overlap(e.Model, d.arranged(e.Model)); err != nil {
			return nil, err
		}
	}
	against := reasonAgainst(e.Model, d, known, o.Force)
	switch {
	case against != "":
	case d.rows == nil:
		against = tune.AgainstGuarantee(d.table, g.Population() == method.AllRows, false, false)
	case d.table.Group != nil:
		against = "several rows may belong to one entity (" + d.table.Group.Name + ") and are not independent"
	}
	if against != "" {
		delta = threshold.Rate{}
	}
	c, guarantee := large.Threshold(ctx, d.forModel(rows, e.Model), large.All(), e.Model, g, delta)
	if c == nil {
		return nil, d.inFile(guarantee)
	}
	if against != "" && !o.Delta.IsZero() {
		guarantee = noGuaranteeBecause(against)
	}
	out := newCalibrated(o, c.Threshold, guarantee, c.All, c.Negatives)
	r := &out.Result
	if d.table.Time != nil {
		r.Warnings = append(r.Warnings, diag.Warning{Code: "not-measured",
			Text: "whether scores change over time was not tested, because the rows do not fit into memory"})
	}
	thresholds := []float64{c.Value}
	if replaced != nil {
		thresholds = append(thresholds, replaced.Threshold)
	}
	counts, err := c.At(ctx, thresholds...)
	if err != nil {
		return nil, d.inFile(err)
	}
	r.Decisions = &counts[0]
	if replaced != nil {
		r.Former, out.replaces = &counts[1], true
	}
	r.Warnings = append(r.Warnings, d.warnings()...)
	out.addOverlap(known, d.Len())
	return out, guarantee
}
