package certified

import (
	"math"
	"slices"

	"toptau/internal/core/certified/linalg"
)

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

func square(w []float64) float64 { return linalg.Dot(w, w) }

func isFinite(v float64) bool { return math.Abs(v) <= math.MaxFloat64 }
