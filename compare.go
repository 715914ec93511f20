package toptau

import (
	"context"
	"fmt"
	"slices"
	"time"

	"toptau/diag"
	"toptau/internal/feature"
	"toptau/internal/solver"
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
	Scores     []Scores // of other programs for the rows of Test; without Test, for the rows of the data
	Against    string   // what the others are compared with: "" is logistic
	Replicates int      // of the bootstrap; 0: 2,000
	SolverOptions
	Progress func(Progress)
}

// CompareReport is what Compare found: the object that compare --json prints.
type CompareReport struct {
	SchemaVersion int            `json:"schema_version"`
	Goal          metric.Goal    `json:"goal"`
	Criterion     string         `json:"criterion"`
	Training      PartReport     `json:"training"`
	Validation    PartReport     `json:"validation"`
	Test          PartReport     `json:"test"`
	Entities      *int           `json:"entities"` // of the test part; null: the intervals draw rows
	Entries       []CompareEntry `json:"entries"`  // best on the test part first
	Against       string         `json:"against"`
	Preferred     *string        `json:"preferred"` // what the validation part prefers of all that was fitted
	// What the entries show, the conclusion on the loss first.
	Verdicts    []CompareVerdict `json:"verdicts"`
	Seed        uint64           `json:"seed"`
	Cancelled   bool             `json:"cancelled"`
	SecondsRead float64          `json:"seconds_read"`
	SecondsFit  float64          `json:"seconds_fit"`
	Seconds     float64          `json:"seconds_total"`
	Warnings    []Warning        `json:"warnings"`

	data *Data // what WriteReport needs besides
}

// CompareVerdict is one conclusion with both of its sides. About the loss: a top-focused learner against logistic regression on the
// same encoding. About the encoding: one learner on two encodings. Against: the entry that the validation part prefers against the
// reference or another program's scores. Best: the entry with the most positives on the test part.
type CompareVerdict struct {
	About      string             `json:"about"` // loss, encoding, against, best
	Entry      *string            `json:"entry"`
	Against    *string            `json:"against"`
	Difference *metric.Difference `json:"difference"` // of entry to against
	Together   int                `json:"together"`   // comparisons whose intervals hold together with this one
	Among      []string           `json:"among"`      // best: one of these is the best, with the confidence of the intervals
	Verdict    string             `json:"verdict"`    // better, worse, undecided
	Says       string             `json:"says"`
	Evidence   string             `json:"evidence"`
}

// CompareEntry is a method or baseline on an encoding at its best setting, or the scores of another program.
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
	Joined           *Joined            `json:"joined"` // scores: how they found their rows; null for others
	SecondsFit       float64            `json:"seconds_fit"`
	SecondsGrid      float64            `json:"seconds_grid"`
}

// Compare asks whether top-focused training helps on these data, and by how much. All methods, the baselines, the encodings
// and the scores of other programs are measured on the same test rows: the training part fits, the validation part chooses each one's
// setting by the mean criterion over budgets around the goal and gives its threshold, and differences have paired bootstrap
// intervals, over the entities of Format.Group where there is such a column.
//
// When ctx is done, what is finished is compared, with Cancelled set.
func Compare(ctx context.Context, d *Data, goal metric.Goal, o CompareOptions) (*CompareReport, error) {
	start := time.Now()
	options, err := o.tune(goal)
	if err != nil {
		return nil, err
	}
	data, seconds := d.parts(o.Validation, o.Test, nil)
	if err := o.checkScores(d); err != nil {
		return nil, err
	}
	o.joinScores(d, &options)
	res, err := tune.Compare(ctx, data, options)
	if err != nil {
		return nil, err
	}
	r := newCompareReport(res, o, d)
	r.Warnings = append(leakWarnings(tune.Leaks(d.table)), r.Warnings...)
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
	return c, nil
}

// rampName is the learner beside the methods that users may name.
const rampName = "ramp"

// learners resolves the names of methods.
func (o *CompareOptions) learners(goal metric.Goal, c *tune.CompareOptions) error {
	if slices.Contains(o.Methods, "all") {
		if len(o.Methods) > 1 {
			return &diag.Error{Kind: diag.Usage, Found: "--method all beside others", Expected: "one of the two"}
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

// checkScores refuses scores of other rows than those of the test part.
func (o *CompareOptions) checkScores(d *Data) error {
	for i := range o.Scores {
		s := &o.Scores[i]
		if o.Test != nil {
			if err := s.complete(o.Test); err != nil {
				return err
			}
		} else if len(s.Values) != d.Rows() {
			return s.complete(d)
		}
	}
	return nil
}

// joinScores adds the scores of other programs. Without a test file only those of the rows that become the test part are needed.
func (o *CompareOptions) joinScores(d *Data, to *tune.CompareOptions) {
	if o.Test != nil {
		d = o.Test
	}
	for i := range o.Scores {
		s := &o.Scores[i]
		to.External = append(to.External, tune.External{Name: s.Name, Scores: s.Values,
			Missing: func(row int) error { return s.missing(d, row) }})
	}
}

func newCompareReport(res *tune.Comparison, o CompareOptions, d *Data) *CompareReport {
	r := &CompareReport{
		SchemaVersion: SchemaVersion, Goal: res.Goal,
		Criterion: res.Goal.Criterion().String(),
		Training:  partReport(res.Training), Validation: partReport(res.Validation), Test: partReport(res.Test),
		Against: res.Against, Verdicts: []CompareVerdict{}, Seed: o.Seed,
		Cancelled: res.Cancelled, SecondsFit: res.SecondsFit, Warnings: d.warnings(), data: d,
	}
	if res.Entities > 0 {
		r.Entities = &res.Entities
	}
	if res.Preferred != "" {
		r.Preferred = &res.Preferred
	}
	for i := range res.Verdicts {
		r.Verdicts = append(r.Verdicts, compareVerdict(&res.Verdicts[i]))
	}
	for i := range res.Entries {
		r.Entries = append(r.Entries, compareEntry(&res.Entries[i]))
	}
	for i := range o.Scores {
		for k := range r.Entries {
			if r.Entries[k].Name == o.Scores[i].Name {
				r.Entries[k].Joined = &o.Scores[i].Joined
			}
		}
	}
	if len(o.Scores) > 0 && o.Test == nil {
		r.Warnings = append(r.Warnings, Warning{Code: "scores-of-training-rows", Text: "the test rows were drawn from the data: scores of a program " +
			"that was trained on these rows are too good; give rows that it has not seen with --test"})
	}
	for _, w := range res.Warnings {
		r.Warnings = append(r.Warnings, w)
	}
	return r
}

func compareVerdict(v *tune.Verdict) CompareVerdict {
	c := CompareVerdict{About: v.About, Together: v.Together, Among: v.Among, Verdict: v.Verdict, Says: v.Says, Evidence: v.Evidence}
	if v.Among == nil {
		c.Among = []string{}
	}
	if v.Entry != "" {
		c.Entry = &v.Entry
	}
	if v.Against != "" {
		c.Against, c.Difference = &v.Against, &v.Difference
	}
	return c
}

// Words returns the conclusion with its evidence.
func (v *CompareVerdict) Words() string {
	t := tune.Verdict{Says: v.Says, Evidence: v.Evidence}
	return t.Words()
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
