package certified

import "slices"

// Point is a point w, with the scores of all rows there if its source keeps them. Evaluating F at a point
// whose scores are kept costs no pass. A Point belongs to one source.
type Point struct {
	W      []float64 // must not be changed
	scores []float64 // of all rows, positives first; nil: not kept. Set and reused by Memory
	pins   int       // uses that need the scores later; Memory keeps them as long

	// A point of a line, from + alpha (to - from), whose scores follow from theirs. from nil: w = 0. to nil:
	// not of a line.
	from, to *Point
	alpha    float64
	settled  bool // from and to will not change: see settle
}

func newPoint(w []float64) *Point { return &Point{W: w} }

// pointBetween returns the point from + alpha (to - from).
func pointBetween(from, to *Point, alpha float64) *Point {
	p := &Point{W: between(from.W, to.W, alpha), from: from, to: to, alpha: alpha}
	if isZero(from.W) {
		p.from = nil
	}
	return p
}

// kept reports whether the source keeps the scores.
func (p *Point) kept() bool { return p.scores != nil }

// isZero reports whether all weights are 0.
func isZero(w []float64) bool { return !slices.ContainsFunc(w, func(v float64) bool { return v != 0 }) }

// between returns from + alpha (to - from).
func between(from, to []float64, alpha float64) []float64 {
	w := make([]float64, len(from))
	for j, v := range from {
		w[j] = v + float64(alpha*(to[j]-v))
	}
	return w
}

// settle decides, when a source without a matrix sees a point first, whether its scores follow from those of the ends of its
// line. All answers about a point must be about the same scores, to the last bit: the ends of a bin are scores of rows.
func (p *Point) settle(k *keptScores) {
	if !p.settled && p.to != nil && !k.knows(p) {
		p.from, p.to = nil, nil
	}
	p.settled = true
}

// ends appends the points from whose scores those of p follow to a list, each once.
func (p *Point) ends(list []*Point) []*Point {
	switch {
	case p.to != nil && p.from != nil:
		return p.to.ends(p.from.ends(list))
	case p.to != nil:
		return p.to.ends(list)
	case !slices.Contains(list, p):
		return append(list, p)
	}
	return list
}

// combine writes the scores of a point of a line to z. of writes those of an end.
func (p *Point) combine(z []float64, of func(end *Point, z []float64)) {
	if p.to == nil {
		of(p, z)
		return
	}
	p.to.combine(z, of)
	var from []float64
	if p.from != nil {
		from = make([]float64, len(z))
		p.from.combine(from, of)
	}
	p.mix(from, z)
}

// mix turns the scores at the second end of a line into those of the point. from are those at the first end; nil: all are 0.
func (p *Point) mix(from, z []float64) {
	if from == nil {
		for i, v := range z {
			z[i] = p.alpha * v
		}
		return
	}
	for i, v := range from {
		z[i] = v + float64(p.alpha*(z[i]-v))
	}
}
