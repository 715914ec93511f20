package paper

import (
	"context"
	"fmt"
	"math"
	"slices"

	"toptau/internal/app/report"
	"toptau/internal/core/text"
)

// conclusion is a conclusion that the paper draws from its table of ranks. As a contrast it is a difference
// of mean ranks that is negative according to the paper.
type conclusion struct {
	text    string
	place   string   // in the paper
	methods []string // names; each has a part of its own
	rivals  []string // nil: all others
	worse   bool     // the methods are worse than the rivals according to the paper
	// criteria are those of the conclusion; each has a part of its own. If against is not nil, the ranks of the
	// methods on the criteria are compared with their own ranks on against, not with those of rivals.
	criteria, against []int
}

var (
	everyCriterion = []int{0, 1, 2, 3, 4}
	atTop          = []int{0}
	belowTop       = []int{1, 2, 3, 4}
	largerTau      = []int{2, 4}
)

// conclusions returns the observations under Table "ranks", what its marks show, and the recommendations.
func conclusions() []conclusion {
	const under, marks, last = "under Table \"ranks\"", "marks of Table \"ranks\"", "Conclusion"
	return []conclusion{
		{text: "TopPushK performs better than TopPush", place: under,
			methods: []string{"toppushk"}, rivals: []string{"toppush"}, criteria: everyCriterion},
		{text: "TopPushK performs better than TopPush on @Top", place: under,
			methods: []string{"toppushk"}, rivals: []string{"toppush"}, criteria: atTop},
		{text: "neither Grill nor Grill-NP perform well", place: under,
			methods: []string{"grill", "grill-np"}, worse: true, criteria: everyCriterion},
		{text: "TopMean does not perform well either", place: under,
			methods: []string{"topmean"}, worse: true, criteria: everyCriterion},
		{text: "TopPush and TopPushK are better on @Top than the other methods", place: under,
			methods: []string{"toppush", "toppushk"}, criteria: atTop},
		{text: "TopPush and TopPushK are better on @Top than on the other criteria", place: under,
			methods: []string{"toppush", "toppushk"}, criteria: atTop, against: belowTop},
		{text: "Pat&Mat, Pat&Mat-NP and TopMean-NP are better on @Quantile and @NP than the other " +
			"methods", place: under,
			methods: []string{"patmat", "patmat-np", "topmean-np"}, criteria: belowTop},
		{text: "Pat&Mat, Pat&Mat-NP and TopMean-NP are better on @Quantile and @NP than on @Top", place: under,
			methods: []string{"patmat", "patmat-np", "topmean-np"}, criteria: belowTop, against: atTop},
		{text: "Pat&Mat-NP and TopMean-NP are the best on @Quantile and @NP", place: marks,
			methods: []string{"patmat-np", "topmean-np"}, criteria: belowTop},
		{text: "tiny τ (@Top): TopPushK or TopMean-NP rather than any other method", place: last,
			methods: []string{"toppushk", "topmean-np"}, criteria: atTop},
		{text: "tiny τ (@Top): TopPushK or TopMean-NP rather than Pat&Mat or Pat&Mat-NP", place: last,
			methods: []string{"toppushk", "topmean-np"}, rivals: []string{"patmat", "patmat-np"}, criteria: atTop},
		{text: "larger τ (0.03): Pat&Mat or Pat&Mat-NP rather than any other method", place: last,
			methods: []string{"patmat", "patmat-np"}, criteria: largerTau},
		{text: "larger τ (0.03): Pat&Mat or Pat&Mat-NP rather than TopPushK or TopMean-NP", place: last,
			methods: []string{"patmat", "patmat-np"}, rivals: []string{"toppushk", "topmean-np"}, criteria: largerTau},
	}
}

// withNames returns a filter of entries by the names of their methods.
func withNames(names ...string) func(entry) bool {
	return func(e entry) bool { return slices.Contains(names, string(e.Method.Name)) }
}

// part is the conclusion for one of its methods on one of its criteria.
type part struct {
	method    string
	criterion int
}

// parts returns the parts of the conclusion.
func (c *conclusion) parts() []part {
	var list []part
	for _, m := range c.methods {
		for _, k := range c.criteria {
			list = append(list, part{m, k})
		}
	}
	return list
}

// only returns the conclusion about one part, with the same rivals.
func (c *conclusion) only(p part) conclusion {
	one := *c
	one.methods, one.criteria = []string{p.method}, []int{p.criterion}
	if c.rivals == nil {
		for _, m := range methodNames() {
			if !slices.Contains(c.methods, m) {
				one.rivals = append(one.rivals, m)
			}
		}
	}
	return one
}

// methodNames returns the names of the eight methods.
func methodNames() []string {
	var names []string
	for _, e := range entries() {
		if name := string(e.Method.Name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// contrast returns the difference for the ranks of one split, over the criteria that it has. NaN is the rank
// of an entry that is left out. It returns false if a side has no entry.
func (c *conclusion) contrast(ranks func(criterion int) []float64) (float64, bool) {
	own := withNames(c.methods...)
	rival := func(e entry) bool { return !own(e) }
	if c.rivals != nil {
		rival = withNames(c.rivals...)
	}
	other := math.NaN()
	if c.against != nil {
		other = meanRank(ranks, own, c.against)
	}
	var sum, n float64
	for _, k := range c.criteria {
		d := meanRank(ranks, own, []int{k})
		if c.against == nil {
			d -= meanRank(ranks, rival, []int{k})
		} else {
			d -= other
		}
		if !math.IsNaN(d) {
			sum += d
			n++
		}
	}
	if c.worse {
		sum = -sum
	}
	return sum / n, n > 0
}

// meanRank returns the mean over criteria of the mean rank of some entries, without those that are left out.
// It is NaN if nothing is left.
func meanRank(ranks func(criterion int) []float64, in func(entry) bool, criteria []int) float64 {
	var total, parts float64
	for _, k := range criteria {
		r := ranks(k)
		if r == nil {
			continue
		}
		var sum, n float64
		for i, e := range entries() {
			if in(e) && !math.IsNaN(r[i]) {
				sum += r[i]
				n++
			}
		}
		if n > 0 {
			total += sum / n
			parts++
		}
	}
	return total / parts
}

// printedContrast returns the contrast of the paper's own ranks.
func (c *conclusion) printedContrast() float64 {
	d, _ := c.contrast(func(k int) []float64 {
		var r []float64
		for _, row := range printedRanks {
			r = append(r, row[k])
		}
		return r
	})
	return d
}

// collapsed returns the entries for which w = 0 is a global minimum for all six settings on the first split
// of a set, with a proof. ADAM leaves that minimum, and what it then reaches is arbitrary.
func (st *study) collapsed(s *Set) []bool {
	list := make([]bool, len(entries()))
	for i, e := range entries() {
		list[i] = st.possibleSettings(s, e) == "none"
	}
	return list
}

// titlesOfCollapsed returns the titles of the entries that collapsed on a set.
func (st *study) titlesOfCollapsed(s *Set) (titles []string) {
	for i, is := range st.collapsed(s) {
		if is {
			titles = append(titles, entries()[i].Title())
		}
	}
	return titles
}

// ranksAmong returns the ranks of the entries that are not left out, and NaN for the others. It is nil if a
// value is missing. leftOut may be nil.
func ranksAmong(values []float64, leftOut []bool) []float64 {
	if values == nil {
		return nil
	}
	var kept []float64
	for i, v := range values {
		if leftOut == nil || !leftOut[i] {
			kept = append(kept, v)
		}
	}
	ranks, next := midranks(kept), 0
	all := make([]float64, len(values))
	for i := range values {
		if all[i] = math.NaN(); leftOut == nil || !leftOut[i] {
			all[i] = ranks[next]
			next++
		}
	}
	return all
}

// contrasts returns the contrast on every split of a set, without the entries that are left out.
func (st *study) contrasts(s *Set, run claimRun, c *conclusion, leftOut []bool) []float64 {
	var list []float64
	for _, seed := range st.seeds(s) {
		v := run.v
		v.Seed = seed
		d, ok := c.contrast(func(k int) []float64 {
			return ranksAmong(st.criterionValues(s, v, run.rule, k, run.implicit), leftOut)
		})
		if ok {
			list = append(list, d)
		}
	}
	return list
}

// claimRun is one way of fitting and counting for which the conclusions are tested.
type claimRun struct {
	name     string
	v        variant
	rule     count
	implicit bool // Grill and Grill-NP have the implicit gradient
}

// claimRuns returns the runs of this study: those of Table "ranks".
func (st *study) claimRuns() []claimRun {
	var list []claimRun
	if st.o.Adam && st.o.Zero {
		list = append(list, claimRun{name: "ADAM", v: variant{Solver: solverAdam}, rule: paperCount})
	}
	if st.o.Certified {
		list = append(list, claimRun{name: "certified", v: variant{Solver: solverCertified}, rule: strictCount})
	}
	return list
}

// assessment is a conclusion with the evidence of one run.
type assessment struct {
	conclusion
	number int // of the conclusion, from 1
	run    claimRun

	all, without           Interval   // on the real sets, of all methods and without the collapsed ones
	partsAll, partsWithout []Interval // the same for every part
	intervals              int        // that hold together with all and without
	sources, holds         int        // sources with a difference, and those where it is negative
	p                      float64    // of signFlips over the sources
}

// assess tests every conclusion in every run.
func (st *study) assess() []assessment {
	if st.assessed == nil {
		st.assessed = st.assessAll()
	}
	return st.assessed
}

// assessAll does the work of assess.
func (st *study) assessAll() []assessment {
	var list []assessment
	for i := range conclusions() {
		for _, run := range st.claimRuns() {
			list = append(list, st.assessOne(i, run))
		}
	}
	return list
}

// assessOne tests conclusion i in one run.
func (st *study) assessOne(i int, run claimRun) assessment {
	c := conclusions()[i]
	intervals, parts := len(conclusions())*len(st.claimRuns()), st.partIntervals()
	a := assessment{conclusion: c, number: i + 1, run: run, intervals: intervals,
		all:     st.overRealSplits(run, &c, false, intervals),
		without: st.overRealSplits(run, &c, true, intervals)}
	for _, p := range c.parts() {
		one := c.only(p)
		a.partsAll = append(a.partsAll, st.overRealSplits(run, &one, false, parts))
		a.partsWithout = append(a.partsWithout, st.overRealSplits(run, &one, true, parts))
	}
	differences := st.overSources(run, &c, a.without.N > 0)
	for _, d := range differences {
		if d < 0 {
			a.holds++
		}
	}
	a.sources, a.p = len(differences), signFlips(differences)
	return a
}

// implicitClaims returns the conclusions about Grill and Grill-NP with the implicit gradient in their steps.
func (st *study) implicitClaims() []string {
	var lines []string
	for i, c := range conclusions() {
		if !slices.Contains(c.methods, "grill") {
			continue
		}
		for _, run := range st.claimRuns() {
			run.implicit = true
			a := st.assessOne(i, run)
			lines = append(lines, fmt.Sprintf("Conclusion %d with the implicit gradient, %s: %s; all methods %s, without collapsed ones %s.",
				i+1, run.name, a.verdict(), a.all.text(), a.without.text()))
		}
	}
	return lines
}

// partIntervals returns the number of intervals in the table of parts, with and without collapsed methods. All of
// them hold together, because a reader who looks for a part that is shown looks at all of them.
func (st *study) partIntervals() int {
	n := 0
	for _, c := range conclusions() {
		n += len(c.parts())
	}
	return 2 * n * len(st.claimRuns())
}

// overRealSplits returns the contrast averaged over the real sets, with an interval over their common splits
// that is one of several.
func (st *study) overRealSplits(run claimRun, c *conclusion, without bool, intervals int) Interval {
	var perSet [][]float64
	splits := math.MaxInt
	for _, s := range st.present(Real) {
		var leftOut []bool
		if without {
			leftOut = st.collapsed(s)
		}
		if list := st.contrasts(s, run, c, leftOut); len(list) > 0 {
			perSet = append(perSet, list)
			splits = min(splits, len(list))
		}
	}
	if len(perSet) == 0 {
		return Interval{Mean: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	for i := range perSet {
		perSet[i] = perSet[i][:splits]
	}
	return together(meanOf(perSet), intervals)
}

// overSources returns the contrast of every source, averaged over its sets and their splits.
func (st *study) overSources(run claimRun, c *conclusion, without bool) []float64 {
	var keys []string
	var values [][]float64
	for _, s := range st.present() {
		var leftOut []bool
		if without {
			leftOut = st.collapsed(s)
		}
		if list := st.contrasts(s, run, c, leftOut); len(list) > 0 {
			keys = append(keys, s.Key)
			values = append(values, []float64{meanValue(list)})
		}
	}
	var differences []float64
	for _, block := range sourceBlocks(keys, values) {
		differences = append(differences, withoutRounding(block[0]))
	}
	return differences
}

// decisive returns the interval and the parts on which the verdict is based: those without collapsed methods.
// Only a conclusion about the collapsed methods themselves has none, and then all methods count.
func (a *assessment) decisive() (Interval, []Interval) {
	if a.without.N > 0 {
		return a.without, a.partsWithout
	}
	return a.all, a.partsAll
}

// verdicts of a conclusion. The middle ones are about the average over the parts alone.
const (
	confirmed    = "confirmed"
	onAverage    = "confirmed on average only"
	undecided    = "undecided"
	averageNot   = "contradicted on average only"
	contradicted = "contradicted"
)

// verdict returns what the intervals show: a conclusion is confirmed if its interval and those of all its
// parts are below 0, and contradicted if all are above. If only the average is, the verdict names it. Without
// intervals there is no verdict, "-".
func (a *assessment) verdict() string {
	average, parts := a.decisive()
	if average.N < 2 {
		return "-"
	}
	below := func(i Interval) bool { return i.High < 0 }
	above := func(i Interval) bool { return i.Low > 0 }
	switch every := func(in func(Interval) bool) bool {
		return !slices.ContainsFunc(parts, func(i Interval) bool { return !in(i) })
	}; {
	case below(average) && every(below):
		return confirmed
	case below(average):
		return onAverage
	case above(average) && every(above):
		return contradicted
	case above(average):
		return averageNot
	}
	return undecided
}

// partsShown returns how many parts hold by their intervals, and how many are contradicted: "3 of 8, 1
// against".
func (a *assessment) partsShown() string {
	average, parts := a.decisive()
	if average.N < 2 {
		return "-"
	}
	shown, against := 0, 0
	for _, p := range parts {
		if p.High < 0 {
			shown++
		}
		if p.Low > 0 {
			against++
		}
	}
	words := fmt.Sprintf("%d of %d", shown, len(parts))
	if against > 0 {
		words += fmt.Sprintf(", %d against", against)
	}
	return words
}

// claimsItem tests the paper's conclusions.
func claimsItem(_ context.Context, st *study) (*Piece, error) {
	list := st.assess()
	p := &Piece{Title: "The paper's conclusions, tested", Text: []string{
		"Each conclusion is a difference of mean ranks that is negative according to the paper. A conclusion " +
			"about several methods or criteria is their average, and each method on each criterion is a part of it " +
			"(second table)."}}
	if len(list) == 0 {
		return p, nil
	}
	p.Tables = []NamedTable{{"claims", claimsTable(list)}, {"claims-parts", partsTable(list, st.claimRuns())}}
	p.Notes = append(st.claimNotes(list), st.implicitClaims()...)
	return p, nil
}

// claimNotes explains the tables of conclusions.
func (st *study) claimNotes(list []assessment) []string {
	sources, names := 0, []string{}
	for _, s := range st.present() {
		if name := sourceOf[s.Key]; !slices.Contains(names, name) {
			names = append(names, name)
			sources++
		}
	}
	notes := []string{
		fmt.Sprintf("Real sets: the mean over the real sets, with an interval over %s that allows for shared "+
			"rows (Nadeau and Bengio 2003). The %d intervals of a column contain their differences together with 95 "+
			"%% probability: by Bonferroni's inequality each is a %.2f %% interval. All %d intervals of the second "+
			"table hold together in the same way. The intervals describe these sets, not others.",
			text.Plural(st.o.Seeds, "random split"), list[0].intervals, 100*(1-0.05/float64(list[0].intervals)),
			st.partIntervals()),
		"Without collapsed: methods are left out on the sets where w = 0 is a global minimum for all their " +
			"settings, with a proof, and the others are ranked again. Leaving them out matters: a comparison with " +
			"\"the others\" is easy if these include methods that learn nothing.",
		"Verdict: confirmed if the interval without collapsed methods and those of all parts are below 0; " +
			"confirmed on average only if that of the average is; contradicted in the same way above 0; otherwise " +
			"undecided. A conclusion about the collapsed methods themselves is judged with all methods.",
		fmt.Sprintf("Sources: the sets here come from %s (%s). Sets of one source share rows, so they count as "+
			"one, the mean of its sets. The p-value is that of all 2^n choices of signs of the differences. With %d "+
			"sources it cannot be below %s, so after a correction for the number of conclusions no p-value here is "+
			"significant, and no verdict is based on one.", text.Plural(sources, "source"), text.List(names, "and"), sources,
			probability(math.Pow(0.5, float64(sources-1)))),
	}
	for _, s := range st.present(Real) {
		if gone := st.titlesOfCollapsed(s); len(gone) > 0 {
			notes = append(notes, fmt.Sprintf("Collapsed on %s: %s.", s.Name, text.List(gone, "and")))
		}
	}
	return notes
}

// claimsTable returns the conclusions with their corrected intervals, exact p-values and verdicts.
func claimsTable(list []assessment) report.Table {
	t := report.Table{Caption: "Differences of mean ranks, with corrected intervals and exact p-values.",
		Header: []string{"the paper concludes", "run", "verdict", "parts shown", "paper's ranks", "real sets, " +
			"all methods",
			"real sets, without collapsed", "sources where it holds", "exact p"}, Numbers: []int{4, 5, 6, 7, 8}}
	for i := range list {
		a := &list[i]
		p := "-"
		if !math.IsNaN(a.p) {
			p = probability(a.p)
		}
		t.Rows = append(t.Rows, []string{fmt.Sprintf("%d. %s", a.number, a.text), a.run.name, a.verdict(), a.partsShown(),
			signed(a.printedContrast()), a.all.text(), a.without.text(),
			fmt.Sprintf("%d of %d", a.holds, a.sources), p})
	}
	return t
}

// signed writes a difference of ranks with its sign: "-0.4". A smaller one keeps a digit, so that its sign is right:
// "-0.03".
func signed(x float64) string {
	if x != 0 && math.Abs(x) < 0.05 {
		return fmt.Sprintf("%+.1g", x)
	}
	return fmt.Sprintf("%+.1f", x+0) // no negative zero
}

// text returns "-0.4 [-1.7, +0.9]", without brackets if there is one split, and "-" if there is none.
func (i Interval) text() string {
	switch {
	case i.N == 0:
		return "-"
	case i.N == 1:
		return signed(i.Mean)
	}
	return signed(i.Mean) + " [" + signed(i.Low) + ", " + signed(i.High) + "]"
}

// partsTable returns every conclusion by method and criterion. ✓ marks intervals below 0, ✗ those above.
func partsTable(list []assessment, runs []claimRun) report.Table {
	t := report.Table{Caption: "The same by method and criterion, with the numbers of the table above. ✓ " +
		"marks a part that the interval shows, ✗ one that it contradicts.",
		Header: []string{"no.", "method", "criterion"}, Tall: true}
	for _, run := range runs {
		t.Numbers = append(t.Numbers, len(t.Header), len(t.Header)+1)
		t.Header = append(t.Header, run.name+", all methods", run.name+", without collapsed")
	}
	for i := 0; i < len(list); i += len(runs) {
		for j, p := range list[i].parts() {
			row := []string{fmt.Sprint(list[i].number), titleOf(p.method), criterionTitles[p.criterion]}
			for r := range runs {
				a := &list[i+r]
				row = append(row, markedInterval(a.partsAll[j]), markedInterval(a.partsWithout[j]))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// markedInterval returns an interval with its mark.
func markedInterval(i Interval) string {
	switch {
	case i.N > 1 && i.High < 0:
		return i.text() + " ✓"
	case i.N > 1 && i.Low > 0:
		return i.text() + " ✗"
	}
	return i.text()
}

// titleOf returns the title of a method in tables.
func titleOf(name string) string {
	for _, e := range entries() {
		if string(e.Method.Name) == name {
			return e.Method.Title
		}
	}
	return name
}
