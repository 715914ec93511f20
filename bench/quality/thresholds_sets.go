package main

import (
	"bytes"
	"context"
	"math"
	"os"
	"slices"
	"strings"

	"toptau/internal/core/simulate"
	"toptau/internal/data/table"
	"toptau/internal/training/tune"
	"toptau/method"
	"toptau/schema"
	"toptau/threshold"
)

// thresholdSet is a set on which thresholds are measured: rows of a real set, half of which test, divided
// anew for every seed; or a simulated set, which every seed draws afresh with a fresh test part.
type thresholdSet struct {
	name      string
	of        string           // a name in sets; "": simulated
	rows      int              // of a real set with more than 20,000 rows: the number of rows of its training file that are used; 0: all
	simulated simulate.Options // without a seed
	names     names
	kind      string // what the set is, for the page
}

// freshRows are the rows of the test part of a simulated set.
const freshRows = 20_000

// thresholdSets are the sets of the page, the quick ones first.
var thresholdSets = []thresholdSet{
	{name: "pima", of: "pima"},
	{name: "mammography", of: "mammography"},
	{name: "higgs_7k", of: "higgs_7k"},
	{name: "spambase", of: "spambase"},
	{name: "cicids2017_web", of: "cicids2017_web"},
	{name: "magic04", of: "magic04"},
	{name: "nsl_kdd", of: "nsl_kdd", rows: 20_000, kind: "20,000 of the 25,192 rows of the training file"},
	{name: "w8a", of: "w8a", rows: 30_000, kind: "30,000 of 49,749 rows; 0 or 1 in every column, many scores are equal"},
	{name: "covtype_2vs4", of: "covtype_2vs4", rows: 30_000, kind: "30,000 of 286,048 rows"},
	{name: "cicids2017_web+names", of: "cicids2017_web", names: telling,
		kind: "with an artificial column of 6,000 names, of which 1,200 are more frequent among the positives"},
	{name: "mammography+names", of: "mammography", names: blank,
		kind: "with an artificial column of 6,000 names that are unrelated to the class"},
	{name: "detectors", simulated: simulate.Options{Kind: "detectors", Rows: 3200, Columns: 20, Positives: threshold.MustRate("10%")},
		kind: "`toptau generate detectors`, 3,200 rows, 20 columns, 10 % positives"},
	{name: "hepmass+names", simulated: simulate.Options{Kind: "hepmass", Rows: 4000, Positives: threshold.MustRate("25%")},
		names: telling, kind: "`toptau generate hepmass`, 4,000 rows, 25 % positives, with an artificial column of 6,000 names, " +
			"of which 1,200 are more frequent among the positives"},
}

// cell is a combination of learners and encodings that is trained on a set.
type cell struct {
	name      string
	learners  []method.Name     // nil: the default
	encodings []schema.Encoding // nil: the default
	own       []threshold.Rate  // budgets with their own training; the others share one for mainBudget
	small     int               // seeds of a set that is used whole
	large     int               // seeds of a larger one
	draws     int               // of a simulated set
}

const (
	averageCell = "average" // of several members
	defaultCell = "default"
)

// cells are the rows of the page for each set, the quick ones first. Budgets have their own trainings where
// these are cheap. So does 5 % on scorecards: there are enough rows to estimate it from all of them, which 1 % lacks.
var cells = []cell{
	singleCell(method.Logistic, schema.Raw, 20, 10, 200),
	singleCell(method.Ramp, schema.Raw, 10, 10, 50),
	singleCell("patmat-np", schema.Raw, 10, 10, 20),
	singleCell(method.Logistic, schema.Scorecard, 20, 10, 200),
	singleCell(method.Ramp, schema.Scorecard, 5, 5, 20),
	singleCell("patmat-np", schema.Scorecard, 3, 3, 5),
	singleCell(method.Logistic, schema.Leaves, 20, 10, 50),
	singleCell(method.Ramp, schema.Leaves, 3, 3, 5),
	// Without raw columns: logistic regression on these is kept unless an average is clearly better.
	{name: averageCell, learners: []method.Name{method.Logistic, method.Ramp},
		encodings: []schema.Encoding{schema.Scorecard, schema.Leaves}, small: 3, large: 3, draws: 5},
	{name: defaultCell, small: 3, large: 3, draws: 3},
	singleCell("patmat-np", schema.Leaves, 5, 0, 5), // up to a minute each
}

// singleCell returns the cell of one learner on one encoding.
func singleCell(learner method.Name, e schema.Encoding, small, large, draws int) cell {
	c := cell{name: string(learner) + " " + string(e), learners: []method.Name{learner}, encodings: []schema.Encoding{e},
		small: small, large: large, draws: draws}
	switch e {
	case schema.Raw:
		c.own = budgets
	case schema.Scorecard:
		c.own = budgets[2:]
	}
	return c
}

// seedsOf returns the number of seeds of a cell on a set.
func (c *cell) seedsOf(s *thresholdSet) int {
	switch {
	case s.of == "":
		return c.draws
	case s.rows > 0:
		return c.large
	}
	return c.small
}

// options returns the options of the search for a budget.
func (c *cell) options(s *thresholdSet, seed int, rate threshold.Rate) tune.SearchOptions {
	o := tune.SearchOptions{Goal: maxFPR(rate), Method: c.learners, Encoding: c.encodings, Seed: uint64(seed)}
	if s.of != "" {
		o.TestFraction = threshold.MustRate("50%")
	}
	return o
}

// load returns the rows of a set for a seed. Real sets have the same rows for every seed; the search divides
// them.
func (h *harness) load(s *thresholdSet, seed int) (tune.Data, error) {
	if s.of != "" {
		h.mu.Lock()
		defer h.mu.Unlock()
		if d, known := h.loaded[s.name]; known {
			return d, nil
		}
		of, most := setOf(s.of), s.rows
		if most == 0 {
			most = math.MaxInt
		}
		r, err := h.drawRows(of, most)
		if err != nil {
			return tune.Data{}, err
		}
		d, err := s.names.add(r, 1).parse(of.options())
		if h.loaded == nil {
			h.loaded = map[string]tune.Data{}
		}
		h.loaded[s.name] = d
		return d, err
	}
	d, err := s.fresh(uint64(2*seed), s.simulated.Rows, table.Options{Format: schema.Format{Label: "label", Positive: []string{"1"}}})
	if err != nil {
		return d, err
	}
	test, err := s.fresh(uint64(2*seed+1), freshRows, table.Options{Schema: &d.Schema})
	d.Test = test.Table
	return d, err
}

// fresh returns new rows of a simulated set.
func (s *thresholdSet) fresh(seed uint64, rows int, o table.Options) (tune.Data, error) {
	options := s.simulated
	options.Seed, options.Rows = seed, rows
	d, err := simulate.New(options)
	if err != nil {
		return tune.Data{}, err
	}
	var text bytes.Buffer
	if err := d.WriteCSV(context.Background(), &text, nil); err != nil {
		return tune.Data{}, err
	}
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	r := &textRows{header: lines[:1], lines: lines[1:]}
	for _, line := range r.lines {
		r.positive = append(r.positive, strings.HasSuffix(line, ",1"))
	}
	return s.names.add(r, seed).parse(o)
}

// parse reads the rows as if they were a file.
func (r *textRows) parse(o table.Options) (tune.Data, error) {
	f, err := os.CreateTemp("", "toptau-rows-")
	if err != nil {
		return tune.Data{}, err
	}
	f.Close()
	defer os.Remove(f.Name())
	if err := writeLines(f.Name(), slices.Concat(r.header, r.lines)); err != nil {
		return tune.Data{}, err
	}
	t, info, err := table.Read(f.Name(), o)
	if err != nil {
		return tune.Data{}, err
	}
	return tune.Data{Table: t, Schema: info.Schema}, nil
}
