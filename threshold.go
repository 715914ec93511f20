package toptau

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"toptau/calibrate"
	"toptau/dataset"
	"toptau/diag"
	"toptau/internal/rowset"
	"toptau/internal/table"
	"toptau/internal/text"
	"toptau/internal/tune"
	"toptau/internal/wording"
	"toptau/method"
	"toptau/metric"
	"toptau/model"
	"toptau/result"
	"toptau/threshold"
)

// ThresholdOptions are the options of Threshold. The zero value of each is its default.
type ThresholdOptions struct {
	Name     string         // name of the operating point; "": "calibrated"
	Replace  string         // name of a point of the model that is replaced, instead of Name
	Delta    threshold.Rate // requests a guarantee that may fail with this probability; zero: no guarantee
	Segments bool           // adds a threshold for each value of Format.Segment, each with Delta
	// Simultaneous makes the guarantees of all segments hold together with confidence 1 - Delta (Sidak). It requires Segments and
	// Delta.
	Simultaneous bool
	Force        bool // certifies even if fingerprints show that the rows trained the model
	// Entity is a column that names entities. The budget counts them instead of rows, as EvaluateOptions.Entity.
	Entity string
	Value  string // GoalCostAlert: the column of amounts
	// Audit lists this many of the best-scoring negatives in the result, for review. Reviewed are answers: rows, from 1, of which the
	// positive ones are left out. The guarantee is then no longer exact; the result says what that costs.
	Audit    int
	Reviewed map[int]bool
	// Prevalence is the fraction of positives at which a lowest precision is meant: it then holds wherever at least this fraction of
	// the rows is positive, whatever it is in these rows. Zero: as in them.
	Prevalence threshold.Rate
}

// Calibrated is a computed threshold.
type Calibrated struct {
	Result result.Threshold
	Point  model.Point // the threshold as an operating point for Model.WithPoint

	replaces bool // Point replaces one of the model
}

// WithPoint returns m with the computed operating point, which replaces one or is new.
func (c *Calibrated) WithPoint(m *model.Model) (*model.Model, error) {
	if c.replaces {
		return m.WithReplaced(c.Point)
	}
	return m.WithPoint(c.Point)
}

// Threshold computes a decision threshold for any ranking of the rows of the data: the scores of a model, of another
// program, or of a numeric column. The decision is score > threshold. A guarantee assumes that new rows come
// from the same distribution as the rows of the data, and that these neither fitted nor chose the model.
//
// If the requested guarantee is impossible, Threshold returns a threshold without a guarantee, and an error
// that matches diag.ErrNoGuarantee and contains the reason.
func Threshold(ctx context.Context, data *dataset.Data, entry dataset.Entry, g metric.Goal, o ThresholdOptions) (*Calibrated, error) {
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
func checkThreshold(d *rowset.Set, g metric.Goal, o *ThresholdOptions) (metric.Goal, error) {
	if !o.Prevalence.IsZero() && g.Kind != metric.GoalMinPrecision {
		return g, &diag.Error{Kind: diag.Usage, Param: "prevalence", Found: "with another goal", Expected: "a lowest precision"}
	}
	g = g.WithPrevalence(o.Prevalence)
	if err := cmp.Or(g.Check(), calibrate.CheckDelta(o.Delta)); err != nil {
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
func pointToReplace(e *rowset.Entry, o *ThresholdOptions) (model.Point, error) {
	if e.Model == nil {
		return model.Point{}, &diag.Error{Kind: diag.Usage, Param: "replace", Found: diag.Quote(o.Replace), Expected: "a model that has this operating point"}
	}
	points, err := pointsFrom(e.Model, o.Replace)
	if err != nil {
		named := *diag.Of(err)
		named.Param = "replace"
		return model.Point{}, &named
	}
	o.Name = o.Replace
	o.Entity = cmp.Or(o.Entity, points[0].Entity)
	return points[0], nil
}

// reasonAgainst returns the reason why rows cannot certify a threshold of the model, "" if there is none.
func reasonAgainst(m *model.Model, d *rowset.Set, known *result.Overlap, force bool) string {
	switch {
	case trainedOn(m, d):
		return "these are the rows that the model was trained on"
	case known != nil && known.Excess && !force:
		return rowset.OverlapWarning(known, d.Len()) + "; force it if these are other rows with equal values"
	}
	return ""
}

// trainedOn reports whether d is the file that the model was trained on.
func trainedOn(m *model.Model, d *rowset.Set) bool {
	digest := m.Training().Digest
	return digest != "" && digest == d.Digest()
}

// warnOfSameRows returns a warning for each point of the model that was calibrated on the same rows as a
// guarantee. Each guarantee holds with its own confidence, because neither threshold depends on the other.
// Both together hold with less.
func warnOfSameRows(m *model.Model, g *model.Guarantee) (list []diag.Warning) {
	for _, p := range m.Points() {
		if g != nil && p.Guarantee != nil && g.Calibration.Same(p.Guarantee.Calibration) {
			list = append(list, diag.Warning{Code: "joint-confidence", Text: fmt.Sprintf("these rows also calibrated %s: each guarantee holds with "+
				"its own confidence, both together with at least %s", p.Name,
				metric.ConfidenceText(g.Delta.Float64()+p.Guarantee.Delta.Float64()))})
		}
	}
	return list
}

// calibrating is the state of a call of Threshold.
type calibrating struct {
	data    *rowset.Set
	scores  []float64 // one score for each row
	goal    metric.Goal
	options ThresholdOptions
	byClass metric.Scores // GoalCostAlert: scores of the units, with the amounts of the positives
	amounts []float64
	against string // reason why the rows give no guarantee; "": there is none
}

// compute returns the threshold of all rows and of each segment. With a result, the error is about the first
// guarantee that is impossible.
func (c *calibrating) compute() (*Calibrated, error) {
	d := c.data
	t, guarantee := c.onRows(nil, c.options.Delta)
	if t == nil {
		return nil, guarantee
	}
	out := newCalibrated(c.options, t, guarantee, d.Len(), d.Info.Negatives)
	if c.against == "" {
		out.Point.Negatives = calibrate.BestNegatives(negativeScores(d.Table, c.scores), calibrate.KeptNegatives)
	}
	if c.goal.Kind == metric.GoalCostAlert {
		ranking, err := metric.Rank(c.byClass)
		if err != nil {
			return nil, err
		}
		profit, err := ranking.ProfitAt(c.goal.Cost, t.Value, c.byClass.Positives, c.amounts, metric.Bootstrap{})
		if err != nil {
			return nil, err
		}
		out.Result.Profit = &profit
	}
	c.addAudit(out)
	if n := c.options.Audit; n > 0 {
		out.Result.Audit = &result.Audit{Rows: auditRows(d, c.scores, n)}
	}
	r := &out.Result
	var drift *diag.Warning
	var err error
	if r.OverTime, drift, err = calibrationOverTime(d.Table, c.scores, t.Population); err != nil {
		return nil, err
	}
	if drift != nil {
		r.Warnings = append(r.Warnings, *drift)
	}
	if c.options.Segments {
		out.Point.Segment = d.Table.Segment.Name
		if err := c.addSegments(out); guarantee == nil {
			guarantee = err
		}
	}
	return out, guarantee
}

// newCalibrated returns a threshold with its evidence. guarantee is the reason why it has no guarantee. rows are all
// calibration rows.
func newCalibrated(o ThresholdOptions, t *calibrate.Threshold, guarantee error, rows, negatives int) *Calibrated {
	source := fmt.Sprintf("%d calibration rows, %d negative", rows, negatives)
	if g := t.Guarantee; g != nil && g.Kind == metric.GoalMinPrecision {
		source = fmt.Sprintf("%d calibration rows, %d negative; %d others fixed the thresholds that they test", g.Rows, g.Negatives, rows-g.Rows)
	}
	out := &Calibrated{Point: model.Point{Name: o.Name, Threshold: t.Value, Goal: t.Goal, Guarantee: t.CertifiedGuarantee(negatives), UpTo: t.UpTo(), Source: source}}
	r := &out.Result
	population := t.Population.String()
	*r = result.Threshold{Threshold: t.Value, Goal: t.Goal, Delta: o.Delta, Certified: t.Guarantee != nil, Population: population,
		Rows: t.Rows, Negatives: negatives, Needed: t.Needed, Segments: []result.Segment{}, Expected: result.NewExpected(t.Expected, false)}
	r.Expected.Scheme, r.Expected.Population, r.Expected.Rows = result.Scheme(tune.SchemeHeldOut), population, t.Rows
	if r.Certified {
		r.Expected.Scheme = result.Scheme(tune.SchemeCertified)
	}
	r.Reason, r.Order, r.Bound = evidenceOf(t, guarantee)
	if t.Lucky != nil {
		r.Warnings = append(r.Warnings, diag.Warning{Code: "few-real-alerts", Text: wording.LuckOf(t.Goal, t.Lucky)})
	}
	return out
}

// noGuaranteeBecause is the error about a guarantee that the rows cannot carry.
func noGuaranteeBecause(why string) error {
	return &diag.Error{Kind: diag.Guarantee, Found: "no guarantee: " + why, Expected: "held-out rows that were used for nothing else",
		Hint: "the threshold has no guarantee"}
}

// evidenceOf returns the optional fields of a result: the reason for no guarantee, or the order statistic
// with its tail bound.
func evidenceOf(t *calibrate.Threshold, guarantee error) (reason string, order *int, bound *float64) {
	if guarantee != nil {
		reason = guarantee.Error()
	}
	if g := t.Guarantee; g != nil {
		bound = &g.Bound
		if g.Order > 0 {
			order = &g.Order
		}
	}
	return reason, order, bound
}

// addSegments adds a threshold for each value of the segment column. The error is the first guarantee that is
// impossible.
func (c *calibrating) addSegments(out *Calibrated) error {
	rows := map[string][]int{}
	for i, value := range c.data.Table.Segment.Values {
		rows[value] = append(rows[value], i)
	}
	var values []string
	for value := range rows {
		values = append(values, value)
	}
	slices.SortFunc(values, cmp.Compare)
	r := &out.Result
	deltas, err := c.deltasOf(values, rows)
	if err != nil {
		return err
	}
	var first error
	certified := 0
	for i, value := range values {
		t, guarantee := c.onRows(rows[value], deltas[i])
		if e := diag.Of(guarantee); e != nil {
			named := *e
			named.Found = fmt.Sprintf("segment %q: %s", value, e.Found)
			guarantee = &named
		}
		if first == nil {
			first = guarantee
		}
		if t == nil { // no rows in the population
			r.Warnings = append(r.Warnings, diag.Warning{Code: "segment-without-negatives",
				Text: fmt.Sprintf("segment %q has no rows to calibrate on: it uses the threshold of all rows", value)})
			continue
		}
		if t.Guarantee != nil {
			certified++
		}
		s := result.Segment{Value: value, Threshold: t.Value, Certified: t.Guarantee != nil}
		s.Reason, s.Order, s.Bound = evidenceOf(t, guarantee)
		for _, i := range rows[value] {
			if c.data.Table.Label[i] == table.Negative {
				s.Negatives++
			}
		}
		r.Segments = append(r.Segments, s)
		out.Point.UpTo = max(out.Point.UpTo, t.UpTo())
		out.Point.Segments = append(out.Point.Segments, model.Segment{Value: value, Threshold: t.Value,
			Guarantee: t.CertifiedGuarantee(s.Negatives)})
	}
	switch {
	case c.options.Simultaneous && certified > 0:
		out.Point.SegmentsDelta, r.SegmentsDelta = c.options.Delta, c.options.Delta
	case certified > 1:
		delta := c.options.Delta.Float64()
		r.Warnings = append(r.Warnings, diag.Warning{Code: "joint-confidence",
			Text: fmt.Sprintf("each of the %s holds with a confidence of %s; all of them together with at least %s",
				text.Plural(certified, "certified segment"), metric.ConfidenceText(delta), metric.ConfidenceText(float64(float64(certified)*delta)))})
	}
	return first
}

// deltasOf returns the delta of each segment.
func (c *calibrating) deltasOf(values []string, rows map[string][]int) ([]threshold.Rate, error) {
	if !c.options.Simultaneous || c.against != "" {
		return slices.Repeat([]threshold.Rate{c.options.Delta}, len(values)), nil
	}
	sizes := make([]int, len(values))
	for i, value := range values {
		for _, row := range rows[value] {
			if counts(c.goal.Population(), c.data.Table.Label[row]) {
				sizes[i]++
			}
		}
	}
	deltas, err := calibrate.Jointly(sizes, c.goal.Alpha(), c.options.Delta)
	for i := range deltas {
		if deltas[i].IsZero() { // too few rows: the error has the number that is needed if the segment were the only one
			deltas[i] = c.options.Delta.Over(int64(len(values)))
		}
	}
	return deltas, err
}

// onRows returns the threshold of some rows (nil: all). With a threshold, an error is about the guarantee.
func (c *calibrating) onRows(rows []int, delta threshold.Rate) (*calibrate.Threshold, error) {
	switch c.goal.Kind {
	case metric.GoalMinPrecision:
		return c.precise()
	case metric.GoalCostAlert:
		r, err := metric.Rank(c.byClass)
		if err != nil {
			return nil, err
		}
		return calibrate.MaxProfit(c.goal, r, c.byClass.Positives, c.amounts)
	}
	s, err := sortedScores(c.data.Table, c.scores, c.goal.Population(), rows)
	if err != nil {
		return nil, err
	}
	if c.against == "" || delta.IsZero() {
		return calibrate.For(c.goal, delta, s)
	}
	t, err := calibrate.For(c.goal, threshold.Rate{}, s)
	if err == nil {
		err = noGuaranteeBecause(c.against)
	}
	return t, err
}

// proposing is the fraction 1/proposing of the rows that fixes which thresholds the others test. Chosen by hand (a change moves results).
const proposing = 3

// proposingStream separates the choice of these rows from other random numbers. "prec" in ASCII.
const proposingStream = 0x70726563

// precise returns the threshold for a lowest precision. With delta, a random part of the rows fixes the thresholds
// that the others test.
func (c *calibrating) precise() (*calibrate.Threshold, error) {
	t := c.data.Table
	if t.Weight != nil {
		return nil, &diag.Error{Kind: diag.Usage, Param: "weight", Found: "rows with weights", Expected: "rows without, for a lowest precision"}
	}
	var all, first, others [2][]float64 // negatives, positives
	random := rand.New(rand.NewPCG(uint64(len(c.scores)), proposingStream))
	for i, z := range c.scores {
		if class := t.Label[i]; class == table.Negative || class == table.Positive {
			part := &others
			if random.IntN(proposing) == 0 {
				part = &first
			}
			part[class], all[class] = append(part[class], z), append(all[class], z)
		}
	}
	plain, unreachable := calibrate.ForLabelled(c.goal, threshold.Rate{}, nil, all[table.Positive], all[table.Negative])
	switch {
	case unreachable != nil || c.options.Delta.IsZero():
		return plain, unreachable
	case c.against != "":
		return plain, noGuaranteeBecause(c.against)
	}
	sequence, err := calibrate.PrecisionSequence(c.goal, c.options.Delta, first[table.Positive], first[table.Negative])
	if err != nil {
		return plain, err
	}
	certified, err := calibrate.ForLabelled(c.goal, c.options.Delta, sequence, others[table.Positive], others[table.Negative])
	if err != nil {
		return plain, err
	}
	return certified, nil
}

// negativeScores returns the scores of the negatives of a table.
func negativeScores(t *table.Table, scores []float64) (z []float64) {
	for i, class := range t.Label {
		if class == table.Negative {
			z = append(z, scores[i])
		}
	}
	return z
}

// sortedScores returns the scores of a population, of some rows of a table (nil: all).
func sortedScores(t *table.Table, z []float64, of method.Population, rows []int) (*calibrate.Sorted, error) {
	var scores, weights []float64
	add := func(i int) {
		if !counts(of, t.Label[i]) {
			return
		}
		scores = append(scores, z[i])
		if t.Weight != nil {
			weights = append(weights, t.Weight[i])
		}
	}
	if rows == nil {
		for i := range z {
			add(i)
		}
	}
	for _, i := range rows {
		add(i)
	}
	return calibrate.Sort(scores, weights, of)
}

// counts reports whether a row of a class belongs to a population.
func counts(of method.Population, class table.Class) bool {
	return of == method.AllRows || of == method.Negatives && class == table.Negative || of == method.Positives && class == table.Positive
}
