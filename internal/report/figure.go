package report

import (
	"fmt"
	"strings"
)

// Figure is one drawing: *Plot, *Histogram, *DotPlot or *Diagram.
type Figure interface {
	// Caption returns what is said about the drawing.
	Caption() Caption
	// draw adds the drawing below the canvas's present height.
	draw(c *canvas)
}

// Caption is the text of a figure.
type Caption struct {
	Title       string // what is shown, in one line
	Description string // for readers who cannot see it: what is drawn and what it says
	Note        string // printed below the figure on a page; "" for none
}

// SVG returns the figure as a file of its own: its title drawn above it, its style inside, a background that follows the
// reader's light or dark preference.
func SVG(f Figure) []byte {
	c := &canvas{id: "figure", width: figureWidth}
	heading(c, f.Caption().Title)
	f.draw(c)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="tf" role="img" aria-labelledby="%s-t %s-d" `+
		`width="%s" height="%s" viewBox="0 0 %s %s">`+"\n", c.id, c.id,
		position(1.5*c.width), position(1.5*c.height), position(c.width), position(c.height))
	b.WriteString("<style>" + figureCSS + "</style>\n")
	describe(&b, c.id, f.Caption())
	fmt.Fprintf(&b, `<rect class="paper" width="%s" height="%s"/>`+"\n", position(c.width), position(c.height))
	b.WriteString(c.body.String())
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// inline returns the figure as an element of a page that holds figureCSS; id is unique on the page.
func inline(f Figure, id string) string {
	c := &canvas{id: id, width: figureWidth}
	f.draw(c)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="tf" role="img" aria-labelledby="%s-t %s-d" `+
		`viewBox="0 0 %s %s">`+"\n", id, id, position(c.width), position(c.height))
	describe(&b, id, f.Caption())
	b.WriteString(c.body.String())
	b.WriteString("</svg>")
	return b.String()
}

func describe(b *strings.Builder, id string, caption Caption) {
	fmt.Fprintf(b, "<title id=\"%s-t\">%s</title>\n<desc id=\"%s-d\">%s</desc>\n",
		id, escape(caption.Title), id, escape(caption.Description))
}

// heading draws the title of a file of its own, on as many lines as it needs.
func heading(c *canvas, title string) {
	c.height = 8
	for _, line := range wrap(title, headingSize, c.width-16, 3) {
		c.height += 20
		c.text("head", 8, c.height, line)
	}
	c.height += 6
}
