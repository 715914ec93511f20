package monitor

import (
	"math"
	"slices"

	"toptau/calibrate"
	"toptau/internal/core/detmath"
	"toptau/internal/core/evidence"
	"toptau/model"
)

// scoreShares are the fractions of reference scores above the levels that are watched, from one half to the rows
// on top. Chosen by hand (a change moves results) (docs/results/monitor-delays.csv).
var scoreShares = []float64{0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.003}

// scoreStarts is the number of starts of the evidence on scores: changes are dated to a third of their age after
// thousands of blocks.
const scoreStarts = 20

// onMean is the fraction of the capital that bets on the mean, the rest on levels. Chosen by hand (a change moves results): most changes move all scores.
const onMean = 0.75

// scoreWatch is the evidence on scores.
type scoreWatch struct {
	reference *calibrate.Reference
	ladder    ladder
	events    []evidence.Event
	counts    []int // gaps, then values.tied
	gaps      []int
	values    valueCounts
	urn       *evidence.Urn
	mean      *meanTest
	now       evidence.UrnEvidence // its Log is that of both
	shift     meanEvidence
	since     int         // most probable start of the change, by the larger of both
	blocks    *blockWatch // nil: the rows are independent
	atPoint   int         // the event whose level is nearest to the threshold
}

// newScoreWatch returns nil for a model without a reference.
func newScoreWatch(m *model.Model, point *model.Point) *scoreWatch {
	r := m.Reference()
	if r == nil {
		return nil
	}
	w := &scoreWatch{reference: r, ladder: newLadder(r.Scores, r.Ties)}
	var shares []float64
	for _, p := range m.Points() {
		if tau := p.Goal.Tau(); !tau.IsZero() { // a rate is fixed before the reference, its threshold is not
			shares = append(shares, tau.Float64())
		}
	}
	var kept []int
	for _, share := range append(shares, scoreShares...) {
		i := nearestRank(r.Above, float64(share*float64(r.Rows)))
		if !slices.ContainsFunc(kept, func(j int) bool { return near(r.Above[i], r.Above[j]) }) {
			kept = append(kept, i)
		}
	}
	slices.Sort(kept)
	for _, i := range kept {
		w.events = append(w.events, evidence.Event{First: i + 1, End: len(r.Scores) + 1, Mass: r.Above[i] + 1})
	}
	w.values = newLevelCounts(r.Scores, w.events, r.Counts, func(j int) int { return r.Above[j] + 1 })
	w.counts = make([]int, len(r.Scores)+1+len(w.events))
	w.gaps, w.values.tied = w.counts[:len(r.Scores)+1], w.counts[len(r.Scores)+1:]
	w.atPoint = w.nearestEvent(point.Threshold)
	w.urn, w.mean = evidence.NewUrn(r.Rows, w.events, scoreStarts), newMeanTest(massesOf(r), priorBlocks, meanShifts)
	w.look()
	return w
}

// look computes the evidence after the rows so far: the weighted mean of that of the levels and that of the mean.
func (w *scoreWatch) look() {
	if w.blocks != nil {
		w.lookAtBlocks()
		return
	}
	shift, _ := w.mean.evidence(w.gaps)
	w.weigh(w.urn.Evidence(w.gaps), shift)
}

// endBlock is look at the end of a block of meanBlock rows, which may also end one of blockRows.
func (w *scoreWatch) endBlock(whole bool) {
	if w.blocks != nil {
		w.lookAtBlocks()
		return
	}
	var levels evidence.UrnEvidence
	if whole {
		levels = w.urn.EndBlock(w.gaps, w.values.tied...)
	} else {
		levels = w.urn.Evidence(w.gaps)
	}
	w.weigh(levels, w.mean.endBlock(w.gaps))
}

// rates returns the fractions of rows at a level up to the start of the change and since then. With blocks the reference is not among those
// before.
func (w *scoreWatch) rates(e int) (before, since float64) {
	rows := w.reference.Rows
	if w.blocks != nil {
		rows = 0
	}
	return w.values.rates(e, &w.now, rows)
}

func (w *scoreWatch) weigh(levels evidence.UrnEvidence, shift meanEvidence) {
	w.now, w.shift = levels, shift
	w.now.Log = detmath.LogSum([]float64{levels.Log + detmath.Log(1-onMean), shift.Log + detmath.Log(onMean)})
	w.since = levels.Since
	if shift.Log > levels.Log {
		w.since = shift.Since
	}
}

// near reports whether two ranks are too close to be worth two levels.
func near(a, b int) bool { return float64(max(a, b)+1) < 1.4*float64(min(a, b)+1) }

// nearestRank returns the place of the rank with the ratio closest to 1.
func nearestRank(ranks []int, wanted float64) int {
	best, least := 0, math.Inf(1)
	for i, e := range ranks {
		if x := math.Abs(detmath.Log((float64(e) + 1) / (wanted + 1))); x < least {
			best, least = i, x
		}
	}
	return best
}

// nearestEvent returns the event whose level is nearest to a threshold, by the number of reference rows above.
func (w *scoreWatch) nearestEvent(threshold float64) int {
	i, _ := slices.BinarySearch(w.reference.Scores, threshold)
	above := 0
	if i < len(w.reference.Above) {
		above = w.reference.Above[i]
	}
	best, least := 0, math.Inf(1)
	for e := range w.events {
		if x := math.Abs(detmath.Log(float64(w.events[e].Mass) / float64(above+1))); x < least {
			best, least = e, x
		}
	}
	return best
}

// count adds the scores of rows with numbers from first on. NaN is no score.
func (w *scoreWatch) count(scores []float64, first int, seed uint64) {
	for i, z := range scores {
		if z == z {
			j := w.ladder.gap(detmath.OrderKey(z+0), seed, first+i, scoreTies, &w.values)
			if w.gaps[j]++; w.blocks != nil {
				w.blocks.add(w.mean.h[j], w.counts)
			}
		}
	}
}
