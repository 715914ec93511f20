package plot

import "math"

// Cells is a layer with the values of a function of two variables that is constant in each cell of a grid. A
// positive value is drawn in the second colour, a negative one in the first, the darker the larger.
type Cells struct {
	X, Y   []float64   // edges of the cells, ascending
	Values [][]float64 // by row from Y[0] up: one less than the edges in each direction
	Full   float64     // magnitude of the darkest cells
}

// tones is the number of steps from no colour to the darkest. Chosen by hand: more cannot be distinguished.
const tones = 4

// Extent returns the ends of the grid.
func (g *Cells) Extent() (x, y [2]float64) {
	if len(g.X) == 0 || len(g.Y) == 0 {
		return x, y
	}
	return [2]float64{g.X[0], g.X[len(g.X)-1]}, [2]float64{g.Y[0], g.Y[len(g.Y)-1]}
}

// DrawShapes draws the cells. Neighbours of the same tone in a row are one rectangle.
func (g *Cells) DrawShapes(c *Canvas, f *Frame) {
	for j := 0; j+1 < len(g.Y) && j < len(g.Values); j++ {
		row := g.Values[j]
		for i := 0; i < len(row) && i+1 < len(g.X); {
			end := i + 1
			for end < len(row) && end+1 < len(g.X) && g.tone(row[end]) == g.tone(row[i]) {
				end++
			}
			g.drawCell(c, f, g.tone(row[i]), Point{g.X[i], g.Y[j]}, Point{g.X[end], g.Y[j+1]})
			i = end
		}
	}
}

func (g *Cells) drawCell(c *Canvas, f *Frame, tone int, low, high Point) {
	a, okA := f.At(low.X, low.Y)
	b, okB := f.At(high.X, high.Y)
	if !okA || !okB || tone == 0 {
		return
	}
	class := "wash c2"
	if tone < 0 {
		class, tone = "wash c1", -tone
	}
	for range tone { // each layer darkens
		c.Rect(class, min(a.X, b.X), min(a.Y, b.Y), math.Abs(b.X-a.X), math.Abs(b.Y-a.Y), 0)
	}
}

// tone returns the tone of a value: negative ones in the first colour.
func (g *Cells) tone(v float64) int {
	if !(g.Full > 0) || math.IsNaN(v) {
		return 0
	}
	return int(math.Round(float64(min(max(v/g.Full, -1), 1)) * tones))
}

// DrawLabels draws nothing.
func (g *Cells) DrawLabels(*Canvas, *Frame) {}
