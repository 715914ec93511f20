package toptau

import (
	"context"
	"fmt"
	"slices"
	"time"

	"toptau/internal/fault"
	"toptau/internal/feature"
	"toptau/internal/solver"
	"toptau/internal/table"
	"toptau/internal/tune"
	"toptau/method"
	"toptau/metric"
)

// CompareOptions are the choices of Compare. The zero value compares the methods whose criterion is the goal's, the ramp and
// the baselines, logistic regression and a support vector machine, on a half, a quarter and a quarter of the rows; logistic
// regression and the ramp on every encoding of the columns.
type CompareOptions struct {
	Methods    []string // nil: those whose criterion is the goal's, and ramp; "all": every one that the goal has a rate for
	Surrogate  string   // "" or "hinge", "squared-hinge", "logistic"
	Features   []string // raw, scorecard, leaves, scorecard+leaves; nil: the first three; all learners are fitted on the first
	Scale      string
	Impute     string
	Validation *Data    // nil: a quarter of the rows; otherwise read with ReadLike
	Test       *Data    // nil: a quarter of the rows; otherwise read with ReadLike
	Scores     []Scores // of the rows of Test, by other models
	Against    string   // what the others are compared with: "" is logistic
	Replicates int      // of the bootstrap; 0: 2,000
	SolverOptions
	Progress func(Progress)
}

// Scores are somebody's scores of the rows of a file, in its order.
type Scores struct {
	Name   string
	File   string // for messages
	Values []float64
}

// CompareReport is what Compare found: the object that compare --json prints.
type CompareReport struct {
	SchemaVersion  int            `json:"schema_version"`
	Goal           string         `json:"goal"`
	GoalWords      string         `json:"goal_words"`
	Criterion      string         `json:"criterion"`
	Training       PartReport     `json:"training"`
	Validation     PartReport     `json:"validation"`
	Test           PartReport     `json:"test"`
	Entities       *int           `json:"entities"` // of the test part; null: the intervals draw rows
	Entries        []CompareEntry `json:"entries"`  // best on the test part first
	Against        string         `json:"against"`
	PreferredWords *string        `json:"preferred_words"` // what that brings over the reference; null where there is nothing to say
	Preferred      *string        `json:"preferred"`       // what the validation part prefers of all that was fitted
	Focused        *string        `json:"focused"`         // what it prefers of what is top-focused
	// What the verdict is about: Focused against the reference that was named, else against logistic regression on its encoding.
	FocusedAgainst    *string            `json:"focused_against"`
	FocusedDifference *metric.Difference `json:"focused_difference"`
	Verdict           string             `json:"verdict"` // better, worse, undecided
	VerdictWords      string             `json:"verdict_words"`
	Seed              uint64             `json:"seed"`
	Cancelled         bool               `json:"cancelled"`
	SecondsRead       float64            `json:"seconds_read"`
	SecondsFit        float64            `json:"seconds_fit"`
	Seconds           float64            `json:"seconds_total"`
	Warnings          []Warning          `json:"warnings"`

	data *Data // what WriteReport needs besides
}

// CompareEntry is a method or baseline on an encoding at its best setting, or somebody's scores.
type CompareEntry struct {
	Name             string             `json:"name"`
	Kind             string             `json:"kind"`     // method, baseline, scores
	Encoding         *string            `json:"encoding"` // null for scores, as d and setting
	Features         *int               `json:"d"`
	Status           string             `json:"status"` // fitted, skipped, unfinished
	Reason           *string            `json:"reason"`
	Setting          *string            `json:"setting"`
	Tried            int                `json:"tried"`
	Fitted           int                `json:"fitted"`
	Validation       *metric.Result     `json:"validation_goal"`
	Test             *metric.Result     `json:"test_goal"`
	Difference       *metric.Difference `json:"difference"`
	Verdict          *string            `json:"verdict"`
	AtThreshold      *metric.Confusion  `json:"test_at_threshold"`
	NoBetterThanZero *bool              `json:"no_better_than_zero"`
	SecondsFit       float64            `json:"seconds_fit"`
	SecondsGrid      float64            `json:"seconds_grid"`
}

// Compare asks whether top-focused training helps on these data, and by how much. All methods, the baselines, the encodings
// and anybody's scores are measured on the same test rows: the training part fits, the validation part chooses each one's
// setting by the mean criterion over budgets around the goal and gives its threshold, and differences have paired bootstrap
// intervals, over the entities of Format.Group where there is such a column. The verdict is about the top-focused entry that the validation part prefers.
//
// When ctx is done, what is finished is compared, with Cancelled set.
func Compare(ctx context.Context, d *Data, goal metric.Goal, o CompareOptions) (*CompareReport, error) {
	start := time.Now()
	options, err := o.tune(goal)
	if err != nil {
		return nil, err
	}
	data, seconds := d.parts(o.Validation, o.Test)
	if err := o.checkScores(); err != nil {
		return nil, err
	}
	res, err := tune.Compare(ctx, data, options)
	if err != nil {
		return nil, err
	}
	r := newCompareReport(res, o, d)
	r.SecondsRead, r.Seconds = seconds, seconds+time.Since(start).Seconds()
	return r, nil
}

// tune turns the options into those of the comparison.
func (o *CompareOptions) tune(goal metric.Goal) (tune.CompareOptions, error) {
	c := tune.CompareOptions{Goal: goal, Feature: featureOptions("", o.Scale, o.Impute, o.Seed), Seed: o.Seed,
		Against: o.Against, Bootstrap: metric.Bootstrap{Replicates: o.Replicates}}
	if err := o.learners(goal, &c); err != nil {
		return c, err
	}
	for _, name := range o.Features {
		c.Encodings = append(c.Encodings, feature.Encode(name))
	}
	var err error
	if c.Surrogate, err = surrogateOf(o.Surrogate); err != nil {
		return c, err
	}
	if c.Storage, err = storageOf(o.Storage); err != nil {
		return c, err
	}
	if c.Fitter, err = o.gridFitter(); err != nil {
		return c, err
	}
	if o.Progress != nil {
		c.Progress = func(p tune.Progress) {
			o.Progress(Progress{Share: p.Share, Text: fmt.Sprintf("%s: %d of %d settings", p.Stage, p.Done, p.Of), Usable: p.Usable})
		}
	}
	for _, s := range o.Scores {
		c.External = append(c.External, tune.External{Name: s.Name, Scores: s.Values})
	}
	return c, nil
}

// rampName is the learner beside the methods that users may name.
const rampName = "ramp"

// learners resolves the names of methods.
func (o *CompareOptions) learners(goal metric.Goal, c *tune.CompareOptions) error {
	if slices.Contains(o.Methods, "all") {
		if len(o.Methods) > 1 {
			return &fault.Error{Kind: fault.Usage, Found: "--method all beside others", Expected: "one of the two"}
		}
		for _, m := range method.All() {
			if !m.UsesTau || !goal.Tau().IsZero() {
				c.Methods = append(c.Methods, m)
			}
		}
		return nil
	}
	if o.Methods == nil {
		return nil
	}
	c.Methods, c.NoRamp = []method.Method{}, !slices.Contains(o.Methods, rampName)
	for _, name := range o.Methods {
		if name == rampName {
			continue
		}
		m, err := method.ByName(name)
		if err != nil {
			return err
		}
		c.Methods = append(c.Methods, m)
	}
	return nil
}

// gridFitter is the solver of the methods' grids.
func (o *SolverOptions) gridFitter() (tune.Fitter, error) {
	scheme := tune.Paper{Minibatches: o.Minibatches, Stratified: o.Stratified}
	var err error
	if scheme.Options, err = o.steps(); err != nil {
		return nil, err
	}
	switch o.Solver {
	case "", "auto":
		return tune.Certified{Gap: o.Gap, Cols: autoColumns, Rest: scheme}.Fit, nil
	case "certified":
		return tune.Certified{Gap: o.Gap, Rest: scheme}.Fit, nil
	case "adam":
		return scheme.Fit, nil
	case "sgd":
		scheme.Grid = solver.SGDGrid
		return scheme.Fit, nil
	}
	return nil, unknownSolver(o.Solver)
}

// checkScores refuses scores whose rows are not told, or are not as many as those of the test part.
func (o *CompareOptions) checkScores() error {
	for _, s := range o.Scores {
		if o.Test == nil {
			return &fault.Error{Kind: fault.Usage, Found: "--scores without --test",
				Expected: "the file whose rows have these scores", Hint: "--test FILE"}
		}
		if len(s.Values) != o.Test.Rows() {
			return &fault.Error{Kind: fault.Data, File: s.File, Found: fmt.Sprintf("%d scores", len(s.Values)),
				Expected: fmt.Sprintf("%d, one for each row of %s, in its order", o.Test.Rows(), o.Test.table.File)}
		}
	}
	return nil
}

func newCompareReport(res *tune.Comparison, o CompareOptions, d *Data) *CompareReport {
	r := &CompareReport{
		SchemaVersion: SchemaVersion, Goal: res.Goal.String(), GoalWords: res.Goal.Words(),
		Criterion: res.Goal.Criterion().String(),
		Training:  partReport(res.Training), Validation: partReport(res.Validation), Test: partReport(res.Test),
		Against: res.Against, Verdict: res.Verdict, VerdictWords: res.Words, Seed: o.Seed,
		Cancelled: res.Cancelled, SecondsFit: res.SecondsFit, Warnings: d.warnings(), data: d,
	}
	if res.Entities > 0 {
		r.Entities = &res.Entities
	}
	if res.PreferredWords != "" {
		r.PreferredWords = &res.PreferredWords
	}
	if res.Preferred != "" {
		r.Preferred = &res.Preferred
	}
	if res.Focused != "" {
		r.Focused, r.FocusedAgainst, r.FocusedDifference = &res.Focused, &res.FocusedAgainst, &res.FocusedDifference
	}
	for i := range res.Entries {
		r.Entries = append(r.Entries, compareEntry(&res.Entries[i]))
	}
	for _, w := range res.Warnings {
		r.Warnings = append(r.Warnings, Warning(w))
	}
	return r
}

func compareEntry(e *tune.Entry) CompareEntry {
	c := CompareEntry{Name: e.Name, Kind: e.Kind, Status: string(e.Status), Tried: e.Tried, Fitted: e.Fitted,
		SecondsFit: e.SecondsFit, SecondsGrid: e.SecondsGrid}
	if e.Reason != "" {
		c.Reason = &e.Reason
	}
	if e.Encoding != "" {
		encoding := string(e.Encoding)
		c.Encoding = &encoding
	}
	if e.Status != tune.Fitted {
		return c
	}
	verdict := e.Difference.Verdict()
	c.Test, c.Difference, c.Verdict = &e.Test, &e.Difference, &verdict
	if e.Kind != tune.KindScores {
		c.Setting, c.Validation, c.AtThreshold, c.Features = &e.Setting, &e.Validation, e.AtThreshold, &e.Features
	}
	if e.Kind == tune.KindMethod {
		c.NoBetterThanZero = &e.NoBetterThanZero
	}
	return c
}

// scoreColumn and rowColumn are what score writes.
const (
	scoreColumn = "score"
	rowColumn   = "row"
)

// ReadScores reads the scores of one model: delimited text with a column "score", or with a single column of numbers. A
// column "row" must count the rows from 1, as in what score writes: other orders are refused.
func ReadScores(name, path string) (Scores, error) {
	t, _, err := table.Read(path, table.Options{Format: "csv", Unlabelled: true})
	if err != nil {
		return Scores{}, err
	}
	var scores *table.Column
	for j := range t.Columns {
		switch c := &t.Columns[j]; {
		case c.Kind == table.Numeric && (c.Name == scoreColumn || len(t.Columns) == 1):
			scores = c
		case c.Name == rowColumn:
			if err := countsRows(t, c); err != nil {
				return Scores{}, err
			}
		}
	}
	if scores == nil {
		return Scores{}, &fault.Error{Kind: fault.Data, File: path, Found: "no column of numbers named " + fault.Quote(scoreColumn),
			Expected: "a score for each row", Hint: "a CSV file with the header score"}
	}
	for row, z := range scores.Values {
		if z != z {
			return Scores{}, &fault.Error{Kind: fault.Data, File: path, Line: t.LineOf(row), Column: scores.Name,
				Found: "a missing score", Expected: "a number"}
		}
	}
	return Scores{Name: name, File: path, Values: scores.Values}, nil
}

// countsRows refuses row numbers that are not 1, 2, 3.
func countsRows(t *table.Table, c *table.Column) error {
	for row := range t.Rows() {
		if c.Kind == table.Numeric && c.Values[row] == float64(row+1) {
			continue
		}
		found := "a row number that is not in order"
		if c.Kind == table.Numeric {
			found = fmt.Sprintf("row %v", c.Values[row])
		}
		return &fault.Error{Kind: fault.Data, File: t.File, Line: t.LineOf(row), Column: c.Name, Found: found,
			Expected: fmt.Sprintf("row %d: scores in the order of the test file", row+1)}
	}
	return nil
}
