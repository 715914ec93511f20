package paper

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"toptau/diag"
	"toptau/internal/app/report"
	"toptau/internal/core/optim"
	"toptau/internal/core/text"
	"toptau/internal/data/atomicfile"
)

// A stability campaign runs cells again with changes on which no result should depend, and stores the range
// of every result in stability-cells.csv. A later run marks the results in its tables that differ within their
// range.

// stabilityFile is the file of a campaign.
const stabilityFile = "stability-cells.csv"

// unstableMark follows a value that rounding, the order of the rows or a smaller gap can change.
const unstableMark = " †"

// stabilitySets are the sets of a campaign by default: all real sets, and one stand-in with full batches.
// With minibatches the order of the rows also decides the minibatches.
var stabilitySets = []string{"ionosphere", "spambase", "gisette", "hepmass", "hepmass10", "cta", "cta-mlt", "netflow",
	"netflow-mlt", "cicids2017_web"}

// stability contains the cells of a campaign by name, unchanged and changed. They have no settings or
// objectives.
type stability struct {
	cells   map[string]*Cell
	digests map[string]string // of the unchanged cells
}

// Stability runs a campaign and writes stability-cells.csv into o.Out. Finished parts are kept in o.Out/cache,
// where they share the unchanged cells with Run.
func Stability(ctx context.Context, o Options) (*StabilityResult, error) {
	o.Items = []string{"all"}
	named := len(o.Sets) > 0
	if !named {
		o.Sets = stabilitySets
	}
	o, _, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	o.need.times, o.need.zeros, o.withChanges = false, false, true
	st := newStudy(o)
	if !named {
		st.o.Sets = st.knownSets(stabilitySets)
	}
	if err := st.open(); err != nil {
		return nil, err
	}
	if err := st.experiments(ctx); err != nil {
		return nil, err
	}
	if err := st.noteSession(true); err != nil {
		return nil, err
	}
	rows, tested := [][]string{cellsHeader()}, 0
	st.eachCell(func(s *Set, v variant, e entry, c *Cell) {
		if v.Change == "" {
			rows, tested = append(rows, st.campaignRows(s, v, e, c)...), tested+1
		}
	})
	res := &StabilityResult{File: filepath.Join(o.Out, stabilityFile), Cells: tested, Absent: st.absent, Sets: st.sets}
	if err := atomicfile.Write(res.File, csvText(rows)); err != nil {
		return nil, err
	}
	if st.stable, err = readStability(st.o); err != nil {
		return nil, err
	}
	res.Text = st.stabilityText(false)
	return res, nil
}

// StabilityResult is a finished campaign.
type StabilityResult struct {
	File   string
	Cells  int
	Sets   []Set
	Absent map[string]string // the missing file, by the set's key
	Text   []string
}

// knownSets returns the keys that the catalogue has. Which sets it has depends on the data directory.
func (st *study) knownSets(keys []string) []string {
	var known []string
	for _, s := range (catalogue{dir: st.o.Data, quick: st.o.Quick}).sets() {
		if slices.Contains(keys, s.Key) {
			known = append(known, s.Key)
		}
	}
	return known
}

// campaignRows returns the rows of a cell and of its changed runs in the form of cells.csv. In the rows of
// changed runs a field is empty if it equals that of the unchanged run, and the digest is always.
func (st *study) campaignRows(s *Set, v variant, e entry, c *Cell) [][]string {
	own := cellRow(cellName(s, v, e), c)
	rows := [][]string{own}
	for _, change := range changesOf(v.Solver) {
		v.Change = change
		other := st.findCell(s, v, e)
		if other == nil {
			continue
		}
		row := cellRow(cellName(s, v, e), other)
		for j := 1; j < len(row); j++ {
			if row[j] == own[j] || j == len(row)-1 {
				row[j] = ""
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// readStability reads the file of a campaign, and returns nil if the options name none and there is none.
func readStability(o Options) (*stability, error) {
	path := cmp.Or(o.Stable, filepath.Join(o.Out, stabilityFile))
	content, err := os.ReadFile(path)
	if o.Stable == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &diag.Error{Kind: diag.IO, File: path, Err: err}
	}
	lines, err := csv.NewReader(strings.NewReader(string(content))).ReadAll()
	if err != nil || len(lines) == 0 || !slices.Equal(lines[0], cellsHeader()) {
		return nil, &diag.Error{Kind: diag.Data, File: path, Found: "another table", Err: err,
			Expected: "a file that toptau-paper stability has written"}
	}
	r := &stability{cells: map[string]*Cell{}, digests: map[string]string{}}
	var own []string
	for i, line := range lines[1:] {
		if digest := line[len(line)-1]; digest != "" {
			own = line
			r.digests[line[0]] = digest
		}
		c, err := parseCell(line, own)
		if err != nil {
			return nil, &diag.Error{Kind: diag.Data, File: path, Line: i + 2, Found: diag.Quote(strings.Join(line, ",")),
				Expected: "a row that toptau-paper stability has written", Err: err}
		}
		r.cells[line[0]] = c
	}
	return r, nil
}

// parseCell reads a row of cells.csv. An empty field has the value of the row own.
func parseCell(line, own []string) (*Cell, error) {
	var failed error
	field := func(j int) string {
		if line[j] == "" && own != nil {
			return own[j]
		}
		return line[j]
	}
	c := new(Cell)
	for rule := range c.Chosen {
		n, err := strconv.Atoi(field(1 + rule))
		failed = errors.Join(failed, err)
		c.Chosen[rule] = n - 1
	}
	for _, digit := range field(3) {
		p := Point{F: 1, AtZero: 1}
		switch digit {
		case '0':
		case '1':
			p.F = 0
		case 'x':
			p.Failed = "no result"
		default:
			failed = errors.Join(failed, fmt.Errorf("%q is not 0, 1 or x", digit))
		}
		c.Points = append(c.Points, p)
	}
	for rule := range c.Test {
		for k := range criterionCount {
			if text := field(4 + rule*criterionCount + k); text != "-" {
				value, err := strconv.ParseFloat(text, 64)
				failed = errors.Join(failed, err)
				c.Test[rule].Values[rule][k] = &value
			}
		}
	}
	return c, failed
}

// changedCells returns the results of the changed runs of a cell, nil if it was not tested or has other
// results now.
func (st *study) changedCells(s *Set, v variant, e entry) []*Cell {
	c := st.findCell(s, v, e)
	if st.stable == nil || c == nil || st.stable.digests[cellName(s, v, e)] != c.digest()[:16] {
		return nil
	}
	var list []*Cell
	for _, change := range changesOf(v.Solver) {
		v.Change = change
		if other := st.stable.cells[cellName(s, v, e)]; other != nil {
			list = append(list, other)
		}
	}
	return list
}

// criterionMark returns the mark of a criterion in per cent with one digit, "" if it is stable or was not
// tested.
func (st *study) criterionMark(s *Set, v variant, e entry, rule count, k int) string {
	printed := func(c *Cell) string {
		if x := c.value(rule, k); x != nil {
			return fmt.Sprintf("%.1f", 100**x)
		}
		return "-"
	}
	for _, other := range st.changedCells(s, v, e) {
		if printed(other) != printed(st.findCell(s, v, e)) {
			return unstableMark
		}
	}
	return ""
}

// betterMark returns the mark of the settings at which a cell is better than w = 0.
func (st *study) betterMark(s *Set, v variant, e entry) string {
	for _, other := range st.changedCells(s, v, e) {
		if other.better() != st.findCell(s, v, e).better() {
			return unstableMark
		}
	}
	return ""
}

// instability counts the results that changes of a run alter.
type instability struct {
	cells, tested            int     // cells in all, and those tested
	criteria, criteriaTested int     // criteria on the test part, by the count of the solver's tables
	byAPoint                 int     // of these, the number that change by a point or more
	largest                  float64 // largest range of a criterion
	chosen, chosenTested     int
	better, betterTested     int
}

// countUnstable counts the cells that a filter accepts.
func (st *study) countUnstable(accept func(s *Set, v variant) bool) instability {
	var n instability
	st.eachCell(func(s *Set, v variant, e entry, c *Cell) {
		if !accept(s, v) {
			return
		}
		n.cells++
		others := st.changedCells(s, v, e)
		if len(others) == 0 {
			return
		}
		n.tested++
		rule := paperCount
		if v.Solver == solverCertified {
			rule = strictCount
		}
		differs := func(differ func(other *Cell) bool) int {
			if slices.ContainsFunc(others, differ) {
				return 1
			}
			return 0
		}
		for k := range criterionCount {
			low, high := math.Inf(1), math.Inf(-1)
			for _, other := range append([]*Cell{c}, others...) {
				if x := other.value(rule, k); x != nil {
					low, high = min(low, *x), max(high, *x)
				}
			}
			changed := differs(func(other *Cell) bool {
				return fraction(other.value(rule, k)) != fraction(c.value(rule, k))
			})
			n.criteriaTested++
			n.criteria += changed
			if width := high - low; changed == 1 && width > 0 {
				n.largest = max(n.largest, width)
				if width >= 0.01 {
					n.byAPoint++
				}
			}
		}
		n.chosenTested++
		n.chosen += differs(func(other *Cell) bool { return other.Chosen[rule] != c.Chosen[rule] })
		better := c.better()
		for i := range better {
			n.betterTested++
			n.better += differs(func(other *Cell) bool { return other.better()[i] != better[i] })
		}
	})
	return n
}

// stabilityKinds are the rows of the table for one set.
var stabilityKinds = []struct {
	title  string
	accept func(v variant) bool
}{
	{"ADAM from w = 0", func(v variant) bool {
		return v.Solver == solverAdam && v.Start == 0 && !v.Scaled && v.Step == 0
	}},
	{"ADAM from a random start", func(v variant) bool { return v.Solver == solverAdam && v.Start != 0 }},
	{"ADAM with other steps", func(v variant) bool { return v.Solver == solverAdam && v.Step != 0 }},
	{"ADAM, columns scaled", func(v variant) bool { return v.Solver == solverAdam && v.Scaled }},
	{"certified (Grill: ADAM)", func(v variant) bool { return v.Solver == solverCertified && !v.Scaled }},
	{"certified, columns scaled", func(v variant) bool { return v.Solver == solverCertified && v.Scaled }},
}

// stabilityItem shows which results rounding or the order of the rows can change.
func stabilityItem(_ context.Context, st *study) (*Piece, error) {
	p := &Piece{Title: "Which cells rounding, the order of the rows and the gap can change", Text: st.stabilityText(true)}
	if st.stable == nil {
		return p, nil
	}
	t := report.Table{Caption: "Number of results that differ in at least one changed run, of those tested. A " +
		"cell is a method on a split, with five criteria, one choice of a setting, and six settings that are " +
		"better than w = 0 or not.",
		Header: []string{"set", "run", "cells", "criteria", "by a point or more", "largest range", "choices",
			"better than w = 0"},
		Numbers: []int{2, 3, 4, 5, 6, 7}}
	for _, s := range st.present() {
		for _, kind := range stabilityKinds {
			n := st.countUnstable(func(other *Set, v variant) bool { return other.Key == s.Key && kind.accept(v) })
			if n.tested > 0 {
				t.Rows = append(t.Rows, append([]string{s.Name, kind.title}, n.columns()...))
			}
		}
	}
	t.Strong = []int{len(t.Rows)}
	total := st.countUnstable(func(*Set, variant) bool { return true })
	t.Rows = append(t.Rows, append([]string{"all", ""}, total.columns()...))
	p.Tables = append(p.Tables, NamedTable{"stability", t})
	for _, view := range st.views() {
		if sets := st.testedSets(view); len(sets) > 0 {
			p.Tables = append(p.Tables, NamedTable{"stability-" + view.name, st.rankRanges(view, sets)})
		}
	}
	return p, nil
}

// columns returns the columns of a row of the table.
func (n *instability) columns() []string {
	of := func(some, all int) string { return fmt.Sprintf("%s of %s", text.Count(some), text.Count(all)) }
	return []string{text.Count(n.tested), of(n.criteria, n.criteriaTested), text.Count(n.byAPoint),
		fmt.Sprintf("%.1f points", 100*n.largest), of(n.chosen, n.chosenTested), of(n.better, n.betterTested)}
}

// stabilityText describes the campaign. A page also explains its marks.
func (st *study) stabilityText(page bool) []string {
	if st.stable == nil {
		return []string{"No cell was tested for stability. `toptau-paper stability` runs the cells of the real " +
			"sets again, with the rows in other orders, other last bits of the start and a tenth of the gap, and writes " +
			stabilityFile + "."}
	}
	n := st.countUnstable(func(*Set, variant) bool { return true })
	if n.tested == 0 {
		return []string{"The campaign has tested none of these cells, or they have other results now."}
	}
	lines := []string{fmt.Sprintf("%s of %s criteria, %s of %s choices and %s of %s comparisons with w = 0 "+
		"change when the rows are in another order, the last bits of ADAM's start differ or the certified gap is a tenth "+
		"(three changed runs of %s). The largest change is %.1f points.",
		text.Count(n.criteria), text.Count(n.criteriaTested), text.Count(n.chosen), text.Count(n.chosenTested),
		text.Count(n.better), text.Count(n.betterTested), text.Plural(n.tested, "cell"), 100*n.largest)}
	var from []string
	for _, kind := range []struct {
		words  string
		accept func(v variant) bool
	}{
		{"ADAM from w = 0", func(v variant) bool { return v.Solver == solverAdam && v.Start == optim.Zero }},
		{"ADAM from a random start", func(v variant) bool { return v.Solver == solverAdam && v.Start == optim.Random }},
		{"the certified optimum", func(v variant) bool { return v.Solver == solverCertified }},
	} {
		some := st.countUnstable(func(_ *Set, v variant) bool { return kind.accept(v) })
		if some.tested > 0 {
			from = append(from, fmt.Sprintf("%s of %s with %s", text.Count(some.criteria), text.Count(some.criteriaTested),
				kind.words))
		}
	}
	lines[0] += " Criteria by run: " + text.List(from, "and") + "."
	if page {
		lines = append(lines, "At w = 0 all scores are equal, and the rule for ties is the order of the rows. So the first "+
			"steps of ADAM from w = 0 depend on that order, and its last iterate on the whole path. All runs are exact.",
			fmt.Sprintf("Values with%s in the tables of criteria and of Table \"fails\" change in this way.", unstableMark))
		if left := n.cells - n.tested; left > 0 {
			lines = append(lines, fmt.Sprintf("%s of %s cells were not tested: those of other sets and splits, and those "+
				"whose results differ from the ones of the campaign.", text.Count(left), text.Count(n.cells)))
		}
	}
	return lines
}

// testedSets returns the sets of a table of ranks of which all cells were tested.
func (st *study) testedSets(view rankView) []*Set {
	return slices.DeleteFunc(view.sets(st), func(s *Set) bool {
		for _, seed := range st.seeds(s) {
			v := view.v
			v.Seed = seed
			for _, e := range entries() {
				if len(st.changedCells(s, v, e)) != len(changesOf(v.Solver)) {
					return true
				}
			}
		}
		return false
	})
}

// rankRanges returns the average ranks with their ranges over the unchanged run and the changed ones.
func (st *study) rankRanges(view rankView, sets []*Set) report.Table {
	t := report.Table{Caption: fmt.Sprintf("Average ranks of the tested sets (%s), with their range over the "+
		"changed runs if they change: %s.", text.Plural(len(sets), "set"), view.title), Header: append([]string{"method"}, criterionTitles[:]...),
		Numbers: []int{1, 2, 3, 4, 5}}
	runs := []*methodRanks{st.rankSets(sets, view.v, view.rule, false)}
	for i := range changesOf(view.v.Solver) {
		other := study{o: st.o, cells: st.withChange(sets, view.v, i)}
		runs = append(runs, other.rankSets(sets, view.v, view.rule, false))
	}
	for i, e := range entries() {
		row := []string{e.Title()}
		for k := range criterionCount {
			var ranks []float64
			for _, r := range runs {
				if len(r.blocks[k]) > 0 {
					ranks = append(ranks, meanOf(r.blocks[k])[i])
				}
			}
			cell := "-"
			if len(ranks) > 0 {
				cell = fmt.Sprintf("%.1f", ranks[0])
				low, high := fmt.Sprintf("%.1f", slices.Min(ranks)), fmt.Sprintf("%.1f", slices.Max(ranks))
				if low != high {
					cell += fmt.Sprintf(" [%s, %s]", low, high)
				}
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// withChange returns the cells of some sets with the results of a changed run, by the number of the change.
func (st *study) withChange(sets []*Set, v variant, number int) map[string]*Cell {
	cells := map[string]*Cell{}
	for _, s := range sets {
		for _, seed := range st.seeds(s) {
			v.Seed = seed
			for _, e := range entries() {
				if others := st.changedCells(s, v, e); number < len(others) {
					cells[cellName(s, v, e)] = others[number]
				}
			}
		}
	}
	return cells
}
