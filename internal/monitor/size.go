package monitor

import "toptau/calibrate"

// Sizes that a change needs for an alarm, chosen by hand.
const (
	rateRatio  = 1.2  // of alert rates, or its inverse
	rankShift  = 0.1  // of the fraction of rows on one side of a level
	shareRatio = 2    // of the fraction of a column's rows in an event, or its inverse
	shareShift = 0.01 // by which that fraction must also differ
)

// scoresChanged reports whether the evidence on scores is an alarm.
func (w *Watch) scoresChanged() bool {
	s := w.scores
	if s.now.Log < w.needed(1) || s.now.Rows == 0 {
		return false
	}
	for e, event := range s.events {
		p, q := expected(event, s.reference.Rows), float64(s.now.Ins[e])/float64(s.now.Rows)
		if shifted(p, q) || e == s.atPoint && (q > p*rateRatio || q < p/rateRatio) {
			return true
		}
	}
	return false
}

// columnChanged reports whether the evidence on a column names it.
func (w *Watch) columnChanged(c *columnWatch) bool {
	if c.now.Log < w.needed(len(w.columns)) || c.now.Rows == 0 {
		return false
	}
	for e := range c.events {
		if p, q := c.shares(e, w.model.Profile().Rows, &c.now); shifted(p, q) || (q > p*shareRatio || q < p/shareRatio) && (q-p > shareShift || p-q > shareShift) {
			return true
		}
	}
	return false
}

// shares returns the expected fraction of rows in an event, and that since the start of the evidence.
func (c *columnWatch) shares(event, rows int, v *calibrate.UrnEvidence) (p, q float64) {
	if v.Rows > 0 {
		q = float64(v.Ins[event]) / float64(v.Rows)
	}
	return expected(c.events[event], rows), q
}

func shifted(p, q float64) bool { return q-p >= rankShift || p-q >= rankShift }

// budgetBroken reports whether the evidence on the budget is an alarm: the rate since its start is a fifth above
// the budget.
func (w *Watch) budgetBroken() bool {
	v := &w.labels.now
	return v.Log >= w.needed(1) && v.Rows > 0 && float64(v.Events) > float64(float64(v.Rows)*w.labels.rate)*rateRatio
}
