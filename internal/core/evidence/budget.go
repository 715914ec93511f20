package evidence

import (
	"fmt"
	"math"
	"slices"

	"toptau/internal/core/detmath"
)

// BudgetTest is evidence that events happen more often than a budget allows, valid at every moment: false alarms
// above a fraction of the negatives, or alerts above a fraction of the rows.
//
// Let X = 1 for a row that is an event, otherwise 0. While the budget is kept, P(X = 1 | past) <= rate. For an
// alternative that is c times as high,
//
//	E(k) = product over the rows after the first k of c^X ((1 - c rate) / (1 - rate))^(1-X)
//
// is a supermartingale that is 1 until row k, and so is the mean over some c and starts k. By Ville's inequality
// (1939) it ever reaches 1/delta with a probability of at most delta. This is a test by betting (Waudby-Smith and
// Ramdas 2024) with constant bets.
//
// Only rows with an alert can be false alarms, so the labels of alerts are enough. A label that is not known yet
// counts as X = 0. That makes E smaller, so labels may come late and in any order. A row that is known to be positive has no factor: the
// budget is about negatives. The starts are those of Urn; a
// merged start passes its capital to the younger one. Both bet alike, so nothing is lost, and late labels of
// rows that only the older one covers count as 0.
type BudgetTest struct {
	rate   float64
	most   int
	Rows   int
	Blocks int
	Starts []BudgetStart
}

// BudgetStart is capital that bets on a change after the first Row rows.
type BudgetStart struct {
	Row     int
	Events  int   // since then
	Others  int   // rows since then that the budget does not count: positives
	From    int   // the row at which most of its capital started: Row, or that of a start that was merged into it
	Before  int   // events from there to Row
	Capital []int // by alternative, as in UrnStart
}

// The alternatives: how many times the budget, and their fractions of the capital. By hand: a rate that doubles
// is the most important case, and five times must be found within ten false alarms.
var (
	budgetFactors = []float64{1.2, 1.5, 2, 3, 5}
	budgetPriors  = []float64{0.1, 0.15, 0.35, 0.2, 0.2}
)

// budgetFirst is the fraction of the capital of the first start. Most budgets are broken from the start or never.
const budgetFirst = 0.75

// NewBudgetTest returns evidence before the first row. rate is above 0 and below 1; most is the largest number of
// starts, at least 2.
func NewBudgetTest(rate float64, most int) *BudgetTest {
	t := &BudgetTest{rate: rate, most: max(2, most)}
	t.addStart(budgetFirst)
	return t
}

// RestoreBudgetTest returns evidence with the numbers of a former one, or an error if they do not fit.
func RestoreBudgetTest(rate float64, most, rows, blocks int, starts []BudgetStart) (*BudgetTest, error) {
	t := &BudgetTest{rate: rate, most: max(2, most), Rows: rows, Blocks: blocks, Starts: starts}
	if rows < 0 || blocks < 0 || len(starts) < 1 || len(starts) > t.most {
		return nil, fmt.Errorf("%d starts after %d blocks and %d rows", len(starts), blocks, rows)
	}
	for i, s := range starts {
		if s.Row < 0 || s.Row > rows || s.Events < 0 || s.Others < 0 || s.Events > rows-s.Row-s.Others || s.From < 0 || s.From > s.Row || s.Before < 0 || s.Before > s.Row-s.From || len(s.Capital) != len(budgetFactors) ||
			i > 0 && s.Row < starts[i-1].Row {
			return nil, fmt.Errorf("start %d of %d at row %d", i+1, len(starts), s.Row)
		}
	}
	return t, nil
}

func (t *BudgetTest) addStart(share float64) {
	s := BudgetStart{Row: t.Rows, From: t.Rows, Capital: make([]int, len(budgetFactors))}
	for i := range s.Capital {
		s.Capital[i] = stored(detmath.Log(float64(share * budgetPriors[i])))
	}
	t.Starts = append(t.Starts, s)
}

// AddRows adds rows that are no events, or not known to be.
func (t *BudgetTest) AddRows(n int) { t.Rows += n }

// AddEvent makes one of the rows an event, by its number from 1.
func (t *BudgetTest) AddEvent(row int) {
	for i := range t.Starts {
		if t.Starts[i].Row < row {
			t.Starts[i].Events++
		}
	}
}

// LeaveOut takes one of the rows out, by its number from 1: the budget does not count it, and it is no event.
func (t *BudgetTest) LeaveOut(row int) {
	for i := range t.Starts {
		if t.Starts[i].Row < row {
			t.Starts[i].Others++
		}
	}
}

// BudgetEvidence is the evidence of a BudgetTest.
type BudgetEvidence struct {
	Log    float64 // logarithm of E
	Since  int     // rows before the start with the most capital
	Events int     // since then
	Rows   int     // since then
}

// Evidence returns the evidence after the rows so far.
func (t *BudgetTest) Evidence() BudgetEvidence {
	logs := make([]float64, 0, len(t.Starts)*len(budgetFactors)+1)
	best := 0
	for i := range t.Starts {
		for j := range budgetFactors {
			logs = append(logs, t.logCapital(i, j))
			if logs[len(logs)-1] > logs[best] {
				best = len(logs) - 1
			}
		}
	}
	s := &t.Starts[best/len(budgetFactors)]
	logs = append(logs, detmath.Log((1-budgetFirst)/float64(t.Blocks+1))) // of starts to come
	return BudgetEvidence{Log: detmath.LogSum(logs), Since: s.From, Events: s.Before + s.Events, Rows: t.Rows - s.From}
}

// logCapital returns the logarithm of the capital of a start and an alternative. An alternative above 1 never
// bets.
func (t *BudgetTest) logCapital(start, factor int) float64 {
	s, c := &t.Starts[start], budgetFactors[factor]
	l := logOf(s.Capital[factor])
	if float64(c*t.rate) >= 1 {
		return l
	}
	quiet := detmath.Log((1 - float64(c*t.rate)) / (1 - t.rate))
	return l + float64(float64(s.Events)*detmath.Log(c)) + float64(float64(t.Rows-s.Row-s.Events-s.Others)*quiet)
}

// EndBlock is Evidence at the end of a block. It adds a start: the i-th, from 1, has the fraction 1/(i(i+1)) of
// what the first one left.
func (t *BudgetTest) EndBlock() BudgetEvidence {
	evidence := t.Evidence()
	if len(t.Starts) == t.most {
		t.merge()
	}
	t.Blocks++
	i := float64(t.Blocks)
	t.addStart((1 - budgetFirst) / float64(i*(i+1)))
	return evidence
}

// merge passes the capital of a start to the next younger one, where the ratio of their ages is closest to 1.
func (t *BudgetTest) merge() {
	older, least := 0, math.Inf(1)
	for i := range len(t.Starts) - 1 {
		if x := float64(t.Starts[i+1].Row-t.Starts[i].Row) / float64(t.Rows-t.Starts[i].Row); x < least {
			older, least = i, x
		}
	}
	from, keep := &t.Starts[older], &t.Starts[older+1]
	var own, other []float64
	for j := range budgetFactors {
		own, other = append(own, t.logCapital(older+1, j)), append(other, t.logCapital(older, j))
	}
	for j := range budgetFactors {
		keep.Capital[j] = stored(logOf(keep.Capital[j]) + detmath.LogSum([]float64{own[j], other[j]}) - own[j])
	}
	if detmath.LogSum(other) >= detmath.LogSum(own) {
		keep.Before = from.Before + from.Events - keep.Events
		keep.From = from.From
	}
	t.Starts = slices.Delete(t.Starts, older, older+1)
}
