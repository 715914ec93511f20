package tune

import (
	"math"

	"toptau/internal/core/binomial"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/internal/models/wording"
	"toptau/metric"
	"toptau/threshold"
)

// fewPositives is the number of positives below which a difference between two candidates is mostly noise:
// one positive is then more than 3 points.
const fewPositives = 30

// addWarnings lists what limits the result. outOfFold is the number of positives whose scores chose the
// model.
func (f *Found) addWarnings(s *parts, outOfFold int) {
	f.warnOfRows(s, outOfFold)
	if auc, chance := f.chance(); chance {
		f.warn("no-signal", "no signal beyond chance: out of fold a positive scores above a negative in %s of the pairs (50 %% by chance), "+
			"and as many are found in random rows; more rows or other columns are needed", text.Percent(auc))
	} else if f.Goal.Kind != metric.GoalMinRecall && f.OutOfFold.Goal.Defined() && f.OutOfFold.Goal.Numerator == 0 {
		f.warn("nothing-found", "no positive is within the budget out of fold: the model is of no use for this goal")
	}
	f.warnOfOtherParts(s)
	f.warnOfThreshold(s)
	untried := 0
	for _, u := range f.NotTried {
		if u.Reason == "" {
			untried++
		}
	}
	switch {
	case f.Cancelled:
		f.warn("stopped-early", "stopped early: %s not tried", text.Plural(untried, "combination"))
	case f.TimeUp:
		f.warn("time-is-up", "time is up: %s not tried", text.Plural(untried, "combination"))
	}
}

// warnOfRows lists what is wrong with the rows that fit and choose the model.
func (f *Found) warnOfRows(s *parts, outOfFold int) {
	t := s.data.Table
	if unlabelled := t.Rows() - countLabelled(t).Rows(); unlabelled > 0 {
		f.warn("unlabelled-rows", "ignored %s without a label", text.Plural(unlabelled, "row"))
	}
	for _, part := range []*table.Table{t, s.data.Validation, s.data.Test, s.data.Calibration} {
		if part == nil {
			continue
		}
		if words := s.counted[part].CopiesText(f.Threshold.Certified && part == s.calibrationTable()); words != "" && part == t {
			f.warn("copies", "%s", words)
		} else if words != "" {
			f.warn("copies", "%s: %s", part.File, words)
		}
	}
	if w := s.counted[t].IDWarning(t); w != nil {
		f.Warnings = append(f.Warnings, *w)
	}
	if words := s.delayText(); words != "" {
		f.warn("label-delay", "%s", words)
	}
	if outOfFold < fewPositives {
		f.warn("few-positives", "the choice rests on %s: differences of several points are noise", text.Plural(outOfFold, "positive"))
	}
	if n := s.counted[t].effective(); n < fewPositives {
		f.warn("few-amounts", "a few positives have most of the %s: the choice is as uncertain as one on %s of equal amounts",
			s.options.Value, text.Plural(int(math.Ceil(n)), "positive"))
	}
	if f.FoldRows > 0 {
		f.warn("folds-are-samples", "each fold fitted a sample of %s rows; the selected model was fitted to all %s",
			text.Count(f.FoldRows), text.Count(len(s.training)))
	}
}

// warnOfOtherParts lists what is wrong with the test and the validation part.
func (f *Found) warnOfOtherParts(s *parts) {
	t := s.data.Table
	if f.Test == nil && f.TestCounts.Rows() > 0 {
		f.warn("test-part-lacks-a-class", "nothing was measured on the test part: it has %s", f.TestCounts)
	}
	for _, other := range []*table.Table{s.data.Validation, s.data.Test} {
		if other != nil && t.Group != nil && other.Group != nil && !s.counted[t].Daily {
			if n := commonGroups(t.Group.Values, other.Group.Values); n > 0 {
				f.warn("groups-straddle", "%s of %s also in the training file: the numbers on it are optimistic",
					text.Plural(n, "group"), other.File)
			}
		}
	}
}

// warnOfThreshold lists what is wrong with the rows that give the threshold.
func (f *Found) warnOfThreshold(s *parts) {
	if p := &f.Threshold; p.Unresolved && p.Goal.Kind == metric.GoalMinRecall {
		f.warn("budget-below-one-row", "%s positives are too few for a recall of %s: the threshold is just below their smallest score, which a new one misses "+
			"with probability 1/%d; %s are needed", text.Count(p.Rows), p.Goal.Rate, p.Rows+1, text.Count(rowsForOne(p.Goal.Alpha())-1))
	} else if p.Unresolved {
		tau := p.Goal.Tau()
		f.warn("budget-below-one-row", "%s %s are too few for a rate of %s: on average only a threshold without alerts keeps it. This one is "+
			"their largest score, which a new row exceeds with probability 1/%d; %s are needed", text.Count(p.Rows), s.populationName(),
			tau, p.Rows+1, text.Count(rowsForOne(tau)-1))
	}
	if l := f.Threshold.Lucky; l != nil {
		f.warn("few-real-alerts", "%s", wording.LuckOf(f.Goal, l))
	}
	if s.costly {
		f.warn("costly-guarantee", "the guarantee takes %s of the %s %s%s: the model is fitted to the others",
			text.Count(f.CalibrationUnits.Rows()), text.Count(f.CalibrationUnits.Rows()+s.populationSize(s.data.Table, s.training)), s.populationName(),
			s.outsideTest())
	}
}

// chanceLevel is the probability with which scores without a signal are taken for one, before it is divided by the number of learners on
// encodings from which the choice was made.
const chanceLevel = 0.05

// chance returns the area under the ROC curve out of fold, and whether the model finds no more than chance: neither the area (normal
// approximation of Mann and Whitney) nor the number of positives among the alerts is too high for scores that ignore the label.
func (f *Found) chance() (auc float64, chance bool) {
	r := f.OutOfFold.Ranking
	if r == nil || r.Weighted() {
		return 0, false
	}
	positives, negatives := r.Rows()
	level := chanceLevel / float64(max(1, f.Choice.Of))
	p, n := float64(positives), float64(negatives)
	auc = r.AUC().Half
	byRank := math.Erfc((auc-0.5)*math.Sqrt(12*p*n/(p+n+1))/math.Sqrt2) / 2
	at := &f.OutOfFold.AtThreshold
	found := int(at.TruePositives)
	byAlerts := 1.0
	if found > 0 {
		byAlerts = binomial.AtLeast(positives, found, (at.TruePositives+at.FalsePositives)/(p+n))
	}
	return auc, byRank > level && byAlerts > level
}

// rowsForOne returns the smallest population in which the rate is a whole row: the smallest m with floor(m
// tau) >= 1.
func rowsForOne(tau threshold.Rate) int {
	m := int(math.Ceil(1 / tau.Float64()))
	for m > 1 && tau.Floor(m-1) >= 1 {
		m--
	}
	for tau.Floor(m) < 1 {
		m++
	}
	return m
}
