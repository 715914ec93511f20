package paper

import (
	"context"
	"fmt"
	"math"
	"slices"

	"toptau/internal/app/report"
	"toptau/internal/core/text"
)

// criterionValues returns the 14 values of a criterion on one split, and nil if one is missing. With implicit, the methods
// that are not convex have their values with the implicit gradient.
func (st *study) criterionValues(s *Set, v variant, rule count, criterion int, implicit bool) []float64 {
	var values []float64
	for _, e := range entries() {
		e.Implicit = implicit && certifiedless(e)
		c := st.findCell(s, v, e)
		if c == nil {
			return nil
		}
		x := c.value(rule, criterion)
		if c.Chosen[rule] < 0 {
			values = append(values, 0) // no point has a result, which is the worst
			continue
		}
		if x == nil {
			return nil
		}
		values = append(values, *x)
	}
	return values
}

// methodRanks contains the ranks of the 14 methods on some sets.
type methodRanks struct {
	blocks [criterionCount][][]float64 // by criterion: the ranks on each set, averaged over its splits
	// splits contains the ranks averaged over the sets, by criterion and split, for splits that all sets
	// have.
	splits [criterionCount][][]float64
	keys   [criterionCount][]string // of the sets, in the order of blocks
}

// rankSets ranks the methods on every split of every set.
func (st *study) rankSets(sets []*Set, v variant, rule count, implicit bool) *methodRanks {
	r := new(methodRanks)
	for k := range criterionCount {
		perSplit := make([][][]float64, st.o.Seeds)
		for _, s := range sets {
			var list [][]float64
			for i, seed := range st.seeds(s) {
				v.Seed = seed
				if values := st.criterionValues(s, v, rule, k, implicit); values != nil {
					list = append(list, midranks(values))
					perSplit[i] = append(perSplit[i], midranks(values))
				}
			}
			if len(list) > 0 {
				r.blocks[k] = append(r.blocks[k], meanOf(list))
				r.keys[k] = append(r.keys[k], s.Key)
			}
		}
		for _, list := range perSplit {
			if len(list) > 0 && len(list) == len(r.blocks[k]) {
				r.splits[k] = append(r.splits[k], meanOf(list))
			}
		}
	}
	return r
}

// meanOf returns the mean of vectors.
func meanOf(list [][]float64) []float64 {
	mean := make([]float64, len(list[0]))
	for _, v := range list {
		for j, x := range v {
			mean[j] += x / float64(len(list))
		}
	}
	return mean
}

// rankTable returns Table "ranks". ● marks the best, ○ those within one rank of it. The row of an implicit entry has its ranks
// in implicit, where the methods that are not convex have the implicit gradient.
func (r *methodRanks) rankTable(implicit *methodRanks, caption string) report.Table {
	t := report.Table{Caption: caption, Header: []string{"method"}}
	var ours, others, printed [criterionCount][]string
	for k, title := range criterionTitles {
		t.Header = append(t.Header, title, "paper")
		ours[k], others[k], printed[k] = r.column(k), implicit.column(k), printedColumn(k)
	}
	for _, e := range tableEntries() {
		row, i := []string{e.Title()}, e.position()
		for k := range criterionCount {
			if e.Implicit {
				row = append(row, others[k][i], "-")
			} else {
				row = append(row, ours[k][i], printed[k][i])
			}
		}
		t.Rows = append(t.Rows, row)
	}
	for j := 1; j < len(t.Header); j++ {
		t.Numbers = append(t.Numbers, j)
	}
	return t
}

// column returns the average ranks with their marks and, with several splits, their intervals.
func (r *methodRanks) column(k int) []string {
	cells := make([]string, len(entries()))
	if len(r.blocks[k]) == 0 {
		for i := range cells {
			cells[i] = "-"
		}
		return cells
	}
	mean := meanOf(r.blocks[k])
	for i, text := range marked(mean) {
		cells[i] = text
		if len(r.splits[k]) > 1 {
			var values []float64
			for _, split := range r.splits[k] {
				values = append(values, split[i])
			}
			o := overSplits(values)
			cells[i] += fmt.Sprintf(" [%.1f, %.1f]", math.Max(1, o.Low), math.Min(float64(len(mean)), o.High))
		}
	}
	return cells
}

// marked returns average ranks with marks for the best and for those within one rank.
func marked(mean []float64) []string {
	best := math.Inf(1)
	for _, m := range mean {
		best = math.Min(best, m)
	}
	cells := make([]string, len(mean))
	for i, m := range mean {
		cells[i] = fmt.Sprintf("%.1f", m)
		switch {
		case withoutRounding(m-best) == 0:
			cells[i] += " ●"
		case withoutRounding(m-best-1) <= 0:
			cells[i] += " ○"
		}
	}
	return cells
}

// printedColumn returns the paper's ranks for a criterion.
func printedColumn(k int) []string {
	var mean []float64
	for _, row := range printedRanks {
		mean = append(mean, row[k])
	}
	return marked(mean)
}

// testTable returns the Friedman test of every criterion with Nemenyi's critical difference. Blocks are
// sources: the ranks on the sets of one source are averaged first.
func (r *methodRanks) testTable(caption string) report.Table {
	t := report.Table{Caption: caption, Header: []string{"criterion", "sets", "sources", "Friedman statistic",
		"p by permutation", "permutations", "p by chi-squared", "critical difference at 5 %", "spread of our average ranks"},
		Numbers: []int{1, 2, 3, 4, 6, 7, 8}}
	for k, title := range criterionTitles {
		blocks := sourceBlocks(r.keys[k], r.blocks[k])
		row := []string{title, text.Count(len(r.blocks[k])), text.Count(len(blocks)), "-", "-", "-", "-", "-", "-"}
		if len(blocks) > 0 {
			mean := meanOf(r.blocks[k])
			row[7] = fmt.Sprintf("%.2f", criticalDifference(len(mean), len(blocks), 0.05))
			row[8] = fmt.Sprintf("%.1f", slices.Max(mean)-slices.Min(mean))
		}
		if len(blocks) > 1 {
			p := friedmanPermutation(blocks)
			row[3], row[4], row[5] = fmt.Sprintf("%.1f", friedman(blocks)), probability(p.P), p.How
			row[6] = probability(chiSquared(friedman(blocks), len(entries())))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// probability writes a p-value.
func probability(p float64) string {
	if p < 0.001 {
		return "< 0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

// rankView selects the results for one table of ranks.
type rankView struct {
	name, title string
	v           variant
	rule        count
	sets        func(st *study) []*Set
}

// realSets returns the paper's own data, on which the verdicts are based.
func realSets(st *study) []*Set { return st.present(Real, Original) }

// allSets returns all sets, with the stand-ins.
func allSets(st *study) []*Set { return st.present() }

// views returns the tables of ranks: ADAM from w = 0 by the paper's count, and the certified optimum by the
// strict count. Certified optima often have constant scores, which the paper's count would call perfect. Each
// is shown for real data alone and for all sets.
func (st *study) views() []rankView {
	var list []rankView
	if st.o.Adam && st.o.Zero {
		v := variant{Solver: solverAdam}
		list = append(list,
			rankView{"ranks-real", "real data alone, ADAM from w = 0, " + countNames[paperCount], v, paperCount, realSets},
			rankView{"ranks-all", "with the stand-ins, ADAM from w = 0, " + countNames[paperCount], v, paperCount, allSets})
	}
	if st.o.Certified {
		v := variant{Solver: solverCertified}
		list = append(list,
			rankView{"ranks-real-certified", "real data alone, certified optimum (Grill and Grill-NP: ADAM), " + countNames[strictCount], v, strictCount, realSets},
			rankView{"ranks-all-certified", "with the stand-ins, certified optimum (Grill and Grill-NP: ADAM), " + countNames[strictCount], v, strictCount, allSets})
	}
	return list
}

// ranksItem is Table "ranks" with its tests.
func ranksItem(_ context.Context, st *study) (*Piece, error) {
	p := &Piece{Title: "Table \"ranks\": average ranks of the 14 methods", Text: []string{
		"Rank 1 is the best of 14; equal values share the mean of their ranks. ● marks the best of a column, ○ " +
			"those within one rank of it. The columns \"paper\" are the paper's averages over its nine sets.", implicitNote}, Notes: []string{
		fmt.Sprintf("Intervals in brackets (95 %%, each on its own) are over %s of the real sets, with the "+
			"correction for splits that share rows (Nadeau and Bengio 2003). They describe one method on these "+
			"sets. Differences between methods are in the next section, with intervals corrected for their "+
			"number.", text.Plural(st.o.Seeds, "random split")),
		"Friedman's test and Nemenyi's critical difference count sources, not sets or splits. The p-value is " +
			"that of permutations of the methods within a source. The chi-squared limit next to it is wrong for so " +
			"few. It is a probability under the hypothesis that all 14 methods are alike, collapsed ones included, " +
			"so a small one does not single out a method. With two sources no difference of 13 ranks is significant " +
			"by Nemenyi's rule.",
		"The paper counts a positive whose score equals the threshold. By this count a constant score gives 100 " +
			"%. The strict count gives ties to the negatives, so a constant score gives 0. Positives@Quantile by " +
			"the strict count is undefined if n tau is less than one row. Such a set is left out of the column.",
	}}
	for _, view := range st.views() {
		sets := view.sets(st)
		if len(sets) == 0 {
			p.Notes = append(p.Notes, "No set for: "+view.title+".")
			continue
		}
		r := st.rankSets(sets, view.v, view.rule, false)
		p.Tables = append(p.Tables,
			NamedTable{view.name, r.rankTable(st.rankSets(sets, view.v, view.rule, true), fmt.Sprintf("Average ranks, %s (%s).",
				view.title, text.Plural(len(sets), "set")))},
			NamedTable{view.name + "-tests", r.testTable("Tests of these ranks.")})
	}
	p.Tables = append(p.Tables, NamedTable{"values", st.valuesTable()})
	return p, nil
}

// implicitNote explains the rows of implicit entries.
const implicitNote = "The steps of Grill and Grill-NP are the paper's (Section 5.1): their gradient holds the threshold, dt/dw = 0. Rows with " +
	"\"implicit\" have the gradient of the objective, with dt/dw, as all other methods. Their ranks are those that Grill and Grill-NP " +
	"would have with it, and no other row depends on them."

// valuesTable returns the criteria on the first split, from which the ranks follow.
func (st *study) valuesTable() report.Table {
	t := report.Table{Caption: "The criteria on the test part of the first split, in per cent: ADAM from w = " +
		"0 by the paper's count / certified optimum by the strict count." + shortestNote,
		Header: append([]string{"set", "method"}, criterionTitles[:]...), Numbers: []int{2, 3, 4, 5, 6}, Tall: true}
	for _, s := range st.present() {
		for _, e := range tableEntries() {
			row := []string{s.Name, e.Title()}
			for k := range criterionCount {
				row = append(row, st.percent(s, variant{Seed: first, Solver: solverAdam}, e, paperCount, k)+" / "+
					st.percent(s, variant{Seed: first, Solver: solverCertified}, e, strictCount, k))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// percent returns a criterion in per cent, marked if it is unstable, and "-" if it is missing.
func (st *study) percent(s *Set, v variant, e entry, rule count, k int) string {
	c := st.findCell(s, v, e)
	if c == nil || c.value(rule, k) == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f", 100**c.value(rule, k)) + c.shortestMark(rule) + st.criterionMark(s, v, e, rule, k)
}

// With lambda = 0 many points may be optimal, and the certified solver returns the shortest one. shortestMark follows
// the values of such a setting.
const (
	shortest     = " ‡"
	shortestNote = " Values with" + shortest + " are of a setting with λ = 0: of all weights that are optimal up to the gap, these are the " +
		"shortest. Others can have other values."
)

// shortestMark returns the mark of the setting that a count selects.
func (c *Cell) shortestMark(rule count) string {
	if i := c.Chosen[rule]; i >= 0 && i < len(c.Points) && c.Points[i].Length > 0 {
		return shortest
	}
	return ""
}
