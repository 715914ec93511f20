package serve

import (
	"slices"

	"toptau/model"
)

// decide turns the scores of a request into decisions at an operating point. This is the one place where that
// happens: Options.Limit may hold alerts back here. It is called once for each row with a score, after all
// rows of the request have been scored, or for a stream after those that have arrived.
func (s *Server) decide(c *call, r *rows, point int) {
	p := &r.b.points[point]
	alerts, request := 0, r.request(c, point)
	for _, k := range r.chunks {
		k.verdicts = slices.Grow(k.verdicts[:0], k.rows)[:k.rows]
		for row, z := range k.score[:k.rows] {
			v := Verdict{Score: z, Threshold: p.Threshold}
			if p.Segment != "" {
				v.Threshold = p.ThresholdOf(string(k.textOf(k.segment[row])))
			}
			if v.Alert = z > v.Threshold; v.Alert { // false for NaN, the score of a row without one
				alerts++
			}
			k.verdicts[row] = v
		}
		if s.options.Limit != nil {
			s.hold(s.options.Limit.Decide(request, k.verdicts))
			for i := range k.verdicts {
				if v := &k.verdicts[i]; v.HeldBack != "" {
					v.Alert = false
					alerts--
					r.b.counters.counter("held_back", v.HeldBack).Add(1)
				}
			}
		}
	}
	r.b.counters.alerts[point].Add(uint64(alerts))
}

// hold logs that alerts cannot be counted, and that they can be again.
func (s *Server) hold(err error) {
	if failed := err != nil; s.limitFailed.Swap(failed) == failed {
		return
	}
	if err != nil {
		s.log.Error("alerts are held back because they cannot be counted", "error", err.Error())
		return
	}
	s.log.Info("alerts are counted again")
}

// request describes the rows for those outside the package.
func (r *rows) request(c *call, point int) Request {
	return Request{Name: r.b.name, Model: r.b.model, Digest: r.b.digest, Point: r.b.points[point].Name, Time: c.start}
}

// guaranteeOf returns the guarantee of a point for a row, nil without one.
func guaranteeOf(p *model.Point, segment []byte) *model.Guarantee {
	for i := range p.Segments {
		if p.Segments[i].Value == string(segment) {
			return p.Segments[i].Guarantee
		}
	}
	return p.Guarantee
}

// tailOf returns a bound on the fraction of calibration scores that are as high as a score: (1 + number at or
// above it) / (n + 1), where the number is rounded up to one that the model keeps. A later negative has a
// tail of at most x with probability at most x.
func tailOf(g *model.Guarantee, score float64) (tail float64, known bool) {
	if g == nil || g.Calibration == nil {
		return 0, false
	}
	c := g.Calibration
	// The last kept score below this one: those at or above this one rank above it.
	i, _ := slices.BinarySearch(c.Scores, score)
	if i == 0 {
		return 1, true
	}
	return float64(1+c.Above[i-1]) / float64(c.Rows+1), true
}
