package toptau

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"toptau/calibrate"
	"toptau/dataset"
	"toptau/diag"
	"toptau/internal/feature"
	"toptau/internal/leakage"
	"toptau/internal/profiles"
	"toptau/internal/rowset"
	"toptau/internal/table"
	"toptau/internal/tune"
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
	Encoding  []schema.Encoding // encodings to try; nil: raw, boosted and stochastic
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

	state *training
}

// trainingOf returns what a *toptau.Trained measured. Package toptau sets it, as measure sets stateOf.
var trainingOf func(trained any) *training

func init() { trainingOf = func(t any) *training { return t.(*Trained).state } }

// training is what a training measured, for its report.
type training struct {
	data    *rowset.Set   // the rows given to Train
	heldOut metric.Scores // labelled scores of units that did not fit them, on the model's scale
	mass    float64       // of all units
}

// Train chooses a model for a goal and fits it.
//
//  1. It sets test and calibration rows aside, before it encodes, fits or chooses anything.
//  2. It divides the other rows into folds: by Format.Group or Format.Time if the data have such a column. Copies of a row stay together.
//  3. It fits every learner on every encoding within the folds, over a grid of settings. It compares them by
//     the mean fraction of positives found at budgets around the goal's.
//  4. It averages the best with up to two others if that is better. It keeps logistic regression on raw
//     columns unless the gain over it exceeds the gain's standard error.
//  5. It fits the choice again, as one linear model.
//
// All rows train, and all that the budget or recall counts give the threshold: each has the score of a fit that left it out, transferred to the model's
// scale (calibrate.Transfer). The expected rate on new rows is the goal's. For rows with a time, entities or weights, and where
// they have more than 200 within the budget, 15 % of the rows are held out for the threshold instead, before anything is fitted. Where these would be too
// few, and for a lowest precision, fits in other folds score the rows. With Delta, the threshold is the exact order statistic of calibration rows, and certified.
// If there are too few of them to certify the goal, Train fits nothing and returns an error that matches
// diag.ErrNoGuarantee.
//
// If ctx is cancelled after a first model is complete, Train returns the best model so far with Stopped set.
func Train(ctx context.Context, d *dataset.Data, goal metric.Goal, o TrainOptions) (*Trained, error) {
	start := time.Now()
	if o.Seed == 0 {
		o.Seed = 1
	}
	found, err := o.search(ctx, rowset.Of(d), goal.WithPrevalence(o.Prevalence))
	if err != nil {
		return nil, err
	}
	return o.describe(ctx, found, start)
}

// describe returns the model that a search found, with its evidence, warnings and summary.
func (o TrainOptions) describe(ctx context.Context, s *searched, start time.Time) (*Trained, error) {
	d, found := s.data, s.Found
	trained := &Trained{Result: newTraining(found, o), Test: o.Test, state: &training{data: s.shown, heldOut: found.HeldOut.Units, mass: found.Mass}}
	var err error
	if found.TestRows != nil {
		rows, err := d.SelectRows(found.TestRows)
		if err != nil {
			return nil, err
		}
		trained.Test = rowset.Wrap(rows).(*dataset.Data)
	}
	if trained.Model, err = trainedModel(found, o, d); err != nil {
		return nil, err
	}
	if o.KeepAll {
		if trained.All, err = trainedEntries(found, trained.Model, o, d); err != nil {
			return nil, err
		}
	}
	if o.LearningCurve && trained.Result.Stopped == "" {
		if trained.Result.LearningCurve, err = learningCurve(ctx, d, found, o, trained); err != nil {
			return nil, err
		}
	}
	r := &trained.Result
	s.record(r)
	if r.Size, err = modelSize(d, trained.Model); err != nil {
		return nil, err
	}
	leaks := leakage.Find(d.Table)
	r.Warnings = slices.Concat(leakage.Warnings(leaks), d.Warnings(), s.warnings(), r.Warnings)
	r.Summary = trainSummary(found, o, d, trained.Model, leaks, len(r.Warnings))
	r.SecondsRead = s.seconds
	r.Seconds = s.seconds + time.Since(start).Seconds()
	return trained, nil
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
	t := tune.SearchOptions{Goal: goal, Learners: o.Method, Features: o.Encoding, Surrogate: o.Surrogate,
		Feature: feature.Options{Scale: o.Scale, Impute: o.Impute, Seed: o.Seed, Monotone: o.Monotone}, Derive: o.Derive, Folds: o.Folds, TestShare: o.TestFraction, LabelDelay: time.Duration(o.LabelDelay), Delta: o.Delta,
		OutOfFold: o.OutOfFold, CalibrationShare: o.CalibrationFraction, Entity: o.Entity, Value: o.Value, MaxSize: o.MaxSize, KeepAll: o.KeepAll, MaxTime: o.MaxTime, Seed: o.Seed}
	exclusive := func(param, other string) error {
		return &diag.Error{Kind: diag.Usage, Param: param, Found: "together with " + other, Expected: "only one of the two"}
	}
	fraction := !o.CalibrationFraction.IsZero()
	if err := cmp.Or(goal.CheckMoney(o.Value, o.Delta, false), calibrate.CheckDelta(o.Delta)); err != nil {
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
	if o.Progress != nil {
		t.Progress = func(p tune.Progress) {
			o.Progress(result.Progress{Stage: p.Stage, Done: p.Done, Of: p.Of, Fraction: p.Share, Usable: p.Usable})
		}
	}
	return t, nil
}

// trainedModel returns the chosen model.
func trainedModel(f *tune.Found, o TrainOptions, d *rowset.Set) (*model.Model, error) {
	m := rowset.ModelParts(d, f.Map, f.W, o.Seed)
	m.Offset = f.Offset
	var err error
	if !o.NoFingerprints {
		if m.Fingerprints, err = rowset.Fingerprints(f.Map, d.Frame, f.Rows, rowset.Of(o.Validation)); err != nil {
			return nil, err
		}
	}
	if !o.NoProfile {
		if m.Profile, err = profiles.New(f.Map, d.Frame, tune.Without(d.Table.Labelled(), f.TestRows), o.Seed); err != nil {
			return nil, err
		}
	}
	if m.Reference, err = o.referenceOf(&m, f, d); err != nil {
		return nil, err
	}
	if m.Probability, err = probabilityOf(f, d); err != nil {
		return nil, err
	}
	if m.Averages, err = profiles.AveragesOf(&m, profiles.AverageSample(f.Map, d.Table, f.Rows)); err != nil {
		return nil, err
	}
	m.Points = []model.Point{{Name: "goal", Threshold: f.Threshold.Value, Goal: f.Goal, Source: thresholdText(f)}}
	if u := f.Units; u.Column != "" {
		m.Points[0].Entity = u.Column
		if u.Daily {
			m.Points[0].Day = d.Table.Time.Name
		}
	}
	m.Points[0].Guarantee = f.Threshold.Threshold.CertifiedGuarantee(f.CalibrationUnits.Negatives)
	m.Points[0].UpTo = f.Threshold.Threshold.UpTo()
	m.Points[0].Negatives = calibrate.BestNegatives(f.Negatives, calibrate.KeptNegatives)
	for i := range f.Members {
		m.Members = append(m.Members, trainedMember(&f.Candidates[f.Members[i].Candidate], &f.Members[i], o.Seed))
	}
	return model.New(m)
}

// referenceOf returns order statistics of the scores of all rows of the test part or, without one, of the
// validation file. It returns nil without both: all other scores are of rows that trained the model, or of one
// class only.
func (o *TrainOptions) referenceOf(p *model.Parts, f *tune.Found, d *rowset.Set) (*calibrate.Reference, error) {
	t, rows, source := d.Table, f.TestRows, "the test part"
	switch {
	case f.TestRows != nil:
	case o.Test != nil:
		t, source = rowset.Of(o.Test).Table, "the test file"
	case o.Validation != nil:
		t, source = rowset.Of(o.Validation).Table, "the validation file"
	default:
		return nil, nil
	}
	if f.TestRows == nil {
		rows = t.Labelled()
	}
	scorer := feature.Scorer{Map: feature.MapOf(p.Features), Weights: p.Weights, Offset: p.Offset}
	z := make([]float64, len(rows))
	for i, row := range rows {
		var err error
		if z[i], err = scorer.Score(t, row); err != nil {
			return nil, err
		}
	}
	return calibrate.NewReference(z, o.Seed, source), nil
}

// trainedEntries returns the chosen model, and a model without operating points for the best setting of each
// learner on each encoding.
func trainedEntries(f *tune.Found, chosen *model.Model, o TrainOptions, d *rowset.Set) ([]dataset.Entry, error) {
	entries := []dataset.Entry{{Name: "chosen", Model: chosen, Origin: &result.Origin{Kind: result.ChosenEntry, Estimate: f.Choice.Score}}}
	encodings := map[schema.Encoding]bool{}
	for i := range f.Entries {
		encodings[f.Entries[i].Task.Features] = true
	}
	for i := range f.Entries {
		e := &f.Entries[i]
		if e.Status != tune.Fitted {
			continue
		}
		parts := rowset.ModelParts(d, e.Map, e.W, o.Seed)
		parts.Offset = e.Offset
		parts.Members = []model.Member{trainedMember(&f.Candidates[e.Member.Candidate], &e.Member, o.Seed)}
		m, err := model.New(parts)
		if err != nil {
			return nil, err
		}
		from := &result.Origin{Kind: result.MethodEntry, Learner: e.Task.Learner, Encoding: e.Task.Features, Derived: e.Task.Derived,
			Estimate: f.Candidates[e.Member.Candidate].Estimate}
		if slices.Contains(tune.Baselines(), e.Task.Learner) {
			from.Kind = result.BaselineEntry
		}
		entries = append(entries, dataset.Entry{Name: entryName(e.Task, len(encodings) > 1), Model: m, Origin: from})
	}
	return entries, nil
}

// entryName returns "logistic", or "logistic/scorecard" for another encoding than raw if there are several.
func entryName(t tune.Task, several bool) string {
	if !several || t.Features == schema.Raw {
		return string(t.Learner)
	}
	name := string(t.Learner) + "/" + string(t.Features)
	if t.Derived {
		name += "/derived"
	}
	return name
}

// trainedMember returns the description of a member of the average that a model keeps.
func trainedMember(c *tune.Candidate, t *tune.Member, seed uint64) model.Member {
	m := model.Member{Problem: method.Problem{Method: c.Learner, Lambda: t.Lambda}, Anchor: t.Anchor, Blocks: t.Blocks, Share: t.Share,
		Folds: t.Folds, Settings: method.Settings{Solver: method.Solver(t.Solver), Iterations: t.Iterations, Seed: seed}}
	if c.Problem != nil {
		m.Problem = *c.Problem
		m.Lambda = t.Lambda
	}
	if m.Settings.Solver == method.Adam {
		m.Settings.Start, m.Settings.Minibatches = method.ZeroStart, 1
	}
	if m.Folds > 0 || c.Learner == method.Ramp || c.Learner == method.Boosting {
		return m // a mean of fits and boosting have no objective, and the ramp's has no lower bound
	}
	m.Evidence = &model.Evidence{Bounds: result.NewBounds(t.At.F, t.AtZero.F, t.Bound, false), Threshold: t.At.T}
	if t.Certified != nil {
		m.Evidence.ZeroIsOptimal = t.Certified.Zero.Answer()
	}
	return m
}

// newTraining returns the result of a search. Train adds the summary, warnings of the data and times.
func newTraining(f *tune.Found, o TrainOptions) result.Training {
	r := result.Training{
		Goal: f.Goal, Prevalence: f.Prevalence, Training: countsOf(f.Training), Calibration: someCounts(f.Calibration), Validation: someCounts(f.Validation),
		Test: someCounts(f.TestCounts), Folds: f.Folds, FoldRows: f.FoldRows, Criterion: f.Criterion.Text, Budgets: f.Criterion.Budgets,
		NotTried: untried(f), CrossValidation: f.Choice.Score, Choice: f.Choice.Choice, Why: choiceText(f), Threshold: f.Threshold.Value, ThresholdNote: thresholdText(f),
		Certified: f.Threshold.Certified, Delta: o.Delta, Expected: expectedOf(&f.Threshold), Price: f.Price, OverTime: f.Threshold.OverTime,
		OutOfFoldGoal: f.OutOfFold.Goal, OutOfFoldDecisions: f.OutOfFold.AtThreshold, Features: f.Map.Cols(), Seed: o.Seed,
		Unit: rowset.UnitOf(f.Units, len(f.Units.Of)), Value: o.Value, OutOfFoldValue: f.OutOfFold.Value, OutOfFoldProfit: f.OutOfFold.Profit,
		SecondsSearch: f.SecondsSearch, SecondsRefit: f.SecondsRefit,
	}
	switch {
	case f.Cancelled:
		r.Stopped = result.Cancelled
	case f.TimeUp:
		r.Stopped = result.TimeUp
	}
	if c := f.Threshold.Guarantee; c != nil {
		r.Order, r.Bound = &c.Order, &c.Bound
	}
	for i := range f.Candidates {
		r.Candidates = append(r.Candidates, candidateOf(&f.Candidates[i]))
	}
	for _, m := range f.Members {
		r.Members = append(r.Members, result.Member{Candidate: m.Candidate, Lambda: m.Lambda, Share: m.Share, Folds: m.Folds, SecondsFit: m.Seconds})
	}
	if f.Choice.Reference >= 0 {
		r.Reference = &f.Choice.Reference
	}
	if f.Test != nil {
		r.TestGoal, r.TestDecisions, r.TestValue, r.TestProfit = &f.Test.Goal, &f.Test.AtThreshold, f.Test.Value, f.Test.Profit
	}
	if trend := f.Threshold.OverTime; trend != nil {
		if drift := rowset.DriftWarning(*trend, f.Threshold.Population); drift != nil {
			r.Warnings = append(r.Warnings, *drift)
		}
	}
	return r
}

func countsOf(c tune.Counts) result.Counts {
	return result.Counts{Rows: c.Rows(), Positives: c.Positives}
}

// someCounts returns the counts of a part, nil if it has no rows.
func someCounts(c tune.Counts) *result.Counts {
	if c.Rows() == 0 {
		return nil
	}
	counts := countsOf(c)
	return &counts
}

func candidateOf(c *tune.Candidate) result.Candidate {
	r := result.Candidate{Encoding: c.Features, Problem: method.Problem{Method: c.Learner, Lambda: c.Lambda}, Status: string(c.Status),
		Derived: c.Derived, Reason: c.Reason, Constant: c.Constant, ZeroIsOptimal: c.ZeroOptimal, SecondsFit: c.Seconds}
	if c.Problem != nil {
		r.Problem = *c.Problem
	}
	if c.Anchor > 0 {
		r.Anchor = &c.Anchor
	}
	if c.Trees > 0 {
		r.Trees = &c.Trees
	}
	if c.Bytes > 0 {
		r.Bytes = &c.Bytes
	}
	if c.Status == tune.Fitted {
		r.CrossValidation = &c.Estimate
	}
	return r
}

// expectedOf returns the expected rate of a threshold on new rows.
func expectedOf(t *tune.Threshold) result.Expected {
	e := result.NewExpected(t.Expected, t.Refitted)
	e.Scheme, e.Population, e.Rows, e.Approximate = result.Scheme(t.Scheme), t.Population.String(), t.Rows, t.Approximate
	return e
}
