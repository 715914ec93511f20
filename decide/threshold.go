package decide

import (
	"cmp"
	"context"
	"fmt"

	"toptau/calibrate"
	"toptau/dataset"
	"toptau/diag"
	"toptau/internal/core/heldout"
	"toptau/internal/core/text"
	"toptau/internal/training/rowset"
	"toptau/metric"
	"toptau/model"
	"toptau/result"
)

// Threshold computes a decision threshold for any ranking of the rows of the data: the scores of a model, of another
// program, or of a numeric column. The decision is score > threshold. A guarantee assumes that new rows come
// from the same distribution as the rows of the data, and that these neither fitted nor chose the model.
//
// If the requested guarantee is impossible, Threshold returns a threshold without a guarantee, and an error
// that matches diag.ErrNoGuarantee and contains the reason.
func Threshold(ctx context.Context, data *dataset.Data, entry dataset.Entry, g metric.Goal, o Options) (*Calibrated, error) {
	d, e := rowset.Of(data), (*rowset.Entry)(&entry)
	g, err := checkThreshold(d, g, &o)
	if err != nil {
		return nil, err
	}
	var replaced *model.Point
	if o.Replace != "" {
		p, err := pointToReplace(e, &o)
		if err != nil {
			return nil, err
		}
		replaced = &p
	}
	if o.Name == "" {
		o.Name = "calibrated"
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rows, err := newCalibrationRows(d, e, g, o)
	if err != nil {
		return nil, err
	}
	known, against, err := thresholdOverlap(e, d, o.Force)
	if err != nil {
		return nil, err
	}
	if against == "" {
		against = rows.unfit()
	}
	out, guarantee := rows.calibrate(ctx, against)
	if out == nil {
		return nil, d.WithFile(guarantee)
	}
	points := []*model.Point{&out.Point}
	if out.replaces = replaced != nil; out.replaces {
		points = append(points, replaced)
	}
	counts, err := rows.decisions(ctx, points)
	if err != nil {
		return nil, d.WithFile(err)
	}
	r := &out.Result
	r.Decisions = &counts[0]
	if replaced != nil {
		r.Former = &counts[1]
	}
	if w := rows.repeatedIDs(); w != nil {
		r.Warnings = append(r.Warnings, *w)
	}
	if e.Model != nil {
		r.Warnings = append(r.Warnings, d.Warnings()...)
		out.addOverlap(known, d.Len())
	}
	out.warn(e.Model, replaced)
	return out, guarantee
}

// checkThreshold returns the goal with its prevalence, or what is wrong with the options of Threshold.
func checkThreshold(d *rowset.Set, g metric.Goal, o *Options) (metric.Goal, error) {
	if !o.Prevalence.IsZero() && g.Kind != metric.GoalMinPrecision {
		return g, &diag.Error{Kind: diag.Usage, Param: "prevalence", Found: "with another goal", Expected: "a lowest precision"}
	}
	g = g.WithPrevalence(o.Prevalence)
	if err := cmp.Or(g.Check(), heldout.CheckDelta(o.Delta)); err != nil {
		return g, err
	}
	if o.Segments && !g.IsBudget() {
		return g, &diag.Error{Kind: diag.Usage, Param: string(g.Kind), Found: "together with segments", Expected: "only one of the two"}
	}
	if o.Simultaneous && (!o.Segments || o.Delta.IsZero()) {
		return g, &diag.Error{Kind: diag.Usage, Param: "simultaneous", Found: "without segments or without delta", Expected: "both"}
	}
	if o.Segments && d.Table.Segment == nil {
		return g, &diag.Error{Kind: diag.Usage, Param: "segment", Expected: "the column whose values get separate thresholds"}
	}
	return g, nil
}

// addOverlap adds how many of the rows trained the model.
func (c *Calibrated) addOverlap(known *result.Overlap, rows int) {
	c.Result.TrainingRows = known
	if known != nil && known.Excess {
		line := rowset.OverlapWarning(known, rows)
		c.Result.Warnings = append(c.Result.Warnings, diag.Warning{Code: "training-rows", Text: line})
		c.Point.Source += "; " + line
	}
}

// warn adds the warnings about guarantees of the model's other points, and of the one that is replaced.
func (c *Calibrated) warn(m *model.Model, replaced *model.Point) {
	r := &c.Result
	if replaced != nil && replaced.Guarantee != nil && c.Point.Guarantee == nil {
		r.Warnings = append(r.Warnings, diag.Warning{Code: "guarantee-lost", Text: "the former threshold of " + diag.Quote(replaced.Name) +
			" had a guarantee, the new one has none", Fixes: []diag.Fix{{Param: "delta", Value: replaced.Guarantee.Delta.String()}}})
	}
	if m != nil {
		r.Warnings = append(r.Warnings, warnOfSameRows(m, c.Point.Guarantee)...)
	}
}

// pointToReplace returns the point that o.Replace names, and takes its name and what it counts.
func pointToReplace(e *rowset.Entry, o *Options) (model.Point, error) {
	if e.Model == nil {
		return model.Point{}, &diag.Error{Kind: diag.Usage, Param: "replace", Found: diag.Quote(o.Replace),
			Expected: "a model that has this operating point"}
	}
	points, err := rowset.PointsFrom(e.Model, o.Replace)
	if err != nil {
		named := *diag.Of(err)
		named.Param = "replace"
		return model.Point{}, &named
	}
	o.Name = o.Replace
	o.Entity = cmp.Or(o.Entity, points[0].Entity)
	return points[0], nil
}

// warnOfSameRows returns a warning for each point of the model that was calibrated on the same rows as a
// guarantee. Each guarantee holds with its own confidence, because neither threshold depends on the other.
// Both together hold with less.
func warnOfSameRows(m *model.Model, g *calibrate.Guarantee) (list []diag.Warning) {
	for _, p := range m.Points() {
		if g != nil && p.Guarantee != nil && g.Calibration.Same(p.Guarantee.Calibration) {
			list = append(list, diag.Warning{Code: "joint-confidence", Text: fmt.Sprintf("these rows also calibrated %s: each guarantee holds with "+
				"its own confidence, both together with at least %s", p.Name,
				text.Confidence(g.Delta.Float64()+p.Guarantee.Delta.Float64()))})
		}
	}
	return list
}
