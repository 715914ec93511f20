package large

import (
	"context"
	"fmt"
	"math"
	"slices"

	"toptau/diag"
	"toptau/internal/core/certified"
	"toptau/internal/core/heldout"
	"toptau/internal/core/matrix"
	"toptau/internal/core/ranking"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/internal/training/tune"
	"toptau/method"
	"toptau/model"
	"toptau/schema"
	"toptau/threshold"
)

// Options are the options of Train.
type Options struct {
	Search tune.SearchOptions // of the search on the sample; the parts are made here
	Rows   int                // of the sample; 0: DefaultSample
	Copies *tune.Copies       // that all rows have; nil: not known, so that the sample decides
}

// DefaultSample is the number of rows of the search's sample. The folds of a search have fewer.
const DefaultSample = 200_000

// Trained is the model that Train chose.
type Trained struct {
	*tune.Found
	Sample *Sample // the rows of the search, among those of the training part
	// Fitted has the number of rows that each member was fitted to.
	Fitted      []int
	Calibration Part
	Test        Part // From == To: none
	Training    Part
}

// Parts of the rows for a plain threshold.
const (
	calibrationBudget = 1000 // rows within the budget beyond which more bring little: the rate then varies by 3 %
	maxCalibration    = 0.25 // of the rows
)

// Train searches for a model on a sample in memory (tune.Search), fits the chosen members with a certificate again to
// all rows of the training part, and takes the threshold from all rows of the calibration part and the final
// measurement from all rows of the test part. If the sample has all rows outside the test part, tune.Search itself takes the threshold, from all
// rows where it can. Members without a certificate, and those whose encoding the rows cannot
// compute where they are, keep the fit to the sample. Boosted trees on all rows found no more positives (decision 9). Parts are
// made by hash, so they share no group.
//
// Errors of kind diag.Guarantee: with SearchOptions.Delta, if the rows cannot give the guarantee. Then nothing is fitted.
func Train(ctx context.Context, rows Rows, o Options) (*Trained, error) {
	t := &training{rows: rows, options: o.Search, size: o.Rows, copies: o.Copies}
	if t.size == 0 {
		t.size = DefaultSample
	}
	if r, limits := rows.(interface{ SampleSize(rows int) int }); limits {
		t.size = r.SampleSize(t.size)
	}
	if err := t.divide(ctx); err != nil {
		return nil, err
	}
	if err := t.search(ctx); err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx) // what was found is completed, as by tune.Search
	if err := t.refit(ctx); err != nil {
		return nil, err
	}
	return &t.out, t.measure(ctx)
}

// training is the state of Train.
type training struct {
	rows    Rows
	options tune.SearchOptions
	size    int
	held    *table.Table // the sample of the calibration part
	alone   bool         // the sample has all rows outside the test part, and the search sets the threshold
	whole   [2]float64   // masses of all negatives and positives
	copies  *tune.Copies
	out     Trained

	measured *feature.Measured // of the training part; nil: no member needed it
}

func (t *training) of() method.Population { return t.options.Goal.Population() }

// divide makes the parts: test, calibration and training rows, in the order of their hashes.
func (t *training) divide(ctx context.Context) error {
	o := &t.options
	positives, negatives, err := t.rows.Count(ctx, All())
	if err != nil {
		return err
	}
	t.whole = [2]float64{negatives.Mass, positives.Mass}
	test := int(math.Round(float64(o.TestFraction.Float64() * Buckets)))
	n := negatives.Rows
	if t.of() == method.AllRows {
		n += positives.Rows
	}
	calibration := 0
	if t.alone, err = t.fitsSample(ctx, Part{From: test, To: Buckets}); err != nil {
		return err
	}
	if !t.alone {
		n -= int(float64(n) * o.TestFraction.Float64())
		share, err := t.calibrationShare(n)
		if err != nil {
			return err
		}
		calibration = int(math.Ceil(share * float64(Buckets-test)))
	}
	t.out.Test, t.out.Calibration = Part{To: test}, Part{From: test, To: test + calibration}
	t.out.Training = Part{From: test + calibration, To: Buckets}
	if t.of() == method.Negatives && t.rows.Schema().Group == "" {
		t.out.Training.Positives = calibration // the threshold needs negatives only, so training loses no positive
	}
	return nil
}

// fitsSample reports whether the search can have all rows of a part and set the threshold: one without a guarantee, of no requested fraction.
func (t *training) fitsSample(ctx context.Context, p Part) (bool, error) {
	if !t.options.Delta.IsZero() || !t.options.CalibrationFraction.IsZero() {
		return false, nil
	}
	positives, negatives, err := t.rows.Count(ctx, p)
	return positives.Rows+negatives.Rows <= t.size, err
}

// calibrationShare returns the fraction of the rows for the threshold, of n rows that the budget counts.
func (t *training) calibrationShare(n int) (float64, error) {
	o, tau := &t.options, t.options.Goal.Tau()
	share := maxCalibration
	needed := 1
	switch {
	case tau.IsZero():
	case o.Delta.IsZero():
		share = min(share, math.Ceil(calibrationBudget/tau.Float64())/float64(max(1, n)))
	default:
		size, err := heldout.Size(n, tau, o.Delta)
		if err != nil {
			return 0, err
		}
		if needed, err = heldout.Needed(tau, o.Delta); err != nil {
			return 0, err
		}
		// Parts are made by hash. Three standard deviations more are almost always enough for the order statistic.
		share = min(0.9, (float64(size)+float64(3*math.Sqrt(float64(size))))/float64(max(1, n)))
	}
	if !o.CalibrationFraction.IsZero() {
		share = o.CalibrationFraction.Float64()
	}
	if most := int(share * float64(n)); most < needed {
		outside := ""
		if !o.TestFraction.IsZero() {
			outside = " outside the test part"
		}
		found := fmt.Sprintf("no guarantee: it needs %s rows for the threshold, and %s of the %s%s are %s",
			text.Count(needed), text.Percent(share), text.Count(n), outside, text.Count(most))
		return 0, &diag.Error{Kind: diag.Guarantee, Found: found,
			Hint: "get more rows, or leave delta out: the threshold then keeps the budget only on average"}
	}
	return share, nil
}

// search runs the search on a sample of the training part. A sample of the calibration part gives its thresholds.
func (t *training) search(ctx context.Context) error {
	sample, err := t.sample(ctx, t.out.Training, t.size)
	if err != nil {
		return err
	}
	held := &Sample{}
	if !t.alone {
		if held, err = t.sample(ctx, t.out.Calibration, max(1000, t.size/4)); err != nil {
			return err
		}
		if t.out.Training.Positives > 0 {
			held.Table = held.Table.OfClass(table.Negative)
		}
	}
	if !t.options.Delta.IsZero() && sample.Table.Group != nil {
		found := "no guarantee: several rows may belong to one entity (" + sample.Table.Group.Name + ") and are not independent"
		return &diag.Error{Kind: diag.Guarantee, Found: found,
			Hint: "leave delta out: the threshold then keeps the budget only on average"}
	}
	if err := t.refuseCopies(sample.Table); err != nil {
		return err
	}
	o := t.options
	if o.ClassWeight != 0 { // it is about all rows
		o.ClassWeight *= sample.Share[table.Positive] / sample.Share[table.Negative]
	}
	o.Whole = t.whole
	o.Delta, o.TestFraction, o.CalibrationFraction, o.OutOfFold = threshold.Rate{}, threshold.Rate{}, threshold.Rate{}, false
	found, err := tune.Search(ctx, tune.Data{Table: sample.Table, Schema: t.rows.Schema(), Calibration: held.Table}, o)
	if err != nil {
		return err
	}
	found.Warnings = slices.DeleteFunc(found.Warnings, func(w tune.Warning) bool { return w.Code == "copies" }) // of the sample
	if t.copies.Found() {
		found.Warnings = append(found.Warnings, CopiesWarning)
	}
	if !t.alone && t.options.Delta.IsZero() && t.options.CalibrationFraction.IsZero() {
		found.HeldBecause = "the search has a sample of the rows"
	}
	t.out.Found, t.out.Sample, t.held = found, sample, held.Table
	return nil
}

// CopiesWarning is about rows that are not in memory, where equal rows cannot be one unit.
var CopiesWarning = tune.Warning{Code: "copies", Text: "rows are copies of others, and each counts: copies of training rows are among those that " +
	"measure a model, so expect worse results on new rows"}

// AgainstCopies is why rows that are not in memory give no guarantee if there are copies among them.
const AgainstCopies = "rows are copies of others and are not independent"

// refuseCopies looks for copies in a sample if they are not known, and returns an error if they rule out a guarantee.
func (t *training) refuseCopies(sample *table.Table) error {
	if t.copies == nil {
		units, err := tune.RowUnits(sample.Frame())
		if err != nil {
			return err
		}
		t.copies = &units.Copies
	}
	if !t.copies.Found() || t.options.Delta.IsZero() {
		return nil
	}
	return &diag.Error{Kind: diag.Guarantee, Found: "no guarantee: " + AgainstCopies,
		Hint: "remove the copies, or leave delta out: the threshold then keeps the budget only on average"}
}

// sample returns rows of a part. If the goal is a fraction of all rows, the sample has both classes in the proportion
// of the part, because the search counts all rows, too.
func (t *training) sample(ctx context.Context, p Part, size int) (*Sample, error) {
	s, err := t.rows.Sample(ctx, p, size)
	if err != nil || t.of() == method.Negatives {
		return s, err
	}
	return s.Proportional(), nil
}

// refit fits the members with a certificate again, to all rows of the training part.
func (t *training) refit(ctx context.Context) error {
	f := t.out.Found
	if t.alone {
		t.out.Fitted = slices.Repeat([]int{f.Training.Rows()}, len(f.Members))
		return nil
	}
	positives, negatives, err := t.rows.Count(ctx, t.out.Training)
	if err != nil {
		return err
	}
	all := positives.Rows + negatives.Rows
	sampled := f.Training.Rows()
	f.Training = tune.Counts{Positives: positives.Rows, Negatives: negatives.Rows}
	t.out.Fitted = slices.Repeat([]int{sampled}, len(f.Members))
	if sampled == all {
		return nil
	}
	for j := range f.Members {
		m := &f.Members[j]
		problem := f.Candidates[m.Candidate].Problem
		if problem == nil || certified.Possible(*problem) != nil || m.Features == nil {
			continue
		}
		p := *problem
		p.Lambda = m.Lambda
		done, err := t.refitMember(ctx, j, p)
		if err != nil {
			return err
		}
		if done {
			t.out.Fitted[j] = all
		}
	}
	if slices.Max(t.out.Fitted) == sampled {
		return nil
	}
	return f.Rescore(t.held, "rows that were held out for the threshold")
}

// refitGap is the gap of a refitted member, that of the search's own last fits.
const refitGap = 1e-6

// refitMember solves the problem of a member on all rows of the training part. It returns false if the member keeps its
// fit to the sample: the rows cannot be encoded where they are, or the optimum is w = 0.
func (t *training) refitMember(ctx context.Context, j int, p method.Problem) (bool, error) {
	f := t.out.Found
	features, err := t.encoding(ctx, j)
	if err != nil {
		return false, err
	}
	source, err := t.rows.Source(ctx, t.out.Training, features, matrix.Float32, p.Definition().Population)
	keep := func(why string) (bool, error) {
		task := f.Candidates[f.Members[j].Candidate].Task
		f.Warnings = append(f.Warnings, tune.Warning{Code: "not-refitted", Text: fmt.Sprintf("%s keeps its fit to the sample: %s", task, why)})
		return false, nil
	}
	if e := diag.Of(err); e != nil && e.Kind == diag.Usage {
		return keep(e.Found)
	}
	if err != nil {
		return false, err
	}
	x, err := features.MatrixContext(ctx, t.out.Sample.Table, nil, matrix.Float32)
	if err != nil {
		return false, err
	}
	r, err := certified.SolveSource(ctx, source, p, certified.Options{Gap: refitGap, Sample: x})
	if err != nil {
		return false, err
	}
	if !slices.ContainsFunc(r.W, func(w float64) bool { return w != 0 }) {
		return keep("on all rows its optimum is w = 0")
	}
	f.Members[j].Features = features
	return true, f.Refit(j, tune.CertifiedFit(p, &r))
}

// encoding returns the encoding of a member, scaled as on all rows of the training part.
func (t *training) encoding(ctx context.Context, j int) (*feature.Map, error) {
	features := t.out.Found.Members[j].Features
	o := t.options.Feature
	if o.Encode = t.out.Found.Candidates[t.out.Found.Members[j].Candidate].Features; o.Encode != schema.Raw || features.Scale == schema.ScaleNone {
		return features, nil // nothing is scaled
	}
	if t.measured == nil {
		all, err := t.rows.Measure(ctx, t.out.Training, o)
		if err != nil {
			return nil, err
		}
		t.measured = all
	}
	return features.Rescaled(t.measured)
}

// measure takes the threshold from the calibration part, unless the search has set it, and measures the model on the test part.
func (t *training) measure(ctx context.Context) error {
	f, g := t.out.Found, t.out.Goal
	m, err := model.New(model.Parts{Schema: t.rows.Schema(), Features: f.Map, Weights: f.W, Offset: f.Offset})
	if err != nil {
		return err
	}
	if !t.alone {
		if err := t.setThreshold(ctx, m); err != nil {
			return err
		}
	}
	if t.out.Test.From == t.out.Test.To {
		return nil
	}
	scores, err := newCounted(ctx, t.rows, t.out.Test, m)
	if err != nil {
		return err
	}
	f.TestCounts = tune.Counts{Positives: scores.rows[table.Positive], Negatives: scores.rows[table.Negative]}
	if f.TestCounts.Positives == 0 || f.TestCounts.Negatives == 0 {
		return nil
	}
	measured, err := scores.measure(ctx, []ranking.Criterion{ranking.CriterionOf(g)}, []float64{f.Threshold.Value})
	if err != nil {
		return err
	}
	e := tune.Evaluation{Ranking: measured.Ranking}
	if e.Goal, err = measured.Ranking.Positives(ranking.CriterionOf(g)); err != nil {
		return err
	}
	e.AtThreshold, err = measured.Ranking.At(f.Threshold.Value, 0)
	f.Test = &e
	return err
}

// setThreshold takes the threshold from the calibration part.
func (t *training) setThreshold(ctx context.Context, m *model.Model) error {
	f, o := t.out.Found, &t.options
	c, err := Threshold(ctx, t.rows, t.out.Calibration, m, f.Goal, o.Delta)
	if err != nil {
		return err
	}
	f.Calibration = tune.Counts{Positives: c.All - c.Negatives, Negatives: c.Negatives}
	if t.of() == method.Negatives {
		f.Calibration.Positives = 0
	}
	f.CalibrationUnits = f.Calibration
	at := tune.Threshold{Threshold: *c.Threshold, Scheme: tune.SchemeHeldOut}
	if !o.Delta.IsZero() {
		at.Scheme, at.Certified = tune.SchemeCertified, true
	}
	f.Threshold, f.Scheme = at, at.Scheme
	f.Negatives = nil // those of the sample, scored by the model of the sample
	f.OutOfFold.AtThreshold = f.Among(f.Prevalence)
	f.OutOfFold.AtThreshold.Threshold = at.Value
	return nil
}
