package plot

import (
	"math"

	"toptau/internal/core/detmath"
)

// Scale maps values to positions along an axis.
type Scale int

const (
	Linear Scale = iota
	Logarithmic
)

// Axis describes an axis. The zero value is linear, has no label, and covers the data.
type Axis struct {
	Label string // with the unit: "false positive rate", "objective", "time (s)"
	Unit  Unit
	Scale Scale
	// Min and Max are the ends. If both are 0, the ends are round numbers around the data. A logarithmic axis
	// with Min <= 0 uses the data's ends. It shows values of 0 in a gutter before a break, and no negative
	// values.
	Min, Max float64
	// Marks replace the ticks, ascending, for values that are not numbers on a round scale. A label that would
	// touch the one before is left out. nil: round numbers.
	Marks []Mark
}

// Mark is a tick with its label.
type Mark struct {
	At    float64
	Label string
}

// extent is the range of the values that an axis must cover.
type extent struct {
	low, high float64 // of the finite values
	positive  float64 // the smallest positive value; 0 if there is none
	zero      bool    // a value is 0
	any       bool
}

// largest bounds the values that are drawn. The difference of two such values is finite.
const largest = 1e300

// Drawable reports whether a value is finite and not too large to draw.
func Drawable(x float64) bool { return math.Abs(x) <= largest }

// include extends the range by a value.
func (e *extent) include(x float64) {
	if !Drawable(x) {
		return
	}
	if !e.any {
		e.low, e.high, e.any = x, x, true
	}
	e.low, e.high = min(e.low, x), max(e.high, x)
	if x == 0 {
		e.zero = true
	}
	if x > 0 && (e.positive == 0 || x < e.positive) {
		e.positive = x
	}
}

// fixed reports whether the ends are set, in the right order and drawable.
func (a Axis) fixed() bool {
	given := (a.Min != 0 || a.Max != 0) && a.Min < a.Max && Drawable(a.Min) && Drawable(a.Max)
	return given && (a.Scale == Linear || a.Min > 0)
}

// Covers reports whether the axis shows x. An axis shows everything unless its ends are given.
func (a Axis) Covers(x float64) bool {
	return !a.fixed() || x >= a.Min && x <= a.Max || a.Scale == Logarithmic && x == 0
}

// gutter is the length for the value 0 before a logarithmic axis, in user units, chosen by hand.
const gutter = 34

// mapping maps values to positions along one direction of the canvas.
type mapping struct {
	Axis
	low, high float64 // values at the ends of the scale
	from, to  float64 // their positions; to < from on a vertical axis
	zero      bool    // a logarithmic axis shows 0 at start
	start     float64 // position of the axis's first end: from, or the gutter's
	ticks     []tick
}

// newMapping maps the extent to the range between two positions. labelSize returns the length that a tick
// label takes.
func newMapping(a Axis, e extent, start, end float64, labelSize func(label string) float64) mapping {
	m := mapping{Axis: a, start: start, from: start, to: end}
	if a.Scale == Logarithmic {
		m.setLogarithmicEnds(e)
	} else {
		m.setLinearEnds(e)
	}
	m.placeTicks(labelSize)
	return m
}

// setLinearEnds chooses the ends of a linear axis.
func (m *mapping) setLinearEnds(e extent) {
	m.low, m.high = e.low, e.high
	if m.fixed() {
		m.low, m.high = m.Min, m.Max
		return
	}
	if !e.any {
		m.low, m.high = 0, 1
	}
	if m.low == m.high {
		margin := max(math.Abs(m.low)/10, 1e-300)
		if m.low == 0 {
			margin = 1
		}
		m.low, m.high = m.low-margin, m.high+margin
	}
	step := niceStep((m.high - m.low) / 5) // at least five steps; 1e-9 forgives rounding
	m.low = step.times(math.Floor(m.low/step.size() + 1e-9))
	m.high = step.times(math.Ceil(m.high/step.size() - 1e-9))
}

// setLogarithmicEnds chooses the ends of a logarithmic axis.
func (m *mapping) setLogarithmicEnds(e extent) {
	if e.zero {
		m.zero = true
		if m.to < m.start {
			m.from = m.start - gutter
		} else {
			m.from = m.start + gutter
		}
	}
	switch {
	case m.fixed():
		m.low, m.high = m.Min, m.Max
	case e.positive == 0:
		m.low, m.high = 0.1, 1
	default:
		m.low, m.high = roundDown(e.positive), roundUp(e.high)
		if m.low == m.high {
			m.low, m.high = roundDown(m.low*0.9), roundUp(m.high*1.1)
		}
	}
}

// at returns the position of a value, and false if it has none.
func (m *mapping) at(x float64) (float64, bool) {
	if !Drawable(x) {
		return 0, false
	}
	var fraction float64
	switch {
	case m.Scale == Linear:
		fraction = (x - m.low) / (m.high - m.low)
	case x < 0 || x == 0 && !m.zero:
		return 0, false
	case x == 0:
		return m.start, true
	case m.zero && x <= m.low: // a positive value must stay out of the gutter
		return m.from, true
	default:
		low := detmath.Log(m.low)
		fraction = (detmath.Log(x) - low) / (detmath.Log(m.high) - low)
	}
	return min(max(m.from+float64(fraction*(m.to-m.from)), -farAway), farAway), true
}
