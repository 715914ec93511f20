package toptau

import (
	"toptau/calibrate"
	"toptau/internal/tune"
	"toptau/method"
	"toptau/metric"
	"toptau/result"
	"toptau/threshold"
)

// TrainReport is what Train found: the object that train --json prints. Only fields that begin with seconds_ may differ
// between runs that end by themselves.
type TrainReport struct {
	SchemaVersion int               `json:"schema_version"`
	Goal          metric.Goal       `json:"goal"`
	Summary       []string          `json:"summary"`  // in sentences
	Training      PartReport        `json:"training"` // the rows that the model was fitted to
	Calibration   *PartReport       `json:"calibration"`
	Validation    *PartReport       `json:"validation"`
	Test          *PartReport       `json:"test"`
	Folds         int               `json:"folds"`
	FoldRows      *int              `json:"fold_rows"` // that a fold fits, where they are a sample
	Criterion     string            `json:"criterion"` // by which candidates are compared, in words
	Budgets       []string          `json:"budgets"`   // of the first fold
	Candidates    []CandidateReport `json:"candidates"`
	NotTried      []string          `json:"not_tried"` // learners on encodings
	Members       []MemberReport    `json:"members"`   // what the model is the average of, best first
	Score         ScoreReport       `json:"cross_validation"`
	Reference     *int              `json:"reference"` // the candidate that is logistic regression on raw columns
	Gain          *GainReport       `json:"gain"`      // of the model over it
	Why           string            `json:"why"`
	Threshold     float64           `json:"threshold"`
	ThresholdNote string            `json:"threshold_note"`
	Certified     bool              `json:"certified"`
	Delta         *string           `json:"delta"`
	Order         *int              `json:"order"`            // the threshold is the order-th smallest calibration score
	Bound         *float64          `json:"bound"`            // the exact binomial tail; absolute-top: the bounded rate
	Expected      ExpectedRate      `json:"expected"`         // what to expect of the threshold on new rows
	OverTime      *TrendReport      `json:"over_time"`        // of the calibration scores; null: none, or no time column
	OutOfFoldGoal metric.Result     `json:"out_of_fold_goal"` // the goal's criterion on the out-of-fold scores
	OutOfFold     metric.Confusion  `json:"out_of_fold_at_threshold"`
	TestGoal      *metric.Result    `json:"test_goal"`         // the goal's criterion, threshold from the test part itself
	AtThreshold   *metric.Confusion `json:"test_at_threshold"` // what the model's threshold does on the test part
	Features      int               `json:"d"`
	Seed          uint64            `json:"seed"`
	Cancelled     bool              `json:"cancelled"`
	TimeUp        bool              `json:"time_up"`
	SecondsRead   float64           `json:"seconds_read"`
	SecondsSearch float64           `json:"seconds_search"`
	SecondsRefit  float64           `json:"seconds_refit"`
	Seconds       float64           `json:"seconds_total"`
	Warnings      []Warning         `json:"warnings"`
}

// ExpectedRate is what to expect of a threshold on new rows like those that gave it: a share of the negatives that raise a
// false alarm or, for a goal in shares of all rows, of the rows that become alerts.
type ExpectedRate struct {
	calibrate.Expectation
	Scheme      string `json:"scheme"`      // certified, held-out, cross-fitted, validation
	Population  string `json:"population"`  // negatives or all
	Rows        int    `json:"n"`           // of the population, that gave the threshold
	Approximate bool   `json:"approximate"` // low and high are not exact: the rows also chose the model, or carry weights
}

func expectedOf(t *tune.Threshold) *ExpectedRate {
	e := &ExpectedRate{Expectation: t.Expected, Scheme: string(t.Scheme), Population: method.Negatives.String(), Rows: t.Rows,
		Approximate: t.Approximate}
	if t.Goal.Criterion().Name == metric.AtQuantile {
		e.Population = method.AllRows.String()
	}
	return e
}

// PartReport counts the rows of a part.
type PartReport struct {
	Rows      int `json:"n"`
	Positives int `json:"n_pos"`
}

// ScoreReport is a criterion averaged over the folds.
type ScoreReport struct {
	Mean  float64   `json:"mean"`
	Error float64   `json:"standard_error"`
	Folds []float64 `json:"folds"`
}

// GainReport is a difference of criteria on the same folds.
type GainReport struct {
	Mean  float64 `json:"mean"`
	Error float64 `json:"standard_error"`
}

// CandidateReport is one setting of one learner on one encoding.
type CandidateReport struct {
	Features      string       `json:"features"`
	Method        string       `json:"method"`
	Lambda        float64      `json:"lambda"`
	Anchor        *float64     `json:"anchor"` // ramp: the lambda of the logistic regression that it starts from
	Tau           *float64     `json:"tau"`
	Beta          *float64     `json:"beta"`
	K             *int         `json:"k"`
	Status        string       `json:"status"` // fitted, skipped, unfinished
	Reason        *string      `json:"reason"`
	Score         *ScoreReport `json:"cross_validation"`
	Constant      bool         `json:"constant"`
	ZeroIsOptimal bool         `json:"zero_is_optimal"`
	SecondsFit    float64      `json:"seconds_fit"` // in all folds
}

// MemberReport is one fitted model in the average.
type MemberReport struct {
	Candidate  int     `json:"candidate"` // index into candidates
	Lambda     float64 `json:"lambda"`    // as fitted to all rows
	Share      float64 `json:"share"`
	Folds      int     `json:"folds"` // the number of folds whose fits the member is the mean of; 0: one fit to all rows
	SecondsFit float64 `json:"seconds_fit"`
}

func partReport(c tune.Counts) PartReport { return PartReport{c.Rows(), c.Positives} }

// someRows is the part, or nil when it has no rows.
func someRows(c tune.Counts) *PartReport {
	if c.Rows() == 0 {
		return nil
	}
	part := partReport(c)
	return &part
}

func newTrainReport(f *tune.Found, o TrainOptions, d *Data) TrainReport {
	r := TrainReport{
		SchemaVersion: SchemaVersion, Goal: f.Goal, Training: partReport(f.Training),
		Calibration: someRows(f.Calibration), Validation: someRows(f.Validation), Test: someRows(f.TestCounts), Folds: f.Folds,
		Criterion: f.Criterion.Text, Budgets: f.Criterion.Budgets, NotTried: untried(f),
		Score: scoreReport(f.Choice.Score), Why: choiceText(f),
		Threshold: f.Threshold.Value, Certified: f.Threshold.Certified,
		OutOfFoldGoal: f.OutOfFold.Goal, OutOfFold: f.OutOfFold.AtThreshold,
		Features: f.Map.Cols(), Seed: o.Seed, Cancelled: f.Cancelled, TimeUp: f.TimeUp,
		SecondsSearch: f.SecondsSearch, SecondsRefit: f.SecondsRefit, Warnings: d.warnings(),
	}
	r.ThresholdNote = thresholdText(f)
	r.Expected = *expectedOf(&f.Threshold)
	r.guarantee(&f.Threshold, o.Delta)
	if f.FoldRows > 0 {
		r.FoldRows = &f.FoldRows
	}
	for i := range f.Candidates {
		r.Candidates = append(r.Candidates, candidateReport(&f.Candidates[i]))
	}
	for _, m := range f.Members {
		r.Members = append(r.Members, MemberReport{m.Candidate, m.Lambda, m.Share, m.Folds, m.Seconds})
	}
	if c := &f.Choice; c.Reference >= 0 {
		r.Reference, r.Gain = &c.Reference, &GainReport{}
		if c.Gain != nil && !c.Guarded {
			*r.Gain = GainReport{c.Gain.Mean, c.Gain.StandardError}
		}
	}
	if f.Test != nil {
		r.TestGoal, r.AtThreshold = &f.Test.Goal, &f.Test.AtThreshold
	}
	for _, w := range f.Warnings {
		r.Warnings = append(r.Warnings, w)
	}
	if trend := f.Threshold.OverTime; trend != nil {
		r.OverTime = trendReport(*trend)
		if drift := driftWarning(*trend, f.Threshold.Calibrated.Population()); drift != nil {
			r.Warnings = append(r.Warnings, *drift)
		}
	}
	return r
}

func scoreReport(s result.Estimate) ScoreReport { return ScoreReport{s.Mean, s.StandardError, s.Folds} }

// guarantee takes over the evidence behind the threshold.
func (r *TrainReport) guarantee(t *tune.Threshold, asked threshold.Rate) {
	if asked.IsZero() {
		return
	}
	delta := asked.String()
	r.Delta = &delta
	if t.Calibrated != nil {
		r.Order, r.Bound = &t.Calibrated.Order, &t.Calibrated.Bound
	}
}

func candidateReport(c *tune.Candidate) CandidateReport {
	r := CandidateReport{Features: string(c.Features), Method: string(c.Learner), Lambda: c.Lambda, Status: string(c.Status),
		Constant: c.Constant, ZeroIsOptimal: c.ZeroOptimal, SecondsFit: c.Seconds}
	if c.Anchor > 0 {
		r.Anchor = &c.Anchor
	}
	if c.Problem != nil {
		h, m := c.Problem, c.Problem.Definition()
		if m.UsesTau {
			tau := h.Tau.Float64()
			r.Tau = &tau
		}
		if m.UsesBeta {
			r.Beta = &h.Beta
		}
		if m.UsesK {
			r.K = &h.K
		}
	}
	if c.Reason != "" {
		r.Reason = &c.Reason
	}
	if c.Status == tune.Fitted {
		score := scoreReport(c.Estimate)
		r.Score = &score
	}
	return r
}
