package tune

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"

	"toptau/calibrate"
	"toptau/internal/fault"
	"toptau/internal/feature"
	"toptau/internal/table"
	"toptau/metric"
)

// Calibration rows are set aside before anything is fitted, encoded or chosen: only then does the order statistic on them
// (package calibrate) certify a threshold.
//
//   - For a false positive rate, and above every negative, they are negatives only, so that no positive is lost for training;
//   - for a share of all rows, rows of both classes as they come.
//
// Their number is at least what the guarantee needs, calibrationSurplus times that where there are enough, and at most a
// quarter. The more, the less the guarantee costs.

const calibrationSurplus = 10

// setAside takes the calibration rows. Where they cannot certify anything, none are taken, and the reason is kept.
func (s *search) setAside() error {
	o := &s.options
	if o.Delta.IsZero() || o.OutOfFold {
		return nil
	}
	t := s.data.Table
	if s.uncertain = s.against(); s.uncertain != "" {
		return nil
	}
	needed := 1
	if tau := o.Goal.Tau(); !tau.IsZero() {
		var err error
		if needed, err = calibrate.Needed(tau, o.Delta); err != nil {
			return err
		}
	}
	onlyNegatives, kind := o.Goal.Criterion().Name != metric.AtQuantile, "rows"
	candidates := slices.Clone(s.rest)
	if onlyNegatives {
		kind = "negatives"
		candidates = slices.DeleteFunc(candidates, func(row int) bool { return t.Label[row] != table.Negative })
	}
	quarter := len(candidates) / 4
	if quarter < needed {
		s.uncertain = fmt.Sprintf("a quarter of the %d %s outside the test part is %d, and the guarantee needs %d",
			len(candidates), kind, quarter, needed)
		return nil
	}
	shuffle(candidates, rand.New(rand.NewPCG(o.Seed, 0x63616c6962)))
	s.calibration = candidates[:min(quarter, calibrationSurplus*needed)]
	slices.Sort(s.calibration)
	s.rest = without(s.rest, s.calibration)
	s.found.Calibration = CountRows(t.Label, s.calibration)
	return s.bothClasses(s.rest, "beside the calibration rows there are")
}

// against says what in the rows speaks against a guarantee.
func (s *search) against() string {
	return AgainstGuarantee(s.data.Table, s.options.Goal.Criterion().Name == metric.AtQuantile, true)
}

// threshold takes the goal's plain threshold from the out-of-fold scores.
func (s *search) threshold() error {
	t, err := s.options.Goal.Threshold(s.pooled.ranking)
	if err != nil {
		return err
	}
	counts := Counts{len(s.pooled.scores.Positives), len(s.pooled.scores.Negatives)}
	part := "out-of-fold scores"
	if s.data.Validation != nil {
		part = "validation part"
	}
	s.found.Threshold = Threshold{Value: s.inUnits(t), Goal: s.options.Goal, Part: fmt.Sprintf("%s: %s", part, counts),
		Note: "plain, not certified: the lowest threshold that keeps the budget on the " + part + ", which also chose the " +
			"model; on new rows the budget is broken about as often as it is kept"}
	e := &s.found.OutOfFold
	e.Ranking = s.pooled.ranking
	if e.Goal, err = s.options.Goal.Evaluate(e.Ranking); err != nil {
		return err
	}
	e.AtThreshold, err = e.Ranking.At(t, 0)
	e.AtThreshold.Threshold = s.found.Threshold.Value
	return err
}

// inUnits turns an out-of-fold score in the units of the average into a score of the model.
func (s *search) inUnits(t float64) float64 {
	if len(s.found.Members) > 1 {
		return t
	}
	middle, spread := s.chosen[0].units()
	return middle + float64(spread*t)
}

// certify replaces the plain threshold by one with a guarantee, or says why there is none.
func (s *search) certify() error {
	o, r := &s.options, &s.found.Threshold
	switch {
	case o.Delta.IsZero():
		return nil
	case o.OutOfFold:
		return s.outOfFold()
	case s.uncertain != "":
		r.NoGuarantee = &fault.Error{Kind: fault.Guarantee, Found: "no guarantee: " + s.uncertain,
			Expected: "held-out rows that can certify the goal", Hint: "the threshold is the plain one"}
		return nil
	}
	z, err := s.scores(s.data.Table, s.calibration)
	if err != nil {
		return err
	}
	c, err := orderStatistic(z, o)
	if err != nil {
		return err
	}
	if r.OverTime, err = s.overTime(z); err != nil {
		return err
	}
	r.Value, r.Certified, r.Calibrated = c.Threshold, c.Certified, &c
	r.Part = fmt.Sprintf("calibration rows: %s", s.found.Calibration)
	r.Note = fmt.Sprintf("certified: order statistic %d of %d calibration scores that were used for nothing else; it holds with "+
		"probability 1 - %s over their draw, as long as new rows come from the same distribution", c.Order, c.N, o.Delta)
	s.found.OutOfFold.AtThreshold, err = s.pooledAt(c.Threshold)
	return err
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

// pooledAt is what a threshold of the model does to the out-of-fold scores.
func (s *search) pooledAt(t float64) (metric.Confusion, error) {
	inside := t
	if len(s.found.Members) == 1 {
		middle, spread := s.chosen[0].units()
		inside = (t - middle) / spread
	}
	c, err := s.pooled.ranking.At(inside, 0)
	c.Threshold = t
	return c, err
}

// outOfFold takes the order statistic of the out-of-fold scores. They also chose the model, and they are those of the
// folds' models, so that it is not certified.
func (s *search) outOfFold() error {
	o, r := &s.options, &s.found.Threshold
	if why := s.against(); why != "" {
		r.NoGuarantee = &fault.Error{Kind: fault.Guarantee, Found: "no order statistic: " + why,
			Expected: "independent rows", Hint: "the threshold is the plain one"}
		return nil
	}
	z := s.pooled.scores.Negatives
	if o.Goal.Criterion().Name == metric.AtQuantile {
		z = slices.Concat(z, s.pooled.scores.Positives)
	}
	c, err := orderStatistic(z, o)
	if fault.Of(err) != nil && fault.Of(err).Kind == fault.Guarantee {
		r.NoGuarantee = err
		return nil
	}
	if err != nil {
		return err
	}
	c.Certified = false
	c.Threshold = s.inUnits(c.Threshold)
	r.Value, r.Calibrated = c.Threshold, &c
	r.Note = fmt.Sprintf("not certified: order statistic %d of %d out-of-fold scores, of rows that also chose the model; simulated "+
		"at delta 5 %% with 300 to 3,000 negatives, such thresholds broke the budget in 3 to 8 %% of the draws, and in up to 14 %% "+
		"where more was chosen (docs/guarantee.md)", c.Order, c.N)
	s.found.OutOfFold.AtThreshold, err = s.pooledAt(c.Threshold)
	return err
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
	z, err := s.scores(t, rows)
	if err != nil {
		return err
	}
	var scores metric.Scores
	for i, row := range rows {
		positive := t.Label[row] == table.Positive
		list, weights := &scores.Negatives, &scores.NegativeWeights
		if positive {
			list, weights = &scores.Positives, &scores.PositiveWeights
		}
		*list = append(*list, z[i])
		if t.Weight != nil {
			*weights = append(*weights, t.Weight[row])
		}
	}
	e := &Evaluation{}
	if e.Ranking, err = metric.Rank(scores); err != nil {
		return inFile(err, t)
	}
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
	if err := s.found.Map.Check(t); err != nil {
		return nil, inFile(err, t)
	}
	z := make([]float64, len(rows))
	pieces := min(runtime.GOMAXPROCS(0), len(rows))
	err := inEach(pieces, func(p int) error {
		scorer, err := feature.NewScorer(s.found.Map, s.found.W, s.found.Offset)
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
