package paper

import (
	"context"
	"fmt"

	"toptau/internal/app/report"
	"toptau/internal/core/optim"
	"toptau/internal/core/text"
)

// startsItem repeats the comparison of the two starts. In the paper, zero was better in 58.7 % of the cases.
func startsItem(_ context.Context, st *study) (*Piece, error) {
	t := report.Table{Caption: "Number of cases in which the start at w = 0 is better than, equal to or worse than a random start " +
		"in [-1, 1]. A case is a set, a split, one of 14 methods and one of 5 criteria, by the paper's count.",
		Header:  []string{"set", "cases", "better", "equal", "worse", "better, of all", "better, of the unequal"},
		Numbers: []int{1, 2, 3, 4, 5, 6}}
	var once, real [3]int
	for _, s := range st.present() {
		tally, one := st.compareStarts(s, st.seeds(s)), st.compareStarts(s, []uint64{first})
		if tally == [3]int{} {
			continue
		}
		for i := range tally {
			once[i] += one[i]
			if s.Kind != StandIn {
				real[i] += tally[i]
			}
		}
		t.Rows = append(t.Rows, tallyRow(s.Name, tally))
	}
	t.Rows = append(t.Rows, tallyRow("real data", real), tallyRow("all sets, first split of each", once))
	t.Strong = []int{len(t.Rows) - 2, len(t.Rows) - 1}
	return &Piece{Title: "Start at zero or at random", Tables: []NamedTable{{"starts", t}}, Text: []string{
		fmt.Sprintf("The paper ran both starts and shows the one at zero, which was better in %.1f %% of the "+
			"cases. It does not define a case, and it does not mention equal results.", 100*printedZeroStart)}}, nil
}

// compareStarts counts the cases in which zero is better, equal and worse.
func (st *study) compareStarts(s *Set, seeds []uint64) (tally [3]int) {
	for _, seed := range seeds {
		for _, e := range entries() {
			zero := st.findCell(s, variant{Seed: seed, Solver: solverAdam}, e)
			random := st.findCell(s, variant{Seed: seed, Solver: solverAdam, Start: optim.Random}, e)
			if zero == nil || random == nil {
				continue
			}
			for k := range criterionCount {
				a, b := zero.value(paperCount, k), random.value(paperCount, k)
				switch {
				case a == nil || b == nil:
				case *a > *b:
					tally[0]++
				case *a == *b:
					tally[1]++
				default:
					tally[2]++
				}
			}
		}
	}
	return tally
}

// tallyRow returns a row of the table.
func tallyRow(name string, t [3]int) []string {
	all, unequal := t[0]+t[1]+t[2], t[0]+t[2]
	ratio := func(n int) string {
		if n == 0 {
			return "-"
		}
		return tenths(float64(t[0]) / float64(n))
	}
	return []string{name, text.Count(all), text.Count(t[0]), text.Count(t[1]), text.Count(t[2]), ratio(all), ratio(unequal)}
}
