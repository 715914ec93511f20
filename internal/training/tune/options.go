package tune

import (
	"time"

	"toptau/internal/models/feature"
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
	Encoding  []feature.Encode // nil: raw, and boosted and stochastic if the columns allow them; leaves as a third member
	Method    []method.Name    // nil: logistic and boosting, with Encoding or KeepAll also ramp and the goal's convex methods; see Learners and AllLearners
	Surrogate surrogate.Name   // of the methods; "": hinge
	Feature   feature.Options  // Encode, Derived and Seed are ignored; Trees 0: 60
	Derive    schema.Derive    // derived columns that boosters try; "": schema.DeriveNone

	TestFraction threshold.Rate // fraction of the rows set aside for a final measurement; unset: none
	LabelDelay   schema.Delay   // time until a label is known; 0: at once
	Folds        int            // 0: 5
	FoldRows     int            // training rows per fold at most; 0: defaultFoldRows

	// ClassWeight is the weight of the positives in logistic regression and the support vector machine, relative
	// to the negatives; 0: 1. The other learners compare classes, so that it has no effect.
	ClassWeight float64

	Delta     threshold.Rate // probability that the threshold's guarantee may fail; unset: no guarantee
	OutOfFold bool           // with Delta: take the order statistic from out-of-fold scores; never certified

	// Whole has the masses of the negatives and positives of which Data.Table is a sample. Zero: the table has all rows.
	Whole [2]float64

	// CalibrationFraction is the fraction of the rows in the budget's population that is set aside for the
	// threshold. Unset: as many as are useful.
	CalibrationFraction threshold.Rate

	// Entity is a column that names entities. The criterion, the threshold and all rates count an entity once, or
	// once a day if the tables have a time column (see Units); "": rows are counted. The column is the tables' Group
	// unless that is another one. Parts of consecutive periods then keep the rows of an entity and a day together.
	Entity string
	// Value is a column of amounts. The criterion is then a fraction of the positives' sum; "": of the positives.
	Value string

	MaxSize  int64                 // bytes of the model's features and weights in a file, at most and about; 0: no limit
	KeepAll  bool                  // also return the best setting of every learner and encoding, see Found.Entries
	MaxTime  time.Duration         // stop the search after this time and use what is finished; 0: no limit
	Seed     uint64                // of the parts and the trees
	Progress func(result.Progress) // nil: none; calls never overlap
}

// AllLearners is a name in SearchOptions.Method: every learner for which the goal has a rate.
const AllLearners method.Name = "all"
