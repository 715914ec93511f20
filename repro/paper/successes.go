package paper

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"toptau/internal/app/report"
	"toptau/internal/core/certified"
	"toptau/internal/core/text"
	"toptau/threshold"
)

// outcomes are the settings of an entry's grid at which a run ended better than w = 0, in the order of the
// grid. It is nil if they are not known.
type outcomes []bool

// successCounts are the outcomes by column of Table "fails" and row of the tables.
type successCounts map[string][]outcomes

// printedOutcomes returns the outcomes that a cell of the paper's table describes.
func printedOutcomes(cell string, e entry) (outcomes, error) {
	problems, err := e.problems()
	if err != nil {
		return nil, err
	}
	list := make(outcomes, len(problems))
	if cell == "all" || cell == "none" {
		for i := range list {
			list[i] = cell == "all"
		}
		return list, nil
	}
	fields := strings.SplitN(cell, " ", 3) // "β", "≤", "0.1"
	if len(fields) != 3 || fields[1] != "≤" && fields[1] != "=" {
		return nil, fmt.Errorf("the cell %q has no settings", cell)
	}
	at, err := strconv.ParseFloat(fields[2], 64)
	if err != nil {
		return nil, fmt.Errorf("the cell %q: %w", cell, err)
	}
	for i, p := range problems {
		setting := p.Lambda
		if fields[0] == "β" {
			setting = p.Beta
		}
		list[i] = setting == at || fields[1] == "≤" && setting < at
	}
	return list, nil
}

// printedSuccesses returns the paper's table.
func printedSuccesses() (successCounts, error) {
	counts := successCounts{}
	for column, set := range failSets {
		for _, e := range tableEntries() {
			if e.Implicit {
				counts[set] = append(counts[set], nil)
				continue
			}
			o, err := printedOutcomes(printedFail(e, column), e)
			if err != nil {
				return nil, err
			}
			counts[set] = append(counts[set], o)
		}
	}
	return counts, nil
}

// adamSuccesses returns the outcomes of ADAM on the sets that reproduce columns of the paper's table.
func (st *study) adamSuccesses() successCounts {
	return st.successesBy(func(s *Set, e entry) outcomes {
		c := st.findCell(s, variant{Seed: first, Solver: solverAdam}, e)
		if c == nil {
			return nil
		}
		var o outcomes
		for i := range c.Points {
			o = append(o, c.Points[i].Beats())
		}
		return o
	})
}

// possibleSuccesses returns the settings at which a point better than w = 0 exists, for the convex methods.
func (st *study) possibleSuccesses() successCounts {
	return st.successesBy(func(s *Set, e entry) outcomes {
		problems, err := e.problems()
		if err != nil || certifiedless(e) {
			return nil
		}
		var o outcomes
		for _, p := range problems {
			a := st.zeros[zeroName(s, p)]
			if a == nil || a.Verdict == certified.Undecided.String() {
				return nil
			}
			o = append(o, a.Verdict == certified.ZeroIsNotOptimal.String())
		}
		return o
	})
}

// successesBy collects outcomes over the columns of the paper's table.
func (st *study) successesBy(of func(*Set, entry) outcomes) successCounts {
	counts := successCounts{}
	for _, s := range st.present() {
		if !slices.Contains(failSets, s.PaperSet) {
			continue
		}
		for _, e := range tableEntries() {
			counts[s.PaperSet] = append(counts[s.PaperSet], of(s, e))
		}
	}
	return counts
}

// tally returns the number of settings with success and of all known settings of a method, and the number of
// sets with a success and of all known sets.
func (c successCounts) tally(name string, implicit bool) (settings, ofSettings, sets, ofSets int) {
	for _, set := range failSets {
		known, success := false, false
		for i, o := range c[set] {
			if e := tableEntries()[i]; string(e.Method.Name) != name || e.Implicit != implicit || o == nil {
				continue
			}
			known = true
			for _, yes := range o {
				ofSettings++
				if yes {
					settings++
					success = true
				}
			}
		}
		if known {
			ofSets++
		}
		if success {
			sets++
		}
	}
	return settings, ofSettings, sets, ofSets
}

// fewer reports whether one method has a lower fraction of successful settings than another. It returns "-"
// if one is not known, and the fractions otherwise: "yes: 50.0 % and 77.8 %".
func (c successCounts) fewer(one, other string) string {
	a, ofA, _, _ := c.tally(one, false)
	b, ofB, _, _ := c.tally(other, false)
	if ofA == 0 || ofB == 0 {
		return "-"
	}
	x, y := float64(a)/float64(ofA), float64(b)/float64(ofB)
	answer := "no"
	if x < y {
		answer = "yes"
	}
	return fmt.Sprintf("%s: %s and %s", answer, tenths(x), tenths(y))
}

// everywhere returns the methods that succeed on every set for some setting.
func (c successCounts) everywhere() string {
	var names []string
	for _, name := range methodNames() {
		if _, _, sets, of := c.tally(name, false); of > 0 && sets == of {
			names = append(names, titleOf(name))
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return text.List(names, "and")
}

// upToBeta returns how many cells of Pat&Mat and Pat&Mat-NP succeed exactly up to some β, and the sets of the
// others.
func (c successCounts) upToBeta() string {
	good, all := 0, 0
	var others []string
	for _, set := range failSets {
		for i, o := range c[set] {
			if !tableEntries()[i].Method.UsesBeta || o == nil {
				continue
			}
			all++
			if firstNo := slices.Index(o, false); o[0] && (firstNo < 0 || !slices.Contains(o[firstNo:], true)) {
				good++
			} else if !slices.Contains(others, set) {
				others = append(others, set)
			}
		}
	}
	if all == 0 {
		return "-"
	}
	words := fmt.Sprintf("%d of %d cells", good, all)
	if len(others) > 0 {
		words += "; not on " + text.List(others, "and")
	}
	return words
}

// topMeanSucceeds returns the cells in which TopMean succeeds for some setting.
func (c successCounts) topMeanSucceeds() string {
	var cells []string
	for _, set := range failSets {
		for i, o := range c[set] {
			if e := tableEntries()[i]; e.Method.Name == "topmean" && slices.Contains(o, true) {
				cells = append(cells, fmt.Sprintf("τ = %s on %s", e.Tau, set))
			}
		}
	}
	if len(cells) == 0 {
		return "nowhere"
	}
	return text.List(cells, "and")
}

// addSuccesses adds the numbers of successes, on which the paper's observations under the table rest.
func (st *study) addSuccesses(p *Piece) {
	printed, err := printedSuccesses()
	if err != nil {
		return // TestPrintedCellsAreRead covers every cell
	}
	adam, possible := st.adamSuccesses(), st.possibleSuccesses()
	t := report.Table{Caption: "Successes by method, over the columns of the paper's table: settings, and " +
		"sets with at least one.",
		Header: []string{"method", "paper: settings", "paper: sets", "ADAM: settings", "ADAM: sets", "possible: " +
			"settings",
			"possible: sets"}, Numbers: []int{1, 2, 3, 4, 5, 6}}
	var seen []entry
	for _, e := range tableEntries() {
		if e.Tau = (threshold.Rate{}); slices.Contains(seen, e) { // one row for both rates
			continue
		}
		seen = append(seen, e)
		row := []string{e.Title()}
		for _, c := range []successCounts{printed, adam, possible} {
			settings, ofSettings, sets, ofSets := c.tally(string(e.Method.Name), e.Implicit)
			if ofSettings == 0 {
				row = append(row, "-", "-")
				continue
			}
			row = append(row, countOf(settings, ofSettings), countOf(sets, ofSets))
		}
		t.Rows = append(t.Rows, row)
	}
	p.Tables = append(p.Tables, NamedTable{"fails-successes", t})

	o := report.Table{Caption: "The paper's observations on its table. Two fractions are those of the " +
		"successful settings.",
		Header: []string{"the paper observes", "in its own table", "ADAM here", "possible here"}}
	row := func(words string, of func(successCounts) string) {
		o.Rows = append(o.Rows, []string{words, of(printed), of(adam), of(possible)})
	}
	row("TopPushK has fewer successes than "+
		"Pat&Mat-NP", func(c successCounts) string { return c.fewer("toppushk", "patmat-np") })
	for _, pair := range [][2]string{{"grill", "grill-np"}, {"patmat", "patmat-np"}, {"topmean", "topmean-np"}} {
		row(titleOf(pair[0])+" has fewer successes than "+titleOf(pair[1]),
			func(c successCounts) string { return c.fewer(pair[0], pair[1]) })
	}
	row("only Pat&Mat and Pat&Mat-NP succeed on every set for some setting", successCounts.everywhere)
	row("Pat&Mat and Pat&Mat-NP succeed exactly up to some β, except on Spambase", successCounts.upToBeta)
	row("TopMean fails everywhere except for τ = 0.03 on CTA", successCounts.topMeanSucceeds)
	p.Tables = append(p.Tables, NamedTable{"fails-observations", o})
}
