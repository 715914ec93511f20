package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// figureWidth is the width of every figure in user units. Text of 12 or 13 units stays readable when the figure is as wide as a
// phone, about 330 pixels, and does not become large when two figures share a page of 1,160.
const figureWidth = 420

// canvas collects SVG elements. Its height grows downwards as they are added.
type canvas struct {
	id            string // prefix of the ids inside the figure
	width, height float64
	body          strings.Builder
}

// point is a place on the canvas.
type point struct{ x, y float64 }

// farAway bounds positions: what lies outside the plotting area is clipped anyway.
const farAway = 20000

// position writes a coordinate with at most one decimal.
func position(x float64) string {
	if math.IsNaN(x) {
		x = 0
	}
	x = math.Round(10*min(max(x, -farAway), farAway)) / 10
	return strconv.FormatFloat(x+0, 'f', -1, 64) // +0: no minus zero
}

// escape makes text safe inside an element or an attribute. Characters that XML forbids become U+FFFD.
func escape(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // a bytes.Buffer does not fail
	return b.String()
}

func (c *canvas) printf(format string, arguments ...any) { fmt.Fprintf(&c.body, format, arguments...) }

func (c *canvas) text(class string, x, y float64, text string) {
	c.printf("<text class=\"%s\" x=\"%s\" y=\"%s\">%s</text>\n", class, position(x), position(y), escape(text))
}

func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	c.path(class, "M"+pair(x1, y1)+lineTo(point{x1, y1}, point{x2, y2}))
}

func (c *canvas) path(class, d string) { c.printf("<path class=\"%s\" d=\"%s\"/>\n", class, d) }

func (c *canvas) rect(class string, x, y, width, height, radius float64) {
	c.printf("<rect class=\"%s\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"", class, position(x), position(y),
		position(max(0, width)), position(max(0, height)))
	if radius > 0 {
		c.printf(" rx=\"%s\"", position(radius))
	}
	c.printf("/>\n")
}

// halfOf is x/2. The conversion keeps a compiler, for which it is a product with 0.5, from fusing it with an addition.
func halfOf(x float64) float64 { return float64(x / 2) }

// pair writes two coordinates.
func pair(x, y float64) string { return position(x) + " " + position(y) }

// lineTo writes the step from one place to the next in the shortest way.
func lineTo(from, to point) string {
	switch x, y := position(to.x), position(to.y); {
	case y == position(from.y):
		return "H" + x
	case x == position(from.x):
		return "V" + y
	default:
		return "L" + x + " " + y
	}
}
