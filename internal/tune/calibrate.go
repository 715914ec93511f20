package tune

import (
	"fmt"
	"runtime"
	"slices"

	"toptau/calibrate"
	"toptau/diag"
	"toptau/internal/feature"
	"toptau/internal/table"
	"toptau/metric"
	"toptau/threshold"
)

// calibrationSample holds the scores of the model on rows that it did not see: those that the goal's budget counts.
type calibrationSample struct {
	scores, weights []float64 // weights nil: all 1
	population      calibrate.Population
}

// threshold takes the goal's threshold from the rows of the scheme and says what can be expected of it.
func (s *search) threshold() error {
	sample, err := s.calibrationSample()
	if err != nil {
		return err
	}
	s.found.sample = sample
	o, r := &s.options, &s.found.Threshold
	if o.Delta.IsZero() {
		*r, err = s.found.PlainThreshold(o.Goal)
	} else {
		err = s.guaranteed(sample)
	}
	if err != nil {
		return err
	}
	return s.evaluateOutOfFold()
}

// calibrationSample scores the rows of the scheme.
func (s *search) calibrationSample() (*calibrationSample, error) {
	c := &calibrationSample{population: calibrate.Negatives}
	if s.countsAll() {
		c.population = calibrate.All
	}
	var t *table.Table
	var rows []int
	switch {
	case s.scheme == SchemeCrossFitted:
		c.scores, c.weights = s.pooledPopulation()
		return c, nil
	case s.scheme == SchemeValidation:
		t = s.data.Validation
		rows = s.population(t, labelled(t))
	case s.data.Calibration != nil:
		t, rows = s.data.Calibration, s.calibration
	default:
		t, rows = s.data.Table, s.calibration
	}
	var err error
	if c.scores, err = s.scores(t, rows); err != nil {
		return nil, err
	}
	if t.Weight != nil {
		c.weights = pickFloats(t.Weight, rows)
	}
	return c, nil
}

// pooledPopulation returns the pooled scores of the rows that the budget counts, with their weights.
func (s *search) pooledPopulation() (scores, weights []float64) {
	p := &s.pooled.scores
	if s.countsAll() {
		return slices.Concat(p.Negatives, p.Positives), slices.Concat(p.NegativeWeights, p.PositiveWeights)
	}
	return p.Negatives, p.NegativeWeights
}

func pickFloats(list []float64, places []int) []float64 {
	picked := make([]float64, len(places))
	for i, place := range places {
		picked[i] = list[place]
	}
	return picked
}

// PlainThreshold returns the model's plain threshold for a goal: the score whose expected rate on new rows is at most the
// goal's (calibrate.Plain), from the rows that gave the model's own threshold. It fits nothing anew, so that the choice of
// the model remains that for Found.Goal. The error is a goal that counts other rows than Found.Goal does.
func (f *Found) PlainThreshold(g metric.Goal) (Threshold, error) {
	if err := g.Check(); err != nil {
		return Threshold{}, err
	}
	if all := g.Criterion().Name == metric.AtQuantile; all != (f.sample.population == calibrate.All) {
		return Threshold{}, &diag.Error{Kind: diag.Usage, Found: g.String() + " for a model that was chosen for " + f.Goal.String(),
			Expected: "a goal that counts the same rows"}
	}
	tau := g.Tau()
	if tau.IsZero() { // above every negative: the largest score
		var err error
		if tau, err = threshold.ParseRate(fmt.Sprintf("1/%d", len(f.sample.scores)+1)); err != nil {
			return Threshold{}, err
		}
	}
	c, err := calibrate.PlainWeighted(f.sample.scores, f.sample.weights, tau, f.sample.population)
	if err != nil {
		return Threshold{}, err
	}
	t := Threshold{Value: c.Threshold, Goal: g, Scheme: f.Scheme, Rows: c.N, Expected: c.Expected(metric.DefaultConfidence),
		Approximate: f.Scheme != SchemeHeldOut || f.sample.weights != nil}
	t.Unresolved = !g.Tau().IsZero() && t.Expected.Rate > g.Tau().Float64()
	t.Part, t.Note = f.plainNote(&c)
	return t, nil
}

// plainNote says which rows gave a plain threshold and what that means.
func (f *Found) plainNote(c *calibrate.Threshold) (part, note string) {
	rows := "negatives"
	if c.Population == calibrate.All {
		rows = "rows"
	}
	rank := fmt.Sprintf("score %d from the top of %d %s", c.N-c.Order+1, c.N, rows)
	switch f.Scheme {
	case SchemeHeldOut:
		return fmt.Sprintf("%d %s held out", c.N, rows),
			"plain: " + rank + " that were held out before anything was fitted; the budget is kept on " +
				"average, not with confidence"
	case SchemeValidation:
		return fmt.Sprintf("validation part: %d %s", c.N, rows),
			"plain: " + rank + " of the validation part, which also chose the model; the budget is kept on " +
				"average, not with confidence"
	}
	return fmt.Sprintf("%d %s, cross-fitted in %d folds", c.N, rows, f.CrossFolds),
		fmt.Sprintf("plain: %s, each scored by a fit that did not see it, in %d folds; the budget is kept on average, not with "+
			"confidence", rank, f.CrossFolds)
}

// guaranteed takes the order statistic for delta: certified on calibration rows, not certified on out-of-fold scores.
func (s *search) guaranteed(sample *calibrationSample) error {
	o, r := &s.options, &s.found.Threshold
	c, err := orderStatistic(sample.scores, o)
	if err != nil {
		return err
	}
	*r = Threshold{Value: c.Threshold, Goal: o.Goal, Scheme: s.scheme, Rows: c.N, Calibrated: &c,
		Expected: c.Expected(metric.DefaultConfidence)}
	if o.OutOfFold {
		c.Certified = false
		r.Approximate = true
		r.Part, _ = s.found.plainNote(&c)
		r.Note = fmt.Sprintf("not certified: order statistic %d of %d out-of-fold scores, of rows that also chose the model "+
			"(docs/guarantee.md has simulations of how often such thresholds break the budget)", c.Order, c.N)
		return nil
	}
	if s.data.Calibration == nil {
		if r.OverTime, err = s.overTime(sample.scores); err != nil {
			return err
		}
	}
	r.Certified = c.Certified
	r.Part = fmt.Sprintf("calibration rows: %s", s.found.Calibration)
	r.Note = fmt.Sprintf("certified: order statistic %d of %d calibration scores that were used for nothing else; it holds with "+
		"probability 1 - %s over their draw, as long as new rows come from the same distribution", c.Order, c.N, o.Delta)
	return nil
}

// overTime looks at the calibration scores in the order of their times; nil without a time column.
func (s *search) overTime(z []float64) (*calibrate.Trend, error) {
	times, err := Timeline(s.data.Table)
	if times == nil || err != nil {
		return nil, err
	}
	order := make([]int, len(z))
	for i, row := range s.calibration {
		order[i] = times[row]
	}
	trend, err := calibrate.OverTime(z, order)
	return &trend, err
}

// evaluateOutOfFold measures the model on rows that did not fit it. Where negatives alone gave the threshold, the share of
// positives found is that of the cross-validation's scores at the false positive rate to be expected.
func (s *search) evaluateOutOfFold() error {
	e, t := &s.found.OutOfFold, s.found.Threshold.Value
	inside := t
	var err error
	switch {
	case s.scheme == SchemeValidation:
		if s.pooled, err = s.poolTable(s.data.Validation, labelled(s.data.Validation)); err != nil {
			return err
		}
	case s.scheme != SchemeCrossFitted:
		if inside, err = s.insideThreshold(); err != nil {
			return err
		}
	}
	if s.pooled.ranking == nil {
		if s.pooled.ranking, err = metric.Rank(s.pooled.scores); err != nil {
			return err
		}
	}
	e.Ranking = s.pooled.ranking
	if e.Goal, err = s.options.Goal.Evaluate(e.Ranking); err != nil {
		return err
	}
	e.AtThreshold, err = e.Ranking.At(inside, 0)
	e.AtThreshold.Threshold = t
	return err
}

// insideThreshold is the threshold on the pooled scores of the cross-validation, which are in units of their own, at which
// their rate is the one to be expected of the model.
func (s *search) insideThreshold() (float64, error) {
	rate, err := threshold.RateOf(s.found.Threshold.Expected.Rate)
	if err != nil {
		return 0, err
	}
	z, weights := s.pooledPopulation()
	c, err := calibrate.PlainWeighted(z, weights, rate, s.found.sample.population)
	return c.Threshold, err
}

// poolTable scores rows of a table with the model.
func (s *search) poolTable(t *table.Table, rows []int) (*pooled, error) {
	z, err := s.scores(t, rows)
	if err != nil {
		return nil, err
	}
	p := &pooled{}
	for i, row := range rows {
		appendScore(&p.scores, t, row, z[i])
	}
	p.ranking, err = metric.Rank(p.scores)
	return p, inFile(err, t)
}

// orderStatistic is the umbrella's threshold for the goal.
func orderStatistic(z []float64, o *SearchOptions) (calibrate.Threshold, error) {
	switch goal := o.Goal; goal.Criterion().Name {
	case metric.AtNP:
		return calibrate.NeymanPearson(z, goal.Tau(), o.Delta)
	case metric.AtQuantile:
		return calibrate.TopShare(z, goal.Tau(), o.Delta)
	default:
		return calibrate.AbsoluteTop(z, o.Delta)
	}
}

// test measures the model on the test part.
func (s *search) test() error {
	t, rows := s.data.Test, s.held
	if t != nil {
		rows = labelled(t)
	} else {
		t = s.data.Table
	}
	s.found.TestCounts = CountRows(t.Label, rows)
	if s.found.TestCounts.Positives == 0 || s.found.TestCounts.Negatives == 0 {
		return nil
	}
	s.progress.stage("evaluate")
	measured, err := s.poolTable(t, rows)
	if err != nil {
		return err
	}
	e := &Evaluation{Ranking: measured.ranking}
	if e.Goal, err = s.options.Goal.Evaluate(e.Ranking); err != nil {
		return err
	}
	if e.AtThreshold, err = e.Ranking.At(s.found.Threshold.Value, 0); err != nil {
		return err
	}
	s.found.Test = e
	return nil
}

// scores are the model's scores of some rows.
func (s *search) scores(t *table.Table, rows []int) ([]float64, error) {
	return scoreRows(s.found.Map, s.found.W, s.found.Offset, t, rows)
}

// scoreRows returns the scores of some rows of a table by a linear model.
func scoreRows(m *feature.Map, w []float64, offset float64, t *table.Table, rows []int) ([]float64, error) {
	if err := m.Check(t); err != nil {
		return nil, inFile(err, t)
	}
	z := make([]float64, len(rows))
	pieces := min(runtime.GOMAXPROCS(0), len(rows))
	err := inEach(pieces, func(p int) error {
		scorer, err := feature.NewScorer(m, w, offset)
		if err != nil {
			return err
		}
		for i := p * len(rows) / pieces; i < (p+1)*len(rows)/pieces; i++ {
			if z[i], err = scorer.Score(t, rows[i]); err != nil {
				return inFile(err, t)
			}
		}
		return nil
	})
	return z, err
}
