package toptau

import (
	"toptau/internal/rowset"
	"toptau/metric"
	"toptau/result"
)

// evaluated is what an evaluation measured.
type evaluated struct {
	data       *rowset.Set
	rankings   []*ranking
	units      *rowset.Units
	date       string // shown in the report
	statements []result.Statement
	amounts    []float64    // with Value: of each positive unit
	where      rowset.Place // rows that are not in memory were counted
}

// stateOf returns what a *measure.Evaluation measured. Package measure sets it: a function there would show internal types in the
// documentation of the library.
var stateOf func(evaluation any) *evaluated

// ranking is a measured entry.
type ranking struct {
	*rowset.Entry
	data   *rowset.Set   // the rows, with columns in the model's order
	z      []float64     // the scores in the order of the rows
	scores metric.Scores // of the units by class
	rank   *metric.Ranking
	alarms []bool // by unit: decisions that breakdowns count; nil: there is no threshold
}
