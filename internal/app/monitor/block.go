package monitor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"toptau/internal/core/detmath"
	"toptau/internal/core/evidence"
	"toptau/internal/core/text"
	"toptau/internal/data/table"
)

// blockWatch is evidence on scores for rows that depend on each other: weekly cycles, repeated rows, rows that follow the last one.
// It compares whole blocks of rows, as a conformal test of exchangeability does (Vovk, Nouretdinov and Gammerman 2003). The value of a
// block is the mean of the scores h of its rows (meanTest).
//
// Null: the blocks are exchangeable, whatever their rows do within them. The values of the first firstBlocks blocks, in order, divide
// the line into firstBlocks + 1 gaps; uniform tie-breakers make them distinct. Given the gaps of the later blocks so far, the next one
// falls into gap j with the probability (1 + A_j) / (firstBlocks + 1 + A), where A_j of A later blocks did: Polya's urn, exact for
// every distribution (evidence.Urn). meanTest bets on a shift of the ranks in this urn. It is a martingale from 1 in the filtration of
// the blocks, because the bets, their starts and their fractions of the capital are fixed before. By Ville's inequality it ever reaches
// 1/delta with a probability of at most delta, at any number of looks: it changes at the ends of blocks only. Reference rows have no
// blocks. They only give the rows their h, the same function for all blocks, so nothing need hold for them.
type blockWatch struct {
	rows   int           // of a block
	span   time.Duration // of a block, if rows is 0
	seed   uint64
	ladder ladder
	mean   *meanTest // nil: the first blocks have not ended
	now    meanEvidence
	blockState
}

// blockState is what changes.
type blockState struct {
	Blocks int        `json:"blocks"`            // that have ended
	Began  int64      `json:"began,omitempty"`   // span: start of the open block, nanoseconds since 1970
	Rows   int        `json:"rows"`              // of the open block, with a score
	Sum    float64    `json:"sum"`               // of their h
	Timed  bool       `json:"timed,omitempty"`   // a time was read
	NoTime int        `json:"no_time,omitempty"` // rows whose time cannot be read
	First  []float64  `json:"first"`             // values of the first blocks
	Gaps   []int      `json:"gaps,omitempty"`    // later blocks in each gap
	Mean   *meanState `json:"mean,omitempty"`    // bets
	Before [][]int    `json:"before,omitempty"`  // by bet: scoreWatch.counts up to its most probable start
}

const (
	// firstBlocks is the number of blocks that the later ones are compared with. Of the orders of 12 blocks and 5 later ones, one in
	// 6,188 has the later ones on top, so fewer first blocks would find changes late. Chosen by hand (a change moves results).
	firstBlocks = 12
	// priorWholeBlocks is the number of whole blocks in which half of the capital starts. Chosen by hand (a change moves results).
	priorWholeBlocks = 20
	// blockTies is the stream of tie-breakers of blocks.
	blockTies = scoreTies - 1
)

// blockShifts are the shifts that are bet on, in standard deviations of the values of blocks. Small ones need more blocks than there
// are, and a shift of rows is a larger one of blocks. Chosen by hand (a change moves results).
var blockShifts = []meanBet{{1, 0.4}, {2, 0.3}, {4, 0.3}}

// blockText describes the length of blocks.
func blockText(rows int, span time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case rows > 0:
		return text.Plural(rows, "row")
	case span == 0:
		return "no blocks"
	case span%day == 0:
		return text.Plural(int(span/day), "day")
	}
	return span.String()
}

// prepare makes the urn of the first blocks.
func (b *blockWatch) prepare() {
	keys, ties := evidence.OrderWithTies(b.First, rand.New(rand.NewPCG(b.seed, firstBlocks)))
	b.ladder, b.mean = newLadder(keys, ties), newMeanTest(slices.Repeat([]int{1}, firstBlocks+1), priorWholeBlocks, blockShifts)
}

// add counts a row with the score h. counts has all rows so far, with this one.
func (b *blockWatch) add(h float64, counts []int) {
	b.Rows++
	b.Sum += h
	if b.Rows == b.rows {
		b.endBlock(counts)
	}
}

// until returns the end of the rows from first on, at most end, that belong to one block of time. It ends the open block if they
// begin another. A row without a time, or up to one block late, belongs to the open block. If a time is earlier than that, a clock
// was wrong before: the open block is dropped.
func (b *blockWatch) until(rows *Batch, first, end int, counts []int) int {
	if b.rows > 0 {
		return end
	}
	for i := first; i < end; i++ {
		var at time.Time
		read := false
		if rows.Time != nil {
			at, read = table.ParseTime(rows.Time(i))
		}
		since := at.Sub(time.Unix(0, b.Began))
		switch {
		case !read:
			b.NoTime++
			continue
		case b.Timed && since >= -b.span && since < b.span:
			continue
		case i > first:
			return i
		case !b.Timed:
			b.Began = at.UnixNano()
		case since >= b.span:
			b.endBlock(counts)
			b.Began += int64(since / b.span * b.span)
		default:
			b.Rows, b.Sum, b.Began = 0, 0, at.UnixNano()
		}
		b.Timed = true
	}
	return end
}

// endBlock takes the value of the open block.
func (b *blockWatch) endBlock(counts []int) {
	if b.Rows == 0 {
		return
	}
	value := b.Sum/float64(b.Rows) + 0 // not -0
	b.Rows, b.Sum = 0, 0
	b.Blocks++
	if b.mean != nil {
		b.Gaps[b.ladder.gap(detmath.OrderKey(value), b.seed, b.Blocks-1, blockTies, nil)]++
		b.mean.endBlock(b.Gaps)
	} else if b.First = append(b.First, value); len(b.First) == firstBlocks {
		b.prepare()
		b.Gaps, b.Before = make([]int, firstBlocks+1), make([][]int, len(b.mean.Bets))
	}
	if b.mean == nil {
		return
	}
	for i, bet := range b.mean.Bets {
		if bet.Since == b.Blocks-firstBlocks {
			b.Before[i] = slices.Clone(counts)
		}
	}
	b.now, _ = b.mean.evidence(b.Gaps)
}

// state returns what a state file keeps.
func (b *blockWatch) state() *blockState {
	s := b.blockState
	if b.mean != nil {
		s.Mean = &b.mean.meanState
	}
	return &s
}

// restore takes the state of a former watch, or returns an error if it does not fit. The first of the counts are the gaps of the scores.
func (b *blockWatch) restore(s *blockState, counts []int, gaps int) error {
	if s == nil || s.Blocks < 0 || s.Rows < 0 || b.rows > 0 && s.Rows >= b.rows || s.NoTime < 0 || len(s.First) != min(s.Blocks, firstBlocks) ||
		slices.ContainsFunc(append(s.First, s.Sum), func(x float64) bool { return x != x || math.IsInf(x, 0) }) {
		return fmt.Errorf("other blocks than the options have")
	}
	b.blockState = *s
	if len(b.First) < firstBlocks {
		return nil
	}
	b.prepare()
	if len(s.Gaps) != firstBlocks+1 || slices.Min(s.Gaps) < 0 || sum(s.Gaps) != s.Blocks-firstBlocks || len(s.Before) != len(b.mean.Bets) {
		return fmt.Errorf("%d blocks in %d gaps", sum(s.Gaps), len(s.Gaps))
	}
	for _, before := range s.Before {
		if len(before) != len(counts) {
			return fmt.Errorf("a start with %d gaps", len(before))
		}
		for j, n := range before[:gaps] {
			if n < 0 || n > counts[j] {
				return fmt.Errorf("%d rows in gap %d before a start, of %d", n, j+1, counts[j])
			}
		}
		for _, n := range before[gaps:] {
			if rows := sum(before[:gaps]); n < -rows || n > rows {
				return fmt.Errorf("%d tied rows before a start", n)
			}
		}
	}
	err := b.mean.restore(s.Mean, s.Gaps, s.Blocks-firstBlocks, s.Blocks-firstBlocks)
	if err == nil {
		b.now, _ = b.mean.evidence(b.Gaps)
	}
	return err
}

// lookAtBlocks describes the scores before and after the most probable change between whole blocks. The evidence is on their mean,
// so the level is that of the threshold.
func (w *scoreWatch) lookAtBlocks() {
	before := make([]int, len(w.counts))
	v := evidence.UrnEvidence{Log: w.blocks.now.Log, Event: w.atPoint, Rows: sum(w.gaps), Ins: make([]int, len(w.events)), Before: make([]int, len(w.events))}
	if w.blocks.mean != nil {
		copy(before, w.blocks.Before[w.blocks.now.Bet])
	}
	before, v.Kept = before[:len(w.gaps)], before[len(w.gaps):]
	v.Since = sum(before)
	v.Rows -= v.Since
	all, old := 0.0, 0.0 // sums of h
	for j, h := range w.mean.h {
		all += float64(float64(w.gaps[j]) * h)
		old += float64(float64(before[j]) * h)
	}
	for e, event := range w.events {
		in := sum(before[event.First:event.End])
		v.Ins[e], v.Before[e] = sum(w.gaps[event.First:event.End])-in, in
	}
	shift := 0.0
	if v.Since > 0 && v.Rows > 0 {
		shift = (all-old)/float64(v.Rows) - old/float64(v.Since)
	}
	w.now, w.since, w.shift = v, v.Since, meanEvidence{Shift: shift}
}
