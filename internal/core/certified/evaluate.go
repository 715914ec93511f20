package certified

import (
	"context"
	"math"
	"slices"

	"toptau/diag"
	"toptau/internal/core/certified/linalg"
	"toptau/internal/core/text"
)

// evaluator bounds F at points from sums over intervals of scores, by questions to the source.
type evaluator struct {
	*state
	precise  bool         // bound F up to rounding
	claims   bool         // bound F as narrowly as a certificate claims it
	expected *expectation // of the scores at the next point; nil: nothing but what is held

	lastEdge, lastTop float64   // of the last evaluation: the edge, and the highest score
	scratch           []float64 // scores of the rows held
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

	// maxRefinements ends the refinement of bins. Each one divides a bin by at least binCuts, so a few reach
	// the rounding of a score.
	maxRefinements = 8
)

func (ev *evaluator) ask(queries ...Query) ([]Answer, error) {
	kept := !slices.ContainsFunc(queries, func(q Query) bool { return !q.At.kept() })
	if ev.strict && !ev.claims && !kept && ev.passesLeft() <= 0 {
		return nil, errPasses
	}
	answers, err := ev.source.Scan(ev.ctx, queries)
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
func (ev *evaluator) askClass(at *Point, population bool, r Request) (ClassAnswer, error) {
	q := Query{At: at, Positives: r}
	if population {
		q = Query{At: at, Population: r}
	}
	answers, err := ev.ask(q)
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
func (ev *evaluator) cutsOfRange() int {
	if ev.shape.KeepsScores {
		return binCuts
	}
	return binCutsAtOne
}

// slack is the width of the bounds on F that is narrow enough at a point whose F is at least a number.
func (ev *evaluator) slack(f float64) float64 {
	switch {
	case ev.precise:
		return 0
	case ev.claims:
		return claimWidth * ev.atZero
	}
	ofTarget, ofGap := slackOfTarget, slackOfGap
	if !ev.shape.KeepsScores {
		ofTarget, ofGap = slackOfTargetAtOne, slackOfGapAtOne
	}
	return math.Max(ofTarget*ev.target(), ofGap*(f-ev.lower))
}

// evaluate bounds F at several points in one pass, or in none for points whose scores are kept. It asks for
// limit of the best rows that are not held. Bins that hold a corner are divided until the bounds are narrow.
func (ev *evaluator) evaluate(limit int, points ...*Point) ([]evaluation, error) {
	return ev.evaluateWith(everyScore(Highest, limit), points...)
}

// evaluateForViolators is evaluate for rows of which only those that the restricted problem overlooked are added.
func (ev *evaluator) evaluateForViolators(points ...*Point) ([]evaluation, error) {
	want := everyScore(Highest, ev.rowLimit(&ev.problem))
	for k := range want {
		want[k].Enough = func(bins []Bin, rows []Row) int {
			h := newHistogram(bins)
			if len(h) == 0 {
				return len(rows)
			}
			return violatorsOf(rows, h.threshold(&ev.form).edge)
		}
	}
	return ev.evaluateWith(want, points...)
}

// evaluateWith is evaluate for some wanted rows of the population.
func (ev *evaluator) evaluateWith(want []Want, points ...*Point) ([]evaluation, error) {
	out := make([]evaluation, len(points))
	queries := make([]Query, len(points))
	for k, p := range points {
		q := &queries[k]
		q.At = p
		q.Population = Request{Sums: true, Want: want}
		q.Positives.Cuts, q.Population.Cuts = ev.expectedCuts(p.W)
		if ev.pop != nil {
			q.Population.Held = ev.pop.known
		}
		if q.Positives.Sums = !ev.allPositivesHeld(); !q.Positives.Sums {
			q.Positives.Cuts = nil
		}
	}
	answers, err := ev.ask(queries...)
	if err != nil {
		return nil, err
	}
	for k, p := range points {
		out[k] = ev.evaluationFrom(p, &queries[k], &answers[k])
	}
	return out, ev.narrowBounds(out)
}

// evaluationFrom bounds F at a point from an answer with bins.
func (ev *evaluator) evaluationFrom(at *Point, q *Query, a *Answer) evaluation {
	e := evaluation{at: at, rows: slices.Concat(a.Population.Rows...), origin: math.Abs(q.Population.Origin),
		pos: newHistogram(a.Positives.Bins).about(-q.Positives.Origin), pop: newHistogram(a.Population.Bins).about(-q.Population.Origin),
		rounding: math.Max(a.Population.Rounding, a.Positives.Rounding)}
	ev.bound(&e)
	if ev.expected != nil && len(e.pop) > 0 {
		ev.expected.learn(at.W, corners{e.edge, e.t})
	}
	return e
}

// narrowBounds divides the bins that hold corners until the bounds of all evaluations are narrow.
func (ev *evaluator) narrowBounds(out []evaluation) error {
	for range maxRefinements {
		var which []int
		var queries []Query
		for k := range out {
			e := &out[k]
			if q := ev.refinement(e); q != nil {
				which, queries = append(which, k), append(queries, *q)
			}
		}
		if len(queries) == 0 {
			break
		}
		answers, err := ev.ask(queries...)
		if err != nil {
			return err
		}
		for i, k := range which {
			ev.refine(&out[k], &answers[i])
		}
	}
	return nil
}

// expectedCuts returns cuts for both classes where the corners of a point are expected. Without a sample that is between the edge on the rows held, which is
// never above the true one, and the highest of their scores, and as far below. If too few rows are held for an edge,
// the last point's is the guess; nil: there was none.
func (ev *evaluator) expectedCuts(w []float64) (positives, population []float64) {
	edge := ev.safeEdge(w)
	if ev.expected != nil && (ev.useGroups || math.IsInf(edge, -1)) {
		return ev.expected.cuts(w)
	}
	top := edge
	if math.IsInf(edge, -1) {
		edge, top = ev.lastEdge, ev.lastTop // a guess: the last point's
	} else {
		for _, z := range ev.scratch {
			top = math.Max(top, z)
		}
	}
	if !(top > edge) {
		return nil, nil
	}
	range_ := Bin{Low: edge - (top - edge), High: top}
	return nil, range_.cutsInside(ev.cutsOfRange())
}

// bound computes the bounds of an evaluation from its bins.
func (ev *evaluator) bound(e *evaluation) {
	if len(e.pop) == 0 { // no score is finite: nor are the weights
		e.f, e.fLow, e.t, e.tLow, e.popBin, e.posBin = math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1), -1, -1
		return
	}
	c := e.pop.threshold(&ev.form)
	e.t, e.tLow, e.edge, e.popBin = c.high, c.low, c.edge, c.corner
	e.above = e.pop.rowsFrom(e.edge)
	ev.lastEdge, ev.lastTop = e.edge, e.pop[len(e.pop)-1].High
	var low, high float64
	if e.posBin = -1; ev.allPositivesHeld() {
		z := make([]float64, ev.pos.N)
		ev.pos.scores(e.at.W, z)
		low = ev.form.MeanLoss(e.tLow, z, ev.pos.Weight, 1)
		high = ev.form.MeanLoss(e.t, z, ev.pos.Weight, 1)
	} else {
		low, high, e.posBin = e.pos.loss(ev.form.Squared, e.tLow, e.t)
	}
	square := float64(ev.form.Lambda / 2 * linalg.Dot(e.at.W, e.at.W))
	e.fLow, e.f = low/ev.shape.Positives.Mass+square, high/ev.shape.Positives.Mass+square
	if e.rounding > 0 {
		e.f += roundingOf(ev.form.Squared, high/ev.shape.Positives.Mass, e.roundingOfSums())
	}
}

// refinement returns the question that narrows the bounds of an evaluation; nil: they are narrow enough, or
// cannot be narrowed.
func (ev *evaluator) refinement(e *evaluation) *Query {
	if e.popBin < 0 && e.posBin < 0 || e.f-e.fLow <= ev.slack(e.fLow) {
		return nil
	}
	q := &Query{At: e.at}
	if e.popBin >= 0 {
		q.Population = Request{Cuts: e.pop[e.popBin].cutsInside(ev.cutsOfRange()), Inside: true}
	}
	if e.posBin >= 0 {
		q.Positives = Request{Cuts: e.pos[e.posBin].cutsInside(ev.cutsOfRange()), Inside: true}
	}
	return q
}

// claimWidth is the width of the bounds on F at the end of SolveSource, as a part of F(0). A certificate claims the upper
// one, which verify compares with F to within ten times as much.
const claimWidth = 1e-9

// narrow divides the bins of the best point until its bounds are as narrow as a claim.
func (ev *evaluator) narrow() error {
	ev.claims, ev.ctx = true, context.WithoutCancel(ev.ctx)
	if isZero(ev.best.at.W) {
		return nil // F(0) is known
	}
	if len(ev.best.pop) == 0 {
		e, err := ev.evaluate(0, ev.best.at)
		if err != nil {
			return err
		}
		ev.best = e[0]
	}
	for range maxRefinements {
		q := ev.refinement(&ev.best)
		if q == nil {
			break
		}
		answers, err := ev.ask(*q)
		if err != nil {
			return err
		}
		ev.refine(&ev.best, &answers[0])
	}
	ev.upper = math.Min(ev.upper, ev.best.f)
	return nil
}

// refine replaces the bins that a refinement asked about.
func (ev *evaluator) refine(e *evaluation, a *Answer) {
	finer := func(h histogram, k int, bins []Bin) histogram {
		if k < 0 {
			return h
		}
		return h.replace(k, newHistogram(bins[1:len(bins)-1]))
	}
	e.pop = finer(e.pop, e.popBin, a.Population.Bins)
	e.pos = finer(e.pos, e.posBin, a.Positives.Bins)
	ev.bound(e)
}

// edgeNoise is the rounding error of an edge, relative to the scores: those of the rows held are formed in
// another order than those of the source, some of them in float32 storage.
const edgeNoise = 1e-9

// safeEdge returns a score below which no row can change t(w): the band's edge on the rows held. It never
// lies above the band's edge on all rows. The scores of the rows held are in ev.scratch.
func (ev *evaluator) safeEdge(w []float64) float64 {
	if ev.pop == nil || ev.pop.N == 0 || linalg.Sum(ev.pop.Weight) < ev.form.Kappa {
		return math.Inf(-1)
	}
	if cap(ev.scratch) < ev.pop.N {
		ev.scratch = make([]float64, ev.pop.N, 2*ev.pop.N)
	}
	ev.scratch = ev.scratch[:ev.pop.N]
	ev.pop.scores(w, ev.scratch)
	_, edge, _ := ev.form.Threshold(ev.scratch, ev.pop.Weight, nil)
	var scale float64
	for _, v := range ev.scratch {
		scale = math.Max(scale, math.Abs(v))
	}
	return edge - float64(edgeNoise*scale)
}
