package toptau

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"toptau/diag"
	"toptau/internal/feature"
	"toptau/internal/table"
	"toptau/internal/tune"
	"toptau/method"
	"toptau/metric"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
	"toptau/threshold"
)

// TrainOptions are the choices of Train. The zero value is the default that holds.
type TrainOptions struct {
	// Learners: logistic, svm, ramp and the eight methods; nil: logistic, ramp and the convex methods for the goal's criterion.
	Methods   []string
	Features  []string // encodings: raw, scorecard, leaves, scorecard+leaves; nil: the first three
	Surrogate string   // of the methods: "" or "hinge", "squared-hinge", "logistic"
	Scale     string   // "" or "standard", "all", "none"
	Impute    string   // "" or "error", "median", "zero", "indicator"

	Folds      int            // of the cross-validation; 0: 3, or 5 for fewer than 3,000 rows
	Validation *Data          // rows that choose instead of a cross-validation; read with ReadLike
	Test       *Data          // rows that measure what was chosen; read with ReadLike
	TestShare  threshold.Rate // keeps this share of the rows as the test part; unset: none

	Delta     threshold.Rate // a threshold with a guarantee that may fail with this probability; unset: a plain one
	OutOfFold bool           // with Delta: the order statistic of the out-of-fold scores, on no rows of its own; not certified

	Calibration      *Data          // rows that give the threshold and nothing else; read with ReadLike
	CalibrationShare threshold.Rate // of the rows that the budget counts, set aside for the threshold; unset: as many as pay

	Prevalence threshold.Rate // the share of positives that the summary assumes; unset: that of the rows
	MaxTime    time.Duration  // after which the best so far is returned; 0: no limit
	Seed       uint64
	Progress   func(Progress)

	NoFingerprints bool // keep no hashes of training rows in the model

	// KeepAll also fits the best setting of every learner and encoding, and of the baselines, to the training rows: see
	// Trained.All.
	KeepAll bool
}

// Trained is a chosen model with its report.
type Trained struct {
	Model  *model.Model
	Report TrainReport
	Test   *Data // the rows that were set aside, or TrainOptions.Test; nil: none

	// All has the chosen model and, with KeepAll, the best setting of every learner and encoding. The others have no operating
	// points.
	All []Entry
}

// Train chooses a model for a goal and fits it.
//
// Test and calibration rows, if asked for, are set aside before anything is encoded, fitted or chosen. The others are
// divided into folds, stratified, by group or by time. Every learner is fitted on every encoding of the columns within the
// folds, over a grid of settings, and judged by the mean share of positives that it finds at budgets around the goal's. The
// best is averaged with up to two others where that is better; logistic regression on the columns as they are is kept
// unless the gain over it exceeds its standard error. What is chosen is fitted again, as one linear model.
//
// The threshold comes from scores of the model on rows that it did not see. Where the rows abound, some are held out for it
// before anything is fitted; otherwise what is chosen is fitted in ten folds, and each row is scored by a fit without it.
// The expected rate on new rows is at most the goal's. With Delta the threshold is the exact order statistic on calibration
// rows: certified. When these cannot certify the goal, nothing is fitted and the error is of kind diag.Guarantee.
//
// A context that ends leaves the best so far.
func Train(ctx context.Context, d *Data, goal metric.Goal, o TrainOptions) (*Trained, error) {
	start := time.Now()
	options, err := o.search(goal)
	if err != nil {
		return nil, err
	}
	data, seconds := d.parts(o.Validation, o.Test, o.Calibration)
	found, err := tune.Search(ctx, data, options)
	if err != nil {
		return nil, err
	}
	trained := &Trained{Report: newTrainReport(found, o, d)}
	if trained.Model, err = trainedModel(found, o, d); err != nil {
		return nil, err
	}
	r := &trained.Report
	leaks := tune.Leaks(d.table)
	r.Warnings = append(leakWarnings(leaks), r.Warnings...)
	facts := trainFacts(found, o, d, trained.Model, len(r.Warnings))
	facts.Leaks = leaks
	r.Summary = summary(facts)
	if trained.Test = o.Test; found.TestRows != nil {
		trained.Test = d.selectRows(found.TestRows)
	}
	if trained.All, err = allEntries(found, trained.Model, o, d); err != nil {
		return nil, err
	}
	r.SecondsRead = seconds
	r.Seconds = seconds + time.Since(start).Seconds()
	return trained, nil
}

// parts joins the rows to divide with the parts that have a file of their own (nil: none), and adds up what reading took.
func (d *Data) parts(validation, test, calibration *Data) (data tune.Data, seconds float64) {
	data = tune.Data{Table: d.table, Schema: d.info.Schema}
	seconds = d.seconds
	if validation != nil {
		data.Validation = validation.table
		seconds += validation.seconds
	}
	if test != nil {
		data.Test = test.table
		seconds += test.seconds
	}
	if calibration != nil {
		data.Calibration = calibration.table
		seconds += calibration.seconds
	}
	return data, seconds
}

// ReadLike reads a further file as d was read: for validation and test parts of their own.
func ReadLike(d *Data, path string, f Format) (*Data, error) {
	o := table.Options{Format: f, Schema: &d.info.Schema}
	if o.LabelsFile == "" && d.info.Schema.Label == nil && d.info.Format == schema.CSV {
		return nil, &diag.Error{Kind: diag.Usage, File: path, Found: "labels in a file of their own",
			Expected: "one labelled file", Hint: "put the label into the file"}
	}
	return read(path, o)
}

// search turns the options into those of package tune.
func (o *TrainOptions) search(goal metric.Goal) (tune.SearchOptions, error) {
	t := tune.SearchOptions{Goal: goal, KeepAll: o.KeepAll, Feature: featureOptions("", o.Scale, o.Impute, o.Seed), Folds: o.Folds,
		TestShare: o.TestShare, Delta: o.Delta, OutOfFold: o.OutOfFold, CalibrationShare: o.CalibrationShare, MaxTime: o.MaxTime, Seed: o.Seed}
	if o.Folds > 0 && o.Validation != nil {
		return t, &diag.Error{Kind: diag.Usage, Found: "--folds and --validation", Expected: "one of them"}
	}
	if !o.TestShare.IsZero() && o.Test != nil {
		return t, &diag.Error{Kind: diag.Usage, Found: "--test-share and --test", Expected: "one of them"}
	}
	if share := !o.CalibrationShare.IsZero(); o.Calibration != nil && (o.OutOfFold || share) || o.OutOfFold && share {
		return t, &diag.Error{Kind: diag.Usage, Found: "two of --calibration, --calibration-share and --calibrate out-of-fold",
			Expected: "one of them"}
	}
	for _, name := range o.Methods {
		t.Learners = append(t.Learners, method.Name(name))
	}
	for _, name := range o.Features {
		t.Features = append(t.Features, feature.Encode(name))
	}
	var err error
	if t.Surrogate, err = surrogateOf(o.Surrogate); err != nil {
		return t, err
	}
	if o.Progress != nil {
		t.Progress = func(p tune.Progress) {
			o.Progress(Progress{Share: p.Share, Text: fmt.Sprintf("%s: %d of %d learners and encodings", p.Stage, p.Done, p.Of), Usable: p.Usable})
		}
	}
	return t, nil
}

// trainedModel makes the artefact of what was found.
func trainedModel(f *tune.Found, o TrainOptions, d *Data) (*model.Model, error) {
	m := modelParts(d, f.Map, f.W, o.Seed)
	m.Offset = f.Offset
	if !o.NoFingerprints {
		var validation *table.Table
		if o.Validation != nil {
			validation = o.Validation.table
		}
		m.Fingerprints = fingerprints(f.Map, d.table, f.Rows, validation)
	}
	m.Points = []model.Point{{Name: "goal", Threshold: f.Threshold.Value, Goal: f.Goal, Source: thresholdText(f)}}
	if c := f.Threshold.Calibrated; c != nil {
		m.Points[0].Guarantee = guaranteeOf(c, f.Calibration.Negatives)
	}
	for i := range f.Members {
		m.Members = append(m.Members, trainedMember(f, &f.Members[i], o.Seed))
	}
	return model.New(m)
}

// allEntries returns the chosen model and the entries of the search.
func allEntries(f *tune.Found, chosen *model.Model, o TrainOptions, d *Data) ([]Entry, error) {
	list := []Entry{{Name: "chosen", Model: chosen, origin: &origin{kind: result.ChosenEntry, estimate: f.Choice.Score}}}
	encodings := map[feature.Encode]bool{}
	for i := range f.Entries {
		encodings[f.Entries[i].Task.Features] = true
	}
	for i := range f.Entries {
		e := &f.Entries[i]
		if e.Status != tune.Fitted {
			continue
		}
		parts := modelParts(d, e.Map, e.W, o.Seed)
		parts.Offset, parts.Members = e.Offset, []model.Member{trainedMember(f, &e.Member, o.Seed)}
		m, err := model.New(parts)
		if err != nil {
			return nil, err
		}
		from := &origin{kind: result.MethodEntry, task: e.Task, estimate: f.Candidates[e.Candidate].Estimate}
		if slices.Contains(tune.Baselines(), e.Task.Learner) {
			from.kind = result.BaselineEntry
		}
		list = append(list, Entry{Name: entryName(e.Task, len(encodings) > 1), Model: m, origin: from})
	}
	return list, nil
}

// entryName returns "logistic" for raw columns and "logistic/scorecard" for other encodings, if there are several.
func entryName(t tune.Task, several bool) string {
	if !several || t.Features == feature.EncodeRaw {
		return string(t.Learner)
	}
	return string(t.Learner) + "/" + string(t.Features)
}

// trainedMember describes a member of the average.
func trainedMember(f *tune.Found, t *tune.Member, seed uint64) model.Member {
	c := &f.Candidates[t.Candidate]
	m := model.Member{Problem: method.Problem{Method: c.Learner, Lambda: t.Lambda}, Anchor: t.Anchor, Blocks: t.Blocks,
		Share: t.Share, Solver: method.Settings{Solver: method.Solver(t.Solver), Iterations: t.Iterations, Seed: seed}}
	if c.Problem != nil {
		h := c.Problem
		m.Surrogate, m.Tau, m.Beta, m.K = h.Surrogate, h.Tau, h.Beta, h.K
	}
	if t.Solver == "adam" {
		m.Solver.Start, m.Solver.Minibatches = "zero", 1
	}
	if m.Folds = t.Folds; m.Folds > 0 || c.Learner == method.Ramp {
		return m // a mean of fits has no objective; the ramp's is no bound of anything, and w = 0 is not where it starts
	}
	m.Certificate = &model.Certificate{Objective: t.At.F, ObjectiveAtZero: t.AtZero.F, LowerBound: t.Bound, Threshold: t.At.T}
	if t.Bound != nil {
		gap := (t.At.F - *t.Bound) / max(t.At.F, 0.01)
		m.Certificate.RelativeGap = &gap
		if possible := t.AtZero.F - *t.Bound; possible > 0 {
			share := (t.At.F - *t.Bound) / possible
			m.Certificate.GapOfDecrease = &share
		}
	}
	if t.Certified != nil {
		m.Certificate.ZeroIsOptimal = t.Certified.Zero.Answer()
	}
	return m
}

// trainFacts is what the summary is made from: the test part where there is one, else the out-of-fold scores.
func trainFacts(f *tune.Found, o TrainOptions, d *Data, m *model.Model, warnings int) summaryFacts {
	goal, _ := m.Point("")
	facts := summaryFacts{Goal: f.Goal, Delta: o.Delta, Guarantee: goal.Guarantee, Warnings: warnings,
		Decisions: f.OutOfFold.AtThreshold, Basis: "out-of-fold scores of the rows that chose the model"}
	if o.Validation != nil {
		facts.Basis = "the validation part, which chose the model"
	}
	if f.Test != nil {
		facts.Decisions, facts.Basis = f.Test.AtThreshold, "the test part"
		facts.Measured = true
	}
	if t := &f.Threshold; !t.Certified && t.Calibrated != nil {
		facts.NoGuarantee = "the threshold rests on out-of-fold scores, of rows that also chose the model"
	}
	facts.Expected = expectedOf(&f.Threshold)
	if facts.PrevalenceGiven = !o.Prevalence.IsZero(); facts.PrevalenceGiven {
		facts.Prevalence = o.Prevalence.Float64()
	} else if facts.Prevalence = float64(d.Positives()) / float64(d.info.Positives+d.info.Negatives); d.table.Weight != nil {
		total, positive := d.masses()
		facts.Prevalence = positive / total
	}
	names := make([]string, len(f.Members))
	for i := range f.Members {
		c := &f.Candidates[f.Members[i].Candidate]
		names[i] = fmt.Sprintf("%s on %s", learnerWords(c.Learner), c.Features)
	}
	facts.Chosen = strings.Join(names, " with ")
	if len(names) > 1 {
		facts.Chosen = "the average of " + strings.Join(names, ", ")
	}
	if gain := f.Choice.Gain; gain != nil && !f.Choice.Guarded {
		facts.Gain = &summaryGain{Difference: gain.Mean, Error: gain.StandardError,
			Basis: "in the " + f.Criterion.Text + ", in cross-validation"}
	}
	return facts
}

// learnerWords names a learner as people do.
func learnerWords(name method.Name) string {
	switch name {
	case method.Logistic:
		return "logistic regression"
	case method.SVM:
		return "a support vector machine"
	case method.Ramp:
		return "the anchored top loss"
	}
	if m, err := method.ByName(name); err == nil {
		return m.Title
	}
	return string(name)
}
