package toptau

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"toptau/calibrate"
	"toptau/dataset"
	"toptau/diag"
	"toptau/internal/core/heldout"
	"toptau/internal/core/text"
	"toptau/internal/training/large"
	"toptau/internal/training/rowset"
	"toptau/internal/training/tune"
	"toptau/method"
	"toptau/metric"
	"toptau/result"
)

// searched is what the search of Train found.
type searched struct {
	*tune.Found
	data    *rowset.Set // the rows of the search in memory, with the counts of all rows
	shown   *rowset.Set // the same with their own counts
	seconds float64
	fitted  []int // of a search on a sample: the number of rows that each member was fitted to; nil: all
}

// search chooses and fits a model: on all rows if they fit into memory, otherwise on a sample of them. Then all rows fit the chosen
// members again, give the threshold and measure it, in passes.
func (o *TrainOptions) search(ctx context.Context, d *rowset.Set, goal metric.Goal) (*searched, error) {
	where := d.PlaceOfAll()
	if err := o.needs(d, goal).Check(where); err != nil {
		return nil, err
	}
	options, err := o.searchOptions(goal)
	if err != nil {
		return nil, err
	}
	if options.ClassWeight, err = weightOfPositives(o.ClassWeight, d); err != nil {
		return nil, err
	}
	if where != rowset.InMemory {
		return o.searchSample(ctx, d, options)
	}
	if d, err = o.prepared(d); err != nil {
		return nil, err
	}
	for _, part := range []**dataset.Data{&o.Validation, &o.Test, &o.Calibration} {
		if *part == nil {
			continue
		}
		rows, err := o.prepared(rowset.Of(*part))
		if err != nil {
			return nil, err
		}
		*part = rowset.Wrap(rows).(*dataset.Data)
	}
	data, seconds := o.searchData(d)
	found, err := tune.Search(ctx, data, options)
	return &searched{Found: found, data: d, shown: d, seconds: seconds}, err
}

// prepared returns rows in memory, with the entities as groups.
func (o *TrainOptions) prepared(d *rowset.Set) (*rowset.Set, error) {
	d, err := d.Loaded()
	if err != nil {
		return nil, err
	}
	return o.groupEntities(d)
}

// needs lists what a training can have of rows in memory only.
func (o *TrainOptions) needs(d *rowset.Set, goal metric.Goal) rowset.Needs {
	return rowset.Needs{}.Option("validation", o.Validation != nil).Option("test", o.Test != nil).Option("calibration", o.Calibration != nil).
		Option("out-of-fold", o.OutOfFold).Columns(d, o.Entity, o.Value).Option("label-delay", o.LabelDelay != 0).
		Option("time", d.Table.Time != nil).Option("learning-curve", o.LearningCurve).Goal(goal).Named("a comparison", o.KeepAll)
}

// searchSample is search for rows that do not fit into memory.
func (o *TrainOptions) searchSample(ctx context.Context, d *rowset.Set, options tune.SearchOptions) (*searched, error) {
	if why := rowset.RowsOnly.AgainstIDs(d.Table, options.Goal.Population(), true); why != "" && !options.Delta.IsZero() {
		return nil, &diag.Error{Kind: diag.Guarantee, Found: "no guarantee: " + why, Fixes: tune.IDFixes(d.Table)}
	}
	copies, err := d.CopiesInFile()
	if err != nil {
		return nil, err
	}
	found, err := large.Train(ctx, d.Rows(), large.Options{Search: options, Rows: o.SampleRows, Copies: copies})
	if err != nil {
		return nil, d.WithFile(err)
	}
	all := d.OnTable(found.Sample.Table)
	all.Database = nil
	shown, counts := *all, tune.CountClasses(found.Sample.Table.Label)
	shown.Info.Rows, shown.Info.Positives, shown.Info.Negatives = counts.Rows(), counts.Positives, counts.Negatives
	return &searched{Found: found.Found, data: all, shown: &shown, seconds: d.Seconds, fitted: found.Fitted}, nil
}

// record writes how many rows the search and the members had, if not all.
func (s *searched) record(r *result.Training) {
	if s.fitted == nil {
		return
	}
	r.Sample = &result.Counts{Rows: s.shown.Len(), Positives: s.shown.Positives()}
	for j, n := range s.fitted {
		if n != r.Training.Rows {
			r.Members[j].Rows = n
		}
	}
}

// warnings are those of the search. All rows answer what some warnings of a search on a sample are about.
func (s *searched) warnings() []diag.Warning {
	if s.fitted == nil {
		return s.Warnings
	}
	var list []diag.Warning
	for _, w := range s.Warnings {
		if w.Code != "folds-are-samples" && w.Code != "budget-below-one-row" {
			list = append(list, w)
		}
	}
	all, sampled := s.Training.Rows(), 0
	for _, n := range s.fitted {
		if n != all && n > 0 {
			sampled++
		}
	}
	if s.shown.Len() >= all {
		return list
	}
	words := "searched on a sample of " + text.Count(s.shown.Len()) + " of " + text.Count(all) + " training rows"
	switch sampled {
	case 0:
		words += "; the chosen model was fitted to all"
	case len(s.fitted):
		words += "; the chosen model keeps its fit to the sample"
	default:
		words += fmt.Sprintf("; %d of the %d members keep their fit to the sample", sampled, len(s.fitted))
	}
	return append(list, diag.Warning{Code: "searched-a-sample", Text: words})
}

// weightOfPositives returns the weight of the positives of some rows, 0 if both classes weigh alike.
func weightOfPositives(w method.ClassWeight, d *rowset.Set) (float64, error) {
	switch {
	case w.Balanced && d.Table.Weight != nil:
		total, positive := d.Masses()
		return (total - positive) / positive, nil
	case w.Balanced:
		return float64(d.Info.Negatives) / float64(d.Info.Positives), nil
	case !(w.Positive >= 0) || math.IsInf(w.Positive, 0):
		return 0, &diag.Error{Kind: diag.Usage, Param: "class-weight", Found: strconv.FormatFloat(w.Positive, 'g', -1, 64),
			Expected: "a number above 0"}
	}
	return w.Positive, nil
}

// prevalenceOf returns the fraction of positives in d, by weight.
func prevalenceOf(d *rowset.Set) float64 {
	if d.Table.Weight != nil {
		total, positive := d.Masses()
		return positive / total
	}
	return float64(d.Info.Positives) / float64(d.Info.Positives+d.Info.Negatives)
}

// probabilityOf fits probabilities to the held-out scores of a search. It returns nil if there are too few.
func probabilityOf(f *tune.Found, d *rowset.Set) (*calibrate.Probability, error) {
	p, err := heldout.FitProbability(f.HeldOut.LabelledScores, prevalenceOf(d), f.HeldOut.Source)
	if errors.Is(err, heldout.ErrFewRows) {
		return nil, nil
	}
	return p, err
}
