package certified

import "math"

// Limits of shorten.
const (
	longWeights   = 30 // of |w|, times max(1, 1/beta), the size of a kink's reach on columns of unit size
	roomToShorten = .3 // of what the gap asked for leaves above the bounds' difference
)

// shorten replaces a very long best point of a problem with lambda = 0 by a shorter one that is as good up to the gap asked
// for. Where columns are collinear, up to the rounding of storage, some directions change no score, or hardly, and nothing but
// chance says how far a minimiser goes along them. The minimiser w' of the same problem with a small lambda on the rows held
// has F(w') + lambda/2 |w'|^2 <= F(w) + lambda/2 |w|^2 there, so with lambda = 2 room/|w|^2 it is shorter and at most room
// worse; often a larger lambda will do. The bound stays as it is: it holds for all w in the ball.
func (s *session) shorten() error {
	far := 1.0
	if s.f.kind != topMean {
		far = math.Max(far, s.f.band())
	}
	square := dot(s.best.w, s.best.w)
	if s.f.lambda > 0 || s.pop == nil || s.spent() || !(square > float64(longWeights*longWeights*far*far)) {
		return nil
	}
	room := float64(roomToShorten * (s.target() - (s.upper - s.lower)))
	if !(room > 0) {
		return nil
	}
	most := s.upper + room
	for _, times := range []float64{1e4, 1e2, 1} {
		w := s.regularised(times*2*room/square, .1*room)
		if err := s.ctx.Err(); err != nil {
			return err
		}
		e, err := s.evaluate(0, w)
		if err != nil {
			return err
		}
		if e[0].f <= most && dot(w, w) < square {
			s.upper, s.best = e[0].f, e[0]
			return nil
		}
	}
	return nil
}

// regularised solves the problem on the rows held with a lambda of its own, whose bound means nothing for the problem.
func (s *session) regularised(lambda, tolerance float64) (w []float64) {
	other := *s
	other.f.lambda = lambda
	s.pos.withGroups(func() {
		s.pop.withGroups(func() { w = other.innerOnRows(tolerance) })
	})
	s.systems = other.systems
	return w
}
