package alertlimit

import (
	"math"
	"slices"

	"toptau/calibrate"
)

// tail is the distribution of the scores that may be alerts, in memory that does not grow with their number. A
// score's rank, the number of scores above it, is known to about one part in tailPrecision, so that the highest
// scores are kept one by one.
type tail struct {
	Rows  float64 `json:"rows"`  // all rows, also those whose scores are not kept
	Spans []span  `json:"spans"` // disjoint, highest first

	above []float64 // mass above each span
	fresh []float64 // scores that are not in the spans yet, highest first
}

// span is a mass of scores, spread evenly between two scores or all of it at one.
type span struct {
	High float64 `json:"high"`
	Low  float64 `json:"low"`
	Mass float64 `json:"mass"`
}

const (
	tailPrecision = 32   // ranks have an error of 3 %; the rate of alerts is corrected by more than that in each window
	freshScores   = 1024 // scores that are sorted in at a time; chosen by hand
	maxSpans      = 512  // about what 10^8 scores need; it bounds the size of the state file
	noMass        = 1e-9
	widest        = 1e300 // scores are clamped to it, so that the width of a span is finite
)

// add adds the score of a row. The caller counts Rows.
func (t *tail) add(score float64) {
	score = min(max(score, -widest), widest)
	at, _ := slices.BinarySearchFunc(t.fresh, score, descending)
	t.fresh = slices.Insert(t.fresh, at, score)
	if len(t.fresh) >= freshScores {
		t.fold()
	}
}

// descending orders scores for a search among scores that fall.
func descending(a, b float64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}

// rank returns the mass above a score and the mass of scores equal to it.
func (t *tail) rank(score float64) (above, equal float64) {
	score = min(max(score, -widest), widest)
	above, equal = t.rankInSpans(score)
	first, found := slices.BinarySearchFunc(t.fresh, score, descending)
	above += float64(first)
	for ; found && first < len(t.fresh) && t.fresh[first] == score; first++ {
		equal++
	}
	return above, equal
}

// rankInSpans is rank without the fresh scores. In the span of a score, the part of the mass above it is that of the width above it.
func (t *tail) rankInSpans(score float64) (above, equal float64) {
	// at is the first span that does not lie above the score.
	at, _ := slices.BinarySearchFunc(t.Spans, score, func(s span, score float64) int {
		if s.Low > score {
			return -1
		}
		return 1
	})
	if at == len(t.Spans) {
		return t.mass(), 0
	}
	above = t.above[at]
	if s := t.Spans[at]; s.High > score { // the score is in the span, or at its low end
		above += float64(s.Mass * ((s.High - score) / (s.High - s.Low)))
		at++
	}
	if at < len(t.Spans) && t.Spans[at].High == score && t.Spans[at].Low == score { // all of the span is at the score
		equal = t.Spans[at].Mass
	}
	return above, equal
}

// mass returns the mass of all spans.
func (t *tail) mass() float64 {
	last := len(t.Spans) - 1
	if last < 0 {
		return 0
	}
	return t.above[last] + t.Spans[last].Mass
}

// fold moves the fresh scores to the spans.
func (t *tail) fold() {
	if len(t.fresh) == 0 {
		return
	}
	single := tail{Spans: make([]span, 0, len(t.fresh))}
	for _, score := range t.fresh {
		if last := len(single.Spans) - 1; last >= 0 && single.Spans[last].Low == score {
			single.Spans[last].Mass++
		} else {
			single.Spans = append(single.Spans, span{score, score, 1})
		}
	}
	single.index()
	t.fresh = t.fresh[:0]
	t.merge(&single)
}

// merge adds the masses of another tail, which has no fresh scores.
func (t *tail) merge(other *tail) {
	cuts := make([]float64, 0, 2*(len(t.Spans)+len(other.Spans)))
	for _, list := range [][]span{t.Spans, other.Spans} {
		for _, s := range list {
			cuts = append(cuts, s.High, s.Low)
		}
	}
	slices.SortFunc(cuts, descending)
	cuts = slices.Compact(cuts)
	var spans []span
	keep := func(s span) {
		if s.Mass > noMass {
			spans = append(spans, s)
		}
	}
	last := 0.0 // mass at or above the cut before
	for i, cut := range cuts {
		above, equal := t.rankInSpans(cut)
		a, e := other.rankInSpans(cut)
		above, equal = above+a, equal+e
		if i > 0 {
			keep(span{cuts[i-1], cut, above - last})
		}
		keep(span{cut, cut, equal})
		last = above + equal
	}
	t.Spans = spans
	t.Rows += other.Rows
	t.compress()
}

// compress joins neighbours at the same score, and others as long as each span is a small part of the mass above it.
func (t *tail) compress() {
	for precision := float64(tailPrecision); ; precision /= 2 {
		joined, above := t.Spans[:0:0], 0.0 // above the last of the joined spans
		for _, s := range t.Spans {
			if n := len(joined); n > 0 {
				last := &joined[n-1]
				equal := last.High == s.Low // then both are at one score
				if equal || last.Mass+s.Mass <= max(1, above/precision) {
					last.Low = s.Low
					last.Mass += s.Mass
					continue
				}
				above += last.Mass
			}
			joined = append(joined, s)
		}
		t.Spans = joined
		if len(joined) <= maxSpans {
			break
		}
	}
	t.index()
}

// index computes the masses above the spans.
func (t *tail) index() {
	t.above = slices.Grow(t.above[:0], len(t.Spans))
	sum := 0.0
	for _, s := range t.Spans {
		t.above = append(t.above, sum)
		sum += s.Mass
	}
}

// scale multiplies all masses.
func (t *tail) scale(factor float64) {
	t.fold()
	t.Rows *= factor
	for i := range t.Spans {
		t.Spans[i].Mass *= factor
	}
	t.compress()
}

// valid reports whether a tail from a file can be one that was written.
func (t *tail) valid() bool {
	if !(t.Rows >= 0) || math.IsInf(t.Rows, 0) || len(t.Spans) > maxSpans {
		return false
	}
	for i, s := range t.Spans {
		if !(s.Mass > 0 && s.Mass <= widest && s.Low <= s.High && s.High <= widest && s.Low >= -widest) || i > 0 && s.High > t.Spans[i-1].Low {
			return false
		}
	}
	return true
}

// tailOf returns the tail of a sample of the scores of all rows. It is empty for a nil sample.
func tailOf(sample *calibrate.Sample) tail {
	var t tail
	if sample == nil {
		return t
	}
	t.Rows = float64(sample.Rows)
	seen, high := 0, math.NaN()
	for i := len(sample.Scores) - 1; i >= 0; i-- {
		low := min(max(sample.Scores[i], -widest), widest)
		if i == len(sample.Scores)-1 {
			high = low
		}
		if mass := sample.Above[i] + 1 - seen; mass > 0 {
			t.Spans = append(t.Spans, span{high, low, float64(mass)})
			seen += mass
		}
		high = low
	}
	t.compress()
	return t
}
