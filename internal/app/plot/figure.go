package plot

import (
	"fmt"
	"strings"
)

// Figure is a drawing: *Plot, *Histogram, *DotPlot or a type of another package.
type Figure interface {
	// Caption returns the texts of the drawing.
	Caption() Caption
	// Draw adds the drawing below the canvas's height and increases the height.
	Draw(c *Canvas)
}

// Caption is the text of a figure.
type Caption struct {
	Title       string // one line
	Description string // of the drawing and its message, for readers who cannot see it
	Note        string // printed below the figure on a page; "" for none
}

// SVG returns the figure as a file, with its title above it and its style sheet inside. The background
// follows the reader's preference for light or dark.
func SVG(f Figure) []byte {
	c := &Canvas{id: "figure", Width: figureWidth}
	heading(c, f.Caption().Title)
	f.Draw(c)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="tf" role="img" aria-labelledby="%s-t %s-d" `+
		`width="%s" height="%s" viewBox="0 0 %s %s">`+"\n", c.id, c.id,
		position(1.5*c.Width), position(1.5*c.Height), position(c.Width), position(c.Height))
	b.WriteString("<style>" + CSS + "</style>\n")
	describe(&b, c.id, f.Caption())
	fmt.Fprintf(&b, `<rect class="paper" width="%s" height="%s"/>`+"\n", position(c.Width), position(c.Height))
	b.WriteString(c.body.String())
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// Inline returns the figure as an element of a page that contains CSS. The id must be unique on the page. The
// values of each series are in an element g of class "values": data-name is the series, data-points has the
// position on the canvas, x and y of at most 200 points, and data-x and data-y have the labels of the axes.
func Inline(f Figure, id string) string {
	c := &Canvas{id: id, Width: pageWidth, values: true}
	f.Draw(c)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="tf" role="img" aria-labelledby="%s-t %s-d" `+
		`viewBox="0 0 %s %s">`+"\n", id, id, position(c.Width), position(c.Height))
	describe(&b, id, f.Caption())
	b.WriteString(c.body.String())
	b.WriteString("</svg>")
	return b.String()
}

// describe writes the title and description for readers who cannot see the figure.
func describe(b *strings.Builder, id string, caption Caption) {
	fmt.Fprintf(b, "<title id=\"%s-t\">%s</title>\n<desc id=\"%s-d\">%s</desc>\n",
		id, escape(caption.Title), id, escape(caption.Description))
}

// heading draws the title of a file on up to three lines.
func heading(c *Canvas, title string) {
	c.Height = 8
	for _, line := range Wrap(title, headingSize, c.Width-16, 3) {
		c.Height += 20
		c.Text("head", 8, c.Height, line)
	}
	c.Height += 6
}
