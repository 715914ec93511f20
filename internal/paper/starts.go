package paper

import (
	"context"
	"fmt"

	"toptau/internal/report"
	"toptau/internal/solver"
	"toptau/internal/text"
)

// startsItem recomputes the comparison of the two starts: the paper's was better from zero in 58.7 % of the cases.
func startsItem(_ context.Context, st *study) (*Piece, error) {
	t := report.Table{Caption: "In how many cases the start at w = 0 is better, equal, worse than a random start " +
		"in [-1, 1] (a case: a set, a split, one of 14 methods, one of 5 criteria; the paper's count).",
		Header:  []string{"set", "cases", "better", "equal", "worse", "better of all", "better of the unequal"},
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
			"cases; it does not say what a case is, nor what became of equal ones.", 100*printedZeroStart)}}, nil
}

// compareStarts counts better, equal, worse.
func (st *study) compareStarts(s *Set, seeds []uint64) (tally [3]int) {
	for _, seed := range seeds {
		for _, e := range entries() {
			zero := st.findCell(s, variant{Seed: seed, Solver: solverAdam}, e)
			random := st.findCell(s, variant{Seed: seed, Solver: solverAdam, Start: solver.Random}, e)
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
