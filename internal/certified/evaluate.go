package certified

import (
	"math"
	"slices"

	"toptau/internal/certified/linalg"
)

// evaluation is F at a point, and rows of the population that the solver may want.
type evaluation struct {
	at    *Point
	f, t  float64
	edge  float64 // lower edge of the threshold's band
	above int     // scores at or above the edge
	rows  []Row   // the best rows that are not held
}

func (s *solver) ask(q Query) (Answer, error) {
	answers, err := s.source.Scan(s.ctx, []Query{q})
	if err != nil {
		return Answer{}, err
	}
	return answers[0], nil
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

// evaluate computes F at several points in one pass, or in none for points whose scores are kept. It asks for
// limit of the best rows that are not held.
func (s *solver) evaluate(limit int, points ...*Point) ([]evaluation, error) {
	queries := make([]Query, len(points))
	for k, p := range points {
		query := PopulationQuery{Above: s.safeEdge(p.W), Limit: limit}
		if s.pop != nil {
			query.Known = s.pop.known
		}
		queries[k] = Query{At: p, Population: &query}
	}
	answers, err := s.source.Scan(s.ctx, queries)
	if err != nil {
		return nil, err
	}
	out := make([]evaluation, len(points))
	for k, p := range points {
		e, population := &out[k], answers[k].Population
		e.at, e.rows = p, population.Rows
		s.form.Rule.At(population.Scores, population.Weights, &s.support)
		e.t, e.edge = s.support.T, s.support.Edge
		for _, z := range population.Scores {
			if z >= e.edge {
				e.above++
			}
		}
		queries[k] = Query{At: p, Positives: &PositivesQuery{T: e.t, Squared: s.form.Squared}}
	}
	// The losses need the thresholds: a second scan, of scores that are kept by now.
	if answers, err = s.source.Scan(s.ctx, queries); err != nil {
		return nil, err
	}
	for k := range out {
		w := out[k].at.W
		out[k].f = answers[k].Positives.Loss/s.shape.Positives.Mass + float64(s.form.Lambda/2*linalg.Dot(w, w))
	}
	return out, nil
}

// lineSlack is the accuracy of the line search, as a part of the difference of the bounds. Chosen by hand:
// the next restricted problem starts elsewhere anyway.
const lineSlack = 1e-2

// evaluateAlong evaluates F on the way from one point to another: at the second one and, where that may be
// better, between or beyond them. The best point comes last. A source with a line search finds the best point
// itself; others are asked about the given fractions.
func (s *solver) evaluateAlong(from, to *Point, fractions []float64, limit int) ([]evaluation, error) {
	if searcher, ok := s.source.(lineSearcher); ok {
		// F at to first: the slack of the search depends on it.
		points, err := s.evaluate(limit, to)
		if err != nil {
			return nil, err
		}
		best, err := searcher.search(s.ctx, s.form, from, to, lineSlack*(math.Min(s.upper, points[0].f)-s.lower))
		if err != nil || best == to || best == from {
			return points, err
		}
		more, err := s.evaluate(limit, best)
		return append(points, more...), err
	}
	// Without a line search one pass answers for several points.
	var list []*Point
	for _, alpha := range fractions {
		list = append(list, newPoint(between(from.W, to.W, alpha)))
	}
	points, err := s.evaluate(limit, append(list, to)...)
	if err != nil {
		return nil, err
	}
	best := 0
	for k, e := range points {
		if e.f < points[best].f {
			best = k
		}
	}
	last := points[len(points)-1]
	if best == len(points)-1 {
		return []evaluation{last}, nil
	}
	return []evaluation{last, points[best]}, nil
}

// edgeNoise is the rounding error of an edge, relative to the scores: those of the rows held are formed in
// another order than those of the source, some of them in float32 storage.
const edgeNoise = 1e-9

// safeEdge returns a score below which no row can change t(w): the band's edge on the rows held. It never
// lies above the band's edge on all rows.
func (s *solver) safeEdge(w []float64) float64 {
	if s.pop == nil || s.pop.N == 0 || linalg.Sum(s.pop.Weight) < s.form.Kappa {
		return math.Inf(-1)
	}
	z := make([]float64, s.pop.N)
	s.pop.Times(w, z)
	_, edge, _ := s.form.Threshold(z, s.pop.Weight, nil)
	offset := linalg.Dot(s.pop.Centre, w)
	var scale float64
	for _, v := range z {
		scale = math.Max(scale, math.Abs(v))
	}
	return edge + offset - float64(edgeNoise*(scale+math.Abs(offset)))
}

// The points of a line at which a source without a line search is asked: on a ray of unknown scale, between
// the best point and a new one, and around the last problem's point. Chosen by hand.
var (
	rayFractions    = []float64{.01, .1, .3, 3, 10, 100}
	scanFractions   = []float64{.1, .3, .6}
	resumeFractions = []float64{.3, .6, 1.5, 3}
)

// evaluateRay returns the best point on the ray from 0 through another one.
func (s *solver) evaluateRay(through *Point, limit int) (evaluation, error) {
	if _, ok := s.source.(lineSearcher); !ok {
		scaled, err := s.scaleToSpread(through)
		if err != nil {
			return evaluation{}, err
		}
		through = scaled
	}
	points, err := s.evaluateAlong(s.zero, through, rayFractions, limit)
	if err != nil {
		return evaluation{}, err
	}
	return points[len(points)-1], nil
}

// scaleToSpread returns the multiple of a point at which the scores have standard deviation 1. It costs a
// pass: a source without a line search is asked about a few multiples, which need a scale.
func (s *solver) scaleToSpread(p *Point) (*Point, error) {
	answer, err := s.ask(Query{At: p, Population: &PopulationQuery{Above: math.Inf(-1)}})
	if err != nil {
		return nil, err
	}
	scores := answer.Population.Scores
	mean := linalg.Sum(scores) / float64(max(1, len(scores)))
	var spread float64
	for _, z := range scores {
		spread += float64((z - mean) * (z - mean))
	}
	if spread = math.Sqrt(spread / float64(max(1, len(scores)))); !(spread > 0) {
		return p, nil
	}
	w := slices.Clone(p.W)
	for j := range w {
		w[j] /= spread
	}
	return newPoint(w), nil
}
