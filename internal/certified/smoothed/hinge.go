package smoothed

// Hinge is max(0, x) with its corner smoothed over a width,
//
//	c(x) = (x + width/2)^2/(2 width)  for |x| < width/2,
//
// or max(0, x)^2, which has no corner. Slopes of the former rise from 0 to 1, so that those of a smoothed
// problem are feasible multipliers of the true one. A narrower hinge is smaller everywhere.
type Hinge struct {
	Square bool
	Width  float64
}

// At returns c, c' and c".
func (h Hinge) At(x float64) (value, slope, curvature float64) {
	if h.Square {
		if x <= 0 {
			return 0, 0, 0
		}
		return float64(x * x), 2 * x, 2
	}
	if x <= -h.Width/2 {
		return 0, 0, 0
	} else if x >= h.Width/2 {
		return x, 1, 0
	}
	slope = x/h.Width + .5
	return float64(float64(h.Width/2*slope) * slope), slope, 1 / h.Width
}

// Curvature returns c".
func (h Hinge) Curvature(x float64) float64 { _, _, v := h.At(x); return v }

// Ends returns the ends of the pieces on which the slope is linear and not 0. The last piece has no upper end.
func (h Hinge) Ends() []float64 {
	if h.Square {
		return []float64{0}
	}
	return []float64{-h.Width / 2, h.Width / 2}
}

// Pieces returns the slope on each piece.
func (h Hinge) Pieces() []Piece {
	if h.Square {
		return []Piece{{0, 2}}
	}
	return []Piece{{.5, 1 / h.Width}, {1, 0}}
}

// value returns the sum of m c(z) over a cell on a piece.
func (h Hinge) value(c *Cell, p Piece) float64 {
	switch {
	case h.Square:
		return c.Square
	case p.Slope == 0:
		return c.Score
	}
	return float64(h.Width / 2 * c.Squares(p)) // c = width/2 c'^2
}
