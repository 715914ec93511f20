package tune

import (
	"context"
	"time"

	"toptau/internal/feature"
	"toptau/method"
	"toptau/metric"
	"toptau/result"
	"toptau/schema"
	"toptau/surrogate"
	"toptau/threshold"
)

// SearchOptions are the options of Search. The zero value with a Goal is the default.
type SearchOptions struct {
	Goal      metric.Goal
	Features  []feature.Encode // nil: raw, and boosted and stochastic if the columns allow them
	Learners  []method.Name    // nil: logistic and boosting, with Features or KeepAll also ramp and the goal's convex methods; see Learners and AllLearners
	Surrogate surrogate.Name   // of the methods; "": hinge
	Feature   feature.Options  // Encode, Derived and Seed are ignored; Trees 0: 60
	Derive    schema.Derive    // derived columns that boosters try; "": schema.DeriveNone

	TestShare  threshold.Rate // fraction of the rows set aside for a final measurement; unset: none
	LabelDelay time.Duration  // time until a label is known; 0: at once
	Folds      int            // 0: 5
	FoldRows   int            // training rows per fold at most; 0: defaultFoldRows

	// ClassWeight is the weight of the positives in logistic regression and the support vector machine, relative
	// to the negatives; 0: 1. The other learners compare classes, so that it has no effect.
	ClassWeight float64

	Delta     threshold.Rate // probability that the threshold's guarantee may fail; unset: no guarantee
	OutOfFold bool           // with Delta: take the order statistic from out-of-fold scores; never certified

	// CalibrationShare is the fraction of the rows in the budget's population that is set aside for the
	// threshold. Unset: as many as are useful.
	CalibrationShare threshold.Rate

	// Entity is a column that names entities. The criterion, the threshold and all rates count an entity once, or
	// once a day if the tables have a time column (see Units); "": rows are counted. The column is the tables' Group
	// unless that is another one. Parts of consecutive periods then keep the rows of an entity and a day together.
	Entity string
	// Value is a column of amounts. The criterion is then a fraction of the positives' sum; "": of the positives.
	Value string

	MaxSize  int64          // bytes of the model's features and weights in a file, at most and about; 0: no limit
	KeepAll  bool           // also return the best setting of every learner and encoding, see Found.Entries
	MaxTime  time.Duration  // stop the search after this time and use what is finished; 0: no limit
	Seed     uint64         // of the parts and the trees
	Progress func(Progress) // nil: none; calls never overlap
}

// Found is the selected model with everything that led to it.
type Found struct {
	Goal metric.Goal
	LinearModel
	Members []Member // the model is their average; the first has the best criterion

	Candidates []Candidate // every setting, task by task in the order tried
	NotTried   []Untried   // tasks without a usable setting
	Entries    []Entry     // with KeepAll
	Criterion  Criterion   // by which candidates are compared
	Choice     Choice      // how the members were selected

	Training, Calibration, Validation, TestCounts Counts // Training: all rows that fit the model
	CalibrationUnits                              Counts // the rows of Calibration as units
	Rows                                          []int  // of Data.Table, ascending: rows that fit or choose the model
	TestRows                                      []int  // of Data.Table, ascending: the test part, nil if Data.Test is set
	Folds                                         int
	FoldRows                                      int // training rows per fold if folds are samples; 0: all rows

	Scheme     Scheme // of the threshold
	CrossFolds int    // folds of SchemeCrossFitted
	Threshold  Threshold
	Price      *result.Price      // of a guarantee; nil: none, or not known
	sample     *calibrationSample // the scores that gave Threshold
	OutOfFold  Evaluation         // on rows that did not fit the scores but helped to choose the model
	Test       *Evaluation        // nil without a test part
	HeldOut    HeldOut            // labelled scores of rows for probabilities
	Negatives  []float64          // scores of the negatives that were used for the threshold only; nil: none, or not independent
	Units      *Units             // of Data.Table

	Warnings                    []Warning
	Cancelled                   bool // the context ended the search early
	TimeUp                      bool // MaxTime ended the search early
	SecondsSearch, SecondsRefit float64
}

// Search chooses a model for a goal and fits it to all rows that it may use.
//
//  1. The test part and the rows that give the threshold are set aside before anything is encoded, fitted or
//     chosen. The other rows are divided into folds by the rules of Cut. A validation table replaces the
//     folds.
//  2. Candidates are the settings of every learner on every encoding. Encodings are fitted within the folds.
//     A fold with more than FoldRows training rows fits a sample: positives first, up to half of it. For a
//     goal that is a fraction of all rows the sample keeps the proportion of the classes.
//  3. Candidates are compared by Criterion: the mean fraction of positives found at ten budgets around the
//     goal's, averaged over the folds. A candidate that gives all rows the same score cannot be chosen.
//     Of several numbers of boosted trees the smallest within a tenth of a standard error of the best is taken, for
//     each kind of trees by itself.
//  4. The boosters on boosted and on stochastic trees are one candidate: the equal mean of their scores, each on the
//     scale of its out-of-fold negatives. The best candidate is chosen. With 10 to 74 positives and a standard error
//     above two points it is averaged with up to four others within a standard error, and with logistic regression
//     on raw columns.
//     With derived columns the boosters are fitted a second time, dropped after the first fold if they are no better there, and
//     kept instead of the others if their gain over all folds exceeds its standard error.
//  5. With fewer than 200 positives, and without such an average, logistic regression on raw columns is kept unless
//     the gain over it exceeds its standard error over the folds, or twice that with fewer than 10 positives.
//  6. The selected candidates are fitted again to all training rows, once or in folds (see Scheme).
//
// If ctx or MaxTime ends the search, it continues with what is finished and sets Cancelled or TimeUp. If
// nothing is finished, it returns the context's error. Errors that the user can fix are *diag.Error.
func Search(ctx context.Context, d Data, o SearchOptions) (*Found, error) {
	plan, err := newPlan(d, o)
	if err != nil {
		return nil, err
	}
	parts, err := plan.divide()
	if err != nil {
		return nil, err
	}
	folds, err := newFolds(parts)
	if err != nil {
		return nil, err
	}
	tried := &candidates{plan: plan, folds: folds, trainingRows: len(parts.training),
		finalFits: parts.finalFits(fewCrossFitFolds)}
	if err := tried.fitAll(ctx); err != nil {
		return nil, err
	}
	chosen, err := selectMembers(plan.tasks, folds.list, o.MaxSize)
	if err != nil {
		return nil, err
	}
	fitted := &refit{parts: parts, selection: chosen, folds: folds, candidates: tried}
	if err := fitted.fitModel(ctx); err != nil {
		return nil, err
	}
	found := &Found{
		Goal: o.Goal, LinearModel: fitted.model, Members: fitted.members, Candidates: tried.list, NotTried: tried.notTried,
		Criterion: folds.list[0].criterion(), Choice: chosen.Choice,
		Training: CountRows(d.Table.Label, parts.training), Calibration: parts.calibrationCounts, CalibrationUnits: parts.calibrationUnits, Validation: folds.validation,
		Rows: parts.training, TestRows: parts.test, Folds: len(folds.list), FoldRows: folds.sampled,
		Units: plan.counted[d.Table].Units, Scheme: parts.scheme, CrossFolds: fitted.crossFolds,
		Cancelled: tried.cancelled || fitted.cancelled, TimeUp: tried.timeUp || fitted.timeUp,
		SecondsSearch: tried.seconds, SecondsRefit: fitted.seconds,
		Warnings: append(folds.warnings, fitted.warnings...),
	}
	c := &calibration{parts: parts, found: found, pooled: fitted.pooled, progress: tried.progress}
	if err := c.setThreshold(); err != nil {
		return nil, err
	}
	c.setHeldOut()
	c.setNegatives()
	if err := c.evaluateTest(); err != nil {
		return nil, err
	}
	if o.KeepAll {
		if found.Entries, err = fitted.entries(ctx); err != nil {
			return nil, err
		}
	}
	found.addWarnings(parts, len(c.pooled.scores.Positives))
	return found, nil
}
