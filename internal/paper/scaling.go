package paper

import (
	"context"
	"fmt"

	"toptau/internal/report"
	"toptau/internal/text"
)

// scalingItem shows what dividing the columns by their deviations changes on the real sets.
func scalingItem(_ context.Context, st *study) (*Piece, error) {
	p := &Piece{Title: "Scaling of the columns", Text: []string{
		"The paper does not scale. Centring would change nothing, since every threshold moves with it; dividing " +
			"each column by its standard deviation on the training rows changes what λ penalises and, for ADAM, " +
			"where a fixed step size leads. " +
			fmt.Sprintf("Criteria on the test part in per cent, mean over %s: ADAM by the paper's count, the "+
				"certified optimum by the strict one.", text.Plural(st.o.Seeds, "split"))}}
	for _, s := range st.present(Real) {
		t := report.Table{Caption: s.Name + ": columns as they are → scaled.",
			Header: append([]string{"method", "solver"}, criterionTitles[:]...), Numbers: []int{2, 3, 4, 5, 6}}
		gained := [2][3]int{}
		for _, e := range entries() {
			for i, name := range []string{solverAdam, solverCertified} {
				if i == 1 && certifiedless(e) {
					continue
				}
				row, tally := st.scalingRow(s, e, name, count(i))
				if row == nil {
					continue
				}
				for k := range tally {
					gained[i][k] += tally[k]
				}
				t.Rows = append(t.Rows, append([]string{e.Title(), name}, row...))
			}
		}
		if len(t.Rows) == 0 {
			continue
		}
		p.Tables = append(p.Tables, NamedTable{"scaling-" + s.Key, t})
		for i, name := range []string{"ADAM", "the certified optimum"} {
			if g := gained[i]; g != [3]int{} {
				p.Text = append(p.Text, fmt.Sprintf("%s, %s: scaling is better in %d cells, equal in %d, worse in %d.",
					s.Name, name, g[0], g[1], g[2]))
			}
		}
	}
	return p, nil
}

// scalingRow is one line of means, and how many cells became better, equal, worse; nil when nothing was run.
func (st *study) scalingRow(s *Set, e entry, solverName string, rule count) (row []string, tally [3]int) {
	for k := range criterionCount {
		plain := st.meanCriterion(s, variant{Solver: solverName}, e, rule, k)
		scaled := st.meanCriterion(s, variant{Solver: solverName, Scaled: true}, e, rule, k)
		if plain == nil || scaled == nil {
			row = append(row, "-")
			continue
		}
		switch {
		case *scaled > *plain:
			tally[0]++
		case *scaled == *plain:
			tally[1]++
		default:
			tally[2]++
		}
		row = append(row, fmt.Sprintf("%.1f → %.1f", 100**plain, 100**scaled))
	}
	if tally == [3]int{} {
		return nil, tally
	}
	return row, tally
}

// meanCriterion averages a criterion over the splits; nil when a split has none.
func (st *study) meanCriterion(s *Set, v variant, e entry, rule count, k int) *float64 {
	var sum float64
	seeds := st.seeds(s)
	for _, seed := range seeds {
		v.Seed = seed
		c := st.findCell(s, v, e)
		if c == nil || c.value(rule, k) == nil {
			return nil
		}
		sum += *c.value(rule, k)
	}
	mean := sum / float64(len(seeds))
	return &mean
}
