package toptau

import (
	"fmt"
	"math"
	"runtime"

	"toptau/internal/feature"
	"toptau/internal/parallel"
	"toptau/internal/sketch"
	"toptau/internal/table"
	"toptau/internal/text"
	"toptau/model"
	"toptau/result"
)

// fingerprintRows is the number of rows that are hashed at a time. Chosen by hand: hashes and keys then stay
// in the cache.
const fingerprintRows = 1 << 10

// sketchRows returns a sketch of some rows of a table (ascending; nil: all) as the map m reads them. Each
// processor adds chunks to its own sketch, and the sketches are merged. The result does not depend on their
// number.
func sketchRows(m *feature.Map, t *table.Table, rows []int, newSketch func() *sketch.Sketch) *sketch.Sketch {
	chunks := (t.Rows() + fingerprintRows - 1) / fingerprintRows
	workers := max(1, min(runtime.GOMAXPROCS(0), chunks))
	parts := make([]*sketch.Sketch, workers)
	parallel.For(workers, func(w int) {
		parts[w] = newSketch()
		sketchChunks(m.NewFingerprinter(t), t.Rows(), rows, w, workers, parts[w])
	})
	for _, part := range parts[1:] {
		parts[0].Merge(part)
	}
	return parts[0]
}

// sketchChunks adds the rows of every step-th chunk, starting with chunk first. n is the number of rows of
// the table.
func sketchChunks(f *feature.Fingerprinter, n int, rows []int, first, step int, to *sketch.Sketch) {
	hashes := make([]uint64, fingerprintRows)
	next := 0
	for begin := first * fingerprintRows; begin < n; begin += step * fingerprintRows {
		hashes = hashes[:min(fingerprintRows, n-begin)]
		f.Hash(begin, hashes)
		for i, h := range hashes {
			if rows != nil {
				for next < len(rows) && rows[next] < begin+i {
					next++
				}
				if next == len(rows) || rows[next] != begin+i {
					continue
				}
			}
			to.Add(h)
		}
	}
}

// fingerprints returns a sample of the hashes of training rows: some rows of a table (nil: all), and all rows
// of the validation table if there is one.
func fingerprints(m *feature.Map, t *table.Table, rows []int, validation *table.Table) *model.Fingerprints {
	s := sketchRows(m, t, rows, sketch.New)
	if validation != nil {
		s.Merge(sketchRows(m, validation, nil, sketch.New))
	}
	f := &model.Fingerprints{Rows: s.Rows, Sampled: s.Sampled(), Cut: s.Cut}
	for k, list := range s.Hashes() {
		f.Hashes[k] = list
	}
	return f
}

// overlap compares the rows of d with those that trained the model. It returns nil if the model has no
// fingerprints.
func overlap(m *Model, d *Data) *result.Overlap {
	if m.Fingerprints() == nil {
		return nil
	}
	return overlapOf(m.Fingerprints(), m.Features(feature.Key{}), d.table, nil)
}

// overlapOf compares some rows of a table (ascending; nil: all) with fingerprints.
func overlapOf(f *model.Fingerprints, features *feature.Map, t *table.Table, rows []int) *result.Overlap {
	var hashes [sketch.MostCounted][]uint64
	for k, list := range f.Hashes {
		hashes[k] = list
	}
	trained := sketch.Restore(f.Cut, f.Rows, hashes)
	o := trained.Compare(sketchRows(features, t, rows, trained.Like), f.Sampled)
	r := &result.Overlap{Compared: o.Compared, Matched: o.Matched, Expected: o.Expected, Estimate: math.Round(o.Shared), P: o.P,
		Excess: o.Excess()}
	if !math.IsInf(o.Smallest, 0) {
		smallest := math.Ceil(o.Smallest)
		r.Smallest = &smallest
	}
	return r
}

// overlapWarning returns the text about an excess of training rows among some number of rows.
func overlapWarning(r *result.Overlap, rows int) string {
	return fmt.Sprintf("about %s of these %s rows trained the model: of %s that its fingerprints can recognise, %s equal a training "+
		"row, and repeated rows explain %s of them (probability at most %s)", amount(r.Estimate), text.Count(rows),
		text.Count(r.Compared), text.Count(r.Matched), text.Percent(r.Expected), text.SmallProbability(r.P))
}
