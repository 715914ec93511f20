package decide

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"toptau/diag"
	"toptau/internal/core/evidence"
	"toptau/internal/core/heldout"
	"toptau/internal/core/ranking"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/internal/models/wording"
	"toptau/internal/training/rowset"
	"toptau/internal/training/summary"
	"toptau/internal/training/tune"
	"toptau/metric"
	"toptau/model"
	"toptau/result"
	"toptau/threshold"
)

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
		out.Point.Negatives = heldout.BestNegatives(rowset.NegativeScores(d.Table, c.scores), evidence.KeptNegatives)
	}
	if c.goal.Kind == metric.GoalCostAlert {
		rank, err := ranking.Rank(c.byClass)
		if err != nil {
			return nil, err
		}
		profit, err := rank.ProfitAt(c.goal.Cost, t.Value, c.byClass.Positives, c.amounts, ranking.Bootstrap{})
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
	if r.OverTime, drift, err = rowset.CalibrationOverTime(d.Table, c.scores, t.Population); err != nil {
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
func newCalibrated(o Options, t *heldout.Threshold, guarantee error, rows, negatives int) *Calibrated {
	source := fmt.Sprintf("%d calibration rows, %d negative", rows, negatives)
	if g := t.Guarantee; g != nil && g.Kind == metric.GoalMinPrecision {
		source = fmt.Sprintf("%d calibration rows, %d negative; %d others fixed the thresholds that they test", g.Rows, g.Negatives, rows-g.Rows)
	}
	out := &Calibrated{Point: model.Point{Name: o.Name, Threshold: t.Value, Goal: t.Goal, Guarantee: t.CertifiedGuarantee(negatives),
		UpTo: t.UpTo(), Source: source}}
	r := &out.Result
	population := t.Population.String()
	*r = result.Threshold{Threshold: t.Value, Goal: t.Goal, Delta: o.Delta, Certified: t.Guarantee != nil, Population: population,
		Rows: t.Rows, Negatives: negatives, Needed: t.Needed, Segments: []result.Segment{}, Expected: summary.NewExpected(t.Expected, false)}
	r.Expected.Scheme, r.Expected.Population, r.Expected.Rows = string(tune.SchemeHeldOut), population, t.Rows
	if r.Certified {
		r.Expected.Scheme = string(tune.SchemeCertified)
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
func evidenceOf(t *heldout.Threshold, guarantee error) (reason string, order *int, bound *float64) {
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
	values := slices.Sorted(maps.Keys(rows))
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
			out.Result.Warnings = append(out.Result.Warnings, diag.Warning{Code: "segment-without-negatives",
				Text: fmt.Sprintf("segment %q has no rows to calibrate on: it uses the threshold of all rows", value)})
			continue
		}
		if t.Guarantee != nil {
			certified++
		}
		c.addSegment(out, value, t, guarantee, rows[value])
	}
	c.addJointConfidence(out, certified)
	return first
}

// addSegment adds a threshold to the result and to the operating point.
func (c *calibrating) addSegment(out *Calibrated, value string, t *heldout.Threshold, guarantee error, rows []int) {
	s := result.Segment{Value: value, Threshold: t.Value, Certified: t.Guarantee != nil}
	s.Reason, s.Order, s.Bound = evidenceOf(t, guarantee)
	for _, i := range rows {
		if c.data.Table.Label[i] == table.Negative {
			s.Negatives++
		}
	}
	out.Result.Segments = append(out.Result.Segments, s)
	out.Point.UpTo = max(out.Point.UpTo, t.UpTo())
	out.Point.Segments = append(out.Point.Segments, model.Segment{Value: value, Threshold: t.Value,
		Guarantee: t.CertifiedGuarantee(s.Negatives)})
}

// addJointConfidence records with which confidence the guarantees of all certified segments hold together: the requested one if they
// share it, and otherwise by Bonferroni's inequality.
func (c *calibrating) addJointConfidence(out *Calibrated, certified int) {
	r := &out.Result
	switch {
	case c.options.Simultaneous && certified > 0:
		out.Point.SegmentsDelta, r.SegmentsDelta = c.options.Delta, c.options.Delta
	case certified > 1:
		delta := c.options.Delta.Float64()
		r.Warnings = append(r.Warnings, diag.Warning{Code: "joint-confidence",
			Text: fmt.Sprintf("each of the %s holds with a confidence of %s; all of them together with at least %s",
				text.Plural(certified, "certified segment"), text.Confidence(delta), text.Confidence(float64(float64(certified)*delta)))})
	}
}

// deltasOf returns the delta of each segment.
func (c *calibrating) deltasOf(values []string, rows map[string][]int) ([]threshold.Rate, error) {
	if !c.options.Simultaneous || c.against != "" {
		return slices.Repeat([]threshold.Rate{c.options.Delta}, len(values)), nil
	}
	sizes := make([]int, len(values))
	for i, value := range values {
		for _, row := range rows[value] {
			if rowset.Counts(c.goal.Population(), c.data.Table.Label[row]) {
				sizes[i]++
			}
		}
	}
	deltas, err := heldout.Jointly(sizes, c.goal.Alpha(), c.options.Delta)
	for i := range deltas {
		if deltas[i].IsZero() { // too few rows: the error has the number that is needed if the segment were the only one
			deltas[i] = c.options.Delta.Over(int64(len(values)))
		}
	}
	return deltas, err
}

// onRows returns the threshold of some rows (nil: all). With a threshold, an error is about the guarantee.
func (c *calibrating) onRows(rows []int, delta threshold.Rate) (*heldout.Threshold, error) {
	switch c.goal.Kind {
	case metric.GoalMinPrecision:
		return c.precise()
	case metric.GoalCostAlert:
		r, err := ranking.Rank(c.byClass)
		if err != nil {
			return nil, err
		}
		return heldout.MaxProfit(c.goal, r, c.byClass.Positives, c.amounts)
	}
	s, err := rowset.SortedScores(c.data.Table, c.scores, c.goal.Population(), rows)
	if err != nil {
		return nil, err
	}
	if c.against == "" || delta.IsZero() {
		return heldout.For(c.goal, delta, s)
	}
	t, err := heldout.For(c.goal, threshold.Rate{}, s)
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
func (c *calibrating) precise() (*heldout.Threshold, error) {
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
	plain, unreachable := heldout.ForLabelled(c.goal, threshold.Rate{}, nil, all[table.Positive], all[table.Negative])
	switch {
	case unreachable != nil || c.options.Delta.IsZero():
		return plain, unreachable
	case c.against != "":
		return plain, noGuaranteeBecause(c.against)
	}
	sequence, err := heldout.PrecisionSequence(c.goal, c.options.Delta, first[table.Positive], first[table.Negative])
	if err != nil {
		return plain, err
	}
	certified, err := heldout.ForLabelled(c.goal, c.options.Delta, sequence, others[table.Positive], others[table.Negative])
	if err != nil {
		return plain, err
	}
	return certified, nil
}
