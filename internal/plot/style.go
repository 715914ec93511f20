package plot

import (
	_ "embed"
	"fmt"
)

// CSS colours every figure. Series colours are one set for light and one for dark paper; both were chosen so that
// colour-blind readers can tell them apart (after Okabe and Ito) and have a contrast of at least 3 to the background.
//
//go:embed figure.css
var CSS string

// Styles of series beside the numbered ones.
const (
	Reference = -1 // a thin dotted grey line: chance, a diagonal
	Highlight = -2 // a ring around a point: where the model works
)

// styleCount is the number of colours, of dash patterns and of marker shapes.
const styleCount = 6

// look is how a series is told apart.
type look struct {
	class  string // colour and dash pattern
	marker int    // shape; -1: none
}

// lookOf gives the series of the number (from 1) its colour, dash pattern and marker. After six, the pairs of colour and
// pattern change, so that 36 differ.
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

// colour is the part of the class that colours without a dash pattern.
func (l look) colour() string {
	if len(l.class) > 2 && l.class[0] == 'c' {
		return l.class[:2]
	}
	return l.class
}

// markerPath draws a marker of the shape around (x, y); r is its half width.
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
	case 4: // triangle on its tip
		return "M" + Pair(x, y+by(1.15)) + "l" + Pair(by(1.1), by(-2)) + "h" + p(by(-2.2)) + "z"
	case 5: // plus
		wide, arm, back := p(by(0.8)), p(by(0.8)), p(by(-0.8))
		return "M" + Pair(x-by(0.4), y-by(1.2)) + "h" + wide + "v" + arm + "h" + arm + "v" + wide + "h" + back +
			"v" + arm + "h" + back + "v" + back + "h" + back + "v" + back + "h" + arm + "z"
	}
	circle := p(r) + " " + p(r) + " 0 1 0 "
	return "M" + Pair(x-r, y) + "a" + circle + p(2*r) + " 0a" + circle + p(-2*r) + " 0z"
}

// cloudPath draws a point of a cloud: small dots for the first style, crosses for the second, so that two classes are
// told apart without colour, and the markers for the others.
func cloudPath(shape int, x, y float64) string {
	switch shape {
	case 0:
		return "M" + Pair(x, y) + "h0"
	case 1:
		return "M" + Pair(x-2.5, y-2.5) + "l5 5m0-5l-5 5"
	}
	return markerPath(shape, x, y, 2.6)
}

func cloudClass(shape int) string {
	switch shape {
	case 0:
		return "dots"
	case 1:
		return "cross"
	}
	return "dot"
}
