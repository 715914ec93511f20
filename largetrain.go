package toptau

import (
	"context"
	"fmt"
	"slices"
	"time"

	"toptau/diag"
	"toptau/internal/large"
	"toptau/internal/text"
	"toptau/internal/tune"
	"toptau/result"
)

// notLarge is the error for what needs all rows in memory.
func notLarge(param string) error {
	return &diag.Error{Kind: diag.Usage, Param: param, Found: "with rows that do not fit into memory",
		Expected: "rows that do, or a run without it", Hint: "a sample of the rows may be enough"}
}

// checkLarge refuses options that need all rows in memory.
func (o *TrainOptions) checkLarge(d *Data) error {
	for _, refused := range []struct {
		param string
		set   bool
	}{
		{"validation", o.Validation != nil}, {"test", o.Test != nil}, {"calibration", o.Calibration != nil}, {"out-of-fold", o.OutOfFold},
		{"entity", o.Entity != ""}, {"value", o.Value != ""}, {"label-delay", o.LabelDelay != 0}, {"time", d.table.Time != nil},
		{"learning-curve", o.LearningCurve}, {"weight", d.table.Weight != nil},
	} {
		if refused.set {
			return notLarge(refused.param)
		}
	}
	if o.KeepAll {
		return &diag.Error{Kind: diag.Usage, Found: "a comparison on rows that do not fit into memory", Expected: "rows that do",
			Hint: "a sample of the rows may be enough"}
	}
	return nil
}

// trainLarge is Train on rows that do not fit into memory. It searches on a sample.
func trainLarge(ctx context.Context, d *Data, rows large.Rows, goal Goal, o TrainOptions) (*Trained, error) {
	start := time.Now()
	if err := o.checkLarge(d); err != nil {
		return nil, err
	}
	options, err := o.searchOptions(goal)
	if err != nil {
		return nil, err
	}
	if options.ClassWeight, err = weightOfPositives(o.ClassWeight, d); err != nil {
		return nil, err
	}
	found, err := large.Train(ctx, rows, large.Options{Search: options, Rows: o.SampleRows})
	if err != nil {
		return nil, d.inFile(err)
	}
	searched := *d.onTable(found.Sample.Table) // the counts are those of all rows
	searched.rows = nil
	counts := tune.CountClasses(found.Sample.Table.Label)
	sampled := searched // with its own counts
	sampled.info.Rows, sampled.info.Positives, sampled.info.Negatives = counts.Rows(), counts.Positives, counts.Negatives
	trained := &Trained{Result: newTraining(found.Found, o), data: &sampled, heldOut: found.HeldOut.Units}
	if trained.Model, err = trainedModel(found.Found, o, &searched); err != nil {
		return nil, err
	}
	r := &trained.Result
	r.Sample = someCounts(counts)
	for j, n := range found.Fitted {
		if n != r.Training.Rows {
			r.Members[j].Rows = n
		}
	}
	if r.Size, err = searched.modelSize(trained.Model); err != nil {
		return nil, err
	}
	leaks := tune.Leaks(searched.table)
	r.Warnings = slices.Concat(leakWarnings(leaks), d.warnings(), sampleWarnings(found, r), r.Warnings)
	r.Summary = trainSummary(found.Found, o, &searched, trained.Model, leaks, len(r.Warnings))
	r.SecondsRead = d.seconds
	r.Seconds = d.seconds + time.Since(start).Seconds()
	return trained, nil
}

// sampleWarnings are the warnings of a search on a sample, without those that all rows answer.
func sampleWarnings(f *large.Trained, r *result.Training) []diag.Warning {
	var list []diag.Warning
	for _, w := range f.Warnings {
		if w.Code != "folds-are-samples" && w.Code != "budget-below-one-row" {
			list = append(list, w)
		}
	}
	sampled := 0
	for _, m := range r.Members {
		if m.Rows > 0 {
			sampled++
		}
	}
	if r.Sample.Rows < r.Training.Rows {
		words := "searched on a sample of " + text.Count(r.Sample.Rows) + " of " + text.Count(r.Training.Rows) + " training rows"
		switch {
		case sampled == 0:
			words += "; the chosen model was fitted to all"
		case sampled == len(r.Members):
			words += "; the chosen model keeps its fit to the sample"
		default:
			words += fmt.Sprintf("; %d of the %d members keep their fit to the sample", sampled, len(r.Members))
		}
		list = append(list, diag.Warning{Code: "searched-a-sample", Text: words})
	}
	return list
}
