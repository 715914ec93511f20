package plot

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"

	"toptau/internal/core/text"
)

// figureWidth is the width of a figure in a file, in user units.
const figureWidth = 420

// pageWidth is the width of a figure on a page. Text of 12 units is then at least 12 pixels high on a phone, where a figure is
// at least 310 pixels wide.
const pageWidth = 304

// Canvas collects SVG elements. Its height grows downwards as they are added. Positions are in user units
// from the top left corner.
type Canvas struct {
	Width, Height float64
	id            string // prefix of the ids inside the figure
	values        bool   // also write the values of series, for scripts of a page
	body          strings.Builder
}

// Point is a position on a canvas.
type Point struct{ X, Y float64 }

// farAway bounds positions, in user units. It is far outside of every plotting area, and some renderers fail
// on larger numbers.
const farAway = 20000

// position writes a coordinate with at most one decimal.
func position(x float64) string {
	if math.IsNaN(x) {
		x = 0
	}
	x = math.Round(10*min(max(x, -farAway), farAway)) / 10
	return strconv.FormatFloat(x+0, 'f', -1, 64) // adding 0 turns -0 into 0
}

// escape makes text safe inside an element or an attribute. XML forbids most control characters.
func escape(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text.Printable(s))) // a bytes.Buffer does not fail
	return b.String()
}

func (c *Canvas) printf(format string, arguments ...any) { fmt.Fprintf(&c.body, format, arguments...) }

// Text adds a line of text that starts at (x, y), or as its class aligns it.
func (c *Canvas) Text(class string, x, y float64, text string) {
	c.printf("<text class=\"%s\" x=\"%s\" y=\"%s\">%s</text>\n", class, position(x), position(y), escape(text))
}

// Line adds a straight line.
func (c *Canvas) Line(class string, x1, y1, x2, y2 float64) {
	c.Path(class, "M"+Pair(x1, y1)+lineTo(Point{x1, y1}, Point{x2, y2}))
}

// Titled adds a path with a title that a browser shows under the pointer, for pages.
func (c *Canvas) Titled(class, d, title string) {
	if !c.values || title == "" {
		c.Path(class, d)
		return
	}
	c.printf("<path class=\"%s\" d=\"%s\"><title>%s</title></path>\n", class, d, escape(title))
}

// scaled returns a length of a figure in a file on this canvas.
func (c *Canvas) scaled(length float64) float64 {
	return math.Round(float64(length * c.Width / figureWidth))
}

// Path adds a path with data d.
func (c *Canvas) Path(class, d string) { c.printf("<path class=\"%s\" d=\"%s\"/>\n", class, d) }

// Rect adds a rectangle with rounded corners.
func (c *Canvas) Rect(class string, x, y, width, height, radius float64) {
	c.printf("<rect class=\"%s\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"", class, position(x), position(y),
		position(max(0, width)), position(max(0, height)))
	if radius > 0 {
		c.printf(" rx=\"%s\"", position(radius))
	}
	c.printf("/>\n")
}

// Half returns x/2. The conversion is explicit because a compiler may turn x/2 into 0.5*x and fuse that with
// an addition.
func Half(x float64) float64 { return float64(x / 2) }

// Pair writes two coordinates for path data.
func Pair(x, y float64) string { return position(x) + " " + position(y) }

// lineTo writes the shortest path command from one point to the next.
func lineTo(from, to Point) string {
	switch x, y := position(to.X), position(to.Y); {
	case y == position(from.Y):
		return "H" + x
	case x == position(from.X):
		return "V" + y
	default:
		return "L" + x + " " + y
	}
}
