package toptau

import (
	"fmt"
	"math"
	"runtime"
	"sync"

	"toptau/internal/feature"
	"toptau/internal/sketch"
	"toptau/internal/table"
	"toptau/model"
)

// OverlapReport says how many of some rows trained the model, as far as the model's fingerprints tell.
type OverlapReport struct {
	Compared int      `json:"compared"` // rows whose hashes fall into the model's sample
	Matched  int      `json:"matched"`  // of them, rows like one that trained the model
	Expected float64  `json:"expected"` // the share of fresh rows that match because rows repeat: 1 - singletons / rows in training
	Estimate float64  `json:"estimate"` // of all rows here, those that trained the model beyond that
	P        float64  `json:"p"`        // at most the probability of as many matches among fresh rows
	Excess   bool     `json:"excess"`   // p is at most 0.001
	Smallest *float64 `json:"smallest"` // fewer training rows than about this would not be noticed; null: none would be
}

// fingerprintRows is the number of rows that are hashed at a time.
const fingerprintRows = 1 << 10

// sketchRows adds the rows of a table that a map reads to sketches made by newSketch, one for each processor, and merges them.
// rows are ascending; nil: all.
func sketchRows(m *feature.Map, t *table.Table, rows []int, newSketch func() *sketch.Sketch) *sketch.Sketch {
	pieces := (t.Rows() + fingerprintRows - 1) / fingerprintRows
	workers := min(runtime.GOMAXPROCS(0), pieces)
	parts := make([]*sketch.Sketch, max(1, workers))
	var all sync.WaitGroup
	for w := range parts {
		parts[w] = newSketch()
		all.Go(func() { sketchPieces(m.NewFingerprinter(t), t.Rows(), rows, w, workers, parts[w]) })
	}
	all.Wait()
	for _, part := range parts[1:] {
		parts[0].Merge(part)
	}
	return parts[0]
}

// sketchPieces adds the rows of every workers-th piece from the first on.
func sketchPieces(f *feature.Fingerprinter, n int, rows []int, first, workers int, to *sketch.Sketch) {
	hashes := make([]uint64, fingerprintRows)
	next := 0
	for begin := first * fingerprintRows; begin < n; begin += workers * fingerprintRows {
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

// fingerprints samples the rows that trained a model: some of a table's (nil: all), and all of another one's (nil: none).
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

// overlap compares rows with those that trained the model; nil when it has no fingerprints.
func overlap(m *model.Model, d *Data) *OverlapReport {
	if m.Fingerprints() == nil {
		return nil
	}
	return overlapOf(m.Fingerprints(), m.Features(feature.Key{}), d.table, nil)
}

// overlapOf compares some rows of a table (nil: all) with fingerprints.
func overlapOf(f *model.Fingerprints, features *feature.Map, t *table.Table, rows []int) *OverlapReport {
	var hashes [sketch.MostCounted][]uint64
	for k, list := range f.Hashes {
		hashes[k] = list
	}
	trained := sketch.Restore(f.Cut, f.Rows, hashes)
	o := trained.Compare(sketchRows(features, t, rows, trained.Like), f.Sampled)
	r := &OverlapReport{Compared: o.Compared, Matched: o.Matched, Expected: o.Expected, Estimate: math.Round(o.Shared), P: o.P,
		Excess: o.Excess()}
	if !math.IsInf(o.Smallest, 0) {
		smallest := math.Ceil(o.Smallest)
		r.Smallest = &smallest
	}
	return r
}

// words says what an excess means.
func (r *OverlapReport) words(rows int) string {
	return fmt.Sprintf("about %s of these %s rows trained the model: of %s that its fingerprints can recognise, %s are like a training "+
		"row, and repeated rows explain %s of them (probability %s at most)", commas(r.Estimate), commas(float64(rows)),
		commas(float64(r.Compared)), commas(float64(r.Matched)), shareOf(r.Expected), smallProbability(r.P))
}

// Words says what the comparison could and could not see; r may be nil.
func (r *OverlapReport) Words() string {
	switch {
	case r == nil:
		return "unknown: the model keeps no fingerprints of its training rows"
	case r.Excess:
		return fmt.Sprintf("about %s of these rows trained the model", commas(r.Estimate))
	case r.Smallest == nil:
		return "unknown: all training rows are repeated, so that fresh rows look like them"
	}
	return fmt.Sprintf("none noticed; fewer than about %s would not be", commas(*r.Smallest))
}
