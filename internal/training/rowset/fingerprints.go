package rowset

import (
	"fmt"
	"math"
	"slices"

	"toptau/internal/core/text"
	"toptau/internal/data/sketch"
	"toptau/internal/data/table"
	"toptau/internal/models/feature"
	"toptau/model"
	"toptau/result"
)

// sketchRows returns a sketch of some rows (ascending; nil: all) as the map m reads them.
func sketchRows(m *feature.Map, from *table.Frame, rows []int, newSketch func() *sketch.Sketch) (*sketch.Sketch, error) {
	to := func(int) int { return 0 }
	if rows != nil {
		left := slices.Repeat([]int8{-1}, from.Rows())
		for _, row := range rows {
			left[row] = 0
		}
		to = func(row int) int { return int(left[row]) }
	}
	list, err := feature.SketchRows(m, from, 1, newSketch, to)
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// Fingerprints returns a sample of the hashes of training rows: some rows (nil: all), and all rows of the validation
// data if there are any.
func Fingerprints(m *feature.Map, t *table.Frame, rows []int, validation *Set) (*model.Fingerprints, error) {
	s, err := sketchRows(m, t, rows, sketch.New)
	if err != nil {
		return nil, err
	}
	if validation != nil {
		known, err := sketchRows(m, validation.Frame, nil, sketch.New)
		if err != nil {
			return nil, err
		}
		s.Merge(known)
	}
	f := &model.Fingerprints{Rows: s.Rows, Sampled: s.Sampled(), Cut: s.Cut}
	for k, list := range s.Hashes() {
		f.Hashes[k] = list
	}
	return f, nil
}

// Overlap compares the rows of d with those that trained the model. It returns nil if the model has no fingerprints, and for
// rows in a database.
func Overlap(m *model.Model, d *Set) (*result.Overlap, error) {
	if m.Fingerprints() == nil || d.Database != nil {
		return nil, nil
	}
	if err := feature.MapOf(m.Features()).Check(d.Frame.Shape()); err != nil {
		return nil, d.WithFile(err)
	}
	return overlapOf(m.Fingerprints(), feature.MapOf(m.Features()), d.Frame, nil)
}

// overlapOf compares some rows (ascending; nil: all) with fingerprints.
func overlapOf(f *model.Fingerprints, features *feature.Map, t *table.Frame, rows []int) (*result.Overlap, error) {
	var hashes [sketch.MaxCounted][]uint64
	for k, list := range f.Hashes {
		hashes[k] = list
	}
	trained := sketch.Restore(f.Cut, f.Rows, hashes)
	s, err := sketchRows(features, t, rows, trained.Like)
	if err != nil {
		return nil, err
	}
	o := trained.Compare(s, f.Sampled)
	r := &result.Overlap{Compared: o.Compared, Matched: o.Matched, Expected: o.Expected, Estimate: math.Round(o.Shared), P: o.P,
		Excess: o.Excess()}
	if !math.IsInf(o.Smallest, 0) {
		smallest := math.Ceil(o.Smallest)
		r.Smallest = &smallest
	}
	return r, nil
}

// OverlapWarning returns the text about an excess of training rows among some number of rows.
func OverlapWarning(r *result.Overlap, rows int) string {
	return fmt.Sprintf("about %s of these %s rows trained the model: %s of the %s rows that can be compared equal a training row, where about %s "+
		"of new rows would", text.Amount(r.Estimate), text.Count(rows), text.Count(r.Matched), text.Count(r.Compared), text.Percent(r.Expected))
}
