package paper

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"toptau/internal/app/report"
	"toptau/internal/core/certified"
	"toptau/internal/core/optim"
	"toptau/internal/core/text"
)

// describeSettings returns the settings of a grid with a property: "all", "none", "β ≤ 0.1", "λ = 0.001", "k
// ≥ 5".
func describeSettings(points []Point, e entry, holds func(*Point) bool) string {
	symbol, setting := "λ", func(p *Point) float64 { return p.Lambda }
	switch {
	case e.Method.UsesBeta:
		symbol, setting = "β", func(p *Point) float64 { return p.Beta }
	case e.Method.UsesK:
		symbol, setting = "k", func(p *Point) float64 { return float64(p.K) }
	}
	yes := make([]bool, len(points))
	n := 0
	for i := range points {
		if yes[i] = holds(&points[i]); yes[i] {
			n++
		}
	}
	at := func(i int) string { return number(setting(&points[i])) }
	firstYes, firstNo := slices.Index(yes, true), slices.Index(yes, false)
	switch {
	case n == len(points):
		return "all"
	case n == 0:
		return "none"
	case n == 1:
		return symbol + " = " + at(firstYes)
	case firstNo == n: // the grids ascend
		return symbol + " ≤ " + at(n-1)
	case firstYes == len(points)-n:
		return symbol + " ≥ " + at(firstYes)
	}
	var some []string
	for i := range points {
		if yes[i] {
			some = append(some, at(i))
		}
	}
	return symbol + " = " + strings.Join(some, ", ")
}

// possibleSettings returns the settings at which a run can be better than w = 0, because it is not a global
// minimiser.
func (st *study) possibleSettings(s *Set, e entry) string {
	if certifiedless(e) {
		return "open"
	}
	problems, err := e.problems()
	if err != nil {
		return "-"
	}
	var points []Point
	var better []bool
	for _, p := range problems {
		h := p
		a := st.zeros[zeroName(s, p)]
		if a == nil || a.Verdict == certified.Undecided.String() {
			return "undecided"
		}
		points = append(points, Point{Lambda: h.Lambda, Beta: h.Beta, K: h.K})
		better = append(better, a.Verdict == certified.ZeroIsNotOptimal.String())
	}
	return describeSettings(points, e, func(p *Point) bool { return better[slices.Index(points, *p)] })
}

// failsItem is Table "fails": the settings at which a run is better than w = 0, and those at which it could
// be.
func failsItem(_ context.Context, st *study) (*Piece, error) {
	p := &Piece{Title: "Table \"fails\": where the run ends better than w = 0", Text: []string{
		"The settings of the grid at which ADAM's last iterate has a lower objective than w = 0, on all training " +
			"rows of the first split: \"all\" is the paper's check mark, \"none\" its cross. \"possible\" lists the " +
			"settings at which a point better than w = 0 exists."}}
	tables, agreement := st.failTables()
	p.Tables = append(tables, NamedTable{"fails-agreement", agreement})
	p.Notes = []string{
		"If \"possible\" is \"none\", w = 0 is a global minimum, which is a property of the method on this set. " +
			"If only the run has \"none\", ADAM missed a better point. For the Grill methods the question is open, " +
			"because their objective is not convex.",
		"For Pat&Mat and Pat&Mat-NP with the hinge w = 0 is optimal only if the means of the classes coincide, " +
			"because their gradient at 0 is the difference of two means. The paper's bounds on β in this table " +
			"therefore describe 1,000 steps of ADAM, not the methods.",
	}
	st.addSuccesses(p)
	st.addSteps(p)
	return p, nil
}

// failTables returns the tables of the real sets, the stand-ins and the additional sets, and a summary by
// set.
func (st *study) failTables() (tables []NamedTable, agreement report.Table) {
	agreement = report.Table{Caption: "Cells by set. A cell at which w = 0 is optimal and ADAM has no success " +
		"is a property of the method. A better point that ADAM misses at some setting is a property of the run.",
		Header:  []string{"set", "agree with the paper", "w = 0 optimal", "ADAM misses a better point"},
		Numbers: []int{1, 2, 3}}
	groups := []struct {
		name, caption string
		in            func(*Set) bool
	}{
		{"fails-real", "The paper's own data.", func(s *Set) bool { return s.Kind != StandIn }},
		{"fails-standin", "Stand-ins for the other columns of the paper's table.",
			func(s *Set) bool { return s.Kind == StandIn && slices.Contains(failSets, s.PaperSet) }},
		{"fails-more", "Sets that the paper's table does not have.",
			func(s *Set) bool { return s.Kind == StandIn && !slices.Contains(failSets, s.PaperSet) }},
	}
	for _, g := range groups {
		sets := slices.DeleteFunc(st.present(), func(s *Set) bool { return !g.in(s) })
		number := 0
		for part := range slices.Chunk(sets, failSetsPerTable(sets)) {
			number++
			t := report.Table{Caption: g.caption, Header: []string{"method"}}
			for _, e := range tableEntries() {
				t.Rows = append(t.Rows, []string{e.Title()})
			}
			for _, s := range part {
				agreement.Rows = append(agreement.Rows, st.failColumns(&t, s))
			}
			name := g.name
			if number > 1 {
				name = fmt.Sprintf("%s-%d", g.name, number)
			}
			tables = append(tables, NamedTable{name, t})
		}
	}
	return tables, agreement
}

// failSetsPerTable returns how many sets fit next to each other on a page: six columns, two or three for a
// set.
func failSetsPerTable(sets []*Set) int {
	for _, s := range sets {
		if slices.Contains(failSets, s.PaperSet) {
			return 2
		}
	}
	return 3
}

// shortName returns the name of a set for the header of a narrow column: the set that it is, or replaces.
func shortName(s *Set) string {
	switch {
	case s.PaperSet == "":
		return s.Key
	case s.Kind == StandIn:
		return s.PaperSet + " (stand-in)"
	}
	return s.PaperSet
}

// failColumns adds the columns of a set and returns its row of the summary.
func (st *study) failColumns(t *report.Table, s *Set) []string {
	column := slices.Index(failSets, s.PaperSet)
	if column >= 0 {
		t.Header = append(t.Header, shortName(s)+": paper")
	}
	t.Header = append(t.Header, shortName(s)+": ADAM", shortName(s)+": possible")
	same, method, run := 0, 0, 0
	for i, e := range tableEntries() {
		ours, exact := "-", st.possibleSettings(s, e)
		if c := st.findCell(s, variant{Seed: first, Solver: solverAdam}, e); c != nil {
			ours = describeSettings(c.Points, e, (*Point).Beats)
		}
		if column >= 0 {
			printed := printedFail(e, column)
			t.Rows[i] = append(t.Rows[i], printed)
			if !e.Implicit && ours == printed {
				same++
			}
		}
		if ours == "none" && exact == "none" {
			method++
		} else if ours != exact && exact != "open" && exact != "undecided" && ours != "-" {
			run++
		}
		t.Rows[i] = append(t.Rows[i], ours+st.betterMark(s, variant{Seed: first, Solver: solverAdam}, e), exact)
	}
	agree := "not in the paper"
	if column >= 0 {
		agree = countOf(same, len(entries()))
	}
	return []string{s.Name, agree, countOf(method, len(entries())), countOf(run, convexEntries)}
}

// printedFail returns the paper's cell of an entry, and "-" for one that the paper does not have.
func printedFail(e entry, column int) string {
	if e.Implicit {
		return "-"
	}
	return printedFails[e.position()][column]
}

// convexEntries is the number of entries of convex methods, for which it is known whether w = 0 is optimal.
const convexEntries = 10

// otherSteps are step sizes of ADAM in addition to 0.01, which all other tables use. The paper does not print
// its step size.
var otherSteps = []float64{0.001, 0.1, 1}

// addSteps adds a table that shows the effect of the step size on the real sets.
func (st *study) addSteps(p *Piece) {
	t := report.Table{Caption: "The same on the paper's own data for other step sizes of ADAM.",
		Header: []string{"method"}}
	for _, e := range tableEntries() {
		t.Rows = append(t.Rows, []string{e.Title()})
	}
	for _, s := range st.present(Real) {
		column := slices.Index(failSets, s.PaperSet)
		t.Header = append(t.Header, s.Name+": paper")
		for i, e := range tableEntries() {
			t.Rows[i] = append(t.Rows[i], printedFail(e, column))
		}
		var agree []string
		for _, step := range []float64{otherSteps[0], optim.DefaultStep, otherSteps[1], otherSteps[2]} {
			v := variant{Seed: first, Solver: solverAdam, Step: step}
			if step == optim.DefaultStep {
				v.Step = 0
			}
			t.Header = append(t.Header, "step "+number(step))
			same, known := 0, true
			for i, e := range tableEntries() {
				ours := "-"
				if c := st.findCell(s, v, e); c != nil {
					ours = describeSettings(c.Points, e, (*Point).Beats)
				} else {
					known = false
				}
				if !e.Implicit && ours == printedFail(e, column) {
					same++
				}
				t.Rows[i] = append(t.Rows[i], ours+st.betterMark(s, v, e))
			}
			if known {
				agree = append(agree, fmt.Sprintf("%d with step %s", same, number(step)))
			}
		}
		if len(agree) > 0 {
			p.Notes = append(p.Notes, fmt.Sprintf("%s, cells of 14 that agree with the paper: %s. The paper does "+
				"not print its step size.", s.Name, text.List(agree, "and")))
		}
	}
	if len(t.Header) > 1 {
		p.Tables = append(p.Tables, NamedTable{"fails-steps", t})
	}
}
