package certified

import (
	"math"
	"slices"

	"toptau/internal/core/certified/form"
)

// addNearRows adds the rows nearest to the corners of the hinge at a point, for classes of which not all rows
// that matter are held, and sums up the others.
func (ev *evaluator) addNearRows(e evaluation) error {
	positives := len(ev.pos.ids) < ev.shape.Positives.Rows
	if !positives && !ev.useGroups {
		return nil
	}
	q := Query{At: e.at}
	if positives {
		q.Positives = Request{Held: ev.pos.known}
		if ev.limits.scan > 0 {
			q.Positives.Want = ev.lowestPositives(&e, e.t)
		} else if limit := ev.positivesLimit(&ev.problem); limit == ev.shape.Positives.Rows {
			q.Positives.Want = everyScore(Highest, limit)
		} else {
			ties, err := ev.heavyTies(&e, false)
			if err != nil {
				return err
			}
			q.Positives.Want = nearest(1+e.t, limit, ties)
			ends, err := ev.positiveEnds(&e, groupCount(ev.form.Squared))
			if err != nil {
				return err
			}
			q.Positives.Groups = withTies(ends, ties)
		}
	}
	if ev.useGroups {
		ties, err := ev.heavyTies(&e, true)
		if err != nil {
			return err
		}
		q.Population = Request{Held: ev.pop.known, Want: nearest(e.edge, ev.limits.near, ties)}
		ends, err := ev.populationEnds(&e, groupCount(ev.form.Kind == form.SquaredQuantile))
		if err != nil {
			return err
		}
		q.Population.Groups = withTies(ends, ties)
	}
	answers, err := ev.ask(q)
	if err != nil {
		return err
	}
	for _, rows := range answers[0].Positives.Rows {
		for _, r := range rows {
			ev.pos.hold(r)
		}
	}
	for _, rows := range answers[0].Population.Rows {
		ev.addPopulation(rows)
	}
	if positives && ev.limits.scan == 0 {
		ev.pos.setGroups(groupsOf(answers[0].Positives.Groups, e.at, q.Positives.Groups, len(ev.pos.ids)))
	}
	if ev.useGroups {
		ev.pop.setGroups(groupsOf(answers[0].Population.Groups, e.at, q.Population.Groups, len(ev.pop.ids)))
	}
	return nil
}

// addOverlooked adds the rows of wide data that the restricted problem overlooked at a point: those beyond the corners on the rows held.
// The threshold on all rows is often far above, and so would be a loss of most positives.
func (ev *evaluator) addOverlooked(e evaluation) error {
	edge := ev.safeEdge(e.at.W)
	t, _, _ := ev.form.Threshold(ev.scratch, ev.pop.Weight, nil)
	n := 0
	for n < len(e.rows) && e.rows[n].Score >= edge {
		n++
	}
	ev.addPopulation(e.rows[:n])
	if ev.allPositivesHeld() {
		return nil
	}
	answer, err := ev.askClass(e.at, false, Request{Held: ev.pos.known, Want: ev.lowestPositives(&e, t)})
	if err != nil {
		return err
	}
	for _, r := range answer.Rows[0] {
		ev.pos.hold(r)
	}
	return nil
}

// lowestPositives asks for the positives with the largest losses at a threshold.
func (ev *evaluator) lowestPositives(e *evaluation, t float64) []Want {
	return []Want{{Low: math.Inf(-1), High: 1 + t, Order: Nearest, Centre: e.pos[0].Low, Limit: ev.limits.scan}}
}

// nearest asks for the rows nearest to a score, and for none with the scores of ties, which ascend.
func nearest(centre float64, limit int, ties []float64) []Want {
	return without(Want{Low: math.Inf(-1), High: math.Inf(1), Order: Nearest, Centre: centre, Limit: limit}, ties)
}

// without divides a Want into the intervals between ties, which ascend and lie in its interval. They share its
// limit.
func without(all Want, ties []float64) (list []Want) {
	part := all
	part.Limit = max(1, all.Limit/(len(ties)+1))
	for _, tie := range ties {
		if part.High = math.Nextafter(tie, math.Inf(-1)); part.Low <= part.High {
			list = append(list, part)
		}
		part.Low = math.Nextafter(tie, math.Inf(1))
	}
	if part.High = all.High; part.Low <= part.High {
		list = append(list, part)
	}
	return list
}

// withTies adds ends to those of groups, so that each tie is a group.
func withTies(ends, ties []float64) []float64 {
	for _, tie := range ties {
		ends = append(ends, tie, math.Nextafter(tie, math.Inf(1)))
	}
	return ascending(ends)
}

// heavyTies returns scores that more rows share than one scan may add, in ascending order. They are
// likely to be equal rows, and become a group each.
func (ev *evaluator) heavyTies(e *evaluation, population bool) (ties []float64, err error) {
	if err := ev.divide(e, population, everything, ev.limits.held); err != nil {
		return nil, err
	}
	for _, b := range *e.bins(population) {
		if b.Rows > ev.limits.near && b.Low == b.High {
			ties = append(ties, b.Low)
		}
	}
	return ties, nil
}

// divisions is the number of times that bins with too many rows are divided. Outliers can leave most rows in
// one bin of equal width, so that one division does not do.
const divisions = 4

// interval is an interval of scores.
type interval struct{ low, high float64 }

var everything = interval{math.Inf(-1), math.Inf(1)}

// divide divides the bins of a class that reach into an interval and have more than most rows and several scores.
func (ev *evaluator) divide(e *evaluation, population bool, within interval, most int) error {
	for range divisions {
		h := e.bins(population)
		if ev.expected != nil && len(*h) >= farCuts {
			return nil // the sample divided them about evenly, and finer ones would cost a pass
		}
		var large histogram
		for _, b := range *h {
			if b.Rows > most && b.Low < b.High && b.Low <= within.high && b.High >= within.low {
				large = append(large, b)
			}
		}
		if len(large) == 0 && len(*h) > 0 {
			return nil
		}
		var cuts []float64
		for _, b := range large {
			cuts = append(cuts, b.cutsInside(max(2, ev.cutsOfRange()/len(large)))...)
		}
		answer, err := ev.askClass(e.at, population, Request{Cuts: slices.Compact(cuts), Sums: true, Inside: len(cuts) > 0})
		if err != nil {
			return err
		}
		*h = h.divided(large, newHistogram(answer.Bins))
	}
	return nil
}

// groupResolution is the number of bins, at least, that a group consists of where groups are to have equal
// numbers of rows.
const groupResolution = 2

// populationEnds returns the ends of groups of about equal numbers of rows, count on each side of the edge: all
// rows above it, and the nearest below it, about twice as many.
func (ev *evaluator) populationEnds(e *evaluation, count int) ([]float64, error) {
	above := e.pop.rowsFrom(e.edge)
	if err := ev.divide(e, true, everything, max(1, above/(groupResolution*count))); err != nil {
		return nil, err
	}
	ends := e.pop.quantileEnds(math.Inf(-1), e.edge, count, 2*above)
	ends = append(ends, e.edge)
	ends = append(ends, e.pop.quantileEnds(e.edge, math.Inf(1), count, math.MaxInt)...)
	return ascending(append(ends, math.Inf(1))), nil
}

// positiveEnds does the same for all positives on both sides of the corner of their loss.
func (ev *evaluator) positiveEnds(e *evaluation, count int) ([]float64, error) {
	if err := ev.divide(e, false, everything, max(1, ev.shape.Positives.Rows/(groupResolution*2*count))); err != nil {
		return nil, err
	}
	corner := 1 + e.t
	ends := append([]float64{math.Inf(-1)}, e.pos.quantileEnds(math.Inf(-1), corner, count, math.MaxInt)...)
	ends = append(ends, corner)
	ends = append(ends, e.pos.quantileEnds(corner, math.Inf(1), count, math.MaxInt)...)
	return ascending(append(ends, math.Inf(1))), nil
}

// The number of groups on one side of the corner, by score. The hinge is linear there and needs few. For a
// square the bound loses the variance of the scores within a group, which falls with the square of the number
// of groups. Chosen by hand.
const (
	groupsOfHinge  = 8
	groupsOfSquare = 2048
)

// groupCount is the number of groups a side.
func groupCount(square bool) int {
	if square {
		return groupsOfSquare
	}
	return groupsOfHinge
}
