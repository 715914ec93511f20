package paper

import (
	"context"
	"fmt"

	"toptau/internal/report"
	"toptau/internal/text"
)

// scalingItem shows the effect of scaled columns on the real sets.
func scalingItem(_ context.Context, st *study) (*Piece, error) {
	p := &Piece{Title: "Scaling of the columns", Text: []string{
		"The paper does not scale. Centring would change nothing, because all scores and thresholds move by the same number. " +
			"Dividing each column by its standard deviation on the training rows changes which weights λ penalises " +
			"and, for ADAM, how far a fixed step goes. " +
			fmt.Sprintf("Criteria on the test part in per cent, mean over %s: ADAM by the paper's count, the "+
				"certified optimum by the strict one.", text.Plural(st.o.Seeds, "split"))}}
	for _, s := range st.present(Real) {
		t := report.Table{Caption: s.Name + ": unscaled → scaled columns.",
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

// scalingRow returns one row of means and the numbers of better, equal and worse cells. It returns nil
// without results.
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

// meanCriterion returns the mean of a criterion over the splits, and nil if it is missing on a split.
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
