package paper

import (
	"context"
	"fmt"
	"math"
	"slices"

	"toptau/internal/report"
	"toptau/internal/text"
)

// statement is a conclusion that the paper draws from its table of ranks, as a contrast: the mean rank of
// some methods minus that of others, on some criteria. According to the paper it is negative.
type statement struct {
	text     string
	better   func(e entry) bool
	worse    func(e entry) bool
	criteria []int
}

// withNames returns a filter of entries by the names of their methods.
func withNames(names ...string) func(entry) bool {
	return func(e entry) bool { return slices.Contains(names, string(e.Method.Name)) }
}

// withoutNames returns the opposite filter.
func withoutNames(names ...string) func(entry) bool {
	is := withNames(names...)
	return func(e entry) bool { return !is(e) }
}

var (
	everyCriterion = []int{0, 1, 2, 3, 4}
	atTop          = []int{0}
	belowTop       = []int{1, 2, 3, 4}
	largerTau      = []int{2, 4}
)

// statements returns the observations under Table "ranks" and the recommendations of the conclusion.
func statements() []statement {
	return []statement{
		{"TopPushK performs better than TopPush", withNames("toppushk"), withNames("toppush"), everyCriterion},
		{"TopPushK performs better than TopPush on @Top", withNames("toppushk"), withNames("toppush"), atTop},
		{"neither Grill nor Grill-NP perform well",
			withoutNames("grill", "grill-np"), withNames("grill", "grill-np"), everyCriterion},
		{"TopMean does not perform well either", withoutNames("topmean"), withNames("topmean"), everyCriterion},
		{"Pat&Mat, Pat&Mat-NP and TopMean-NP are better on @Quantile and @NP",
			withNames("patmat", "patmat-np", "topmean-np"),
			withoutNames("patmat", "patmat-np", "topmean-np"), belowTop},
		{"Pat&Mat-NP and TopMean-NP are the best on @Quantile and @NP",
			withNames("patmat-np", "topmean-np"), withoutNames("patmat-np", "topmean-np"), belowTop},
		{"recommended for tiny tau (@Top): TopPushK or TopMean-NP over all others",
			withNames("toppushk", "topmean-np"), withoutNames("toppushk", "topmean-np"), atTop},
		{"recommended for tiny tau (@Top): TopPushK or TopMean-NP over Pat&Mat or Pat&Mat-NP",
			withNames("toppushk", "topmean-np"), withNames("patmat", "patmat-np"), atTop},
		{"recommended for larger tau (0.03): Pat&Mat or Pat&Mat-NP over all others",
			withNames("patmat", "patmat-np"), withoutNames("patmat", "patmat-np"), largerTau},
		{"recommended for larger tau (0.03): Pat&Mat or Pat&Mat-NP over TopPushK or TopMean-NP",
			withNames("patmat", "patmat-np"), withNames("toppushk", "topmean-np"), largerTau},
	}
}

// contrast returns the difference for the ranks of one split or set, over the criteria that it has. It
// returns false if it has none.
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

// groupMean returns the mean rank of some entries.
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

// contrasts returns the contrast on every split of a set.
func (st *study) contrasts(s *Set, v variant, rule count, t *statement) []float64 {
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
		"Each conclusion is a difference of mean ranks over the criteria of a set, and the paper concludes that it is " +
			"negative. On the real sets it is averaged over both sets, with a 95 % interval " +
			fmt.Sprintf("over %s (corrected for shared rows). A conclusion is confirmed if the interval is below 0, refuted "+
				"if it is above, and otherwise undecided. ", text.Plural(st.o.Seeds, "random split")) +
			"The last columns cover all sets with the stand-ins: the number of sets with a negative difference, and the " +
			"p-value of the sign test. " +
			"Verdicts are based on the real sets.",
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

// claimsTable returns the table of the conclusions.
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

// overRealSplits returns the contrast averaged over the real sets, with its interval over the splits.
func (st *study) overRealSplits(view rankView, t *statement) Interval {
	var perSet [][]float64
	splits := math.MaxInt
	for _, s := range st.present(Real) {
		list := st.contrasts(s, view.v, view.rule, t)
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

// overSets returns the number of sets with a negative and with a positive contrast, averaged over splits.
func (st *study) overSets(view rankView, t *statement) (holds, against int) {
	for _, s := range st.present() {
		list := st.contrasts(s, view.v, view.rule, t)
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
