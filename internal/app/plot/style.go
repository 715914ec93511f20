package plot

import (
	_ "embed"
	"fmt"
)

// CSS is the style sheet of all figures. The colours of the series, one set for light and one for dark
// backgrounds, follow Okabe and Ito, so that colour-blind readers can distinguish them. Their contrast to the
// background is at least 3.
//
//go:embed figure.css
var CSS string

// Styles of series in addition to the numbers from 1.
const (
	Reference = -1 // a thin dotted grey line, for example a diagonal
	Highlight = -2 // a ring around a point, for example the model's threshold
)

// styleCount is the number of colours, of dash patterns and of marker shapes.
const styleCount = 6

// look is what distinguishes a series.
type look struct {
	class  string // colour and dash pattern
	marker int    // shape; -1 for none
}

// lookOf returns the colour, dash pattern and marker of a style. After six styles the colours get other
// patterns, so 36 styles differ.
func lookOf(style int) look {
	switch {
	case style == Reference:
		return look{"ref", -1}
	case style < 1:
		return look{"c0 d1", 0}
	}
	i := style - 1
	colour := i % styleCount
	pattern := (i + i/styleCount) % styleCount
	return look{fmt.Sprintf("c%d d%d", colour+1, pattern+1), pattern}
}

// colour returns the part of the class without the dash pattern.
func (l look) colour() string {
	if len(l.class) > 2 && l.class[0] == 'c' {
		return l.class[:2]
	}
	return l.class
}

// markerPath returns the path of a marker at (x, y) with half width r.
func markerPath(shape int, x, y, r float64) string {
	p := position
	by := func(factor float64) float64 { return float64(factor * r) }
	switch shape {
	case 1: // square
		s := by(0.9)
		return "M" + Pair(x-s, y-s) + "h" + p(by(1.8)) + "v" + p(by(1.8)) + "h" + p(by(-1.8)) + "z"
	case 2: // triangle
		return "M" + Pair(x, y-by(1.15)) + "l" + Pair(by(1.1), by(2)) + "h" + p(by(-2.2)) + "z"
	case 3: // diamond
		s := by(1.3)
		return "M" + Pair(x, y-s) + "l" + Pair(s, s) + "l" + Pair(-s, s) + "l" + Pair(-s, -s) + "z"
	case 4: // triangle, tip down
		return "M" + Pair(x, y+by(1.15)) + "l" + Pair(by(1.1), by(-2)) + "h" + p(by(-2.2)) + "z"
	case 5: // plus
		wide, arm, back := p(by(0.8)), p(by(0.8)), p(by(-0.8))
		return "M" + Pair(x-by(0.4), y-by(1.2)) + "h" + wide + "v" + arm + "h" + arm + "v" + wide + "h" + back +
			"v" + arm + "h" + back + "v" + back + "h" + back + "v" + back + "h" + arm + "z"
	}
	circle := p(r) + " " + p(r) + " 0 1 0 "
	return "M" + Pair(x-r, y) + "a" + circle + p(2*r) + " 0a" + circle + p(-2*r) + " 0z"
}

// cloudPath returns the path of a point of a cloud: a small dot for the first style, a cross for the second,
// so that two classes differ without colour, and a marker for the others.
func cloudPath(shape int, x, y float64) string {
	switch shape {
	case 0:
		return "M" + Pair(x, y) + "h0"
	case 1:
		return "M" + Pair(x-2.5, y-2.5) + "l5 5m0-5l-5 5"
	}
	return markerPath(shape, x, y, 2.6)
}

// cloudClass returns the class of the points of a cloud.
func cloudClass(shape int) string {
	switch shape {
	case 0:
		return "dots"
	case 1:
		return "cross"
	}
	return "dot"
}
