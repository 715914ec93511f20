package toptau

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"toptau/dataset"
	"toptau/diag"
	"toptau/internal/core/heldout"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/internal/training/ranked"
	"toptau/internal/training/rowset"
	"toptau/internal/training/tune"
	"toptau/method"
	"toptau/metric"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
	"toptau/surrogate"
	"toptau/threshold"
)

// TrainOptions are the options of Train. The zero value of each is its default.
type TrainOptions struct {
	Method    []method.Name     // learners; nil: Logistic and Boosting, with Encoding or KeepAll also Ramp and the goal's convex methods
	Encoding  []schema.Encoding // encodings to try; nil: raw, boosted and stochastic, and leaves for the mean of the boosters
	Surrogate surrogate.Name    // loss of the paper's methods; default hinge
	Scale     schema.Scale      // features to standardise; default schema.ScaleStandard
	Impute    schema.Impute     // treatment of missing values; default schema.ImputeError

	// ClassWeight is the weight of the positives in logistic regression and the support vector machine. The
	// methods for the top compare the classes, so that it has no effect on them.
	ClassWeight method.ClassWeight

	// Monotone lists columns with which the score may only rise, or only fall. The model is then a sum of boosted
	// trees, or an average of such sums: the other learners do not keep directions.
	Monotone []schema.Sign

	// Derive lets the boosters also read derived columns, each of which is computed from two columns; default schema.DeriveNone.
	Derive schema.Derive

	Folds        int            // number of folds of the cross-validation; 0: 5
	Validation   *dataset.Data  // rows that choose the model instead of a cross-validation; read with d.Format
	Test         *dataset.Data  // rows that measure the chosen model; read with d.Format
	TestFraction threshold.Rate // fraction of the rows to set aside as the test part, with Format.Time the latest ones; zero: none
	// LabelDelay is the time after which the label of a row is known. Rows of this time before the test part,
	// and before each validation period, are not used in the training that is measured there. It requires
	// Format.Time, with dates or seconds since 1970.
	LabelDelay schema.Delay

	// Entity is a column that names entities. Each raises at most one alert, or one a day if the data have a column
	// Format.Time. The criterion that chooses the model, the threshold, its guarantee and all rates then count
	// entities instead of rows. Rows of one entity are never split between parts of the data, unless these have a
	// column Format.Group. "": rows are counted.
	Entity string
	// Value is a column of amounts, such as money. The model is chosen by the fraction of the positives' sum that is
	// found within the budget, and a positive weighs its amount in the loss of fits; "": by the fraction of the
	// positives. Budgets do not depend on it.
	Value string

	// Delta requests a threshold with a guarantee that may fail with this probability. Zero: no guarantee.
	Delta threshold.Rate
	// OutOfFold takes the order statistic for Delta from out-of-fold scores. These rows also choose the model,
	// so the threshold is not certified.
	OutOfFold bool
	// Calibration are rows that are only used for the threshold. They are read with d.Format.
	Calibration *dataset.Data
	// CalibrationFraction is the fraction of the budget's rows (negatives, or all rows) to set aside for the
	// threshold. Zero with Delta: as many as are useful.
	CalibrationFraction threshold.Rate

	// MaxSize is the number of bytes that the model's features and weights may take in a file, about. Zero: no limit.
	MaxSize int64

	// Prevalence is the fraction of positives that the summary assumes. A lowest precision as goal then holds wherever at least this
	// fraction of the rows is positive. Zero: as in the rows.
	Prevalence     threshold.Rate
	KeepAll        bool                  // returns every learner and encoding at its best setting in Trained.All
	SampleRows     int                   // rows on which the search runs if not all fit into memory; 0: 200,000
	LearningCurve  bool                  // also fits the chosen learners to parts of the rows, see result.LearningPoint
	MaxTime        time.Duration         // time after which the best model so far is returned; 0: no limit
	NoFingerprints bool                  // leaves hashes of training rows out of the model
	NoProfile      bool                  // leaves order statistics of columns out of the model
	Seed           uint64                // seed of every random choice; 0 is 1
	Progress       func(result.Progress) // is called as the training proceeds
}

// Trained is a model that Train chose.
type Trained struct {
	Model  *model.Model
	Result result.Training
	Test   *dataset.Data   // the test part, nil without one
	All    []dataset.Entry // with KeepAll: the chosen model, then every learner and encoding at its best setting

	state *ranked.Training
}

// searchData returns the rows for the search, and the seconds that reading them took.
func (o *TrainOptions) searchData(d *rowset.Set) (data tune.Data, seconds float64) {
	data = tune.Data{Table: d.Table, Schema: d.Info.Schema}
	seconds = d.Seconds
	for _, part := range []struct {
		data  *dataset.Data
		table **table.Table
	}{{o.Validation, &data.Validation}, {o.Test, &data.Test}, {o.Calibration, &data.Calibration}} {
		if part.data != nil {
			*part.table = rowset.Of(part.data).Table
			seconds += rowset.Of(part.data).Seconds
		}
	}
	return data, seconds
}

// searchOptions checks the options and returns them for package tune.
func (o *TrainOptions) searchOptions(goal metric.Goal) (tune.SearchOptions, error) {
	t := tune.SearchOptions{
		Goal: goal, Method: o.Method, Encoding: o.Encoding, Surrogate: o.Surrogate, Derive: o.Derive,
		Feature:      feature.Options{Scale: o.Scale, Impute: o.Impute, Seed: o.Seed, Monotone: o.Monotone},
		TestFraction: o.TestFraction, LabelDelay: o.LabelDelay, Folds: o.Folds,
		Delta: o.Delta, OutOfFold: o.OutOfFold, CalibrationFraction: o.CalibrationFraction, Entity: o.Entity, Value: o.Value,
		MaxSize: o.MaxSize, KeepAll: o.KeepAll, MaxTime: o.MaxTime, Seed: o.Seed, Progress: o.Progress,
	}
	exclusive := func(param, other string) error {
		return &diag.Error{Kind: diag.Usage, Param: param, Found: "together with " + other, Expected: "only one of the two"}
	}
	fraction := !o.CalibrationFraction.IsZero()
	if err := cmp.Or(goal.CheckMoney(o.Value, o.Delta, false), heldout.CheckDelta(o.Delta)); err != nil {
		return t, err
	}
	switch money := goal.Kind == metric.GoalCostAlert; {
	case money && o.KeepAll:
		return t, goal.RequireBudget() // a comparison
	case money && o.Calibration != nil:
		return t, exclusive("calibration", "a cost of alerts")
	case money && fraction:
		return t, exclusive("calibration-fraction", "a cost of alerts")
	}
	switch {
	case o.SampleRows < 0:
		return t, &diag.Error{Kind: diag.Usage, Param: "sample-rows", Found: fmt.Sprint(o.SampleRows), Expected: "a number of rows above 0"}
	case o.MaxSize < 0:
		return t, &diag.Error{Kind: diag.Usage, Param: "max-size", Found: fmt.Sprint(o.MaxSize), Expected: "a number of bytes above 0"}
	case o.Folds < 0 || o.Folds == 1:
		return t, &diag.Error{Kind: diag.Usage, Param: "folds", Found: fmt.Sprint(o.Folds), Expected: "at least 2"}
	case o.Folds > 0 && o.Validation != nil:
		return t, exclusive("folds", "validation")
	case !o.TestFraction.IsZero() && o.Test != nil:
		return t, exclusive("test-fraction", "test")
	case o.Calibration != nil && fraction:
		return t, exclusive("calibration", "calibration-fraction")
	case o.Calibration != nil && o.OutOfFold:
		return t, exclusive("calibration", "out-of-fold")
	case o.OutOfFold && fraction:
		return t, exclusive("calibration-fraction", "out-of-fold")
	}
	for i, e := range o.Encoding {
		if slices.Contains(o.Encoding[:i], e) {
			return t, &diag.Error{Kind: diag.Usage, Param: "encoding", Found: string(e) + " twice", Expected: "each encoding once"}
		}
	}
	if o.Surrogate != "" {
		if _, err := surrogate.ByName(o.Surrogate); err != nil {
			return t, err
		}
	}
	return t, nil
}

// groupEntities returns the data with the entities as groups.
func (o *TrainOptions) groupEntities(d *rowset.Set) (*rowset.Set, error) {
	if o.Entity == "" || d.Table.Group != nil {
		return d, nil
	}
	t := *d.Table
	names, err := tune.FindColumn(&t, "entity", o.Entity)
	if err != nil {
		return nil, err
	}
	t.Group = &table.Text{Name: names.Name, Values: make([]string, t.Rows())}
	for row := range t.Group.Values {
		t.Group.Values[row] = names.Text(row)
	}
	return d.OnTable(&t), nil
}

// MaxFPR returns the goal of finding as many positives as possible while at most this fraction of the
// negatives raises a false alarm. The rate is "1%", "0.01" or "1/100". With any other text, functions that
// take the goal return an error.
func MaxFPR(rate string) metric.Goal { return metric.RateGoal(metric.GoalMaxFPR, rate) }

// Top returns the goal of finding as many positives as possible in this fraction of all rows. The rate is
// written as in MaxFPR.
func Top(rate string) metric.Goal { return metric.RateGoal(metric.GoalTop, rate) }

// Alerts returns the goal of finding as many positives as possible with count alerts per period, in which of
// rows arrive.
func Alerts(count, of int64) metric.Goal {
	return metric.Goal{Kind: metric.GoalAlerts, Count: count, Of: of}
}

// MinPrecision returns the goal of finding as many positives as possible while at least this fraction of the alerts is
// real. The rate is written as in MaxFPR. Goal.Recall may add a lowest recall.
func MinPrecision(rate string) metric.Goal { return metric.RateGoal(metric.GoalMinPrecision, rate) }

// MinRecall returns the goal of as few alerts as possible while at least this fraction of the positives is found.
// The rate is written as in MaxFPR.
func MinRecall(rate string) metric.Goal { return metric.RateGoal(metric.GoalMinRecall, rate) }
