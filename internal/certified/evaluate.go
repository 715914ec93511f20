package certified

import (
	"context"
	"math"
	"slices"

	"toptau/diag"
	"toptau/internal/certified/linalg"
	"toptau/internal/text"
)

// evaluation is F at a point, and rows of the population that the solver may want.
type evaluation struct {
	at       *Point
	f, fLow  float64 // bounds on F
	t, tLow  float64 // bounds on the threshold
	edge     float64 // lower edge of the threshold's band, or a little less
	above    int     // rows of the population at or above the edge, about
	rows     []Row   // the best rows that are not held
	pos, pop histogram
	posBin   int     // the bin that makes the loss uncertain, or -1
	popBin   int     // the bin that makes t uncertain, or -1
	rounding float64 // bound on the errors of the source's scores
	origin   float64 // distance from 0 of the origin of the population's sums
}

const (
	// binCuts is the number of bins of a range of scores. A source that keeps its scores narrows the bin that
	// holds a corner by further questions, which cost no pass. Others get more bins at once. Measured on
	// hepmass (2 million rows): see TestTable, part slack.
	binCuts      = 1024
	binCutsAtOne = 4096

	// slackOfTarget and slackOfGap are the width of the bounds on F below which they are narrow enough, as a
	// part of the target and of the difference of F and the lower bound. Two for sources that keep scores, and
	// two for others, where a narrower bound costs a pass. Chosen by hand.
	slackOfTarget, slackOfGap           = 1e-2, 1e-3
	slackOfTargetAtOne, slackOfGapAtOne = .1, 1e-2

	// mostRefinements ends the refinement of bins. Each one divides a bin by at least binCuts, so a few reach
	// the rounding of a score.
	mostRefinements = 8
)

func (s *solver) ask(queries ...Query) ([]Answer, error) {
	answers, err := s.source.Scan(s.ctx, queries)
	if err != nil {
		return nil, err
	}
	for k := range answers {
		count := bad(answers[k].Population.Bins) + bad(answers[k].Positives.Bins)
		if count > 0 && !slices.ContainsFunc(queries[k].At.W, func(v float64) bool { return !isFinite(v) }) {
			return nil, nonFinite(text.Plural(count, "row") + " without a finite score")
		}
	}
	return answers, nil
}

// askClass asks about one class: the population, or the positives.
func (s *solver) askClass(at *Point, population bool, r Request) (ClassAnswer, error) {
	q := Query{At: at, Positives: r}
	if population {
		q = Query{At: at, Population: r}
	}
	answers, err := s.ask(q)
	switch {
	case err != nil:
		return ClassAnswer{}, err
	case population:
		return answers[0].Population, nil
	}
	return answers[0].Positives, nil
}

// nonFinite is the error for a source whose rows are not finite.
func nonFinite(found string) error {
	return &diag.Error{Kind: diag.Data, Found: found, Expected: "finite features in every row",
		Hint: "the data have missing or infinite features, or features so large that their products overflow"}
}

// cutsOfRange is the number of bins of a range.
func (s *solver) cutsOfRange() int {
	if s.shape.KeepsScores {
		return binCuts
	}
	return binCutsAtOne
}

// slack is the width of the bounds on F that is narrow enough at a point whose F is at least a number.
func (s *solver) slack(f float64) float64 {
	switch {
	case s.precise:
		return 0
	case s.claims:
		return claimWidth * s.atZero
	}
	ofTarget, ofGap := slackOfTarget, slackOfGap
	if !s.shape.KeepsScores {
		ofTarget, ofGap = slackOfTargetAtOne, slackOfGapAtOne
	}
	return math.Max(ofTarget*s.target(), ofGap*(f-s.lower))
}

// pointAt returns the point of a solution of the restricted problem. It may be the best point, if that is
// optimal on the rows held, w = 0, where a cold start begins, or the last solution. Then its scores may be
// kept.
func (s *solver) pointAt(w []float64) *Point {
	for _, p := range []*Point{s.best.at, s.zero, s.solution} {
		if p != nil && slices.Equal(w, p.W) {
			return p
		}
	}
	s.solution = newPoint(w)
	return s.solution
}

// allPositivesHeld reports whether the solver can compute every loss itself.
func (s *solver) allPositivesHeld() bool {
	return s.pos != nil && len(s.pos.ids) == s.shape.Positives.Rows
}

// evaluate bounds F at several points in one pass, or in none for points whose scores are kept. It asks for
// limit of the best rows that are not held. Bins that hold a corner are divided until the bounds are narrow.
func (s *solver) evaluate(limit int, points ...*Point) ([]evaluation, error) {
	return s.evaluateWith(everyScore(Highest, limit), points...)
}

// evaluateForViolators is evaluate for rows of which only those that the restricted problem overlooked are added.
func (s *solver) evaluateForViolators(points ...*Point) ([]evaluation, error) {
	want := everyScore(Highest, s.rowLimit())
	for k := range want {
		want[k].Enough = func(bins []Bin, rows []Row) int {
			h := newHistogram(bins)
			if len(h) == 0 {
				return len(rows)
			}
			return violatorsOf(rows, h.threshold(&s.form).edge)
		}
	}
	return s.evaluateWith(want, points...)
}

// evaluateWith is evaluate for some wanted rows of the population.
func (s *solver) evaluateWith(want []Want, points ...*Point) ([]evaluation, error) {
	out := make([]evaluation, len(points))
	queries := make([]Query, len(points))
	for k, p := range points {
		q := &queries[k]
		q.At = p
		q.Population = Request{Sums: true, Want: want}
		q.Positives.Cuts, q.Population.Cuts = s.expectedCuts(p.W)
		if s.pop != nil {
			q.Population.Held = s.pop.known
		}
		if q.Positives.Sums = !s.allPositivesHeld(); !q.Positives.Sums {
			q.Positives.Cuts = nil
		}
	}
	answers, err := s.ask(queries...)
	if err != nil {
		return nil, err
	}
	for k, p := range points {
		out[k] = s.evaluationFrom(p, &queries[k], &answers[k])
	}
	return out, s.narrowBounds(out)
}

// evaluationFrom bounds F at a point from an answer with bins.
func (s *solver) evaluationFrom(at *Point, q *Query, a *Answer) evaluation {
	e := evaluation{at: at, rows: slices.Concat(a.Population.Rows...), origin: math.Abs(q.Population.Origin),
		pos: newHistogram(a.Positives.Bins).about(-q.Positives.Origin), pop: newHistogram(a.Population.Bins).about(-q.Population.Origin),
		rounding: math.Max(a.Population.Rounding, a.Positives.Rounding)}
	s.bound(&e)
	if s.expected != nil && len(e.pop) > 0 {
		s.expected.learn(at.W, corners{e.edge, e.t})
	}
	return e
}

// narrowBounds divides the bins that hold corners until the bounds of all evaluations are narrow.
func (s *solver) narrowBounds(out []evaluation) error {
	for range mostRefinements {
		var which []int
		var queries []Query
		for k := range out {
			e := &out[k]
			if q := s.refinement(e); q != nil {
				which, queries = append(which, k), append(queries, *q)
			}
		}
		if len(queries) == 0 {
			break
		}
		answers, err := s.ask(queries...)
		if err != nil {
			return err
		}
		for i, k := range which {
			s.refine(&out[k], &answers[i])
		}
	}
	return nil
}

// expectedCuts returns cuts for both classes where the corners of a point are expected. Without a sample that is between the edge on the rows held, which is
// never above the true one, and the highest of their scores, and as far below. If too few rows are held for an edge,
// the last point's is the guess; nil: there was none.
func (s *solver) expectedCuts(w []float64) (positives, population []float64) {
	edge := s.safeEdge(w)
	if s.expected != nil && (s.crowded || math.IsInf(edge, -1)) {
		return s.expected.cuts(w)
	}
	top := edge
	if math.IsInf(edge, -1) {
		edge, top = s.lastEdge, s.lastTop // a guess: the last point's
	} else {
		for _, z := range s.scratch {
			top = math.Max(top, z)
		}
	}
	if !(top > edge) {
		return nil, nil
	}
	range_ := Bin{Low: edge - (top - edge), High: top}
	return nil, range_.cutsInside(s.cutsOfRange())
}

// bound computes the bounds of an evaluation from its bins.
func (s *solver) bound(e *evaluation) {
	if len(e.pop) == 0 { // no score is finite: nor are the weights
		e.f, e.fLow, e.t, e.tLow, e.popBin, e.posBin = math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1), -1, -1
		return
	}
	c := e.pop.threshold(&s.form)
	e.t, e.tLow, e.edge, e.popBin = c.high, c.low, c.edge, c.corner
	e.above = e.pop.rowsFrom(e.edge)
	s.lastEdge, s.lastTop = e.edge, e.pop[len(e.pop)-1].High
	var low, high float64
	if e.posBin = -1; s.allPositivesHeld() {
		z := make([]float64, s.pos.N)
		s.pos.scores(e.at.W, z)
		low = s.form.MeanLoss(e.tLow, z, s.pos.Weight, 1)
		high = s.form.MeanLoss(e.t, z, s.pos.Weight, 1)
	} else {
		low, high, e.posBin = e.pos.loss(s.form.Squared, e.tLow, e.t)
	}
	square := float64(s.form.Lambda / 2 * linalg.Dot(e.at.W, e.at.W))
	e.fLow, e.f = low/s.shape.Positives.Mass+square, high/s.shape.Positives.Mass+square
	if e.rounding > 0 {
		e.f += roundingOf(s.form.Squared, high/s.shape.Positives.Mass, e.roundingOfSums())
	}
}

// roundingOfSums bounds the error of every score that matters to the threshold: its own, and its part in that of the sum of its bin,
// whose rows were added in any order.
func (e *evaluation) roundingOfSums() float64 {
	most := 0.0
	for k := len(e.pop) - 1; k >= 0 && e.pop[k].High >= e.edge; k-- {
		b := &e.pop[k]
		most = math.Max(most, float64(b.Rows+1)*0x1p-53*(math.Max(math.Abs(b.Low), math.Abs(b.High))+float64(2*e.origin)))
	}
	return e.rounding + most
}

// roundingOf bounds how much a mean loss can change if every score changes by at most some number. The threshold changes by as
// much, so each loss is taken at a place twice as far away.
func roundingOf(squared bool, loss, byScore float64) float64 {
	if squared { // the mean of (l + c)^2 is at most (sqrt(mean of l^2) + c)^2
		return float64(4*byScore*math.Sqrt(loss)) + float64(4*byScore*byScore)
	}
	return 2 * byScore
}

// refinement returns the question that narrows the bounds of an evaluation; nil: they are narrow enough, or
// cannot be narrowed.
func (s *solver) refinement(e *evaluation) *Query {
	if e.popBin < 0 && e.posBin < 0 || e.f-e.fLow <= s.slack(e.fLow) {
		return nil
	}
	q := &Query{At: e.at}
	if e.popBin >= 0 {
		q.Population = Request{Cuts: e.pop[e.popBin].cutsInside(s.cutsOfRange()), Inside: true}
	}
	if e.posBin >= 0 {
		q.Positives = Request{Cuts: e.pos[e.posBin].cutsInside(s.cutsOfRange()), Inside: true}
	}
	return q
}

// claimWidth is the width of the bounds on F at the end of SolveSource, as a part of F(0). A certificate claims the upper
// one, which verify compares with F to within ten times as much.
const claimWidth = 1e-9

// narrow divides the bins of the best point until its bounds are as narrow as a claim.
func (s *solver) narrow() error {
	s.claims, s.ctx = true, context.WithoutCancel(s.ctx)
	if isZero(s.best.at.W) {
		return nil // F(0) is known
	}
	if len(s.best.pop) == 0 {
		e, err := s.evaluate(0, s.best.at)
		if err != nil {
			return err
		}
		s.best = e[0]
	}
	for range mostRefinements {
		q := s.refinement(&s.best)
		if q == nil {
			break
		}
		answers, err := s.ask(*q)
		if err != nil {
			return err
		}
		s.refine(&s.best, &answers[0])
	}
	s.upper = math.Min(s.upper, s.best.f)
	return nil
}

// refine replaces the bins that a refinement asked about.
func (s *solver) refine(e *evaluation, a *Answer) {
	finer := func(h histogram, k int, bins []Bin) histogram {
		if k < 0 {
			return h
		}
		return h.replace(k, newHistogram(bins[1:len(bins)-1]))
	}
	e.pop = finer(e.pop, e.popBin, a.Population.Bins)
	e.pos = finer(e.pos, e.posBin, a.Positives.Bins)
	s.bound(e)
}

// edgeNoise is the rounding error of an edge, relative to the scores: those of the rows held are formed in
// another order than those of the source, some of them in float32 storage.
const edgeNoise = 1e-9

// safeEdge returns a score below which no row can change t(w): the band's edge on the rows held. It never
// lies above the band's edge on all rows. The scores of the rows held are in s.scratch.
func (s *solver) safeEdge(w []float64) float64 {
	if s.pop == nil || s.pop.N == 0 || linalg.Sum(s.pop.Weight) < s.form.Kappa {
		return math.Inf(-1)
	}
	if cap(s.scratch) < s.pop.N {
		s.scratch = make([]float64, s.pop.N, 2*s.pop.N)
	}
	s.scratch = s.scratch[:s.pop.N]
	s.pop.scores(w, s.scratch)
	_, edge, _ := s.form.Threshold(s.scratch, s.pop.Weight, nil)
	var scale float64
	for _, v := range s.scratch {
		scale = math.Max(scale, math.Abs(v))
	}
	return edge - float64(edgeNoise*scale)
}
