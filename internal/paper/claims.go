package paper

import (
	"context"
	"fmt"
	"math"
	"slices"

	"toptau/internal/report"
)

// statement is something that the paper concludes from its table of ranks, as a contrast: the mean rank of some methods
// minus that of others, on some criteria. The paper says it is negative.
type statement struct {
	text     string
	better   func(e entry) bool
	worse    func(e entry) bool
	criteria []int
}

// named tells entries by the names of their methods.
func named(names ...string) func(entry) bool {
	return func(e entry) bool { return slices.Contains(names, string(e.Method.Name)) }
}

// but tells the other entries.
func but(names ...string) func(entry) bool {
	is := named(names...)
	return func(e entry) bool { return !is(e) }
}

var (
	everyCriterion = []int{0, 1, 2, 3, 4}
	atTop          = []int{0}
	belowTop       = []int{1, 2, 3, 4}
	largerTau      = []int{2, 4}
)

// statements lists the observations under Table "ranks" and the recommendation in the conclusion.
func statements() []statement {
	return []statement{
		{"TopPushK performs better than TopPush", named("toppushk"), named("toppush"), everyCriterion},
		{"TopPushK performs better than TopPush on @Top", named("toppushk"), named("toppush"), atTop},
		{"neither Grill nor Grill-NP perform well",
			but("grill", "grill-np"), named("grill", "grill-np"), everyCriterion},
		{"TopMean does not perform well either", but("topmean"), named("topmean"), everyCriterion},
		{"Pat&Mat, Pat&Mat-NP and TopMean-NP are better on @Quantile and @NP",
			named("patmat", "patmat-np", "topmean-np"),
			but("patmat", "patmat-np", "topmean-np"), belowTop},
		{"Pat&Mat-NP and TopMean-NP are the best on @Quantile and @NP",
			named("patmat-np", "topmean-np"), but("patmat-np", "topmean-np"), belowTop},
		{"recommended for tiny tau (@Top): TopPushK or TopMean-NP over all others",
			named("toppushk", "topmean-np"), but("toppushk", "topmean-np"), atTop},
		{"recommended for tiny tau (@Top): TopPushK or TopMean-NP over Pat&Mat or Pat&Mat-NP",
			named("toppushk", "topmean-np"), named("patmat", "patmat-np"), atTop},
		{"recommended for larger tau (0.03): Pat&Mat or Pat&Mat-NP over all others",
			named("patmat", "patmat-np"), but("patmat", "patmat-np"), largerTau},
		{"recommended for larger tau (0.03): Pat&Mat or Pat&Mat-NP over TopPushK or TopMean-NP",
			named("patmat", "patmat-np"), named("toppushk", "topmean-np"), largerTau},
	}
}

// contrast is the statement's difference for the ranks of one split or set, over the criteria that it has;
// false without any.
func (s *statement) contrast(ranks func(criterion int) []float64) (float64, bool) {
	var sum, n float64
	for _, k := range s.criteria {
		if r := ranks(k); r != nil {
			sum += groupMean(r, s.better) - groupMean(r, s.worse)
			n++
		}
	}
	return sum / n, n > 0
}

func groupMean(ranks []float64, in func(entry) bool) float64 {
	var sum, n float64
	for i, e := range entries() {
		if in(e) {
			sum += ranks[i]
			n++
		}
	}
	return sum / n
}

// onSet is the contrast on every split of a set.
func (st *study) onSet(s *Set, v variant, rule count, t *statement) []float64 {
	var list []float64
	for _, seed := range st.seeds(s) {
		v.Seed = seed
		c, ok := t.contrast(func(k int) []float64 {
			if values := st.criterionValues(s, v, rule, k); values != nil {
				return midranks(values)
			}
			return nil
		})
		if ok {
			list = append(list, c)
		}
	}
	return list
}

// claimsItem tests the paper's conclusions.
func claimsItem(_ context.Context, st *study) (*Piece, error) {
	p := &Piece{Title: "The paper's conclusions, tested", Text: []string{
		"Each conclusion is a difference of mean ranks that the paper says is negative, over the criteria that a " +
			"set has. On the real sets it is averaged over both sets, with a 95 % interval " +
			fmt.Sprintf("over %s (corrected for shared rows): confirmed where the interval lies below 0, refuted "+
				"where it lies above, else undecided. ", plural(st.o.Seeds, "random split")) +
			"Beside it, over all sets with the stand-ins: on how many sets the difference is negative, and the " +
			"sign test's probability of so many or so few. " +
			"Verdicts rest on the real sets.",
	}}
	for _, view := range st.views() {
		if len(view.sets(st)) == 0 || view.name == "ranks-all" || view.name == "ranks-all-certified" {
			continue
		}
		name := "claims-adam"
		if view.v.Solver == solverCertified {
			name = "claims-certified"
		}
		p.Tables = append(p.Tables, NamedTable{name, st.claimsTable(view)})
	}
	return p, nil
}

func (st *study) claimsTable(view rankView) report.Table {
	t := report.Table{Caption: "Difference of mean ranks: " + view.title + ".",
		Header: []string{"the paper says", "paper's own ranks", "real sets", "verdict", "sets where it holds",
			"sign test"}, Numbers: []int{1, 2, 4, 5}}
	for _, s := range statements() {
		paper, _ := s.contrast(func(k int) []float64 {
			var r []float64
			for _, row := range printedRanks {
				r = append(r, row[k])
			}
			return r
		})
		o := st.overRealSplits(view, &s)
		text, verdict := "-", "-"
		if o.N > 0 {
			text = fmt.Sprintf("%+.1f", o.Mean)
		}
		if o.N > 1 {
			text += fmt.Sprintf(" [%+.1f, %+.1f]", o.Low, o.High)
			verdict = "undecided"
			switch {
			case o.High < 0:
				verdict = "confirmed"
			case o.Low > 0:
				verdict = "refuted"
			}
		}
		holds, against := st.overSets(view, &s)
		t.Rows = append(t.Rows, []string{s.text, fmt.Sprintf("%+.1f", paper), text, verdict,
			fmt.Sprintf("%d of %d", holds, holds+against), probability(signTest(holds, holds+against))})
	}
	return t
}

// overRealSplits averages the contrast over the real sets, split by split.
func (st *study) overRealSplits(view rankView, t *statement) Interval {
	var perSet [][]float64
	splits := math.MaxInt
	for _, s := range st.present(Real) {
		list := st.onSet(s, view.v, view.rule, t)
		if len(list) > 0 {
			perSet = append(perSet, list)
			splits = min(splits, len(list))
		}
	}
	if len(perSet) == 0 {
		return Interval{}
	}
	for i := range perSet {
		perSet[i] = perSet[i][:splits]
	}
	return overSplits(meanOf(perSet))
}

// overSets counts the sets on which the contrast, averaged over splits, is negative and positive; ties count for neither.
func (st *study) overSets(view rankView, t *statement) (holds, against int) {
	for _, s := range st.present() {
		list := st.onSet(s, view.v, view.rule, t)
		var sum float64
		for _, c := range list {
			sum += c
		}
		switch {
		case sum < 0:
			holds++
		case sum > 0:
			against++
		}
	}
	return holds, against
}
