package certified

import "toptau/internal/certified/linalg"

const (
	// longWeights is the norm |w| above which a point is shortened, in units of form.Form.Reach. Without
	// collinear columns minimisers are shorter; with them norms of 1e3 to 1e6 were seen.
	longWeights = 30
	// lossOfShortening is the part that shortening may lose of the target less the difference of the bounds.
	lossOfShortening = .3
	// shorteningTolerance is the accuracy of the shorter point, as a part of that loss.
	shorteningTolerance = .1
)

// shorteningFactors multiply the lambda that is certain to be small enough. Larger ones often do too, and
// give shorter points.
var shorteningFactors = []float64{1e4, 1e2, 1}

// shorten replaces a very long best point of a problem with lambda = 0 by a shorter one that is as good up to
// the requested gap.
//
// Where columns are collinear, up to the rounding of storage, some directions change hardly any score. How
// far a minimiser goes along them is chance. Let w' minimise the same problem on the rows held with a small
// lambda. There F(w') + lambda/2 |w'|^2 <= F(w) + lambda/2 |w|^2, so with lambda = 2 loss/|w|^2 it is shorter
// and worse by at most loss. Often a larger lambda will do, so two are tried first. The bound stays: it holds
// for all w in the ball. On a9a, Pat&Mat-NP with beta = 0.01, |w| falls from 4.8e5 to 45.
func (s *solver) shorten() error {
	w, reach := s.best.at.W, s.form.Reach()
	square := linalg.Dot(w, w)
	long := square > float64(longWeights*longWeights*reach*reach)
	if s.form.Lambda > 0 || s.pop == nil || s.passesUsed() || !long {
		return nil
	}
	loss := float64(lossOfShortening * (s.target() - (s.upper - s.lower)))
	if !(loss > 0) {
		return nil
	}
	most := s.upper + loss
	for _, times := range shorteningFactors {
		w := s.solveRegularised(times*2*loss/square, shorteningTolerance*loss)
		if err := s.ctx.Err(); err != nil {
			return err
		}
		e, err := s.evaluate(0, s.pointAt(w))
		if err != nil {
			return err
		}
		if e[0].f <= most && linalg.Dot(w, w) < square {
			s.upper, s.best = e[0].f, e[0]
			return nil
		}
	}
	return nil
}

// solveRegularised solves the problem on the rows held with another lambda. Its bounds mean nothing for the
// problem.
func (s *solver) solveRegularised(lambda, tolerance float64) (w []float64) {
	f := s.form
	f.Lambda = lambda
	s.withGroups(func() {
		point, attempts := s.solveOnRows(f, tolerance)
		w = point
		for _, r := range attempts {
			s.systems += r.Systems
		}
	})
	return w
}
