package paper

import (
	"context"
	"fmt"
	"math"

	"toptau/internal/app/report"
	"toptau/internal/core/text"
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
		for _, e := range tableEntries() {
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
	positives := st.testPositives(s)
	for k := range criterionCount {
		plain, known := st.positivesFound(s, variant{Solver: solverName}, e, rule, k)
		scaled, both := st.positivesFound(s, variant{Solver: solverName, Scaled: true}, e, rule, k)
		if !known || !both {
			row = append(row, "-")
			continue
		}
		switch {
		case scaled > plain:
			tally[0]++
		case scaled == plain:
			tally[1]++
		default:
			tally[2]++
		}
		mean := func(found int) float64 { return 100 * float64(found) / float64(positives*len(st.seeds(s))) }
		row = append(row, fmt.Sprintf("%.1f → %.1f", mean(plain), mean(scaled)))
	}
	if tally == [3]int{} {
		return nil, tally
	}
	return row, tally
}

// testPositives returns the number of positives in the test part of a set, which is the same for every split.
func (st *study) testPositives(s *Set) int {
	test := st.shapes[s.Key].Parts[2]
	return int(math.Round(float64(test.Rows) * test.Share))
}

// positivesFound returns the number of positives that a criterion counts on the test parts of all splits together, so
// that equal means are equal. It returns false if the criterion is missing on a split.
func (st *study) positivesFound(s *Set, v variant, e entry, rule count, k int) (int, bool) {
	found := 0
	for _, seed := range st.seeds(s) {
		v.Seed = seed
		c := st.findCell(s, v, e)
		if c == nil || c.value(rule, k) == nil {
			return 0, false
		}
		found += int(math.Round(*c.value(rule, k) * float64(st.testPositives(s))))
	}
	return found, true
}
