package toptau

import (
	"context"
	"slices"
	"time"

	"toptau/calibrate"
	"toptau/dataset"
	"toptau/internal/core/evidence"
	"toptau/internal/core/heldout"
	"toptau/internal/models/feature"
	"toptau/internal/models/profiles"
	"toptau/internal/training/leakage"
	"toptau/internal/training/ranked"
	"toptau/internal/training/rowset"
	"toptau/internal/training/summary"
	"toptau/internal/training/tune"
	"toptau/metric"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
)

func init() { ranked.OfTraining = func(t any) *ranked.Training { return t.(*Trained).state } }

// Train chooses a model for a goal and fits it.
//
//  1. It sets test and calibration rows aside, before it encodes, fits or chooses anything.
//  2. It divides the other rows into folds: by Format.Group or Format.Time if the data have such a column. Copies of a row stay together.
//  3. It fits every learner on every encoding within the folds, over a grid of settings. It compares them by
//     the mean fraction of positives found at budgets around the goal's.
//  4. It averages the best with up to two others if that is better, the boosters also with leaves of random trees. It keeps logistic
//     regression on raw columns unless the gain over it exceeds the gain's standard error.
//  5. It fits the choice again, as one linear model.
//
// All rows train, and all that the budget or recall counts give the threshold: each has the score of a fit that left it out, transferred
// to the model's scale. The expected rate on new rows is the goal's. For rows with a time, entities or weights, for methods of the paper
// on encodings with trees, and where they have more than 200 within the budget, 15 % of the rows are held out for the threshold instead,
// before anything is fitted. Where these would be too few, and for a lowest precision, fits in other folds score the rows. With Delta,
// the threshold is the exact order statistic of calibration rows, and certified. If there are too few of them to certify the goal, Train
// fits nothing and returns an error that matches diag.ErrNoGuarantee.
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
	trained := &Trained{Result: newTraining(found, o), Test: o.Test, state: &ranked.Training{Data: s.shown, HeldOut: found.HeldOut.Units,
		Mass: found.Mass}}
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
	r.Summary, trained.state.Claim = trainSummary(found, o, d, trained.Model, leaks, len(r.Warnings))
	r.SecondsRead = s.seconds
	r.Seconds = s.seconds + time.Since(start).Seconds()
	return trained, nil
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
	m.Points = []model.Point{{Name: "goal", Threshold: f.Threshold.Value, Goal: f.Goal, Source: summary.Threshold(f)}}
	if u := f.Units; u.Column != "" {
		m.Points[0].Entity = u.Column
		if u.Daily {
			m.Points[0].Day = d.Table.Time.Name
		}
	}
	m.Points[0].Guarantee = f.Threshold.Threshold.CertifiedGuarantee(f.CalibrationUnits.Negatives)
	m.Points[0].UpTo = f.Threshold.Threshold.UpTo()
	m.Points[0].Negatives = heldout.BestNegatives(f.Negatives, evidence.KeptNegatives)
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
	return heldout.NewReference(z, o.Seed, source), nil
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

// newTraining returns the result of a search. Train adds the summary, warnings of the data and times.
func newTraining(f *tune.Found, o TrainOptions) result.Training {
	r := result.Training{
		Goal: f.Goal, Prevalence: f.Prevalence, Training: countsOf(f.Training), Calibration: someCounts(f.Calibration),
		Validation: someCounts(f.Validation),
		Test:       someCounts(f.TestCounts), Folds: f.Folds, FoldRows: f.FoldRows, Criterion: f.Criterion.Text, Budgets: f.Criterion.Budgets,
		NotTried: summary.Untried(f), CrossValidation: f.Choice.Score, Choice: f.Choice.Choice, Why: summary.Choice(f),
		Threshold: f.Threshold.Value, ThresholdNote: summary.Threshold(f),
		Certified: f.Threshold.Certified, Delta: o.Delta, Expected: summary.Expected(&f.Threshold), Price: f.Price,
		OverTime:      f.Threshold.OverTime,
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
		r.Members = append(r.Members, result.Member{Candidate: m.Candidate, Lambda: m.Lambda, Share: m.Share, Folds: m.Folds,
			SecondsFit: m.Seconds})
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
