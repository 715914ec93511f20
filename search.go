package toptau

import (
	"context"
	"fmt"

	"toptau/diag"
	"toptau/internal/large"
	"toptau/internal/text"
	"toptau/internal/tune"
	"toptau/result"
)

// searched is what the search of Train found.
type searched struct {
	*tune.Found
	data    *Data // the rows of the search in memory, with the counts of all rows
	shown   *Data // the same with their own counts
	seconds float64
	fitted  []int // of a search on a sample: the number of rows that each member was fitted to; nil: all
}

// search chooses and fits a model: on all rows if they fit into memory, otherwise on a sample of them. Then all rows fit the chosen
// members again, give the threshold and measure it, in passes.
func (o *TrainOptions) search(ctx context.Context, d *Data, goal Goal) (*searched, error) {
	perRow := trainedBytes + 8*int64(len(d.info.Schema.Columns)) + d.frame.Bytes()/int64(max(1, d.Len()))
	where := d.place(perRow)
	if err := o.needs(d, goal).check(where); err != nil {
		return nil, err
	}
	options, err := o.searchOptions(goal)
	if err != nil {
		return nil, err
	}
	if options.ClassWeight, err = weightOfPositives(o.ClassWeight, d); err != nil {
		return nil, err
	}
	if where != memoryRows {
		return o.searchSample(ctx, d, options)
	}
	for _, part := range []**Data{&d, &o.Validation, &o.Test, &o.Calibration} {
		if *part, err = (*part).inMemory(); err != nil {
			return nil, err
		}
	}
	if d, err = o.groupEntities(d); err != nil {
		return nil, err
	}
	data, seconds := o.searchData(d)
	found, err := tune.Search(ctx, data, options)
	return &searched{Found: found, data: d, shown: d, seconds: seconds}, err
}

// needs lists what a training can have of rows in memory only.
func (o *TrainOptions) needs(d *Data, goal Goal) needs {
	return needs{}.option("validation", o.Validation != nil).option("test", o.Test != nil).option("calibration", o.Calibration != nil).
		option("out-of-fold", o.OutOfFold).columns(d, o.Entity, o.Value).option("label-delay", o.LabelDelay != 0).
		option("time", d.table.Time != nil).option("learning-curve", o.LearningCurve).goal(goal).named("a comparison", o.KeepAll)
}

// searchSample is search for rows that do not fit into memory.
func (o *TrainOptions) searchSample(ctx context.Context, d *Data, options tune.SearchOptions) (*searched, error) {
	if why := rowsOnly.AgainstIDs(d.table, options.Goal.Population(), true); why != "" && !options.Delta.IsZero() {
		return nil, &diag.Error{Kind: diag.Guarantee, Found: "no guarantee: " + why, Fixes: tune.IDFixes(d.table)}
	}
	copies, err := d.copiesInFile()
	if err != nil {
		return nil, err
	}
	found, err := large.Train(ctx, d.rows(), large.Options{Search: options, Rows: o.SampleRows, Copies: copies})
	if err != nil {
		return nil, d.inFile(err)
	}
	all := d.onTable(found.Sample.Table)
	all.database = nil
	shown, counts := *all, tune.CountClasses(found.Sample.Table.Label)
	shown.info.Rows, shown.info.Positives, shown.info.Negatives = counts.Rows(), counts.Positives, counts.Negatives
	return &searched{Found: found.Found, data: all, shown: &shown, seconds: d.seconds, fitted: found.Fitted}, nil
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
