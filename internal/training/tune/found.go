package tune

import (
	"fmt"
	"slices"

	"toptau/calibrate"
	"toptau/diag"
	"toptau/internal/core/heldout"
	"toptau/internal/core/ranking"
	"toptau/internal/data/table"
	"toptau/method"
	"toptau/metric"
	"toptau/result"
	"toptau/threshold"
)

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

	Scheme      Scheme // of the threshold
	HeldBecause string // why rows were held out for a plain threshold; "": no reason, or they were given
	CrossFolds  int    // folds of SchemeCrossFitted and SchemeAllRows
	Threshold   Threshold
	Price       *result.Price      // of a guarantee; nil: none, or not known
	sample      *calibrationSample // the scores that gave Threshold
	OutOfFold   Evaluation         // on rows that did not fit the scores but helped to choose the model
	measured    metric.Confusion   // its decisions on these rows
	ends        []metric.Confusion // the same at the ends of the interval for the expected rate
	Test        *Evaluation        // nil without a test part
	HeldOut     HeldOut            // labelled scores of rows for probabilities
	Negatives   []float64          // scores of the negatives that were used for the threshold only; nil: none, or not independent
	Units       *Units             // of Data.Table
	Mass        float64            // of all its units with a label, of which the fraction Prevalence is positive
	Prevalence  float64            // precisions and budgets are for this fraction, unless the test part measured them

	Warnings                    []Warning
	Cancelled                   bool // the context ended the search early
	TimeUp                      bool // MaxTime ended the search early
	SecondsSearch, SecondsRefit float64
}

func (f *Found) warn(code, format string, args ...any) {
	f.Warnings = append(f.Warnings, Warning{Code: code, Text: fmt.Sprintf(format, args...)})
}

// MeasuredOnCalibration reports whether OutOfFold was measured on the calibration rows.
func (f *Found) MeasuredOnCalibration() bool {
	return f.Goal.Kind == metric.GoalMinPrecision && (f.Scheme == SchemeCertified || f.Scheme == SchemeHeldOut)
}

// Entry is the best setting of one learner on one encoding, fitted once to all training rows. It has no
// threshold.
type Entry struct {
	Member // a single one, with Share 1
	LinearModel
	Status Status
	Reason string // why there is no model
	Score  float64
	Task   Task
	Tried  int // settings that were fitted
}

// Threshold is an operating point. Without a guarantee the expected rate on new rows is at most the budget,
// but the rate itself has no bound.
type Threshold struct {
	heldout.Threshold        // with the evidence for a guarantee that was requested
	Scheme            Scheme // which rows gave it
	CrossFolds        int    // SchemeCrossFitted and SchemeAllRows: the folds
	Approximate       bool   // the interval of Expected is not exact
	Refitted          bool   // a member was fitted again to all rows: the interval of Expected is about other fits
	Certified         bool
	OutOfFold         bool             // the order statistic of out-of-fold scores
	OverTime          *calibrate.Trend // of the calibration scores; nil without a time column
}

// calibrationSample holds the model's scores on units that it did not see and that the goal's budget counts.
type calibrationSample struct {
	scores, weights []float64 // weights nil: 1 each
	sorted          *heldout.Sorted
	folds           [][]float64 // SchemeAllRows: the scores by fold
	rows            []int       // of each score, a row of the unit; nil if the scores are out of fold
	ofRows          []float64   // the scores of parts.calibration

	// For a lowest precision: the same scores by class, and with delta the thresholds that they test.
	positives, negatives, sequence []float64
}

// HeldOut are labelled scores on the scale of the model, of rows that did not fit the models that scored them.
type HeldOut struct {
	heldout.LabelledScores
	Units  ranking.Scores // the same for what is counted, see Units
	Source string         // which rows these are, in words
}

// PlainThreshold returns the model's threshold for a goal without a guarantee. It comes from the rows that gave the
// model's own threshold. The model stays the one chosen for Found.Goal. A goal whose budget counts other rows than
// Found.Goal is an error.
func (f *Found) PlainThreshold(g metric.Goal) (Threshold, error) {
	if err := g.Check(); err != nil {
		return Threshold{}, err
	}
	if g.Population() != f.Goal.Population() {
		return Threshold{}, &diag.Error{Kind: diag.Usage, Param: string(g.Kind), Found: "for a model whose goal is " + f.Goal.String(),
			Expected: "a goal that counts the same rows"}
	}
	return f.thresholdFor(g, threshold.Rate{})
}

// thresholdFor returns the model's threshold for a goal of the same population. Out-of-fold scores with delta give an
// order statistic, too.
func (f *Found) thresholdFor(g metric.Goal, delta threshold.Rate) (Threshold, error) {
	s := f.sample
	var t *heldout.Threshold
	var err error
	if g.Kind == metric.GoalMinPrecision {
		t, err = heldout.ForLabelled(g, delta, s.sequence, s.positives, s.negatives)
	} else {
		t, err = heldout.For(g, delta, s.sorted)
	}
	if err != nil {
		return Threshold{}, err
	}
	if s.folds != nil {
		t.Widen(s.folds)
	}
	return Threshold{Threshold: *t, Scheme: f.Scheme, CrossFolds: f.CrossFolds, Refitted: f.refitted(t.Rows - t.Order + 1),
		Approximate: f.Scheme.pools() || f.Scheme == SchemeValidation || f.sample.weights != nil && delta.IsZero()}, nil
}

// fewTransferred is the number of transferred scores within the budget below which the interval of the rate is not known.
const fewTransferred = 5

// refitted reports whether out-of-fold scores give the threshold, a member is one fit to all rows, not the mean of the fits that
// gave these scores, and no interval is known: for transferred scores if few are at or above the threshold.
func (f *Found) refitted(within int) bool {
	if f.Scheme == SchemeAllRows {
		return within < fewTransferred
	}
	return f.Scheme == SchemeCrossFitted && slices.ContainsFunc(f.Members, func(m Member) bool { return m.Folds == 0 })
}

// Refit replaces the fit of a member by one to other rows, with the same features. The members must be single fits,
// and the fit's learner one without an intercept.
func (f *Found) Refit(member int, fit Fit) error {
	f.Members[member].Fit = fit
	var terms []term
	for j := range f.Members {
		terms = append(terms, f.Members[j].term(j))
	}
	return f.LinearModel.add(terms, f.Members)
}

// Rescore makes HeldOut the scores of a table's rows, which did not fit the members.
func (f *Found) Rescore(t *table.Table, source string) error {
	rows := t.Labelled()
	z, err := f.scores(t, rows)
	if err != nil {
		return inFile(err, t)
	}
	var s ranking.Scores
	for i, row := range rows {
		appendScore(&s, t, row, z[i])
	}
	f.HeldOut = HeldOut{LabelledScores: heldout.LabelledScores{Positives: s.Positives, Negatives: s.Negatives,
		PositiveWeights: s.PositiveWeights, NegativeWeights: s.NegativeWeights}, Units: s, Source: source}
	return nil
}

// expectedAlarms returns the expected false positive rate of the threshold, nil if its expected rate is about other rows than negatives.
func (f *Found) expectedAlarms() *metric.Proportion {
	t := &f.Threshold
	if f.Goal.Population() != method.Negatives || !f.Goal.IsBudget() {
		return nil
	}
	p := &metric.Proportion{Rate: t.Expected.Rate, NoInterval: "the model was fitted again after other fits gave the threshold"}
	if !t.Refitted {
		p.Interval = &metric.Interval{Low: t.Expected.Low, High: t.Expected.High, Confidence: t.Expected.Confidence}
	}
	return p
}

// Among returns the decisions of OutOfFold among rows of which the fraction prevalence is positive, at the false positive rate that is
// expected of the threshold. Their intervals take into account that the threshold came from other rows. A search makes them for Prevalence.
func (f *Found) Among(prevalence float64) metric.Confusion {
	alarms := f.expectedAlarms()
	c := ranking.Mix(f.measured, prevalence, alarms)
	var tpr, fpr, precision []metric.Proportion
	for _, end := range f.ends {
		tpr, fpr = append(tpr, end.TruePositiveRate), append(fpr, end.FalsePositiveRate)
		precision = append(precision, ranking.Mix(end, prevalence, nil).Precision)
	}
	if len(f.ends) > 0 {
		c.TruePositiveRate, c.FalsePositiveRate = ranking.Moved(c.TruePositiveRate, tpr...), ranking.Moved(c.FalsePositiveRate, fpr...)
	}
	if len(f.ends) > 0 && alarms == nil { // the interval of alarms is that of the threshold
		c.Precision = ranking.Moved(c.Precision, precision...)
	}
	return c
}
