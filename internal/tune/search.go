package tune

import (
	"context"
	"fmt"
	"slices"
	"time"

	"toptau/diag"
	"toptau/internal/feature"
	"toptau/metric"
	"toptau/surrogate"
	"toptau/threshold"
)

// SearchOptions are the choices of Search. The zero value, with a Goal, is the default that holds.
type SearchOptions struct {
	Goal      metric.Goal
	Features  []feature.Encode // nil: raw, scorecard and leaves, as far as the columns allow
	Learners  []string         // nil: logistic, ramp and the convex methods whose criterion is the goal's; see Learners
	Surrogate surrogate.Name   // of the methods; nil: hinge
	Feature   feature.Options  // Encode and Seed are not used; Trees 0: 100, or 200 for fewer than severalRows rows

	TestShare threshold.Rate // of the rows, kept for a last measurement; unset: none
	Folds     int            // 0: 3, or 5 for fewer than fewRows rows
	FoldRows  int            // training rows of a fold, at most; 0: defaultFoldRows

	// Delta asks for a threshold with a guarantee that may fail with this probability; unset: a plain threshold.
	Delta     threshold.Rate
	OutOfFold bool // with Delta: the order statistic of the out-of-fold scores, on no rows of its own; never certified

	// CalibrationShare of the rows that the budget counts is set aside for the threshold; unset: as many as pay.
	CalibrationShare threshold.Rate

	MaxTime  time.Duration  // after which what is finished is used; 0: no limit
	Seed     uint64         // of the parts and the trees
	Progress func(Progress) // nil: none; never called twice at the same time
}

// Found is the chosen model with everything that led to the choice.
type Found struct {
	Goal   metric.Goal
	Map    *feature.Map // of the model
	W      []float64    // one for each of its columns
	Offset float64      // added to every score

	Members    []Member    // whose average the model is; the first has the best criterion
	Candidates []Candidate // every setting, task by task in the order tried
	Criterion  Criterion   // by which they are compared
	Chosen     Score       // of the model
	Reference  int         // the candidate that is logistic regression on raw columns; -1: none
	Gain       Gain        // of the model over it
	Why        string      // the choice in words

	Training, Calibration, Validation, TestCounts Counts // Training: all rows that fit the model
	Rows                                          []int  // of the table, ascending: those that fit or choose, without test and calibration rows
	Folds                                         int
	FoldRows                                      int // training rows of a fold where they are a sample; 0: all

	Scheme     Scheme // of the threshold
	CrossFolds int    // SchemeCrossFitted: the folds
	Threshold  Threshold
	sample     *calibrationSample // the scores that gave it
	OutOfFold  Evaluation         // on rows that did not fit the scores, though they chose among them
	Test       *Evaluation        // nil without a test part

	Warnings                                []diag.Warning
	Cancelled                               bool     // the context ended the search before its end
	TimeUp                                  bool     // MaxTime did
	NotTried                                []string // tasks in words
	SecondsSearch, SecondsRefit, SecondsAll float64
}

// Defaults of SearchOptions.
const (
	fewRows         = 3000
	folds           = 3
	foldsOfFew      = 5
	defaultFoldRows = 40_000
	validationRows  = 200_000 // of a fold, at most
	trees           = 100
	treesOfFewer    = 200 // for fewer than severalRows rows: there they cost little
	severalRows     = 25_000
)

// Search chooses a model for a goal and fits it to all rows that it may use.
//
//   - A test part, if asked for, and the rows that give the threshold, where the Scheme needs some, are set aside before
//     anything is encoded, fitted or chosen. The others are divided into folds by the rules of Cut; a validation table of
//     its own is the one fold.
//   - Candidates are the settings of every learner on every encoding (see Learners). Encodings are fitted within the
//     folds. A fold with more than FoldRows training rows fits a sample of them: positives first, up to half of it; for a
//     share of all rows, both classes alike.
//   - Candidates are compared by Criterion: the mean share of positives found at ten budgets around the goal's, averaged
//     over the folds. A candidate whose scores are all equal cannot be chosen.
//   - The best is averaged with up to two of other encodings or learners, as long as the average of their out-of-fold
//     scores becomes better (see greedy).
//   - Logistic regression on raw columns is kept unless the gain over it is more than its standard error over the folds.
//   - What is chosen is fitted again to all of these rows, once or in folds (see Scheme).
//
// When ctx or MaxTime ends the search, what is finished is used in the same way, with Cancelled or TimeUp set; without
// anything finished it returns the context's error. Errors that a user can mend are *diag.Error.
func Search(ctx context.Context, d Data, o SearchOptions) (*Found, error) {
	s := &search{data: d, options: o, start: time.Now(),
		found: &Found{Goal: o.Goal, Reference: -1, Candidates: []Candidate{}}}
	steps := []func() error{
		s.plan,
		s.divide,
		func() error { return s.try(ctx) },
		s.choose,
		func() error { return s.refit(ctx) },
		s.threshold,
		s.test,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	s.warn()
	s.found.SecondsAll = time.Since(s.start).Seconds()
	return s.found, nil
}

// search is the state of one Search.
type search struct {
	data    Data
	options SearchOptions
	found   *Found
	start   time.Time

	tasks    []*task
	rounds   []*round
	rest     []int // rows of data.Table that fit and choose
	held     []int // of its test part
	progress *meter

	scheme      Scheme
	calibration []int // rows that were set aside, or those of data.Calibration

	chosen []*task // whose best candidates are averaged
	pooled *pooled // out-of-fold scores of the model, in its units
}

func (s *search) addWarning(code, format string, args ...any) {
	s.found.Warnings = append(s.found.Warnings, diag.Warning{Code: code, Text: fmt.Sprintf(format, args...)})
}

// plan checks the options and lists the tasks.
func (s *search) plan() error {
	o := &s.options
	if err := o.Goal.Check(); err != nil {
		return err
	}
	if s.data.Table == nil {
		return &diag.Error{Kind: diag.Usage, Found: "no data"}
	}
	if o.FoldRows == 0 {
		o.FoldRows = defaultFoldRows
	}
	if o.OutOfFold && o.Delta.IsZero() {
		return &diag.Error{Kind: diag.Usage, Found: "--calibrate out-of-fold without --delta",
			Expected: "the probability with which the guarantee may fail", Hint: "--delta 5%"}
	}
	if o.Feature.Trees == 0 {
		o.Feature.Trees = trees
		if s.data.Table.Rows() < severalRows {
			o.Feature.Trees = treesOfFewer
		}
	}
	if o.MaxTime < 0 {
		return &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("--max-time %s", o.MaxTime), Expected: "a time above 0"}
	}
	return s.planTasks()
}

// divide sets the test part and the calibration rows aside and makes the rounds.
func (s *search) divide() error {
	t, o := s.data.Table, &s.options
	cut := Cut{Seed: o.Seed}
	if t.Group != nil {
		cut.Group = t.Group.Values
	}
	var err error
	if cut.Time, err = Timeline(t); err != nil {
		return err
	}
	s.rest = labelled(t)
	if !o.TestShare.IsZero() && s.data.Test == nil {
		share := o.TestShare.Float64()
		cut.Shares = []float64{1 - share, share}
		parts, err := cut.Divide(t.Label)
		if err != nil {
			return err
		}
		s.rest, s.held = parts[0], parts[1]
		if err := s.bothClasses(s.rest, "the rows outside the test part have"); err != nil {
			return err
		}
	}
	if err := s.bothClasses(s.rest, "there are"); err != nil {
		return err
	}
	if err := s.setAside(); err != nil {
		return err
	}
	s.found.Scheme = s.scheme
	s.found.Training, s.found.Rows = CountRows(t.Label, s.rest), s.rest
	return s.makeRounds(cut)
}

// bothClasses refuses rows that lack a class.
func (s *search) bothClasses(rows []int, what string) error {
	counts := CountRows(s.data.Table.Label, rows)
	if counts.Positives > 0 && counts.Negatives > 0 {
		return nil
	}
	e := &diag.Error{Kind: diag.Data, File: s.data.Table.File, Found: what + " " + counts.String(),
		Expected: "rows of both classes", Hint: "check the label column and --positive"}
	if all := countAll(s.data.Table); all.Positives > 0 && all.Negatives > 0 {
		e.Hint = fmt.Sprintf("the file has %s", all)
	}
	return e
}

// without returns the rows that are not among others; both ascend.
func without(rows, others []int) []int {
	kept := make([]int, 0, len(rows))
	for _, row := range rows {
		if _, taken := slices.BinarySearch(others, row); !taken {
			kept = append(kept, row)
		}
	}
	return kept
}
