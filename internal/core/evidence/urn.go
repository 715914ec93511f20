package evidence

import (
	"fmt"
	"math"
	"slices"

	"toptau/internal/core/detmath"
)

// Urn is evidence that rows which arrive one after another differ from n reference rows. It is valid at every
// moment, so it may be looked at as often as one likes.
//
// Reference rows and arrivals are in order by a key and a uniform tie-breaker, so no two are equal. If all are
// exchangeable, the reference rows divide the line into n+1 gaps, and the next row falls into a gap with the
// probability (1 + arrivals in it) / (n + 1 + arrivals), for every distribution: Polya's urn (Eggenberger and
// Polya 1923). For an event, a set of a gaps that is fixed by ranks,
//
//	P(next row in the event | gaps of all rows so far) = (a + C) / (n + 1 + m)
//
// where C of m arrivals were in it. So the arrivals after the first k have the probability
// B(a+C, b+m-C) / B(a+C_k, b+k-C_k) with b = n+1-a and the beta function B. An alternative says that they came
// at a constant rate with the prior Beta(s p, s (1-p)), p = a/(n+1). Its probability for the same arrivals,
// divided by the one above, is a likelihood ratio E(k): a martingale that is 1 until row k.
//
// The probability above is given the gaps of all rows, not only C. So the ratios of all events and starts k are
// martingales in one filtration, and so is their mean, also if capital moves from one ratio to another at a
// moment that depends on the past. By Ville's inequality (1939) the mean ever reaches 1/delta with a
// probability of at most delta.
//
// A start is added after every block of rows. The i-th one, from 0, has the fraction 1/((i+1)(i+2)) of the
// capital; these sum to 1. When there are too many, the two of the most similar ages are merged: one receives
// the capital of the other.
//
// An event must be fixed by ranks that do not depend on the counted reference rows. It would not be enough to
// count a category in the reference: given its count, its probability has no Beta distribution.
type Urn struct {
	rows    int // of the reference
	events  []Event
	most    int // starts
	Blocks  int // that have ended
	Starts  []UrnStart
	scratch []float64 // logarithms of the capital, by start and event
}

// Event is a set of neighbouring gaps between the kept order statistics of a reference: First <= gap < End.
type Event struct {
	First, End int
	Mass       int // gaps between all reference rows
}

// UrnStart is capital that bets on a change after the first Row rows.
type UrnStart struct {
	Row     int
	Counts  []int // by event: arrivals in it up to Row
	Capital []int // by event: its logarithm at Row, in units of 1/1024, rounded down
	Kept    []int // further counts of the caller up to Row, which are not evidence

	fixed []float64 // by event: what does not change in the logarithm of the capital
}

// capitalUnit is the number of steps of a stored logarithm. Rounding down loses at most a thousandth of the
// capital, and keeps the bound.
const capitalUnit = 1024

// priorRows is s: the number of rows that the prior of an alternative counts as. Of 2, 10, 30 and 100, 100 found a
// shift of scores by 0.1 standard deviations first, after 9,600 instead of 10,600 rows in the mean of 300 streams, and
// 2 % of new high scores as well (the scenarios of docs/results/monitor-delays.csv).
const priorRows = 100

// NewUrn returns evidence before the first row. most is the largest number of starts, at least 2.
func NewUrn(rows int, events []Event, most int) *Urn {
	u := &Urn{rows: rows, events: events, most: max(2, most)}
	u.addStart(0, make([]int, len(events)), nil, math.Ln2)
	return u
}

// RestoreUrn returns evidence with the blocks and starts of a former one, or an error if they do not fit.
func RestoreUrn(rows int, events []Event, most, blocks int, starts []UrnStart) (*Urn, error) {
	u := &Urn{rows: rows, events: events, most: max(2, most), Blocks: blocks, Starts: starts}
	if blocks < 0 || len(starts) < 1 || len(starts) > u.most {
		return nil, fmt.Errorf("%d starts after %d blocks", len(starts), blocks)
	}
	for i := range starts {
		s := &starts[i]
		if len(s.Counts) != len(events) || len(s.Capital) != len(events) || s.Row < 0 || i > 0 && s.Row < starts[i-1].Row {
			return nil, fmt.Errorf("start %d of %d at row %d", i+1, len(starts), s.Row)
		}
		for e, n := range s.Counts {
			if n < 0 || n > s.Row || i > 0 && n < starts[i-1].Counts[e] {
				return nil, fmt.Errorf("%d of %d rows in event %d", n, s.Row, e+1)
			}
		}
		u.prepare(s)
	}
	return u, nil
}

// addStart adds a start after some rows with the fraction exp(-less) of all capital.
func (u *Urn) addStart(row int, counts, kept []int, less float64) {
	s := UrnStart{Row: row, Counts: counts, Kept: kept, Capital: make([]int, len(u.events))}
	for e := range s.Capital {
		s.Capital[e] = stored(-less - detmath.Log(float64(len(u.events))))
	}
	u.prepare(&s)
	u.Starts = append(u.Starts, s)
}

// stored returns a logarithm in the units of Capital.
func stored(logarithm float64) int { return int(math.Floor(logarithm * capitalUnit)) }

// logOf returns a stored logarithm. It is rounded, which changes nothing, so that it is not fused with a sum.
func logOf(stored int) float64 { return float64(float64(stored) / capitalUnit) }

// prior returns the parameters of the prior of an event's rate.
func (u *Urn) prior(event int) (in, out float64) {
	p := float64(u.events[event].Mass) / float64(u.rows+1)
	return float64(priorRows * p), float64(priorRows * (1 - p))
}

func (u *Urn) prepare(s *UrnStart) {
	s.fixed = make([]float64, len(u.events))
	for e := range u.events {
		in, out := u.prior(e)
		s.fixed[e] = logOf(s.Capital[e]) - logBeta(in, out) + u.logSeen(e, s.Counts[e], s.Row)
	}
}

// logSeen returns log B(a+C, b+m-C) of an event.
func (u *Urn) logSeen(event, in, rows int) float64 {
	a := u.events[event].Mass
	return logBeta(float64(a+in), float64(u.rows+1-a+rows-in))
}

// UrnEvidence is the evidence of an Urn.
type UrnEvidence struct {
	Log   float64 // logarithm of E
	Event int     // with the most capital, from its most probable start
	Since int     // rows before that start
	Ins   []int   // rows since then in each event
	Rows  int     // rows since then

	Before []int // rows in each event up to the start
	Kept   []int // of the start; nil: there are none
}

// Evidence returns the evidence after some rows. gaps has the number of rows in each gap.
func (u *Urn) Evidence(gaps []int) UrnEvidence {
	m, counts := u.fill(gaps)
	return u.weigh(m, counts)
}

// EndBlock is Evidence at the end of a block. It adds a start, which keeps further counts of the caller.
func (u *Urn) EndBlock(gaps []int, kept ...int) UrnEvidence {
	m, counts := u.fill(gaps)
	evidence := u.weigh(m, counts)
	if len(u.Starts) == u.most {
		u.merge(m)
	}
	u.Blocks++
	i := float64(u.Blocks)
	u.addStart(m, counts, slices.Clone(kept), detmath.Log(float64((i+1)*(i+2))))
	return evidence
}

// fill computes the logarithms of the capital.
func (u *Urn) fill(gaps []int) (m int, counts []int) {
	for _, n := range gaps {
		m += n
	}
	counts = make([]int, len(u.events))
	u.scratch = slices.Grow(u.scratch[:0], len(u.Starts)*len(u.events))[:len(u.Starts)*len(u.events)]
	all := make([]float64, len(u.Starts)) // of the alternative's beta functions
	for i := range all {
		all[i] = logGamma(priorRows + float64(m-u.Starts[i].Row))
	}
	for e, event := range u.events {
		for _, n := range gaps[event.First:event.End] {
			counts[e] += n
		}
		in, out := u.prior(e)
		now := u.logSeen(e, counts[e], m)
		for i := range u.Starts {
			s := &u.Starts[i]
			inside := counts[e] - s.Counts[e]
			alternative := logGamma(in+float64(inside)) + logGamma(out+float64(m-s.Row-inside)) - all[i]
			u.scratch[i*len(u.events)+e] = s.fixed[e] - now + alternative
		}
	}
	return m, counts
}

func (u *Urn) weigh(m int, counts []int) UrnEvidence {
	best := 0
	for i, x := range u.scratch {
		if x > u.scratch[best] {
			best = i
		}
	}
	s, event := &u.Starts[best/len(u.events)], best%len(u.events)
	reserve := -detmath.Log(float64(u.Blocks + 2)) // the capital of starts to come
	v := UrnEvidence{Log: detmath.LogSum(append(u.scratch, reserve)), Event: event, Since: s.Row, Rows: m - s.Row, Kept: s.Kept,
		Ins: make([]int, len(counts)), Before: s.Counts}
	for e, n := range s.Counts {
		v.Ins[e] = counts[e] - n
	}
	return v
}

// merge merges the two neighbouring starts whose ages after m rows have the ratio closest to 1. The one with more
// capital stays.
func (u *Urn) merge(m int) {
	older, least := 0, math.Inf(1)
	for i := range len(u.Starts) - 1 {
		if x := float64(u.Starts[i+1].Row-u.Starts[i].Row) / float64(m-u.Starts[i].Row); x < least {
			older, least = i, x
		}
	}
	n := len(u.events)
	logs := func(start int) []float64 { return u.scratch[start*n : (start+1)*n] }
	from, to := older, older+1
	if detmath.LogSum(logs(from)) >= detmath.LogSum(logs(to)) {
		from, to = to, from
	}
	keep := &u.Starts[to]
	for e := range keep.Capital {
		own, other := logs(to)[e], logs(from)[e]
		keep.Capital[e] = stored(logOf(keep.Capital[e]) + detmath.LogSum([]float64{own, other}) - own)
	}
	u.prepare(keep)
	u.Starts = slices.Delete(u.Starts, from, from+1)
}

// logBeta returns the logarithm of the beta function of numbers above 0.
func logBeta(a, b float64) float64 { return logGamma(a) + logGamma(b) - logGamma(a+b) }

// logGamma returns the logarithm of the gamma function of a number above 0 by Stirling's series with four terms,
// with the same bits on every machine. Its error is below 1e-12 plus that of rounding the result.
func logGamma(x float64) float64 {
	const halfLogTwoPi = 0.91893853320467274178
	const least = 16 // the next term of the series is 2e-12 there
	product := 1.0
	for ; x < least; x++ {
		product = float64(product * x)
	}
	y := 1 / x
	z := float64(y * y)
	series := float64(y * (1.0/12 - float64(z*(1.0/360-float64(z*(1.0/1260-z/1680))))))
	l := float64((x-0.5)*detmath.Log(x)) - x + (halfLogTwoPi + series)
	if product != 1 {
		l -= detmath.Log(product)
	}
	return l
}
