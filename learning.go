package toptau

import (
	"context"
	"fmt"
	"slices"

	"toptau/dataset"
	"toptau/diag"
	"toptau/internal/training/rowset"
	"toptau/internal/training/tune"
	"toptau/measure"
	"toptau/method"
	"toptau/result"
	"toptau/schema"
)

// The parts of a learning curve. Each model has twice the rows of the one before. Chosen by hand (a change moves results).
const (
	learningHalvings  = 3      // the smallest part is an eighth of the rows
	learningPositives = 30     // parts with fewer positives are left out
	learningTest      = 0.25   // fraction of the rows that measures the models, without a test part
	learningStream    = 0x6c63 // "lc" in ASCII
)

// learningCurve fits the learners and encodings of the chosen model to an eighth, a quarter, half and all of the
// rows, each in the way of Train, and measures all models on the same other rows: the test part or, without
// one, a quarter of d.
func learningCurve(ctx context.Context, d *rowset.Set, found *tune.Found, o TrainOptions, t *Trained) ([]result.LearningPoint, error) {
	rest, test, err := learningRows(d, found, o.Seed, rowset.Of(t.Test))
	if err != nil {
		return nil, err
	}
	sizes, err := halvings(rest, o.Seed^learningStream)
	if err != nil {
		return nil, err
	}
	options := TrainOptions{Surrogate: o.Surrogate, Scale: o.Scale, Impute: o.Impute, ClassWeight: o.ClassWeight, Folds: o.Folds,
		Validation: o.Validation, Entity: o.Entity, Value: o.Value, NoFingerprints: true, NoProfile: true, Seed: o.Seed}
	options.Method, options.Encoding = chosenTasks(found)
	var entries []dataset.Entry
	for i, part := range sizes {
		if o.Progress != nil {
			o.Progress(result.Progress{Stage: "learning curve", Done: i, Of: len(sizes), Fraction: float64(i) / float64(len(sizes)), Usable: true})
		}
		trained, err := Train(ctx, rowset.Wrap(part).(*dataset.Data), found.Goal, options)
		if err != nil {
			return nil, err
		}
		entries = append(entries, dataset.Entry{Name: fmt.Sprint(part.Len()), Model: trained.Model})
	}
	e, err := measure.Evaluate(context.WithoutCancel(ctx), rowset.Wrap(test).(*dataset.Data), entries,
		measure.Options{Goal: found.Goal, Against: entries[len(entries)-1].Name,
			Entity: o.Entity, Value: o.Value, Seed: o.Seed})
	if err != nil {
		return nil, err
	}
	points := make([]result.LearningPoint, len(sizes))
	for i, part := range sizes {
		points[i] = result.LearningPoint{Counts: result.Counts{Rows: part.Len(), Positives: part.Positives()},
			TestRows: test.Len(), Value: e.Entries[i].Goal.Value, Difference: e.Entries[i].Difference}
	}
	return points, nil
}

// learningRows returns the rows that train the models of a learning curve, and those that measure them.
func learningRows(d *rowset.Set, found *tune.Found, seed uint64, given *rowset.Set) (rest, test *rowset.Set, err error) {
	switch {
	case found.TestRows != nil:
		rest, err = d.SelectRows(found.Rows)
		return rest, given, err
	case given != nil:
		return d, given, nil
	}
	parts, err := cutOf(d, seed, 1-learningTest, learningTest)
	if err != nil {
		return nil, nil, err
	}
	if rest, err = d.SelectRows(parts[0]); err != nil {
		return nil, nil, err
	}
	test, err = d.SelectRows(parts[1])
	return rest, test, err
}

// halvings returns parts of the rows, the smallest first, each with half of the rows of the next one.
func halvings(rows *rowset.Set, seed uint64) ([]*rowset.Set, error) {
	sizes := []*rowset.Set{rows}
	for len(sizes) <= learningHalvings {
		last := sizes[len(sizes)-1]
		parts, err := cutOf(last, seed, 0.5, 0.5)
		if err != nil {
			return nil, err
		}
		half, err := last.SelectRows(parts[0])
		if err != nil {
			return nil, err
		}
		if half.Positives() < learningPositives {
			break
		}
		sizes = append(sizes, half)
	}
	slices.Reverse(sizes)
	return sizes, nil
}

// chosenTasks returns the learners and encodings of the chosen model.
func chosenTasks(f *tune.Found) (learners []method.Name, encodings []schema.Encoding) {
	for _, m := range f.Members {
		c := &f.Candidates[m.Candidate]
		if !slices.Contains(learners, c.Learner) {
			learners = append(learners, c.Learner)
		}
		if !slices.Contains(encodings, c.Features) {
			encodings = append(encodings, c.Features)
		}
	}
	return learners, encodings
}

// cutOf divides the rows of d by the rules of tune.Cut, without order in time.
func cutOf(d *rowset.Set, seed uint64, shares ...float64) ([][]int, error) {
	units, err := d.RowUnits()
	if err != nil {
		return nil, err
	}
	cut := tune.Cut{Shares: shares, Seed: seed, Copies: units.Of}
	if d.Table.Group != nil {
		cut.Group = d.Table.Group.Values
	}
	parts, err := cut.Divide(d.Table.Label)
	if err != nil {
		return nil, err
	}
	for _, rows := range parts {
		if n := tune.CountRows(d.Table.Label, rows); n.Positives == 0 || n.Negatives == 0 {
			return nil, &diag.Error{Kind: diag.Data, File: d.Table.File, Found: n.String() + " in a part of the learning curve",
				Expected: "rows of both classes"}
		}
	}
	return parts, nil
}
