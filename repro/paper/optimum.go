package paper

import (
	"context"
	"fmt"
	"strings"

	"toptau/internal/app/report"
	"toptau/internal/core/optim"
	"toptau/internal/core/text"
)

// shortfall compares runs of ADAM with certified optima of the same problems.
type shortfall struct {
	compared  int
	missing   []float64 // (F - F*)/(F(0) - F*) at settings with F* < F(0)
	atZero    int       // number of settings at which w = 0 is optimal
	wasted    int       // number of other settings at which ADAM ended no better than w = 0
	unproven  int       // number of settings at which the gap was not reached
	undercuts int       // number of settings with ADAM below the certified lower bound, which must be 0
}

// addCells compares the cells of an entry on one split.
func (f *shortfall) addCells(adam, optimum *Cell) {
	for i := range optimum.Points {
		a, o := &adam.Points[i], &optimum.Points[i]
		if a.Failed != "" || o.Failed != "" {
			continue
		}
		f.compared++
		if o.Radius == 0 && o.Lower != nil && a.F < *o.Lower-float64(1e-6*max(1, o.AtZero)) {
			f.undercuts++
		}
		switch {
		case o.Zero:
			f.atZero++
		case !o.Converged:
			f.unproven++
		default:
			f.missing = append(f.missing, (a.F-o.F)/(o.AtZero-o.F))
			if !a.Beats() {
				f.wasted++
			}
		}
	}
}

// optimumItem compares ADAM's last iterate with the certified optimum.
func optimumItem(_ context.Context, st *study) (*Piece, error) {
	p := &Piece{Title: "ADAM's last iterate against the certified optimum", Text: []string{
		"The table shows the fraction of the possible decrease, from w = 0 to the certified optimum, that 1,000 " +
			"iterations of ADAM miss: (F - F*)/(F(0) - F*), over the six settings " +
			"of the ten convex methods and the splits of a set. More than 100 % is worse than w = 0. Two kinds of " +
			"settings are counted separately: those at which w = 0 is optimal, " +
			"and those at which the solver did not reach the gap.",
		fmt.Sprintf("The certified solver stops at a gap of %g of the decrease, where rounding allows no smaller one, or "+
			"after the round in which it has solved %d Newton systems. Sets of more than %s training rows are solved on that many of them, evenly "+
			"spaced. "+
			"Their objectives differ from ADAM's, so they are listed below and not compared here.",
			certifiedGap, certifiedSystems, text.Count(certifiedRows)),
	}}
	for _, start := range []optim.Start{optim.Zero, optim.Random} {
		if t, ok := st.optimumTable(start); ok {
			name := "optimum"
			if start == optim.Random {
				name = "optimum-random"
			}
			p.Tables = append(p.Tables, NamedTable{name, t})
		}
	}
	p.Notes = append(st.limitNotes(), st.shortestNotes()...)
	return p, nil
}

// optimumTable compares the runs from one start. It returns false if there are none.
func (st *study) optimumTable(start optim.Start) (report.Table, bool) {
	from := "w = 0"
	if start == optim.Random {
		from = "a random start"
	}
	t := report.Table{Caption: "ADAM from " + from + ", 1,000 iterations.",
		Header: []string{"set", "settings", "w = 0 optimal", "not proven", "missing: median", "worst",
			"more than 5 %", "no better than w = 0", "below the bound"},
		Numbers: []int{1, 2, 3, 4, 5, 6, 7, 8}}
	for _, s := range st.present() {
		f := st.shortfallOf(s, start)
		if f.compared == 0 {
			continue
		}
		worst, many := 0.0, 0
		for _, m := range f.missing {
			worst = max(worst, m)
			if m > 0.05 {
				many++
			}
		}
		row := []string{s.Name, text.Count(f.compared), text.Count(f.atZero), text.Count(f.unproven), "-", "-", "-", "-",
			text.Count(f.undercuts)}
		if n := len(f.missing); n > 0 {
			row[4], row[5] = text.Percent(median(f.missing)), text.Percent(worst)
			row[6], row[7] = fmt.Sprintf("%s of %s", text.Count(many), text.Count(n)), fmt.Sprintf("%s of %s",
				text.Count(f.wasted), text.Count(n))
		}
		t.Rows = append(t.Rows, row)
	}
	return t, len(t.Rows) > 0
}

// shortfallOf compares all runs on a set from one start with the certified optima of the same problems.
func (st *study) shortfallOf(s *Set, start optim.Start) shortfall {
	var f shortfall
	for _, seed := range st.seeds(s) {
		for _, e := range entries() {
			a := st.findCell(s, variant{Seed: seed, Solver: solverAdam, Start: start}, e)
			o := st.findCell(s, variant{Seed: seed, Solver: solverCertified}, e)
			if a != nil && o != nil && !certifiedless(e) && a.Rows == o.Rows {
				f.addCells(a, o)
			}
		}
	}
	return f
}

// limitNotes describes the cells at which the certified solver's limit was reached, by set.
func (st *study) limitNotes() []string {
	var notes []string
	for _, s := range st.present() {
		solvedOn, settings, largest := "", 0, 0.0
		for _, seed := range st.seeds(s) {
			for _, e := range entries() {
				c := st.findCell(s, variant{Seed: seed, Solver: solverCertified}, e)
				if c == nil || certifiedless(e) {
					continue
				}
				for i := range c.Points {
					if p := &c.Points[i]; p.Failed == "" && !p.Converged {
						settings++
						largest = max(largest, (p.F-*p.Lower)/(p.AtZero-*p.Lower))
					}
				}
				if shape := st.shapes[s.Key]; shape != nil && c.Rows < shape.Parts[0].Rows {
					solvedOn = fmt.Sprintf("solved on %s of %s training rows", text.Count(c.Rows), text.Count(shape.Parts[0].Rows))
				}
			}
		}
		var limits []string
		if solvedOn != "" {
			limits = append(limits, solvedOn)
		}
		if settings > 0 {
			limits = append(limits, fmt.Sprintf("%s without a proof to the gap, the largest at %.2g of the decrease",
				text.Plural(settings, "setting"), largest))
		}
		if len(limits) > 0 {
			notes = append(notes, s.Name+": "+strings.Join(limits, "; ")+".")
		}
	}
	return notes
}

// provenLength is the ratio of the length of weights to its lower bound up to which they count as the shortest.
const provenLength = 1.01

// shortestNotes describes the settings with lambda = 0, of which the certified solver returns the shortest optimum.
func (st *study) shortestNotes() []string {
	settings, proven, cells, chosen := 0, 0, 0, 0
	st.eachCell(func(_ *Set, v variant, e entry, c *Cell) {
		if v.Solver != solverCertified || v.Change != "" || certifiedless(e) || e.Method.UsesBeta || e.Method.UsesK {
			return
		}
		cells++
		if c.shortestMark(strictCount) != "" {
			chosen++
		}
		for i := range c.Points {
			if p := &c.Points[i]; p.Length > 0 {
				settings++
				if p.Length <= provenLength*p.LengthBound {
					proven++
				}
			}
		}
	})
	if settings == 0 {
		return nil
	}
	return []string{fmt.Sprintf("λ = 0 (TopPush, TopMean and TopMean-NP): many weights can be optimal, and the certified solver "+
		"returns the shortest of those that are optimal up to the gap. In %s settings, scaled columns included, it proves that "+
		"none is shorter by more than %.0f %%. The validation part selects such a setting in %s cells. Other optimal weights can have other criteria.",
		countOf(proven, settings), 100*(provenLength-1), countOf(chosen, cells))}
}
