package monitor

import "math"

// Sizes that a change needs for an alarm, chosen by hand (a change moves results).
const (
	rateRatio   = 1.2  // of alert rates, or its inverse
	rankShift   = 0.1  // of the fraction of rows on one side of a level
	meanShift   = 0.05 // of the mean of the scores, in standard deviations
	looseBudget = 1.5  // of the rate that evidence must exceed and the budget, above which a note says so
	shareRatio  = 2    // of the fraction of a column's rows in an event, or its inverse
	shareShift  = 0.01 // by which that fraction must also differ
)

// scoresChanged reports whether the evidence on scores is an alarm.
func (w *Watch) scoresChanged() bool {
	s := w.scores
	if s.now.Log < w.needed(1) || s.now.Rows == 0 {
		return false
	}
	if w.noSize || math.Abs(s.shift.Shift) >= meanShift {
		return true
	}
	for e := range s.events {
		p, q := s.rates(e)
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
		if p, q := c.rates(e); w.noSize || shifted(p, q) || (q > p*shareRatio || q < p/shareRatio) && (q-p > shareShift || p-q > shareShift) {
			return true
		}
	}
	return false
}

func shifted(p, q float64) bool { return q-p >= rankShift || p-q >= rankShift }

// budgetBroken reports whether the evidence on the budget is an alarm: the rate since its start is a fifth above
// the budget.
func (w *Watch) budgetBroken() bool {
	v := &w.labels.now
	return v.Log >= w.needed(1) && v.Rows > 0 && (w.noSize || float64(v.Events) > float64(float64(v.Rows)*w.labels.rate)*rateRatio)
}
