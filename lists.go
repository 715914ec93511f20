package toptau

import (
	"toptau/calibrate"
	"toptau/metric"
)

// listBounds bounds the false ones among the best rows, or units, of the first ranking, as one delivery. It returns nil if its default
// operating point has no calibration negatives that are like them.
func (s *evaluated) listBounds() *calibrate.MaxFalse {
	first := s.rankings[0]
	if first.Model == nil || first.rank.Weighted() {
		return nil
	}
	p, found := first.Model.Point("")
	if !found || p.Negatives == nil || p.Entity != s.units.Column || (p.Day != "") != s.units.Daily {
		return nil
	}
	b := p.Negatives.Batch()
	for _, class := range [][]float64{first.scores.Positives, first.scores.Negatives} {
		for _, z := range class {
			b.Add(z)
		}
	}
	return b.MaxFalse(1 - metric.DefaultConfidence)
}
