package toptau

import (
	"toptau/diag"
	"toptau/method"
	"toptau/metric"
)

// kind is the place of the rows of a verb. Of rows in memory a verb has every score and value. Of others it has a sample, sums, and
// counts by score.
type kind string

const (
	memoryRows   kind = "rows in memory"
	fileRows     kind = "rows that do not fit into memory"
	databaseRows kind = "rows in a database"
)

// use is what a call needs of its rows. Options of other verbs have their zero values.
type use struct {
	verb      string // "report" for a page about rows, "ui" for an Explorer
	data      *Data
	entries   []Entry
	train     TrainOptions
	fit       FitOptions
	evaluate  EvaluateOptions
	threshold ThresholdOptions
	goal      Goal // of the training or the threshold
}

// inMemoryOnly lists what needs rows in memory. param is an option or the role of a column, "" for what is named by words.
var inMemoryOnly = []struct {
	param, words string
	used         func(u *use) bool
}{
	{param: "validation", used: func(u *use) bool { return u.train.Validation != nil }},
	{param: "test", used: func(u *use) bool { return u.train.Test != nil }},
	{param: "calibration", used: func(u *use) bool { return u.train.Calibration != nil }},
	{param: "out-of-fold", used: func(u *use) bool { return u.train.OutOfFold }},
	{param: "entity", used: func(u *use) bool {
		return u.train.Entity != "" || u.evaluate.Entity != "" || u.threshold.Entity != "" || u.countsEntities()
	}},
	{param: "value", used: func(u *use) bool { return u.train.Value != "" || u.evaluate.Value != "" || u.threshold.Value != "" }},
	{param: "label-delay", used: func(u *use) bool { return u.train.LabelDelay != 0 }},
	{param: "time", used: func(u *use) bool { return u.verb == "train" && u.data.table.Time != nil }},
	{param: "learning-curve", used: func(u *use) bool { return u.train.LearningCurve }},
	{param: "weight", used: func(u *use) bool { return u.verb != "fit" && u.data.table.Weight != nil }},
	{param: "solver", used: func(u *use) bool { return u.fit.Solver == method.Adam || u.fit.Solver == method.SGD }},
	{param: "by", used: func(u *use) bool { return len(u.evaluate.By) > 0 }},
	{param: "examples", used: func(u *use) bool { return u.evaluate.Examples > 0 }},
	{param: "gate", used: func(u *use) bool { return u.evaluate.Gate }},
	{param: "against", used: func(u *use) bool { return u.evaluate.Against != "" }},
	{param: "segment", used: func(u *use) bool { return u.threshold.Segments || u.decidesBySegment() }},
	{param: "audit", used: func(u *use) bool { return u.threshold.Audit != 0 || u.threshold.Reviewed != nil }},
	{param: string(metric.GoalMinPrecision), used: func(u *use) bool { return u.aims(metric.GoalMinPrecision) }},
	{param: string(metric.GoalMinRecall), used: func(u *use) bool { return u.aims(metric.GoalMinRecall) }},
	{param: "report", used: func(u *use) bool { return u.verb == "report" }},
	{words: "an exploration", used: func(u *use) bool { return u.verb == "ui" }},
	{words: "a comparison", used: func(u *use) bool { return u.train.KeepAll || len(u.entries) > 1 }},
	{words: "scores without a model", used: func(u *use) bool { return len(u.entries) > 0 && u.entries[0].Model == nil }},
}

// aims reports whether the goal of the call is of a kind.
func (u *use) aims(kind metric.GoalKind) bool {
	return u.goal.Kind == kind || u.evaluate.Goal.Kind == kind
}

// countsEntities reports whether the first model counts entities and not rows.
func (u *use) countsEntities() bool {
	if u.verb != "evaluate" || len(u.entries) == 0 || u.entries[0].Model == nil {
		return false
	}
	point, _ := u.entries[0].Model.Point("")
	return point.Entity != ""
}

// decidesBySegment reports whether a model has a threshold for each segment.
func (u *use) decidesBySegment() bool {
	for _, e := range u.entries {
		if e.Model == nil {
			continue
		}
		for _, p := range e.Model.Points() {
			if len(p.Segments) > 0 {
				return true
			}
		}
	}
	return false
}

// check returns an error if the use needs rows in memory and they are not there.
func (u use) check(where kind) error {
	if where == memoryRows {
		return nil
	}
	for _, only := range inMemoryOnly {
		if !only.used(&u) {
			continue
		}
		e := &diag.Error{Kind: diag.Usage, Param: only.param, Found: "with " + string(where), Expected: string(memoryRows) + ", or a run without it",
			Hint: "a sample of the rows may be enough"}
		if only.param == "" {
			e.Found = only.words + " " + e.Found
		}
		return e
	}
	return nil
}
