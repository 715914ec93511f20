package tune

import (
	"fmt"
	"math"
	"slices"

	"toptau/calibrate"
	"toptau/diag"
	"toptau/internal/core/heldout"
	"toptau/internal/core/ranking"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/method"
	"toptau/metric"
	"toptau/result"
	"toptau/threshold"
)

// calibration sets the threshold of a fitted model and measures it.
type calibration struct {
	parts    *parts
	found    *Found
	pooled   *pooledScores // out-of-fold scores, for SchemeValidation the scores of the validation table
	progress *meter
}

// setThreshold takes the goal's threshold from the rows of the scheme and measures the model on rows that did
// not fit it.
func (c *calibration) setThreshold() error {
	sample, err := c.sample()
	if err != nil {
		return err
	}
	c.found.sample = sample
	o := &c.parts.options
	if o.Goal.Kind == metric.GoalCostAlert {
		return c.setProfitable()
	}
	if sample.sorted, err = heldout.Sort(sample.scores, sample.weights, o.Goal.Population()); err != nil {
		return err
	}
	if o.Goal.Kind == metric.GoalMinPrecision && !o.Delta.IsZero() {
		if sample.sequence, err = c.sequence(); err != nil {
			return err
		}
	}
	t := &c.found.Threshold
	if *t, err = c.found.thresholdFor(o.Goal, o.Delta); err != nil {
		return c.withGroups(err)
	}
	if t.Guarantee != nil {
		t.OutOfFold, t.Certified = o.OutOfFold, !o.OutOfFold
		if t.Guarantee.Certified = t.Certified; t.Certified && c.parts.data.Calibration == nil {
			if t.OverTime, err = c.overTime(sample); err != nil {
				return err
			}
		}
	}
	return c.evaluateOutOfFold()
}

// setProfitable sets the threshold with the highest profit on the rows that measure the model.
func (c *calibration) setProfitable() (err error) {
	if c.parts.scheme == SchemeValidation {
		if c.pooled, err = c.scoreTable(c.parts.data.Validation, c.parts.data.Validation.Labelled()); err != nil {
			return err
		}
	}
	if err = c.pooled.setRanking(); err != nil {
		return err
	}
	f, r := c.found, c.pooled.ranking
	t, err := heldout.MaxProfit(f.Goal, r.Ranking, r.scores, r.amounts)
	if err != nil {
		return err
	}
	f.Threshold = Threshold{Threshold: *t, Scheme: f.Scheme, CrossFolds: f.CrossFolds, Refitted: f.refitted(0), Approximate: true}
	return c.evaluateOutOfFold()
}

// sample scores the rows of the scheme.
func (c *calibration) sample() (*calibrationSample, error) {
	s := &calibrationSample{}
	t, rows := c.parts.calibrationTable(), c.parts.calibration
	switch c.parts.scheme {
	case SchemeCrossFitted, SchemeAllRows:
		s.scores, s.weights = c.pooledPopulation()
		s.positives, s.negatives = c.pooled.units.Positives, c.pooled.units.Negatives
		for i := range c.pooled.folds {
			s.folds = append(s.folds, populationOf(c.parts.options.Goal, &c.pooled.folds[i]))
		}
		return s, nil
	case SchemeValidation:
		t = c.parts.data.Validation
		rows = c.parts.population(t, t.Labelled())
	}
	var err error
	if s.ofRows, err = c.found.scores(t, rows); err != nil {
		return nil, err
	}
	s.rows, s.scores = c.parts.countedPopulation(t, rows, s.ofRows)
	for i, row := range s.rows {
		if t.Label[row] == table.Positive {
			s.positives = append(s.positives, s.scores[i])
		} else {
			s.negatives = append(s.negatives, s.scores[i])
		}
	}
	if t.Weight != nil {
		s.weights = Pick(t.Weight, s.rows)
	}
	return s, nil
}

// setNegatives sets Found.Negatives.
func (c *calibration) setNegatives() {
	if s := c.parts.scheme; s != SchemeCertified && s != SchemeHeldOut || c.parts.againstGuarantee() != "" {
		return
	}
	label := c.parts.calibrationTable().Label
	for i, row := range c.found.sample.rows {
		if label[row] == table.Negative {
			c.found.Negatives = append(c.found.Negatives, c.found.sample.scores[i])
		}
	}
}

// pooledPopulation returns the pooled scores of the units that the budget counts, with their weights.
func (c *calibration) pooledPopulation() (scores, weights []float64) {
	p := &c.pooled.units
	switch c.parts.options.Goal.Population() {
	case method.AllRows:
		weights = slices.Concat(p.NegativeWeights, p.PositiveWeights)
	case method.Positives:
		weights = p.PositiveWeights
	default:
		weights = p.NegativeWeights
	}
	return populationOf(c.parts.options.Goal, p), weights
}

// populationOf returns the scores of what the goal's budget counts.
func populationOf(g metric.Goal, s *ranking.Scores) []float64 {
	switch g.Population() {
	case method.AllRows:
		return slices.Concat(s.Negatives, s.Positives)
	case method.Positives:
		return s.Positives
	}
	return s.Negatives
}

// sequence returns the thresholds that the calibration rows test for a lowest precision. They come from the scores of the
// cross-validation, on the model's scale. A scale that is a little wrong costs power, and no validity.
func (c *calibration) sequence() ([]float64, error) {
	p := &c.pooled.units
	list, err := heldout.PrecisionSequence(c.found.Goal, c.parts.options.Delta, p.Positives, p.Negatives)
	for i := range list {
		list[i] = c.pooled.middle + float64(c.pooled.spread*list[i])
	}
	return list, err
}

// overTime compares the calibration scores over time; nil without a time column.
func (c *calibration) overTime(s *calibrationSample) (*calibrate.Trend, error) {
	times, err := Timeline(c.parts.data.Table)
	if times == nil || err != nil {
		return nil, err
	}
	order := make([]int, len(s.rows))
	for i, row := range s.rows {
		order[i] = times[row]
	}
	trend, err := heldout.OverTime(s.scores, order)
	return &trend, err
}

// evaluateOutOfFold measures the model on rows that did not fit it. If other rows gave the threshold, it
// measures the cross-validation's scores at the false positive rate or recall that the threshold is expected to have. For a
// lowest precision these rows are of both classes, and measure the model themselves.
func (c *calibration) evaluateOutOfFold() error {
	e, value := &c.found.OutOfFold, c.found.Threshold.Value
	at := value
	var err error
	switch {
	case c.parts.scheme == SchemeValidation:
		if c.pooled, err = c.scoreTable(c.parts.data.Validation, c.parts.data.Validation.Labelled()); err != nil {
			return err
		}
	case c.found.MeasuredOnCalibration():
		measured, err := c.scoreTable(c.parts.calibrationTable(), c.parts.calibration)
		if err != nil {
			return err
		}
		*e, err = measured.ranking.evaluate(c.found.Goal, value, c.parts.options.Seed)
		c.found.measured = e.AtThreshold
		return err
	case !c.parts.scheme.pools():
		if at, err = c.pooledThreshold(&c.found.Threshold.Expected); err != nil {
			return err
		}
	}
	if err = c.pooled.setRanking(); err != nil {
		return err
	}
	r := *c.pooled.ranking
	if c.found.Goal.Kind != metric.GoalCostAlert { // which counts alerts of these rows
		r.Ranking = r.Mixed(c.found.Prevalence)
	}
	*e, err = r.evaluate(c.found.Goal, at, c.parts.options.Seed)
	if e.AtThreshold.Threshold = value; err != nil {
		return err
	}
	c.found.measured = e.AtThreshold
	if c.found.ends, err = c.ends(&r); err != nil {
		return err
	}
	e.AtThreshold = c.found.Among(c.found.Prevalence)
	return c.setPrice()
}

// withGroups adds to the error of a sample without scores that there are too few groups for one.
func (c *calibration) withGroups(err error) error {
	groups := map[string]bool{}
	for _, name := range c.parts.cut.Group {
		groups[name] = true
	}
	if len(groups) == 0 || len(c.found.sample.scores) > 0 {
		return err
	}
	t := c.parts.data.Table
	return diag.At(err, diag.Error{File: t.File, Hint: fmt.Sprintf("%s are too few for folds and a part for the threshold, because a group stays in one of them",
		text.Plural(len(groups), "group"))})
}

// ends returns the decisions at both ends of the interval for the expected rate, if other rows gave the threshold: its place among the
// scores of r is then not exact. These scores place the rate with an error of their own, of which the variance is that of their number. A recall of
// 100 held-out positives is found among 100 others out of fold, so the interval is wider by the root of 2.
func (c *calibration) ends(r *ranked) ([]metric.Confusion, error) {
	var list []metric.Confusion
	if c.parts.scheme.pools() || c.parts.scheme == SchemeValidation {
		return nil, nil
	}
	e := c.found.Threshold.Expected
	z, _ := c.pooledPopulation()
	wider := math.Sqrt(1 + float64(c.found.Threshold.Rows)/float64(len(z)))
	for _, end := range []float64{e.Low, e.High} {
		rate := e.Rate + float64(wider*(end-e.Rate))
		if !(rate > 0 && rate < 1) {
			continue // the rates there are those next to it
		}
		expected := c.found.Threshold.Expected
		expected.Rate = rate
		at, err := c.pooledThreshold(&expected)
		if err != nil {
			return nil, err
		}
		end, err := r.At(at, 0)
		if err != nil {
			return nil, err
		}
		list = append(list, end)
	}
	return list, nil
}

// pooledThreshold returns the threshold for an expected fraction of the population on the pooled scores of the cross-validation, which have
// units of their own. With tied scores it is between two groups of equal scores, as the expected one is.
func (c *calibration) pooledThreshold(expected *calibrate.Expectation) (float64, error) {
	z, weights := c.pooledPopulation()
	sorted, err := heldout.Sort(z, weights, c.found.Goal.Population())
	if err != nil {
		return 0, err
	}
	if expected.Tied != nil {
		return sorted.Nearest(expected.Rate), nil
	}
	rate, err := threshold.RateOf(expected.Rate)
	if err != nil {
		return 0, err
	}
	var at *heldout.Threshold
	if c.found.Goal.Kind == metric.GoalMinRecall {
		at, err = heldout.For(metric.Goal{Kind: metric.GoalMinRecall, Rate: rate}, threshold.Rate{}, sorted)
	} else {
		at, err = sorted.Plain(rate)
	}
	if err != nil {
		return 0, err
	}
	return at.Value, nil
}

// setPrice compares the certified threshold with a plain one, and with that of twice the rows, on the pooled scores.
func (c *calibration) setPrice() error {
	t, o := &c.found.Threshold, &c.parts.options
	tau := o.Goal.Tau()
	if !t.Certified || tau.IsZero() {
		return nil
	}
	rows := 2 * t.Rows
	if s := c.parts; s.data.Calibration == nil && o.CalibrationFraction.IsZero() {
		var err error
		if rows, err = heldout.Size(2*(t.Rows+s.populationSize(s.data.Table, s.training)), tau, o.Delta); err != nil {
			return err
		}
	}
	doubled, err := threshold.RateOf(heldout.CertifiedRate(rows, tau, o.Delta))
	if err != nil {
		return err
	}
	p := &result.Price{}
	expected := []*calibrate.Expectation{&t.Expected}
	for _, rate := range []threshold.Rate{tau, doubled} {
		plain, err := c.found.sample.sorted.Plain(rate)
		if err != nil {
			return err
		}
		expected = append(expected, &plain.Expected)
	}
	for i, at := range []*result.PriceAt{&p.Certified, &p.Plain, &p.Doubled} {
		z, err := c.pooledThreshold(expected[i])
		if err != nil {
			return err
		}
		counts, err := c.pooled.ranking.At(z, 0)
		if err != nil {
			return err
		}
		*at = result.PriceAt{Rate: expected[i].Rate, Found: counts.TruePositiveRate.Rate}
	}
	c.found.Price = p
	return nil
}

// scoreTable scores rows of a table with the model.
func (c *calibration) scoreTable(t *table.Table, rows []int) (*pooledScores, error) {
	z, err := c.found.scores(t, rows)
	if err != nil {
		return nil, err
	}
	p := &pooledScores{}
	for i, row := range rows {
		appendScore(&p.scores, t, row, z[i])
	}
	p.setUnits(c.parts.counted[t], t, rows)
	return p, inFile(p.setRanking(), t)
}

// evaluateTest measures the model on the test part, if it has both classes.
func (c *calibration) evaluateTest() error {
	t, rows := c.parts.data.Test, c.parts.test
	if t != nil {
		rows = t.Labelled()
	} else {
		t = c.parts.data.Table
	}
	f := c.found
	f.TestCounts = CountRows(t.Label, rows)
	if f.TestCounts.Positives == 0 || f.TestCounts.Negatives == 0 {
		return nil
	}
	c.progress.startStage("evaluate")
	measured, err := c.scoreTable(t, rows)
	if err != nil {
		return err
	}
	e, err := measured.ranking.evaluate(f.Goal, f.Threshold.Value, c.parts.options.Seed)
	f.Test = &e
	return err
}
