package plot

import (
	"math"

	"toptau/internal/detmath"
)

// Scale is how values are spread along an axis.
type Scale int

const (
	Linear Scale = iota
	Logarithmic
)

// Axis says what an axis shows. The zero value is linear, without a label, and covers the data.
type Axis struct {
	Label string // with the unit: "false positive rate", "objective", "time (s)"
	Unit  Unit
	Scale Scale
	// Min and Max are the ends; when both are 0, the ends are round numbers around the data. A logarithmic axis needs
	// Min > 0, otherwise it takes the data's. Values of 0 on a logarithmic axis get a place of their own, left of a
	// break; negative ones cannot be shown.
	Min, Max float64
}

// extent is what an axis must cover.
type extent struct {
	low, high float64 // of the finite values
	positive  float64 // the smallest positive one; 0: none
	zero      bool    // there is a 0
	any       bool
}

// largest bounds what can be drawn, so that differences stay finite.
const largest = 1e300

// Drawable reports whether a value is finite and not too large to draw.
func Drawable(x float64) bool { return math.Abs(x) <= largest }

func (e *extent) add(x float64) {
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

// fixed reports whether the ends are given, in the right order and drawable.
func (a Axis) fixed() bool {
	given := (a.Min != 0 || a.Max != 0) && a.Min < a.Max && Drawable(a.Min) && Drawable(a.Max)
	return given && (a.Scale == Linear || a.Min > 0)
}

// Covers reports whether the axis shows x. An axis shows everything unless its ends are given.
func (a Axis) Covers(x float64) bool {
	return !a.fixed() || x >= a.Min && x <= a.Max || a.Scale == Logarithmic && x == 0
}

// gutter is the room for the value 0 beside a logarithmic axis.
const gutter = 34

// mapping turns values into positions along one direction of the canvas.
type mapping struct {
	Axis
	low, high float64 // values at the ends of the scale
	from, to  float64 // their positions; to < from on a vertical axis
	zero      bool    // logarithmic, with a place for 0 at start
	start     float64 // where the axis begins: from, or before the gutter
	ticks     []tick
}

// newMapping spreads the extent between two positions. room returns how much of the axis a tick label takes.
func newMapping(a Axis, e extent, start, end float64, room func(label string) float64) mapping {
	m := mapping{Axis: a, start: start, from: start, to: end}
	if a.Scale == Logarithmic {
		m.logarithmic(e)
	} else {
		m.linear(e)
	}
	m.label(room)
	return m
}

func (m *mapping) linear(e extent) {
	m.low, m.high = e.low, e.high
	if m.fixed() {
		m.low, m.high = m.Min, m.Max
		return
	}
	if !e.any {
		m.low, m.high = 0, 1
	}
	if m.low == m.high {
		apart := max(math.Abs(m.low)/10, 1e-300)
		if m.low == 0 {
			apart = 1
		}
		m.low, m.high = m.low-apart, m.high+apart
	}
	step := niceStep((m.high - m.low) / 5)
	m.low = step.times(math.Floor(m.low/step.size() + 1e-9))
	m.high = step.times(math.Ceil(m.high/step.size() - 1e-9))
}

func (m *mapping) logarithmic(e extent) {
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

// at is the position of a value; false where it has none.
func (m *mapping) at(x float64) (float64, bool) {
	if !Drawable(x) {
		return 0, false
	}
	var share float64
	switch {
	case m.Scale == Linear:
		share = (x - m.low) / (m.high - m.low)
	case x < 0 || x == 0 && !m.zero:
		return 0, false
	case x == 0:
		return m.start, true
	case m.zero && x <= m.low: // it must not move into the gutter
		return m.from, true
	default:
		low := detmath.Log(m.low)
		share = (detmath.Log(x) - low) / (detmath.Log(m.high) - low)
	}
	return min(max(m.from+float64(share*(m.to-m.from)), -farAway), farAway), true
}
